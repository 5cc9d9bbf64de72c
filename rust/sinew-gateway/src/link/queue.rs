//! What waits in a lane, and which of it goes next. Pure: time is an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::bucket::Bucket;
use super::room::LARGE;
use crate::protocol::Packing;

/// A message on its way out. Who made `parts` may have kept memory alive with them; it is given back when the far side has them, or when the message is given up.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// (G20)
    pub origin: u64,
    /// Its bytes, one part behind the other: no more than 4 GiB.
    pub parts: Vec<Bytes>,
    /// Of these bytes.
    pub packing: Packing,
    /// How many they are, unpacked.
    pub unpacked: u32,
    /// When it was published.
    pub published: Instant,
    /// From then on nobody wants it.
    pub expires: Option<Instant>,
}

impl Outgoing {
    /// Of its parts.
    pub fn size(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }
}

/// What a lane keeps of what it cannot send yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The newest messages, so many (at least 1). While the link keeps up, all of them are sent; when it does not, only the newest is.
    Newest {
        /// Messages.
        depth: usize,
    },
    /// All, up to so many bytes; what would be more is refused.
    All {
        /// Of all messages that wait, with what is around them.
        bytes: usize,
    },
}

/// Bytes that a message which waits takes beside its parts, about: small ones would else take many times what they count.
const AROUND: usize = 256;

/// A message with its number.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    /// (G20)
    pub sequence: u64,
    pub message: Outgoing,
    pub size: usize,
}

impl Numbered {
    /// What it takes of the peer's room (G39). None: it needs none.
    pub fn room(&self) -> Option<u64> {
        Some(u64::from(self.message.unpacked).max(self.size as u64)).filter(|bytes| *bytes > LARGE)
    }
}

/// The messages of a lane that were not begun.
#[derive(Debug)]
pub(crate) struct Queue {
    keep: Keep,
    messages: VecDeque<Numbered>,
    bytes: usize,
    /// The last that was given.
    sequence: u64,
    /// Given up or refused, without anything having been sent.
    dropped: u64,
    /// Left out of a lane that has a rate, where there were newer ones.
    skipped: u64,
    taken: u64,
    pushed: u64,
    rate: Option<Bucket>,
}

/// More than the link moves in this time, waiting in a lane, is more than it keeps up with.
const KEEPS_UP: Duration = Duration::from_millis(5);

impl Queue {
    /// `max_rate`: messages a second.
    pub fn new(keep: Keep, max_rate: Option<f64>, now: Instant) -> Queue {
        // Nearly nothing at once: each message empties it for as long as the rate says.
        let rate = max_rate.map(|rate| Bucket::new(rate, 1e-3, now));
        Queue { keep, messages: VecDeque::new(), bytes: 0, sequence: 0, dropped: 0, skipped: 0, taken: 0, pushed: 0, rate }
    }

    /// The first message has the number behind this one.
    pub fn after(self, last: u64) -> Queue {
        Queue { sequence: last, taken: last, ..self }
    }

    /// From the next message on.
    #[cfg_attr(not(feature = "zenoh"), allow(dead_code))]
    pub fn keep(&mut self, keep: Keep) {
        self.keep = keep;
    }

    /// Takes a message in, and gives up what does not fit. Each gets a number, also what is refused.
    pub fn push(&mut self, message: Outgoing) {
        self.sequence += 1;
        self.pushed += 1;
        let size = message.size();
        match self.keep {
            Keep::All { bytes } if self.held() + AROUND + size > bytes && !self.messages.is_empty() || u32::try_from(size).is_err() => {
                self.dropped += 1;
                return;
            }
            Keep::Newest { depth } => {
                while self.messages.len() >= depth.max(1) {
                    self.drop_oldest();
                }
            }
            Keep::All { .. } => {}
        }
        self.bytes += size;
        self.messages.push_back(Numbered { sequence: self.sequence, message, size });
    }

    /// Bytes that it takes.
    fn held(&self) -> usize {
        self.bytes + self.messages.len() * AROUND
    }

    /// So many messages were lost before they could be pushed: they get their numbers all the same.
    pub fn lose(&mut self, count: u64) {
        self.sequence += count;
    }

    /// The number of the last message that there was.
    pub fn last(&self) -> u64 {
        if self.rate.is_some() { self.taken } else { self.sequence }
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.messages.pop_front() {
            self.bytes -= oldest.size;
            *(if self.rate.is_some() { &mut self.skipped } else { &mut self.dropped }) += 1;
        }
    }

    fn drop_expired(&mut self, now: Instant) {
        while self.messages.front().is_some_and(|oldest| oldest.message.expires.is_some_and(|at| at <= now)) {
            self.drop_oldest();
        }
    }

    /// When the next message may be begun; None: there is none.
    pub fn when(&mut self, now: Instant) -> Option<Instant> {
        self.drop_expired(now);
        self.messages.front()?;
        Some(self.rate.as_mut().map_or(now, |rate| rate.when(now)))
    }

    /// Only the newest message is worth sending.
    fn is_behind(&self, link: u64) -> bool {
        let keeps_up = (link as f64 * KEEPS_UP.as_secs_f64()) as usize;
        matches!(self.keep, Keep::Newest { .. }) && (self.bytes > keeps_up || self.rate.is_some())
    }

    /// The message that [`Queue::take`] would give.
    pub fn next(&mut self, now: Instant, link: u64) -> Option<&Numbered> {
        if self.when(now)? > now {
            return None;
        }
        if self.is_behind(link) { self.messages.back() } else { self.messages.front() }
    }

    /// The message to begin now, on a link of so many bytes a second. What is older and not worth sending any more is given up.
    pub fn take(&mut self, now: Instant, link: u64) -> Option<Numbered> {
        if self.when(now)? > now {
            return None;
        }
        if self.is_behind(link) {
            while self.messages.len() > 1 {
                self.drop_oldest();
            }
        }
        let mut next = self.messages.pop_front()?;
        self.bytes -= next.size;
        self.taken += 1;
        if let Some(rate) = &mut self.rate {
            rate.take(now, 1.0);
            // What the rate leaves out is not lost, and has no number (G20).
            next.sequence = self.taken;
        }
        Some(next)
    }

    /// Whether a newer message than any that was begun waits, and the lane would rather send that.
    pub fn has_newer(&self) -> bool {
        matches!(self.keep, Keep::Newest { .. }) && !self.messages.is_empty()
    }

    /// Gives up all, and returns the memory.
    pub fn clear(&mut self) {
        let left = self.messages.len() as u64;
        // Of those the rate would have let the newest go.
        let skipped = if self.rate.is_some() && matches!(self.keep, Keep::Newest { .. }) { left.saturating_sub(1) } else { 0 };
        self.skipped += skipped;
        self.dropped += left - skipped;
        self.bytes = 0;
        self.messages = VecDeque::new();
    }

    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub fn pushed(&self) -> u64 {
        self.pushed
    }
}

/// A message that was begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub total: usize,
    pub written: usize,
    /// When bytes of it were taken last, and more could be.
    pub progress: Instant,
    pub expires: Option<Instant>,
    /// The one before it was given up, so this one is let through.
    pub spared: bool,
}

/// Without progress for this long the link counts as down.
const STALLED: Duration = Duration::from_millis(250);
/// Of a message that is given up for a newer one at most this part was sent.
const LITTLE: usize = 8;

impl Begun {
    /// Whether to give it up, so that a newer one goes, if there is one.
    pub fn is_stale(&self, newer: bool, now: Instant, link: u64) -> bool {
        if self.expires.is_some_and(|at| at <= now) {
            return true;
        }
        if !newer || self.spared {
            return false;
        }
        let keeps_up = (link as f64 * KEEPS_UP.as_secs_f64()) as usize;
        let little = self.total > keeps_up && self.written <= self.total / LITTLE;
        little || now.saturating_duration_since(self.progress) > STALLED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(size: usize, now: Instant) -> Outgoing {
        Outgoing {
            origin: 0,
            parts: vec![vec![0; size].into()],
            packing: Packing::None,
            unpacked: size as u32,
            published: now,
            expires: None,
        }
    }

    /// The numbers of all that can be taken at once.
    fn numbers(queue: &mut Queue, now: Instant, link: u64) -> Vec<u64> {
        std::iter::from_fn(|| queue.take(now, link)).map(|taken| taken.sequence).collect()
    }

    const FAST: u64 = 1_000_000_000;
    const SLOW: u64 = 1_000;

    #[test]
    fn while_the_link_keeps_up_all_that_waits_is_sent_in_order() {
        let now = Instant::now();
        let mut queue = Queue::new(Keep::Newest { depth: 5 }, None, now);
        (0..5).for_each(|_| queue.push(message(100, now)));
        assert_eq!(numbers(&mut queue, now, FAST), [1, 2, 3, 4, 5]);
        assert_eq!(queue.dropped(), 0);
    }

    #[test]
    fn when_it_does_not_only_the_newest_is_and_the_numbers_of_the_others_are_spent() {
        let now = Instant::now();
        let mut queue = Queue::new(Keep::Newest { depth: 5 }, None, now);
        (0..4).for_each(|_| queue.push(message(100, now)));
        assert_eq!(numbers(&mut queue, now, SLOW), [4]);
        assert_eq!(queue.dropped(), 3);
        queue.push(message(100, now));
        assert_eq!(numbers(&mut queue, now, SLOW), [5]);
    }

    #[test]
    fn of_what_is_given_up_only_what_the_rate_would_have_let_go_is_lost() {
        let now = Instant::now();
        for (keep, counted) in [(Keep::Newest { depth: 10 }, (1, 9)), (Keep::All { bytes: 10 * (100 + AROUND) }, (10, 0))] {
            let mut queue = Queue::new(keep, Some(0.1), now);
            (0..11).for_each(|number| {
                queue.push(message(100, now));
                assert_eq!(queue.take(now, FAST).is_some(), number == 0);
            });
            queue.clear();
            assert_eq!((queue.dropped(), queue.skipped()), counted);
        }
    }

    #[test]
    fn no_more_than_the_depth_is_kept() {
        let now = Instant::now();
        let mut queue = Queue::new(Keep::Newest { depth: 2 }, None, now);
        for _ in 0..100 {
            queue.push(message(10, now));
            assert!(queue.len() <= 2 && queue.bytes() <= 20);
        }
        assert_eq!(queue.dropped(), 98);
        assert_eq!(numbers(&mut queue, now, FAST), [99, 100]);
        assert_eq!(queue.bytes(), 0);
    }

    #[test]
    fn who_keeps_all_refuses_the_newest_when_it_is_full() {
        let now = Instant::now();
        let mut queue = Queue::new(Keep::All { bytes: 2 * (100 + AROUND) }, None, now);
        (0..3).for_each(|_| queue.push(message(100, now)));
        assert_eq!((queue.len(), queue.bytes(), queue.dropped()), (2, 200, 1));
        assert_eq!(numbers(&mut queue, now, SLOW), [1, 2]);
        queue.push(message(100, now));
        assert_eq!(numbers(&mut queue, now, SLOW), [4]);
    }

    #[test]
    fn a_message_larger_than_all_that_is_kept_is_taken_by_an_empty_lane() {
        let now = Instant::now();
        let mut queue = Queue::new(Keep::All { bytes: 250 }, None, now);
        queue.push(message(1000, now));
        queue.push(message(1, now));
        assert_eq!(numbers(&mut queue, now, SLOW), [1]);
        assert_eq!(queue.dropped(), 1);
    }

    #[test]
    fn of_small_messages_no_more_wait_than_have_room_with_what_is_around_them() {
        let now = Instant::now();
        let room = 1 << 20;
        let mut queue = Queue::new(Keep::All { bytes: room }, None, now);
        while queue.dropped() == 0 {
            queue.push(message(12, now));
        }
        let around = size_of::<Numbered>() + size_of::<Bytes>() + 12;
        assert!(queue.len() * around <= room, "{} messages wait", queue.len());
    }

    #[test]
    fn what_has_expired_is_not_sent() {
        let now = Instant::now();
        let mut queue = Queue::new(Keep::All { bytes: 1000 + 3 * AROUND }, None, now);
        queue.push(Outgoing { expires: Some(now + Duration::from_secs(1)), ..message(1, now) });
        queue.push(message(1, now));
        assert_eq!(numbers(&mut queue, now + Duration::from_secs(1), FAST), [2]);
        assert_eq!(queue.dropped(), 1);
    }

    #[test]
    fn a_lane_with_a_rate_sends_the_newest_at_that_rate() {
        let start = Instant::now();
        let mut queue = Queue::new(Keep::Newest { depth: 10 }, Some(10.0), start);
        let mut taken = 0;
        for millisecond in 0..10_000 {
            let now = start + Duration::from_millis(millisecond);
            queue.push(message(1, now));
            if let Some(next) = queue.take(now, FAST) {
                taken += 1;
                assert_eq!((next.message.published, next.sequence), (now, taken), "not the newest, or what was left out has a number");
            }
        }
        assert_eq!(queue.dropped(), 0);
        assert_eq!(queue.skipped() + taken + queue.len() as u64, 10_000);
        assert!((99..=101).contains(&taken), "{taken} in 10 s");
    }

    #[test]
    fn a_lane_with_a_rate_that_keeps_all_loses_none_and_says_when_to_come_again() {
        let start = Instant::now();
        let mut queue = Queue::new(Keep::All { bytes: 1000 + 3 * AROUND }, Some(10.0), start);
        (0..3).for_each(|_| queue.push(message(1, start)));
        assert_eq!(numbers(&mut queue, start, FAST), [1]);
        let next = queue.when(start).expect("two wait");
        assert!(next > start + Duration::from_millis(99));
        assert_eq!(numbers(&mut queue, next, FAST), [2]);
    }

    fn begun(written: usize, now: Instant) -> Begun {
        Begun { total: 1_000_000, written, progress: now, expires: None, spared: false }
    }

    #[test]
    fn a_message_of_which_little_was_sent_is_given_up_for_a_newer_one_and_one_of_which_much_was_is_not() {
        let now = Instant::now();
        assert!(begun(100_000, now).is_stale(true, now, SLOW));
        assert!(!begun(100_000, now).is_stale(false, now, SLOW));
        assert!(!begun(200_000, now).is_stale(true, now, SLOW));
        assert!(!begun(100_000, now).is_stale(true, now, FAST), "it would be through in no time");
    }

    #[test]
    fn after_one_was_given_up_the_next_is_let_through() {
        let now = Instant::now();
        assert!(!Begun { spared: true, ..begun(0, now) }.is_stale(true, now + Duration::from_secs(10), SLOW));
    }

    #[test]
    fn a_message_without_progress_is_given_up_for_a_newer_one() {
        let now = Instant::now();
        assert!(begun(900_000, now).is_stale(true, now + Duration::from_secs(1), SLOW));
        assert!(!begun(900_000, now).is_stale(false, now + Duration::from_secs(1), SLOW));
    }

    #[test]
    fn a_message_that_has_expired_is_given_up_whatever_comes() {
        let now = Instant::now();
        assert!(Begun { expires: Some(now), spared: true, ..begun(900_000, now) }.is_stale(false, now, FAST));
    }
}
