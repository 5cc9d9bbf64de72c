//! Room for large messages that are arriving (G39).
//!
//! A peer that keeps to the rule never waits for it: those that have room and are not whole are no more than two of the largest together, so the third is always free for the next in turn, and what is whole is done with soon. That could break if
//! who has room waits for somebody here who stands still; so a message that waits for its subscribers alone gives its room back before.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::link::LARGE;

/// Who does not keep to the rule is not to block its own connection for ever. Longer than subscribers are waited for at the begin of a channel.
const PATIENCE: Duration = Duration::from_secs(1);
/// Of what room is counted in.
const KIB: u64 = 1024;
/// In messages of the largest size: two that a peer may have begun, and one.
const MESSAGES: u64 = 3;

/// Of one connection.
pub struct Room(Semaphore);

/// That a message has, until it is dropped; a small one needs none.
pub type Taken<'a> = Option<SemaphorePermit<'a>>;

/// Why there is none.
#[derive(Debug)]
pub enum NoRoom {
    /// The peer has begun more than it may.
    Full,
    /// The connection is over.
    Closed,
}

impl Room {
    /// For messages of so many bytes at most.
    pub fn new(max_message: u64) -> Room {
        let room = max_message.div_ceil(KIB).saturating_mul(MESSAGES);
        Room(Semaphore::new(usize::try_from(room).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)))
    }

    /// For a message of so many bytes, packed and unpacked.
    pub async fn take(&self, size: u32, unpacked: u32) -> Result<Taken<'_>, NoRoom> {
        let bytes = u64::from(size.max(unpacked));
        if bytes <= LARGE {
            return Ok(None);
        }
        let needed = u32::try_from(bytes.div_ceil(KIB)).expect("of a u32");
        match tokio::time::timeout(PATIENCE, self.0.acquire_many(needed)).await {
            Ok(taken) => taken.map(Some).map_err(|_| NoRoom::Closed),
            Err(_) => Err(NoRoom::Full),
        }
    }

    /// Nothing has room any more.
    pub fn close(&self) {
        self.0.close();
    }
}
