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
    /// And when their messages were published.
    given: HashMap<u64, (Stamp, Instant)>,
    oldest: VecDeque<u64>,
    /// When those were published of the ones that have gone, and that are forgotten.
    newest_gone: Option<Instant>,
    newest_forgotten: Option<Instant>,
    sequence: i64,
    order: u64,
}

impl Stamps {
    /// Of the message of this origin, which goes now. `new`: when it was published, and the time now, where it has none yet.
    pub fn of(&mut self, origin: u64, published: Instant, new: &dyn Fn() -> (i64, u64)) -> Stamp {
        self.newest_gone = self.newest_gone.max(Some(published));
        self.give(origin, published, new)
    }

    /// The same of one that was kept. None: what was published after it has gone meanwhile, and it not before that: it is kept no more, and would be taken for newer.
    pub fn of_kept(&mut self, origin: u64, published: Instant, new: &dyn Fn() -> (i64, u64)) -> Option<Stamp> {
        // What is as old as one that is forgotten may have had a stamp.
        let is_overtaken = self.newest_gone > Some(published) && self.newest_forgotten < Some(published);
        (!is_overtaken || self.given.contains_key(&origin)).then(|| self.give(origin, published, new))
    }

    fn give(&mut self, origin: u64, published: Instant, new: &dyn Fn() -> (i64, u64)) -> Stamp {
        if let Some((given, _)) = self.given.get(&origin) {
            return *given;
        }
        let (time_ns, now) = new();
        self.sequence += 1;
        self.order = now.max(self.order.saturating_add(1));
        let stamp = Stamp { sequence: self.sequence, time_ns, order: self.order };
        self.given.insert(origin, (stamp, published));
        self.oldest.push_back(origin);
        if self.oldest.len() > REMEMBERED {
            let forgotten = self.oldest.pop_front().and_then(|oldest| self.given.remove(&oldest));
            self.newest_forgotten = self.newest_forgotten.max(forgotten.map(|(_, published)| published));
        }
        stamp
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_kept_is_not_told_when_what_was_published_after_it_has_gone_and_it_has_not() {
        let mut stamps = Stamps::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let oldest = stamps.of(1, at(1), &|| (100, 1000));
        // Who asks for the newest alone has nobody else get less.
        let asked = stamps.of_kept(3, at(3), &|| (300, 3000));
        assert_eq!(asked.map(|stamp| stamp.sequence), Some(2));
        let kept = stamps.of_kept(2, at(2), &|| (200, 3001));
        assert_eq!(kept.map(|stamp| stamp.sequence), Some(3));
        stamps.of(5, at(5), &|| (500, 5000));
        assert_eq!(stamps.of_kept(4, at(4), &|| (400, 6000)), None);
        assert_eq!(
            [(1, 1), (2, 2), (3, 3)].map(|(origin, second)| stamps.of_kept(origin, at(second), &|| (0, 0))),
            [Some(oldest), kept, asked]
        );
        assert_eq!(stamps.of_kept(6, at(6), &|| (600, 6000)).map(|stamp| stamp.sequence), Some(5));
    }

    #[test]
    fn what_was_kept_is_told_though_its_stamp_is_forgotten() {
        let (mut stamps, begin) = (Stamps::default(), Instant::now());
        stamps.of(0, begin, &|| (0, 0));
        for origin in 1..=REMEMBERED as u64 {
            stamps.of(origin, begin + Duration::from_millis(origin), &|| (0, 0));
        }
        assert_eq!(stamps.of_kept(0, begin, &|| (0, 0)).map(|stamp| stamp.sequence), Some(REMEMBERED as i64 + 2));
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
