//! How much of large messages may be under way to a peer (G39).
//!
//! The peer takes room for a large message before it reads it, and what it does not read uses up what the connection may carry, control messages included. If as many were begun as there are lanes, those that had room could wait for bytes
//! that the others keep from being sent: for ever. So no more is begun than what the peer has room for, whichever of it comes first, and a message counts until all of it was acknowledged: then the peer has all that it needs to be done with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quinn::SendStream;

use super::bell::Bell;

/// (G39) Larger messages need room, and have streams of their own.
pub(crate) const LARGE: u64 = 65_536;

/// Of one peer.
#[derive(Debug)]
pub(super) struct Room {
    /// Bytes of the largest message that the peer takes.
    most: u64,
    /// Bytes that were begun, by priorities.
    begun: Mutex<BTreeMap<i32, u64>>,
    bell: Arc<Bell>,
}

/// Room that a message has, until this is dropped: then the bell is rung.
#[derive(Debug)]
pub(super) struct Held {
    room: Arc<Room>,
    priority: i32,
    bytes: u64,
}

impl Room {
    pub fn new(most: u64, bell: Arc<Bell>) -> Arc<Room> {
        Arc::new(Room { most, begun: Mutex::default(), bell })
    }

    /// For so many bytes, if there is. What is more important than all that was begun does not wait for it: half of the room is kept for that.
    pub fn take(self: &Arc<Room>, priority: i32, bytes: u64) -> Option<Held> {
        let mut begun = self.begun();
        let all = begun.values().fold(0, |all: u64, bytes| all.saturating_add(*bytes));
        let as_important = begun.range(priority..).fold(0, |all: u64, (_, bytes)| all.saturating_add(*bytes));
        let fits = all.saturating_add(bytes) <= self.most.saturating_mul(2) && as_important.saturating_add(bytes) <= self.most;
        if all > 0 && !fits {
            return None;
        }
        *begun.entry(priority).or_default() += bytes;
        Some(Held { room: Arc::clone(self), priority, bytes })
    }

    fn begun(&self) -> MutexGuard<'_, BTreeMap<i32, u64>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        {
            let mut begun = self.room.begun();
            if let Some(bytes) = begun.get_mut(&self.priority) {
                *bytes -= self.bytes;
                if *bytes == 0 {
                    begun.remove(&self.priority);
                }
            }
        }
        self.room.bell.ring();
    }
}

/// Until all of the stream was acknowledged, or the peer has stopped it.
pub(super) fn hold(held: Option<Held>, stream: &SendStream) {
    if let Some(held) = held {
        let stopped = stream.stopped();
        tokio::spawn(async move {
            let _ = stopped.await;
            drop(held);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_begun_than_there_is_room_for_and_what_has_ended_gives_it_back() {
        let room = Room::new(1000, Arc::default());
        let first = room.take(0, 700).expect("there is room");
        assert!(room.take(0, 400).is_none());
        let second = room.take(0, 300).expect("there is room");
        drop(first);
        assert!(room.take(0, 701).is_none());
        drop(second);
        assert!(room.begun().is_empty());
    }

    #[test]
    fn what_is_more_important_does_not_wait_for_what_is_less() {
        let room = Room::new(1000, Arc::default());
        let _images = room.take(0, 1000).expect("there is room");
        assert!(room.take(0, 1).is_none() && room.take(-1, 1).is_none());
        let _map = room.take(5, 1000).expect("it is more important");
        assert!(room.take(9, 1).is_none(), "there is no room at all");
    }

    #[test]
    fn a_message_that_can_never_fit_waits_until_it_is_alone() {
        let room = Room::new(1000, Arc::default());
        let alone = room.take(0, u64::MAX).expect("nothing else is there");
        assert!(room.take(9, 1).is_none());
        drop(alone);
        assert!(room.take(0, 1).is_some());
    }
}
