//! What a network has brought, until it is published here: the network's own threads never wait.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// Messages that wait at most.
const MOST: usize = 1024;
/// And their bytes, unless it is one message.
const MOST_BYTES: usize = 64 << 20;

/// Who keeps all, and has no room for a message, is asked again so soon: what comes meanwhile waits behind it.
pub const AGAIN: Duration = Duration::from_millis(1);

/// What may wait.
pub trait Weighs {
    /// Its bytes.
    fn weight(&self) -> usize;
}

impl Weighs for Vec<u8> {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// Of one topic.
pub struct Waiting<T> {
    queue: Mutex<Queue<T>>,
    come: Notify,
    settled: Notify,
}

struct Queue<T> {
    messages: VecDeque<T>,
    bytes: usize,
    lost: u64,
    /// How many there ever were.
    pushed: u64,
    /// And of these, those with which nothing is done any more.
    settled: u64,
    /// And those that wait elsewhere.
    held: u64,
}

impl<T> Queue<T> {
    /// With what waits neither here nor elsewhere nothing is done any more.
    fn settle(&mut self) {
        self.settled = self.pushed - self.messages.len() as u64 - self.held;
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Waiting<T> {
        let queue = Queue { messages: VecDeque::new(), bytes: 0, lost: 0, pushed: 0, settled: 0, held: 0 };
        Waiting { queue: Mutex::new(queue), come: Notify::new(), settled: Notify::new() }
    }
}

impl<T: Weighs> Waiting<T> {
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one in, for which the oldest go where there is no room: these.
    pub fn push(&self, message: T) -> Vec<T> {
        let size = message.weight();
        let mut queue = self.queue();
        let mut lost = Vec::new();
        while queue.messages.len() >= MOST || queue.bytes.saturating_add(size) > MOST_BYTES {
            let Some(oldest) = queue.messages.pop_front() else { break };
            queue.bytes -= oldest.weight();
            queue.lost += 1;
            queue.settled += 1;
            lost.push(oldest);
        }
        queue.bytes += size;
        queue.pushed += 1;
        queue.messages.push_back(message);
        drop(queue);
        self.come.notify_one();
        lost
    }

    /// The oldest one. Whoever asks has done what is to be done with the one before.
    pub async fn next(&self) -> T {
        loop {
            match self.next_of(|_| true) {
                Some(next) => return next,
                None => self.come.notified().await,
            }
        }
    }

    /// Likewise, the oldest one of these, if one waits.
    pub fn next_of(&self, is_one: impl FnMut(&T) -> bool) -> Option<T> {
        let next = {
            let mut queue = self.queue();
            queue.settle();
            let at = queue.messages.iter().position(is_one);
            let next = at.and_then(|at| queue.messages.remove(at));
            queue.bytes -= next.as_ref().map_or(0, |next| next.weight());
            next
        };
        self.settled.notify_waiters();
        next
    }

    /// How many wait up to the first of these; 0: none of them does.
    #[cfg_attr(not(feature = "zenoh"), allow(dead_code))]
    pub fn up_to(&self, is_one: impl FnMut(&T) -> bool) -> usize {
        self.queue().messages.iter().position(is_one).map_or(0, |at| at + 1)
    }

    /// So many wait elsewhere, and are to be treated as those here.
    #[cfg_attr(not(feature = "zenoh"), allow(dead_code))]
    pub fn hold(&self, count: u64) {
        let mut queue = self.queue();
        queue.pushed += count;
        queue.held += count;
    }

    /// With so many of those, or with all that are left of them, nothing is done any more.
    #[cfg_attr(not(feature = "zenoh"), allow(dead_code))]
    pub fn release(&self, count: u64) {
        let mut queue = self.queue();
        let count = count.min(queue.held);
        queue.held -= count;
        queue.settled += count;
        drop(queue);
        self.settled.notify_waiters();
    }

    /// Nor with the one that was taken last.
    pub fn settle(&self) {
        self.queue().settle();
        self.settled.notify_waiters();
    }

    /// Whether with all that there were nothing is done any more.
    pub fn is_settled(&self) -> bool {
        let queue = self.queue();
        queue.settled >= queue.pushed
    }

    /// Until with all that were there nothing is done any more.
    pub async fn settled(&self) {
        let until = self.queue().pushed;
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // Before it is looked, so that nothing is missed.
            settled.as_mut().enable();
            if self.queue().settled >= until {
                return;
            }
            settled.await;
        }
    }

    /// Nothing is done any more with those that are there: they are lost. How many these are.
    pub fn give_up(&self) -> u64 {
        let mut queue = self.queue();
        let lost = queue.pushed - queue.settled;
        queue.lost += lost;
        queue.settled = queue.pushed;
        queue.held = 0;
        queue.messages.clear();
        queue.bytes = 0;
        drop(queue);
        self.settled.notify_waiters();
        lost
    }

    /// How many there was no room for, or that were given up.
    #[cfg_attr(not(feature = "zenoh"), allow(dead_code))]
    pub fn lost(&self) -> u64 {
        self.queue().lost
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_message_is_settled_when_the_next_one_is_asked_for() {
        let waiting = Waiting::<Vec<u8>>::default();
        waiting.settled().await;
        assert!(waiting.push(vec![1]).is_empty());
        waiting.push(vec![2]);
        waiting.next().await;
        let settled = waiting.settled();
        tokio::pin!(settled);
        assert!(settled.as_mut().now_or_never().is_none());
        waiting.next().await;
        assert!(settled.as_mut().now_or_never().is_none());
        waiting.push(vec![3]);
        waiting.next().await;
        assert!(settled.as_mut().now_or_never().is_some(), "what came later is no matter");
    }

    #[tokio::test]
    async fn what_waits_elsewhere_is_waited_for_until_it_is_released_or_given_up() {
        let waiting = Waiting::<Vec<u8>>::default();
        waiting.hold(3);
        waiting.push(vec![1]);
        waiting.next().await;
        waiting.settle();
        assert!(!waiting.is_settled());
        waiting.release(2);
        assert!(!waiting.is_settled());
        assert_eq!(waiting.give_up(), 1);
        waiting.release(1);
        assert!(waiting.is_settled());
        assert_eq!(waiting.lost(), 1);
        waiting.push(vec![2]);
        assert!(!waiting.is_settled());
    }

    #[tokio::test]
    async fn what_is_given_up_is_lost_and_nobody_waits_for_it() {
        let waiting = Waiting::<Vec<u8>>::default();
        (0..3).for_each(|number| _ = waiting.push(vec![number]));
        waiting.next().await;
        waiting.next().await;
        let settled = waiting.settled();
        tokio::pin!(settled);
        assert!(settled.as_mut().now_or_never().is_none());
        waiting.give_up();
        assert_eq!((settled.as_mut().now_or_never(), waiting.is_settled(), waiting.lost()), (Some(()), true, 2), "one was done with");
        waiting.push(vec![4]);
        assert_eq!(waiting.next().await, [4]);
    }

    #[tokio::test]
    async fn what_there_was_no_room_for_is_lost_once_also_where_the_rest_is_given_up() {
        let waiting = Waiting::default();
        waiting.push(vec![0; 2]);
        waiting.next().await;
        let lost = (0..MOST + 3).flat_map(|_| waiting.push(vec![1; 2])).count();
        waiting.give_up();
        assert_eq!((lost, waiting.lost()), (3, 1 + MOST as u64 + 3), "one was in hand");
    }

    #[tokio::test]
    async fn the_oldest_go_where_there_is_no_room() {
        let waiting = Waiting::default();
        let lost: Vec<Vec<u8>> = (0..MOST + 3).flat_map(|number| waiting.push(vec![number as u8; 2])).collect();
        assert_eq!((lost, waiting.lost(), waiting.next().await[0]), (vec![vec![0; 2], vec![1; 2], vec![2; 2]], 3, 3));
        assert_eq!((waiting.push(vec![9; MOST_BYTES]).len(), waiting.next().await.len()), (MOST - 1, MOST_BYTES));
    }
}
