//! Messages that wait for one subscriber of ROS 1: who is slow holds up nobody else.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::Notify;

use crate::channels::Reading;
use crate::link::Keep;

/// Bytes that wait of a topic of which some may be lost, unless it is one message.
const MOST_BYTES: usize = 64 << 20;
/// Bytes that are written while others wait to say what comes next.
const AT_ONCE: usize = 256 << 10;

/// What is told of a topic. Shared between threads.
#[derive(Debug, Default)]
pub struct Counts {
    /// Messages, each counted once for each subscriber.
    pub messages: AtomicU64,
    /// Of them.
    pub bytes: AtomicU64,
    /// Those that there was no room for, that came too late, or that are none.
    pub lost: AtomicU64,
}

impl Counts {
    /// Messages, bytes, and messages that were lost.
    pub fn told(&self) -> (u64, u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (now(&self.messages), now(&self.bytes), now(&self.lost))
    }

    /// One more.
    pub fn count(&self, bytes: usize) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// So many more.
    pub fn lose(&self, messages: u64) {
        self.lost.fetch_add(messages, Ordering::Relaxed);
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    messages: usize,
    bytes: usize,
}

impl Room {
    /// For a topic that is read so.
    pub fn of(reading: &Reading) -> Room {
        match reading.keep {
            Keep::Newest { depth } => Room { messages: depth.max(1), bytes: MOST_BYTES },
            Keep::All { bytes } => Room { messages: usize::MAX, bytes },
        }
    }
}

/// Of one subscriber.
#[derive(Debug)]
pub struct Line {
    waiting: Mutex<Waiting>,
    come: Notify,
    over: Notify,
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Waiting {
    room: Room,
    messages: VecDeque<(Bytes, Option<Instant>)>,
    bytes: usize,
    /// The one that was taken last is yet to be written.
    is_writing: bool,
    is_closed: bool,
}

impl Line {
    /// Nothing waits in it.
    pub fn new(room: Room, counts: &Arc<Counts>) -> Line {
        let waiting = Waiting { room, messages: VecDeque::new(), bytes: 0, is_writing: false, is_closed: false };
        Line { waiting: Mutex::new(waiting), come: Notify::new(), over: Notify::new(), counts: Arc::clone(counts) }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So much may wait from now on.
    pub fn widen(&self, room: Room) {
        self.waiting().room = room;
    }

    /// Takes one in that nobody wants from `expires` on; the oldest go where there is no room.
    pub fn push(&self, message: Bytes, expires: Option<Instant>) {
        let lost = self.waiting().push(message, expires);
        self.counts.lose(lost);
        self.come.notify_one();
    }

    /// The oldest one, for who has written the one before.
    pub async fn next(&self) -> Bytes {
        loop {
            let (next, lost) = self.waiting().next(Instant::now());
            self.counts.lose(lost);
            match next {
                Some(next) => return next,
                None => self.come.notified().await,
            }
        }
    }

    /// Writes on at `from` what was taken last, and says how far it has come; whoever writes does not wait. Fails where it is over: from then on nothing is written, so that what is counted as lost does not come.
    pub fn write(&self, message: &Bytes, from: usize, write: impl FnOnce(&[u8]) -> io::Result<usize>) -> io::Result<usize> {
        let mut waiting = self.waiting();
        if waiting.is_closed {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the topic is gone"));
        }
        let end = message.len().min(from.saturating_add(AT_ONCE));
        let to = from + write(&message[from..end])?;
        if to == message.len() {
            waiting.is_writing = false;
            self.counts.count(to);
        }
        Ok(to)
    }

    /// Whether all was written.
    pub fn is_through(&self) -> bool {
        let waiting = self.waiting();
        waiting.messages.is_empty() && !waiting.is_writing
    }

    /// Nothing comes any more, and what was not written is lost.
    pub fn close(&self) {
        let mut waiting = self.waiting();
        self.counts.lose(waiting.messages.len() as u64 + u64::from(waiting.is_writing));
        (waiting.messages, waiting.bytes, waiting.is_writing, waiting.is_closed) = (VecDeque::new(), 0, false, true);
        drop(waiting);
        self.over.notify_one();
    }

    /// Waits until that is so, for the one who takes messages.
    pub async fn closed(&self) {
        self.over.notified().await;
    }
}

impl Waiting {
    /// How many had to go.
    fn push(&mut self, message: Bytes, expires: Option<Instant>) -> u64 {
        let mut lost = 0;
        while self.messages.len() >= self.room.messages || self.bytes.saturating_add(message.len()) > self.room.bytes {
            if self.pop().is_none() {
                break;
            }
            lost += 1;
        }
        self.bytes += message.len();
        self.messages.push_back((message, expires));
        lost
    }

    /// With how many were too old.
    fn next(&mut self, now: Instant) -> (Option<Bytes>, u64) {
        let mut lost = 0;
        while let Some((message, expires)) = self.pop() {
            if expires.is_none_or(|at| at > now) {
                self.is_writing = true;
                return (Some(message), lost);
            }
            lost += 1;
        }
        (None, lost)
    }

    fn pop(&mut self) -> Option<(Bytes, Option<Instant>)> {
        let oldest = self.messages.pop_front();
        self.bytes -= oldest.as_ref().map_or(0, |(message, _)| message.len());
        oldest
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn waiting(messages: usize, bytes: usize) -> Waiting {
        Waiting { room: Room { messages, bytes }, messages: VecDeque::new(), bytes: 0, is_writing: false, is_closed: false }
    }

    fn message(byte: u8, size: usize) -> Bytes {
        vec![byte; size].into()
    }

    #[test]
    fn the_oldest_go_where_there_is_no_room_for_more_messages_or_bytes() {
        let (mut few, mut small) = (waiting(2, 100), waiting(9, 25));
        assert_eq!((1..=4).map(|n| few.push(message(n, 10), None)).sum::<u64>(), 2);
        assert_eq!((1..=4).map(|n| small.push(message(n, 10), None)).sum::<u64>(), 2);
        for waiting in [&mut few, &mut small] {
            let left: Vec<u8> = std::iter::from_fn(|| waiting.next(Instant::now()).0).map(|message| message[0]).collect();
            assert_eq!((left, waiting.bytes), (vec![3, 4], 0));
        }
    }

    #[test]
    fn one_message_is_taken_however_large_it_is() {
        let mut waiting = waiting(9, 25);
        assert_eq!((waiting.push(message(1, 10), None), waiting.push(message(2, 1000), None)), (0, 1));
        assert_eq!(waiting.next(Instant::now()).0.map(|message| message.len()), Some(1000));
    }

    #[test]
    fn what_has_expired_is_left_out() {
        let (mut waiting, now) = (waiting(9, 25), Instant::now());
        waiting.push(message(1, 1), Some(now));
        waiting.push(message(2, 1), Some(now + Duration::from_secs(1)));
        assert_eq!(waiting.next(now), (Some(message(2, 1)), 1));
        assert_eq!(waiting.next(now), (None, 0));
    }

    #[tokio::test]
    async fn a_message_is_written_or_lost_and_not_both() {
        let counts = Arc::<Counts>::default();
        let line = Line::new(Room { messages: 9, bytes: 1000 }, &counts);
        (1..=3).for_each(|n| line.push(message(n, 10), None));
        let first = line.next().await;
        assert_eq!(line.write(&first, 0, |bytes| Ok(bytes.len() - 4)).unwrap(), 6);
        assert_eq!(line.write(&first, 6, |bytes| Ok(bytes.len())).unwrap(), 10);
        let second = line.next().await;
        assert_eq!(line.write(&second, 0, |bytes| Ok(bytes.len() - 4)).unwrap(), 6);
        line.close();
        let mut is_written = false;
        let ended = line.write(&second, 6, |bytes| {
            is_written = true;
            Ok(bytes.len())
        });
        assert!(ended.is_err() && !is_written);
        assert_eq!(counts.told(), (1, 10, 2));
    }

    #[tokio::test]
    async fn who_is_told_that_it_is_over_need_not_wait_yet() {
        let line = Line::new(Room { messages: 1, bytes: 1 }, &Arc::default());
        line.push(message(1, 1), None);
        assert_eq!(line.next().await, message(1, 1));
        line.close();
        line.closed().await;
    }
}
