//! Messages of the domain on their way to the Zenoh network. Nothing here ever makes a publisher wait.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Publisher;
use zenoh::time::Timestamp;

use super::network::Place;
use super::{joined, said};
use crate::bridge::{At, Due, Source};
use crate::channels::{Reading, Taken, outgoing};
use crate::link::{Outgoing, Queue};
use crate::protocol::Packing;

/// What stands beside a payload.
pub struct Beside {
    /// Bytes of it.
    pub attachment: Vec<u8>,
    /// Where it has one.
    pub timestamp: Option<Timestamp>,
}

/// What is published of a message, of what it is here. None: it is no message of the topic.
pub type Payload = Arc<dyn Fn(Vec<Bytes>) -> Option<ZBytes> + Send + Sync>;

/// A topic that is read here and published there, until it is dropped.
pub struct Flow {
    // First, so that nothing is pushed any more.
    source: Source,
    line: Arc<Line>,
    task: AbortHandle,
}

/// Between the domain's thread and the task that gives messages to Zenoh, which may block.
struct Line {
    queue: Mutex<Queue>,
    come: Notify,
    /// Zenoh is being given one, which may take a while.
    is_putting: AtomicBool,
    payload: Payload,
    sent: AtomicU64,
    bytes: AtomicU64,
    /// Too large, not taken by Zenoh, or no message.
    refused: AtomicU64,
}

impl Flow {
    /// Reads as a ghost. `beside` is asked for each message, with its number. Blocks until the manager has agreed.
    pub fn open(
        place: &Place,
        name: &str,
        due: &Due,
        publisher: &Arc<Publisher<'static>>,
        payload: Payload,
        mut beside: impl FnMut(&Outgoing, u64) -> Beside + Send + 'static,
    ) -> sinew::Result<Flow> {
        let reading = Reading::of(&due.offer, true, &due.traffic);
        let line = Arc::new(Line {
            queue: Mutex::new(Queue::new(reading.keep, due.traffic.max_rate, Instant::now())),
            come: Notify::new(),
            is_putting: AtomicBool::new(false),
            payload,
            sent: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        });
        let (to, lifespan) = (Arc::clone(&line), due.offer.lifespan);
        let taken = Taken { max_message: place.max_message, compression: 0 };
        let (node, name, signature) = (place.node.clone(), name.to_owned(), due.signature.clone());
        let at = At { node, name, signature, max_rate: 0.0, execution_thread: 0 };
        let source = Source::open(at, &reading.qos, move |frame, info| match outgoing(frame, info, lifespan, Packing::None, taken) {
            Some(message) => to.push(message),
            None => _ = to.refused.fetch_add(1, Ordering::Relaxed),
        })?;
        let (from, publisher) = (Arc::clone(&line), Arc::clone(publisher));
        let task = place.runtime.spawn(async move {
            loop {
                let (sequence, next) = from.next().await;
                let beside = beside(&next, sequence);
                from.put(&publisher, next, beside);
                from.is_putting.store(false, Ordering::Relaxed); // relaxed: nothing else is told by it
            }
        });
        Ok(Flow { source, line, task: task.abort_handle() })
    }

    /// Goes on with another depth. Blocks for a moment.
    pub fn renew(&mut self, due: &Due) -> sinew::Result<()> {
        let reading = Reading::of(&due.offer, true, &due.traffic);
        self.line.queue().keep(reading.keep);
        Source::renew([&mut self.source], &reading.qos)
    }

    /// As [`Channel::has_gone`](crate::bridge::Channel::has_gone).
    pub fn has_gone(&self, since: Instant) -> bool {
        self.source.has_taken_all(since) && self.line.is_through()
    }

    /// Sends nothing any more, and counts what that takes away.
    pub fn give_up(&self) {
        self.source.give_up();
        self.task.abort();
        let mut queue = self.line.queue();
        queue.clear();
        // What Zenoh has not taken so far it may yet take, which nobody is told.
        let is_putting = self.line.is_putting.load(Ordering::Relaxed);
        self.line.refused.fetch_add(u64::from(is_putting), Ordering::Relaxed);
    }

    /// Messages that were sent, their bytes, and messages that were lost.
    pub fn told(&self) -> (u64, u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let lost = self.line.queue().dropped() + self.source.missed() + now(&self.line.refused);
        (now(&self.line.sent), now(&self.line.bytes), lost)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Line {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Outgoing) {
        self.queue().push(message);
        self.come.notify_one();
    }

    /// Whether Zenoh has all.
    fn is_through(&self) -> bool {
        self.queue().len() == 0 && !self.is_putting.load(Ordering::Relaxed)
    }

    /// The next message, with its number, when it may go.
    async fn next(&self) -> (u64, Outgoing) {
        loop {
            let when = {
                let (now, mut queue) = (Instant::now(), self.queue());
                // Zenoh says nothing of how fast the link is.
                if let Some(next) = queue.take(now, u64::MAX) {
                    self.is_putting.store(true, Ordering::Relaxed); // relaxed: who sees that the queue is empty has its lock
                    return (next.sequence, next.message);
                }
                queue.when(now)
            };
            match when {
                Some(when) => tokio::time::sleep_until(when.into()).await,
                None => self.come.notified().await,
            }
        }
    }

    fn put(&self, publisher: &Publisher<'_>, outgoing: Outgoing, beside: Beside) {
        let size = outgoing.unpacked;
        let Some(payload) = (self.payload)(outgoing.parts) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let put = publisher.put(payload).attachment(beside.attachment).timestamp(beside.timestamp);
        match tokio::task::block_in_place(|| put.wait()) {
            Ok(()) => {
                self.sent.fetch_add(1, Ordering::Relaxed);
                self.bytes.fetch_add(u64::from(size), Ordering::Relaxed);
            }
            Err(why) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                log::debug!("a message on '{}' could not be sent: {}", publisher.key_expr(), said(&why));
            }
        }
    }
}

/// The parts, joined, with what stands behind them.
pub fn padded(mut parts: Vec<Bytes>, padding: &'static [u8]) -> ZBytes {
    if !padding.is_empty() {
        parts.push(Bytes::from_static(padding));
    }
    joined(parts)
}
