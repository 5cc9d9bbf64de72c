//! Numbers and times of messages. Pure.
//!
//! A message has the same ones whenever it is told, to whoever gets it as it is published and to those who ask for it later: so AdvancedSubscribers of Zenoh, which keep the order of time stamps, take no message twice, and leave none out.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// How many messages are remembered: more than any publisher keeps for those who come late.
const REMEMBERED: usize = 1024;

/// Of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// From 1.
    pub sequence: i64,
    /// When it was published, in nanoseconds since 1970.
    pub time_ns: i64,
    /// Greater than that of each message before. As Zenoh has times (NTP64).
    pub order: u64,
}

/// Of all topics that go there, by their keys: a topic that is closed and opened anew, as where its publishers offer something else, goes on where it was. Shared between threads.
#[derive(Debug, Default)]
pub struct Stamped(Mutex<HashMap<String, Arc<Mutex<Stamps>>>>);

impl Stamped {
    /// Of one.
    pub fn of(&self, key: &str) -> Arc<Mutex<Stamps>> {
        Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default())
    }

    /// Forgets those that nobody has.
    pub fn retain(&self, is_there: impl Fn(&str) -> bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| is_there(key));
    }
}

/// Those that were given to the messages of one topic.
#[derive(Debug, Default)]
pub struct Stamps {
    given: HashMap<u64, Stamp>,
    oldest: VecDeque<u64>,
    sequence: i64,
    order: u64,
}

impl Stamps {
    /// Of the message of this origin. `new`: when it was published, and the time now, where it has none yet.
    pub fn of(&mut self, origin: u64, new: impl FnOnce() -> (i64, u64)) -> Stamp {
        if let Some(given) = self.given.get(&origin) {
            return *given;
        }
        let (time_ns, now) = new();
        self.sequence += 1;
        self.order = now.max(self.order.saturating_add(1));
        let stamp = Stamp { sequence: self.sequence, time_ns, order: self.order };
        self.given.insert(origin, stamp);
        self.oldest.push_back(origin);
        if self.oldest.len() > REMEMBERED {
            self.oldest.pop_front().map(|oldest| self.given.remove(&oldest));
        }
        stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_stamp_and_the_next_has_a_greater_one_whatever_the_clock_does() {
        let mut stamps = Stamps::default();
        let first = stamps.of(7, || (100, 1000));
        assert_eq!(first, Stamp { sequence: 1, time_ns: 100, order: 1000 });
        assert_eq!(stamps.of(8, || (50, 900)), Stamp { sequence: 2, time_ns: 50, order: 1001 });
        assert_eq!(stamps.of(7, || (0, 0)), first);
        assert_eq!(stamps.of(9, || (300, 3000)).order, 3000);
    }

    #[test]
    fn a_topic_that_is_opened_anew_goes_on_where_it_was_until_nobody_has_it() {
        let stamped = Stamped::default();
        let stamp = || stamped.of("0/chatter/T/H").lock().expect("nobody panics with it").of(7, || (0, 0)).sequence;
        stamped.of("0/chatter/T/H").lock().expect("nobody panics with it").of(6, || (0, 0));
        assert_eq!((stamp(), stamp()), (2, 2));
        stamped.retain(|key| key == "0/chatter/T/H");
        assert_eq!(stamp(), 2);
        stamped.retain(|_| false);
        assert_eq!(stamp(), 1);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let mut stamps = Stamps::default();
        for origin in 0..3000 {
            stamps.of(origin, || (0, 0));
        }
        assert_eq!((stamps.given.len(), stamps.oldest.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(stamps.of(2999, || (0, 0)).sequence, 3000);
    }
}
