//! What is counted of messages between the domain and the lane, so that none is lost without a number.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sinew::raw::MessageInfo;

/// Publishers of a topic that are told apart, so that publishers that come and go cost a bounded amount of memory.
const MOST_PUBLISHERS: usize = 256;

/// Where a channel has left off that its peer still wants: what follows over the next one goes on from there, so that it is known what was published between them, or has not come (G37).
#[derive(Clone, Debug, Default)]
pub struct LeftOff {
    /// The number of the last message; 0 where what is kept comes again.
    last: u64,
    publishers: Newest,
}

impl LeftOff {
    /// (G37)
    pub fn last(&self) -> u64 {
        self.last
    }
}

/// By the nodes of publishers, the numbers of their messages that were taken last. None: there are several of one node, or were, and it is not known whose they are.
type Newest = HashMap<String, Option<u64>>;

/// What becomes of messages between the domain and the lane.
#[derive(Default)]
pub(super) struct Taking {
    pub begun: AtomicU64,
    pub ended: AtomicU64,
    /// Larger than the peer takes.
    pub too_large: AtomicU64,
    /// That the lane was told of, so that they have numbers.
    pub missed: AtomicU64,
    /// Published while there was no channel that was to be there.
    pub between: AtomicU64,
    /// As it is, and as it was when a channel, or a subscriber, was there last.
    publishers: Mutex<(Newest, Newest)>,
}

impl Taking {
    /// How many messages its publisher has published before this one, which is taken now, and since another subscriber was there.
    pub fn between(&self, info: &MessageInfo) -> u64 {
        let mut publishers = self.publishers();
        let (now, before) = &mut *publishers;
        if let Some(newest) = now.get_mut(&info.publisher) {
            *newest = newest.filter(|newest| *newest < info.sequence).map(|_| info.sequence);
            // Only of the first: what is passed over later, as it is too old or not asked for, is not lost.
            return 0;
        }
        if now.len() >= MOST_PUBLISHERS {
            now.clear();
        }
        now.insert(info.publisher.clone(), Some(info.sequence));
        let last = before.remove(&info.publisher).flatten();
        last.map_or(0, |last| info.sequence.saturating_sub(last).saturating_sub(1 + info.missed))
    }

    /// The channel goes on from there.
    pub fn begin_behind(&self, left_off: &LeftOff) {
        self.publishers().1.clone_from(&left_off.publishers);
    }

    /// Another subscriber is there from now on.
    pub fn begin_anew(&self) {
        let mut publishers = self.publishers();
        let (now, before) = &mut *publishers;
        before.extend(now.drain());
    }

    /// They have gone, and who comes under the same name counts anew.
    pub fn forget_publishers(&self) {
        *self.publishers() = Default::default();
    }

    /// Now that this was the number of the last message.
    pub fn left_off(&self, last: u64) -> LeftOff {
        LeftOff { last, publishers: self.publishers().0.clone() }
    }

    fn publishers(&self) -> MutexGuard<'_, (Newest, Newest)> {
        self.publishers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
