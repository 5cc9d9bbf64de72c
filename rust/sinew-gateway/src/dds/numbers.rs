//! What did not arrive of messages, by the numbers that their writers give them. Pure.

use std::collections::HashMap;

use super::guid::{Guid, Identity};

/// Writers whose messages are counted at a time.
const MOST: usize = 1024;

/// Of one topic: the last number of each writer.
#[derive(Debug, Default)]
pub struct Numbers(HashMap<Guid, u64>);

impl Numbers {
    /// How many are missing before the one that comes. Before the first of a writer none is, as it has begun before. None: it comes late, or once more, and was counted.
    pub fn missing(&mut self, message: Identity) -> Option<u64> {
        if message.number == 0 {
            return Some(0);
        }
        if self.0.len() >= MOST && !self.0.contains_key(&message.writer) {
            self.0.clear();
        }
        let Some(last) = self.0.get_mut(&message.writer) else {
            self.0.insert(message.writer, message.number);
            return Some(0);
        };
        if message.number <= *last {
            return None;
        }
        // No number may make the count a nonsense.
        let missing = message.number.saturating_sub(last.saturating_add(1)).min(u64::from(u32::MAX));
        *last = message.number;
        Some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(writer: u32, number: u64) -> Identity {
        let mut guid = [0; 16];
        guid[..4].copy_from_slice(&writer.to_be_bytes());
        Identity { writer: Guid(guid), number }
    }

    #[test]
    fn what_is_missing_between_two_messages_of_a_writer_is_counted() {
        let mut numbers = Numbers::default();
        let missing: Vec<Option<u64>> =
            [(1, 7), (1, 8), (2, 100), (1, 11), (2, 101), (1, 12)].map(|(a, b)| numbers.missing(message(a, b))).into();
        assert_eq!(missing, [0, 0, 0, 2, 0, 0].map(Some));
    }

    #[test]
    fn what_comes_late_or_once_more_is_no_loss_and_what_has_no_number_is_none() {
        let mut numbers = Numbers::default();
        let missing = [5, 8, 6, 7, 8, 9, 0, 10].map(|number| numbers.missing(message(1, number)));
        assert_eq!(missing, [Some(0), Some(2), None, None, None, Some(0), Some(0), Some(0)]);
    }

    #[test]
    fn no_number_makes_the_count_a_nonsense_and_no_more_are_remembered_than_there_is_room_for() {
        let mut numbers = Numbers::default();
        assert_eq!([1, u64::MAX, 3].map(|number| numbers.missing(message(1, number))), [Some(0), Some(u64::from(u32::MAX)), None]);
        (0..3 * MOST as u32).for_each(|writer| _ = numbers.missing(message(writer, 1)));
        assert!(numbers.0.len() <= MOST);
    }
}
