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
/// The node's execution thread, or [`Node::run`] of a node that has none, puts them into a queue. That holds as many as [`Qos::depth`] says, and newer ones push the oldest out; with [`Qos::keep_all`] it has no end, so who does not
/// take what comes fills this process's memory, and not only the publisher's.
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
    waiting: VecDeque<Frame>,
    most: usize,
    lost: u64,
    waker: Option<Waker>,
}

/// What a subscriber keeps unless it says otherwise.
const USUAL_DEPTH: usize = 8;

impl Frames {
    /// As [`Subscriber::new`].
    pub fn new(node: &Node, topic: &str, signature: &str, qos: &Qos, options: SubscriberOptions) -> Result<Frames> {
        let most = match (qos.keep_all, qos.depth) {
            (true, _) => usize::MAX,
            (false, 0) => USUAL_DEPTH,
            (false, depth) => depth as usize,
        };
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
            Some(frame) => Poll::Ready(frame),
            None => {
                queue.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Messages that newer ones pushed out of the queue.
    pub fn lost(&self) -> u64 {
        self.queue.lock().expect("nobody panics with it").lost
    }

    /// What fills the queue.
    pub fn subscriber(&self) -> &Subscriber {
        &self.subscriber
    }
}

fn put(queue: &Mutex<Queue>, frame: Frame) {
    let (pushed_out, waker) = {
        let mut queue = queue.lock().expect("nobody panics with it");
        let is_full = queue.waiting.len() >= queue.most;
        let pushed_out = if is_full { queue.waiting.pop_front() } else { None };
        queue.lost += u64::from(is_full);
        queue.waiting.push_back(frame);
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
