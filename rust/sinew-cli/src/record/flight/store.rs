//! What the flight recorder holds: the newest messages, where their publishers wrote them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sinew::raw::{Delivery, MessageInfo};

use crate::record::source::Received;

/// What a message takes beside its bytes, so that small ones have an end, too.
const OVERHEAD: u64 = 512;

/// A message that is held.
pub struct Held {
    pub message: Received,
    pub info: MessageInfo,
    bytes: u64,
}

impl Held {
    pub fn new(message: Received) -> Held {
        let (info, bytes) = (message.frame.info(), message.frame.size() as u64 + OVERHEAD);
        Held { message, info, bytes }
    }

    /// It lies in its publisher's memory.
    pub fn is_by_reference(&self) -> bool {
        self.info.delivery != Delivery::Copy
    }
}

/// Holds messages that are no older than so long, in no more than so many bytes: the oldest go first. What publishers keep for those who come late is held longer, as they do, in no more than half of the bytes.
pub struct Store<H = Held> {
    longest_ns: i64,
    budget: u64,
    bytes: u64,
    /// In the order in which they came.
    newest: VecDeque<Arc<H>>,
    /// Older ones, by topic and publisher, of those that keep some.
    kept: HashMap<(usize, String), VecDeque<Arc<H>>>,
    /// Of all bytes.
    kept_bytes: u64,
    /// At this time something happened, and what was there then is to stay.
    happened_ns: Option<i64>,
}

/// What a store asks of what it holds.
pub trait Holdable {
    fn bytes(&self) -> u64;
    fn time_ns(&self) -> i64;
    /// Whose it is, and how many of them are kept.
    fn keeper(&self) -> ((usize, String), usize);
}

impl Holdable for Held {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn time_ns(&self) -> i64 {
        self.info.receive_time_ns
    }

    fn keeper(&self) -> ((usize, String), usize) {
        let source = &self.message.source;
        ((source.number, self.info.publisher.clone()), source.keeps())
    }
}

impl<H: Holdable> Store<H> {
    pub fn new(longest_ns: i64, budget: u64) -> Store<H> {
        Store { longest_ns, budget, bytes: 0, newest: VecDeque::new(), kept: HashMap::new(), kept_bytes: 0, happened_ns: None }
    }

    /// Holds another one.
    pub fn push(&mut self, held: H) {
        let now = held.time_ns();
        self.bytes += held.bytes();
        self.newest.push_back(Arc::new(held));
        self.let_go(now);
    }

    /// From now on nothing grows older, until what is held is given by [`take`](Store::take). It may become too much.
    pub fn stay(&mut self, now_ns: i64) {
        self.let_go(now_ns);
        self.happened_ns.get_or_insert(now_ns);
    }

    /// Lets go of what is too old, or too much.
    pub fn let_go(&mut self, now_ns: i64) {
        let now_ns = self.happened_ns.unwrap_or(now_ns);
        while let Some(oldest) = self.newest.front() {
            if self.bytes <= self.budget && oldest.time_ns() >= now_ns.saturating_sub(self.longest_ns) {
                return;
            }
            if let Some(oldest) = self.newest.pop_front() {
                self.keep(oldest);
            }
        }
    }

    /// All that is held now, the oldest first. It stays held, and grows older again.
    pub fn take(&mut self, now_ns: i64) -> Vec<Arc<H>> {
        self.let_go(now_ns);
        self.happened_ns = None;
        self.all()
    }

    fn all(&self) -> Vec<Arc<H>> {
        let mut kept: Vec<_> = self.kept.values().flatten().cloned().collect();
        kept.sort_by_key(|held| held.time_ns());
        kept.into_iter().chain(self.newest.iter().cloned()).collect()
    }

    /// When the oldest came that is there since it is new enough.
    pub fn begin_ns(&self) -> Option<i64> {
        self.newest.front().map(|held| held.time_ns())
    }

    /// How many, and how many bytes.
    pub fn totals(&self) -> (usize, u64) {
        (self.newest.len() + self.kept.values().map(VecDeque::len).sum::<usize>(), self.bytes)
    }

    fn keep(&mut self, held: Arc<H>) {
        let (key, most) = held.keeper();
        if most == 0 {
            self.bytes -= held.bytes();
            return;
        }
        self.kept_bytes += held.bytes();
        let kept = self.kept.entry(key.clone()).or_default();
        kept.push_back(held);
        if kept.len() > most {
            self.drop_kept(&key);
        }
        while self.kept_bytes > self.budget / 2
            && let Some((_, key)) = self.kept.iter().filter_map(|(key, kept)| Some((kept.front()?.time_ns(), key.clone()))).min()
        {
            self.drop_kept(&key);
        }
    }

    /// The oldest of them.
    fn drop_kept(&mut self, key: &(usize, String)) {
        let Some(kept) = self.kept.get_mut(key) else { return };
        if let Some(dropped) = kept.pop_front() {
            self.bytes -= dropped.bytes();
            self.kept_bytes -= dropped.bytes();
        }
        if kept.is_empty() {
            self.kept.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given {
        topic: usize,
        time_ns: i64,
        bytes: u64,
        keeps: usize,
    }

    impl Holdable for Given {
        fn bytes(&self) -> u64 {
            self.bytes
        }
        fn time_ns(&self) -> i64 {
            self.time_ns
        }
        fn keeper(&self) -> ((usize, String), usize) {
            ((self.topic, "node".to_owned()), self.keeps)
        }
    }

    fn times(store: &Store<Given>) -> Vec<i64> {
        store.all().iter().map(|held| held.time_ns).collect()
    }

    fn given(topic: usize, time_ns: i64, bytes: u64, keeps: usize) -> Given {
        Given { topic, time_ns, bytes, keeps }
    }

    #[test]
    fn what_is_too_old_goes_first() {
        let mut store = Store::new(10, 1000);
        (0..20).for_each(|n| store.push(given(0, n, 1, 0)));
        assert_eq!((times(&store), store.totals()), ((9..20).collect(), (11, 11)));
        store.let_go(25);
        assert_eq!(times(&store), (15..20).collect::<Vec<_>>());
        store.let_go(i64::MAX);
        assert_eq!((times(&store), store.totals(), store.begin_ns()), (vec![], (0, 0), None));
    }

    #[test]
    fn what_was_there_when_something_happened_stays_until_it_is_taken() {
        let mut store = Store::new(10, 100);
        (0..20).for_each(|n| store.push(given(0, n, 1, 0)));
        store.stay(20);
        (20..40).for_each(|n| store.push(given(0, n, 1, 0)));
        store.stay(40);
        let taken: Vec<i64> = store.take(50).iter().map(|held| held.time_ns).collect();
        assert_eq!(taken, (10..40).collect::<Vec<_>>());
        store.let_go(45);
        assert_eq!(times(&store), (35..40).collect::<Vec<_>>());
    }

    #[test]
    fn it_holds_no_more_than_its_budget() {
        let mut store = Store::new(i64::MAX, 100);
        (0..20).for_each(|n| store.push(given(0, n, 30, 0)));
        assert_eq!((times(&store), store.totals()), (vec![17, 18, 19], (3, 90)));
        store.push(given(0, 20, 101, 0));
        assert_eq!(store.totals(), (0, 0), "one alone is too much");
    }

    #[test]
    fn what_publishers_keep_is_held_after_its_time() {
        let mut store = Store::new(10, 100);
        store.push(given(7, 0, 20, 2));
        store.push(given(7, 1, 20, 2));
        store.push(given(7, 2, 20, 2));
        store.push(given(0, 50, 20, 0));
        assert_eq!((times(&store), store.begin_ns()), (vec![1, 2, 50], Some(50)));
        store.push(given(0, 51, 60, 0));
        assert_eq!((times(&store), store.totals()), (vec![1, 2, 51], (3, 100)));
    }

    #[test]
    fn what_publishers_keep_takes_half_of_the_budget_at_most() {
        let mut store = Store::new(10, 100);
        (0..3).for_each(|topic| store.push(given(topic as usize, topic, 20, 1)));
        store.let_go(100);
        assert_eq!((times(&store), store.totals()), (vec![1, 2], (2, 40)));
    }

    #[test]
    fn what_is_kept_goes_after_what_is_not() {
        let mut store = Store::new(10, 100);
        store.push(given(7, 0, 40, 1));
        store.push(given(0, 1, 40, 0));
        store.push(given(0, 2, 40, 0));
        assert_eq!(times(&store), [0, 2]);
    }
}
