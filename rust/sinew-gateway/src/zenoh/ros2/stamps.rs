//! Numbers and times of messages. Pure.
//!
//! A message has the same ones whenever it is told, to whoever gets it as it is published and to those who ask for it later: so AdvancedSubscribers of Zenoh, which keep the order of time stamps, take no message twice, and leave none out.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How many messages are remembered: more than any publisher keeps for those who come late.
const REMEMBERED: usize = 1024;

/// Of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// From 1.
    pub sequence: i64,
    /// When it was published, in nanoseconds since 1970.
    pub time_ns: i64,
    /// Greater than that of each message before it. As Zenoh has times (NTP64).
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
    /// And when their messages were published.
    given: HashMap<u64, (Stamp, Instant)>,
    oldest: VecDeque<u64>,
    sequence: i64,
    order: u64,
}

impl Stamps {
    /// Of the message of this origin, which goes now. `new`: when it was published, and the time now, where it has none yet.
    pub fn of(&mut self, origin: u64, published: Instant, new: &dyn Fn() -> (i64, u64)) -> Stamp {
        if let Some((given, _)) = self.given.get(&origin) {
            return *given;
        }
        let (time_ns, now) = new();
        self.sequence += 1;
        self.order = now.max(self.order.saturating_add(1));
        self.give(origin, published, Stamp { sequence: self.sequence, time_ns, order: self.order })
    }

    /// The same of one that was kept. Where another that was published after it has gone meanwhile it stands before that, so that nobody takes it for newer.
    pub fn of_kept(&mut self, origin: u64, published: Instant, new: &dyn Fn() -> (i64, u64)) -> Stamp {
        let next = self.given.values().filter(|(_, at)| *at > published).min_by_key(|(stamp, _)| stamp.order).map(|(stamp, _)| *stamp);
        let Some(next) = next.filter(|_| !self.given.contains_key(&origin)) else { return self.of(origin, published, new) };
        let mut order = next.order.saturating_sub(1);
        while self.given.values().any(|(stamp, _)| stamp.order == order) {
            order = order.saturating_sub(1);
        }
        self.give(origin, published, Stamp { sequence: next.sequence - 1, time_ns: new().0, order })
    }

    fn give(&mut self, origin: u64, published: Instant, stamp: Stamp) -> Stamp {
        self.given.insert(origin, (stamp, published));
        self.oldest.push_back(origin);
        if self.oldest.len() > REMEMBERED {
            self.oldest.pop_front().map(|oldest| self.given.remove(&oldest));
        }
        stamp
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_kept_stands_before_what_was_published_after_it_though_that_has_gone_first() {
        let mut stamps = Stamps::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let oldest = stamps.of(1, at(1), &|| (100, 1000));
        let newest = stamps.of(3, at(3), &|| (300, 1001));
        let kept = stamps.of_kept(2, at(2), &|| (200, 2000));
        assert_eq!(kept, Stamp { sequence: newest.sequence - 1, time_ns: 200, order: 999 }, "1000 is taken");
        assert_eq!(stamps.of(2, at(2), &|| (0, 0)), kept);
        assert_eq!((stamps.of_kept(1, at(1), &|| (0, 0)), stamps.of_kept(3, at(3), &|| (0, 0))), (oldest, newest));
        assert_eq!(stamps.of_kept(4, at(4), &|| (400, 1500)), Stamp { sequence: 3, time_ns: 400, order: 1500 });
    }

    #[test]
    fn a_message_keeps_its_stamp_and_the_next_has_a_greater_one_whatever_the_clock_does() {
        let (mut stamps, now) = (Stamps::default(), Instant::now());
        let first = stamps.of(7, now, &|| (100, 1000));
        assert_eq!(first, Stamp { sequence: 1, time_ns: 100, order: 1000 });
        assert_eq!(stamps.of(8, now, &|| (50, 900)), Stamp { sequence: 2, time_ns: 50, order: 1001 });
        assert_eq!(stamps.of(7, now, &|| (0, 0)), first);
        assert_eq!(stamps.of(9, now, &|| (300, 3000)).order, 3000);
    }

    #[test]
    fn a_topic_that_is_opened_anew_goes_on_where_it_was_until_nobody_has_it() {
        let (stamped, now) = (Stamped::default(), Instant::now());
        let stamp = || stamped.of("0/chatter/T/H").lock().expect("nobody panics with it").of(7, now, &|| (0, 0)).sequence;
        stamped.of("0/chatter/T/H").lock().expect("nobody panics with it").of(6, now, &|| (0, 0));
        assert_eq!((stamp(), stamp()), (2, 2));
        stamped.retain(|key| key == "0/chatter/T/H");
        assert_eq!(stamp(), 2);
        stamped.retain(|_| false);
        assert_eq!(stamp(), 1);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let (mut stamps, now) = (Stamps::default(), Instant::now());
        for origin in 0..3000 {
            stamps.of(origin, now, &|| (0, 0));
        }
        assert_eq!((stamps.given.len(), stamps.oldest.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(stamps.of(2999, now, &|| (0, 0)).sequence, 3000);
    }
}
