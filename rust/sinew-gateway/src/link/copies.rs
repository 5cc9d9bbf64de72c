//! Small messages that go a second time, since the link loses so many packets that they are likely to be late else: a round trip and more. Pure: time is an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::queue::Numbered;

/// Bytes that fit into a packet with all that is around them.
const SMALL: usize = 1_024;
/// Not at once, or it shares its packet with the first: those of the one and the other have left by then one after the other.
const AFTER: Duration = Duration::from_millis(2);
/// One that is so late, behind another one, is too late: the far side does not wait for it.
const LATE: Duration = Duration::from_millis(10);
/// That wait: as many as a burst may have.
const MOST: usize = 64;

/// Of a lane, the oldest first, each with when it is to go. What has gone meanwhile is no reason to leave one out: both may have been in the packet that was lost.
#[derive(Debug, Default)]
pub(super) struct Copies(VecDeque<(Instant, Numbered)>);

impl Copies {
    /// Whether a message goes twice.
    pub fn are_of(message: &Numbered) -> bool {
        message.size <= SMALL
    }

    /// This one has gone now for the first time.
    pub fn push(&mut self, message: Numbered, now: Instant) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((now + AFTER, message));
    }

    /// When the next one is to go.
    pub fn when(&self) -> Option<Instant> {
        self.0.front().map(|(due, _)| *due)
    }

    /// The next one, if it is to go.
    pub fn take(&mut self, now: Instant) -> Option<Numbered> {
        while self.0.get(1).is_some_and(|(due, _)| *due + LATE < now) {
            self.0.pop_front();
        }
        let is_due = self.when().is_some_and(|due| due <= now);
        is_due.then(|| self.0.pop_front()).flatten().map(|(_, message)| message)
    }

    /// None is to go.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Outgoing;
    use crate::protocol::Packing;

    #[test]
    fn each_of_a_burst_goes_again_a_while_later_in_order_and_of_more_than_there_are_places_for_the_last() {
        let now = Instant::now();
        let message = Outgoing { origin: 0, parts: vec![], packing: Packing::None, unpacked: 0, published: now, expires: None };
        let mut copies = Copies::default();
        let push = |copies: &mut Copies, sequence| copies.push(Numbered { sequence, message: message.clone(), size: 0 }, now);
        (1..=MOST as u64 + 1).for_each(|sequence| push(&mut copies, sequence));
        assert!(copies.take(now).is_none());
        let due = copies.when().expect("some wait");
        let taken: Vec<u64> = std::iter::from_fn(|| copies.take(due)).map(|copy| copy.sequence).collect();
        assert_eq!(taken, (2..=MOST as u64 + 1).collect::<Vec<_>>());
        assert!(copies.is_empty());
        // Of those that something newer has kept from going for long, the last is worth it.
        (1..=3).for_each(|sequence| push(&mut copies, sequence));
        assert_eq!(copies.take(now + Duration::from_secs(1)).map(|copy| copy.sequence), Some(3));
        assert!(copies.is_empty());
    }
}
