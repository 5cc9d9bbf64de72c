//! What flowed to clients.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sinew::raw::MessageInfo;

use crate::clock::Clock;

/// Counts of all channels.
#[derive(Default)]
pub struct Flow {
    messages: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    /// One for all messages, so that a clock that is set does not order them anew.
    clock: OnceLock<Clock>,
}

impl Flow {
    /// When a message was published, in nanoseconds since 1970.
    pub fn log_time(&self, info: &MessageInfo) -> u64 {
        self.clock.get_or_init(Clock::new).since_1970(info.source_time_ns)
    }

    /// A message of so many bytes.
    pub fn count(&self, bytes: usize) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Messages that were lost before they got here, or are too large.
    pub fn lose(&self, messages: u64) {
        self.lost.fetch_add(messages, Ordering::Relaxed);
    }

    /// Messages, and their bytes.
    pub fn totals(&self) -> (u64, u64) {
        (self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Messages.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}
