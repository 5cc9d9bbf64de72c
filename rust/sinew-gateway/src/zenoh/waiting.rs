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
}

#[derive(Default)]
struct Queue {
    samples: VecDeque<Sample>,
    bytes: usize,
    lost: u64,
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
        queue.samples.push_back(sample);
        drop(queue);
        self.come.notify_one();
    }

    /// The oldest one.
    pub async fn next(&self) -> Sample {
        loop {
            let next = {
                let mut queue = self.queue();
                let next = queue.samples.pop_front();
                queue.bytes -= next.as_ref().map_or(0, |next| next.payload().len());
                next
            };
            match next {
                Some(next) => return next,
                None => self.come.notified().await,
            }
        }
    }

    /// How many there was no room for.
    pub fn lost(&self) -> u64 {
        self.queue().lost
    }
}
