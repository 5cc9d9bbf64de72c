//! What is counted of a service.

use std::sync::atomic::{AtomicU64, Ordering};

/// Since the channel was opened.
#[derive(Debug, Default)]
pub struct Counts {
    answered: AtomicU64,
    bytes: AtomicU64,
    unanswered: AtomicU64,
}

impl Counts {
    /// A call, whose request and answer have so many bytes. An answer may be that it failed.
    pub(crate) fn answered(&self, bytes: usize) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A call that nobody could or would answer.
    pub(crate) fn unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that were answered, the bytes of their requests and answers, and calls that were not.
    pub fn told(&self) -> (u64, u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (now(&self.answered), now(&self.bytes), now(&self.unanswered))
    }
}
