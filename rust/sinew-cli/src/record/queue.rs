//! What was received and is to be written.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// When so many bytes wait, whoever receives waits: then publishers' rings fill, and what is lost is counted there. Most of them lie in publishers' memory, and what does not is copied into this process.
const MOST: u64 = 512 << 20;
/// What a waiting message takes beside its bytes.
const OVERHEAD: u64 = 512;

/// A queue between those who receive and the one who writes.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
}

struct State<T> {
    waiting: VecDeque<(T, u64)>,
    bytes: u64,
    is_closed: bool,
}

/// What comes out of a queue.
pub enum Taken<T> {
    Item(T),
    /// None came in time.
    Nothing,
    /// None will come any more.
    Closed,
}

impl<T> Queue<T> {
    pub fn new() -> Queue<T> {
        let state = State { waiting: VecDeque::new(), bytes: 0, is_closed: false };
        Queue { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() }
    }

    /// Adds something of so many bytes, when there is room. When the queue is closed, it is let go of.
    pub fn push(&self, item: T, bytes: u64) {
        let bytes = bytes + OVERHEAD;
        let state = self.state.lock().expect("nobody panics with it");
        let mut state = self.emptied.wait_while(state, |state| state.bytes > MOST && !state.is_closed).expect("nobody panics with it");
        if !state.is_closed {
            state.waiting.push_back((item, bytes));
            state.bytes += bytes;
            drop(state);
            self.filled.notify_one();
        }
    }

    /// Whether who adds something would wait.
    pub fn is_full(&self) -> bool {
        self.bytes() > MOST
    }

    /// So many wait.
    pub fn bytes(&self) -> u64 {
        self.state.lock().expect("nobody panics with it").bytes
    }

    /// The oldest, when there is one, but waits at most until then.
    pub fn take(&self, until: Instant) -> Taken<T> {
        let state = self.state.lock().expect("nobody panics with it");
        let is_idle = |state: &mut State<T>| state.waiting.is_empty() && !state.is_closed;
        let left = until.saturating_duration_since(Instant::now());
        let (mut state, _) = self.filled.wait_timeout_while(state, left, is_idle).expect("nobody panics with it");
        match state.waiting.pop_front() {
            Some((item, bytes)) => {
                state.bytes -= bytes;
                drop(state);
                self.emptied.notify_all();
                Taken::Item(item)
            }
            None if state.is_closed => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Nothing is added any more; what waits can be taken.
    pub fn close(&self) {
        self.state.lock().expect("nobody panics with it").is_closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn who_adds_waits_for_room_and_what_waits_is_taken_after_the_end() {
        let queue = Queue::new();
        std::thread::scope(|scope| {
            let adds = scope.spawn(|| (0..5).for_each(|n| queue.push(n, MOST / 2)));
            for expected in 0..3 {
                assert!(matches!(queue.take(later()), Taken::Item(n) if n == expected));
            }
            adds.join().unwrap();
        });
        queue.close();
        queue.push(7, 1);
        assert!(matches!(queue.take(later()), Taken::Item(3)));
        assert!(matches!(queue.take(later()), Taken::Item(4)));
        assert!(matches!(queue.take(later()), Taken::Closed));
    }

    #[test]
    fn a_full_queue_lets_go_when_it_is_closed() {
        let queue = Queue::new();
        queue.push(0, MOST);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| queue.push(1, 1));
            queue.close();
            waits.join().unwrap();
        });
        assert!(matches!(queue.take(later()), Taken::Item(0)));
        assert!(matches!(queue.take(later()), Taken::Closed));
    }

    #[test]
    fn who_takes_waits_no_longer_than_until_then() {
        assert!(matches!(Queue::<u8>::new().take(Instant::now()), Taken::Nothing));
    }
}
