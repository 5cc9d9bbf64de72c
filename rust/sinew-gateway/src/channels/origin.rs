//! Messages that come a second time (G20).

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use sinew::raw::MessageInfo;

/// How many are remembered: more than a publisher keeps for those who come late.
const REMEMBERED: usize = 1024;

/// What a message has wherever it is sent, and no other one.
pub fn origin_of(info: &MessageInfo) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&info.publisher, info.sequence, info.source_time_ns).hash(&mut hasher);
    hasher.finish()
}

/// The last ones.
#[derive(Debug, Default)]
pub struct Recent {
    set: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Recent {
    /// Whether it is one of them.
    pub fn has(&self, origin: u64) -> bool {
        self.set.contains(&origin)
    }

    /// Whether it is new; from now on it is not.
    pub fn is_new(&mut self, origin: u64) -> bool {
        if !self.set.insert(origin) {
            return false;
        }
        self.order.push_back(origin);
        if self.order.len() > REMEMBERED {
            self.order.pop_front().map(|oldest| self.set.remove(&oldest));
        }
        true
    }
}
