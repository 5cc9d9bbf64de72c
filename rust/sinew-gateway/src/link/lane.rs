//! The messages of one channel, on their way into a connection.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::bell::Bell;
use super::queue::{Keep, Outgoing, Queue};
use crate::protocol::End;

/// How the messages of a channel are sent.
#[derive(Clone, Debug)]
pub struct LaneOptions {
    /// The want's.
    pub channel: u32,
    /// (G37) The first message has the number behind this one.
    pub after: u64,
    /// (G21) Messages stay in their order, and none is given up but by what `keep` says.
    pub ordered: bool,
    /// What is greater goes first, always. Lanes of the same priority share the link.
    pub priority: i32,
    /// What is kept of what cannot be sent yet.
    pub keep: Keep,
    /// Messages a second, at most.
    pub max_rate: Option<f64>,
    /// Bits a second, at most, as [`Budget`](super::Budget) counts them.
    pub max_bandwidth: Option<u64>,
}

/// What has become of the messages of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStatistics {
    /// Given to QUIC as a whole.
    pub sent: u64,
    /// Of those, without what stands around them.
    pub sent_bytes: u64,
    /// Given up, whether begun or not, or refused.
    pub dropped: u64,
    /// Of those, such as were begun: their streams were reset.
    pub reset: u64,
    /// Left out, as the lane has a rate.
    pub skipped: u64,
    /// That wait.
    pub waiting: u64,
    /// Of their parts.
    pub waiting_bytes: u64,
}

/// Of a lane, shared by its handle and the outbox's task.
#[derive(Debug)]
pub(super) struct LaneState {
    pub options: LaneOptions,
    queue: Mutex<Queue>,
    // Numbers that stand for themselves, but for `waiting` and `closed`: they are looked at by the task after the bell, whose mutex orders them.
    /// Messages in the queue; 0 lets the task pass without the lock.
    pub waiting: AtomicU64,
    pub closed: AtomicBool,
    /// Somebody waits until all has gone.
    is_awaited: AtomicBool,
    /// All has. Written under the lock of the queue.
    has_gone: AtomicBool,
    /// The number of the last message that was sent as a whole.
    pub last_sent: AtomicU64,
    pub sent: AtomicU64,
    pub sent_bytes: AtomicU64,
    pub reset: AtomicU64,
}

impl LaneState {
    pub fn new(options: LaneOptions) -> LaneState {
        let queue = Queue::new(options.keep, options.max_rate, Instant::now()).after(options.after);
        LaneState {
            options,
            queue: Mutex::new(queue),
            waiting: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            is_awaited: AtomicBool::new(false),
            has_gone: AtomicBool::new(false),
            last_sent: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            reset: AtomicU64::new(0),
        }
    }

    /// Does something with the queue. The lock is held for no longer than moving a message takes.
    pub fn with_queue<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        let mut queue: MutexGuard<'_, Queue> = self.queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let result = act(&mut queue);
        self.waiting.store(queue.len() as u64, Ordering::Relaxed); // relaxed: see LaneState
        result
    }

    /// To be said by the task when it has begun nothing that it has not finished.
    pub fn all_begun_is_finished(&self) {
        // relaxed: see LaneState
        if self.is_awaited.load(Ordering::Relaxed) {
            self.with_queue(|queue| self.has_gone.store(queue.len() == 0, Ordering::Relaxed)); // relaxed: under the lock
        }
    }
}

/// Where the messages of one channel are pushed into. Sent between threads and used by several at a time, as you like. When it is dropped, what was not sent is given up, and a message that is half sent is reset.
#[derive(Debug)]
pub struct Lane {
    pub(super) state: Arc<LaneState>,
    pub(super) bell: Arc<Bell>,
}

impl Lane {
    /// Takes a message, which then goes, or is given up, as the options say. Does not block. When the connection has ended, messages are counted as given up.
    pub fn push(&self, message: Outgoing) {
        let ended = self.state.closed.load(Ordering::Relaxed); // relaxed: see LaneState
        self.state.with_queue(|queue| {
            queue.push(message);
            self.state.has_gone.store(false, Ordering::Relaxed); // relaxed: under the lock
            if ended {
                queue.clear();
            }
        });
        self.bell.ring();
    }

    /// So many messages were lost before they could be pushed. The far side counts them, when a later one arrives or the channel ends.
    pub fn lose(&self, count: u64) {
        if count > 0 {
            self.state.with_queue(|queue| queue.lose(count));
        }
    }

    /// Whether all that was pushed has gone, or was given up. To be asked again and again.
    pub fn has_gone(&self) -> bool {
        let state = &self.state;
        // relaxed: see LaneState
        if !state.is_awaited.swap(true, Ordering::Relaxed) {
            self.bell.ring();
        }
        state.closed.load(Ordering::Relaxed) || state.with_queue(|_| state.has_gone.load(Ordering::Relaxed)) // relaxed: see LaneState, and under the lock
    }

    /// How far it went, so far.
    pub fn end(&self) -> End {
        let last = self.state.with_queue(|queue| queue.last());
        // Looked at later: it may have gone further, but not beyond.
        End { sent: self.state.last_sent.load(Ordering::Relaxed).min(last), last } // relaxed: see LaneState
    }

    /// What was not sent is given up, as when it is dropped; what comes is counted as given up.
    pub fn close(&self) {
        super::outbox::close(&self.state);
        self.bell.ring();
    }

    /// What has become of the messages so far.
    pub fn statistics(&self) -> LaneStatistics {
        let state = &self.state;
        let reset = state.reset.load(Ordering::Relaxed); // relaxed: see LaneState, as all of these
        let (waiting, waiting_bytes, dropped, skipped, pushed) =
            state.with_queue(|queue| (queue.len() as u64, queue.bytes() as u64, queue.dropped(), queue.skipped(), queue.pushed()));
        let sent = state.sent.load(Ordering::Relaxed); // relaxed: see LaneState
        // What was begun may be reset only later.
        let is_closed = state.closed.load(Ordering::Relaxed); // relaxed: see LaneState
        LaneStatistics {
            sent,
            sent_bytes: state.sent_bytes.load(Ordering::Relaxed), // relaxed: see LaneState
            dropped: if is_closed { pushed.saturating_sub(sent + skipped) } else { dropped + reset },
            reset,
            skipped,
            waiting,
            waiting_bytes,
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.close();
    }
}
