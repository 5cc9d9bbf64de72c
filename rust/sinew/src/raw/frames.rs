//! Receiving streams in a task.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::{Frame, Subscriber, SubscriberOptions};
use crate::error::Result;
use crate::node::Node;
use crate::qos::Qos;

/// Subscribes to a topic, and gives the streams of its messages to a task, of any runtime.
///
/// The node's execution thread, or [`Node::run`] of a node that has none, puts them into a queue. That holds as many of each publisher as [`Qos::depth`] says, and newer ones push the oldest out; with [`Qos::keep_all`] it has no end, so
/// who does not take what comes fills this process's memory, and not only the publisher's. Publishers are told apart by their nodes, so those of one node count as one. A lifespan is looked at when a message comes into the queue: what
/// waits in it grows older.
///
/// ```no_run
/// # async fn show(node: sinew::Node) -> sinew::Result<()> {
/// use sinew::{Qos, raw};
///
/// let mut images = raw::Frames::new(&node, "camera/image", "robot/Image{data:uint8[];}", &Qos::keep_last(2), Default::default())?;
/// loop {
///     println!("{} bytes", images.recv().await.size());
/// }
/// # }
/// ```
pub struct Frames {
    queue: Arc<Mutex<Queue>>,
    subscriber: Subscriber,
}

struct Queue {
    /// With the names of their publishers.
    waiting: VecDeque<(String, Frame)>,
    /// Of each publisher.
    most: usize,
    lost: u64,
    waker: Option<Waker>,
}

impl Queue {
    /// The oldest message of this publisher, if as many wait as may.
    fn push_out(&mut self, publisher: &str) -> Option<Frame> {
        if self.waiting.len() < self.most {
            return None;
        }
        let mut of_it = self.waiting.iter().enumerate().filter(|(_, (whose, _))| whose == publisher).map(|(at, _)| at);
        let oldest = of_it.next()?;
        if of_it.count() + 1 < self.most {
            return None;
        }
        self.waiting.remove(oldest).map(|(_, frame)| frame)
    }
}

impl Frames {
    /// As [`Subscriber::new`].
    pub fn new(node: &Node, topic: &str, signature: &str, qos: &Qos, options: SubscriberOptions) -> Result<Frames> {
        let most = if qos.keep_all { usize::MAX } else { qos.depth as usize };
        let queue = Arc::new(Mutex::new(Queue { waiting: VecDeque::new(), most, lost: 0, waker: None }));
        let filled = Arc::clone(&queue);
        let subscriber = Subscriber::with_callback(node, topic, signature, qos, options, move |frame| put(&filled, frame))?;
        Ok(Frames { queue, subscriber })
    }

    /// The next message.
    pub async fn recv(&mut self) -> Frame {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// The same for futures that are written by hand.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Frame> {
        let mut queue = self.queue.lock().expect("nobody panics with it");
        match queue.waiting.pop_front() {
            Some((_, frame)) => Poll::Ready(frame),
            None => {
                queue.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Messages that newer ones of the same publisher pushed out of the queue.
    pub fn lost(&self) -> u64 {
        self.queue.lock().expect("nobody panics with it").lost
    }

    /// What fills the queue.
    pub fn subscriber(&self) -> &Subscriber {
        &self.subscriber
    }
}

fn put(queue: &Mutex<Queue>, frame: Frame) {
    let publisher = frame.info().publisher;
    let (pushed_out, waker) = {
        let mut queue = queue.lock().expect("nobody panics with it");
        let pushed_out = queue.push_out(&publisher);
        queue.lost += u64::from(pushed_out.is_some());
        queue.waiting.push_back((publisher, frame));
        (pushed_out, queue.waker.take())
    };
    drop(pushed_out);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Stream for Frames {
    type Item = Frame;
    /// Never ends.
    fn poll_next(mut self: Pin<&mut Frames>, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        self.poll_recv(context).map(Some)
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Frames").field("subscriber", &self.subscriber).field("lost", &self.lost()).finish_non_exhaustive()
    }
}
