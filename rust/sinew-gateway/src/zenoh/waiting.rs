//! What Zenoh has received, until somebody takes it: Zenoh's own thread never waits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use zenoh::sample::Sample;

/// Messages that wait at most.
const MOST: usize = 1024;
/// And their bytes, unless it is one message.
const MOST_BYTES: usize = 64 << 20;

/// Of one topic.
#[derive(Default)]
pub struct Waiting {
    queue: Mutex<Queue>,
    come: Notify,
    settled: Notify,
}

#[derive(Default)]
struct Queue {
    samples: VecDeque<Sample>,
    bytes: usize,
    lost: u64,
    /// How many there ever were.
    pushed: u64,
    /// And of these, those with which nothing is done any more.
    settled: u64,
}

impl Waiting {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one in, for which the oldest go where there is no room.
    pub fn push(&self, sample: Sample) {
        let size = sample.payload().len();
        let mut queue = self.queue();
        while queue.samples.len() >= MOST || queue.bytes.saturating_add(size) > MOST_BYTES {
            let Some(oldest) = queue.samples.pop_front() else { break };
            queue.bytes -= oldest.payload().len();
            queue.lost += 1;
        }
        queue.bytes += size;
        queue.pushed += 1;
        queue.samples.push_back(sample);
        drop(queue);
        self.come.notify_one();
    }

    /// The oldest one. Whoever asks has done what is to be done with the one before.
    pub async fn next(&self) -> Sample {
        loop {
            let next = {
                let mut queue = self.queue();
                queue.settled = queue.pushed - queue.samples.len() as u64;
                let next = queue.samples.pop_front();
                queue.bytes -= next.as_ref().map_or(0, |next| next.payload().len());
                next
            };
            self.settled.notify_waiters();
            match next {
                Some(next) => return next,
                None => self.come.notified().await,
            }
        }
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

    /// How many there was no room for.
    pub fn lost(&self) -> u64 {
        self.queue().lost
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use zenoh::sample::SampleBuilder;

    use super::*;

    fn sample() -> Sample {
        SampleBuilder::put(zenoh::key_expr::KeyExpr::try_from("a").expect("it is one"), "text").into()
    }

    #[tokio::test]
    async fn a_message_is_settled_when_the_next_one_is_asked_for() {
        let waiting = Waiting::default();
        waiting.settled().await;
        waiting.push(sample());
        waiting.push(sample());
        waiting.next().await;
        let settled = waiting.settled();
        tokio::pin!(settled);
        assert!(settled.as_mut().now_or_never().is_none());
        waiting.next().await;
        assert!(settled.as_mut().now_or_never().is_none());
        waiting.push(sample());
        waiting.next().await;
        assert!(settled.as_mut().now_or_never().is_some(), "what came later is no matter");
    }
}
