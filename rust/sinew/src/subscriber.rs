//! Receiving messages.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;

use crate::cdr::read;
use crate::cdr::trace::signature_of;
use crate::error::Result;
use crate::message::Message;
use crate::node::Node;
use crate::qos::Qos;
use crate::raw;
use crate::raw::{Frame, Frames, MessageInfo, SubscriberOptions, SubscriberStatistics};

/// Subscribes to a topic, and gets its messages where their publisher wrote them.
///
/// ```no_run
/// use serde::{Deserialize, Serialize};
/// use sinew::{Node, Qos, Slice, Subscriber};
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(rename = "robot/Image")]
/// struct Image<'a> {
///     width: u32,
///     height: u32,
///     #[serde(borrow)]
///     data: Slice<'a, u8>,
/// }
/// sinew::message!(Image<'a>);
///
/// let node = Node::new("viewer")?;
/// let images = Subscriber::<Image>::new(&node, "camera/image", &Qos::default())?;
/// while let Some(message) = images.take(None)? {
///     let image = message.read()?;
///     println!("{} x {}, the first pixel is {}", image.width, image.height, image.data[0]);
/// }
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Subscriber<T> {
    subscriber: raw::Subscriber,
    of: PhantomData<fn() -> T>,
}

impl<T: Message> Subscriber<T> {
    /// Subscribes to `topic`; messages wait for [`take`](Subscriber::take). Blocks until the manager has agreed. [`ErrorKind::TypeMismatch`](crate::ErrorKind) where the topic carries another type.
    pub fn new(node: &Node, topic: &str, qos: &Qos) -> Result<Subscriber<T>> {
        Subscriber::with_options(node, topic, qos, SubscriberOptions::default())
    }

    /// The same, with options.
    pub fn with_options(node: &Node, topic: &str, qos: &Qos, options: SubscriberOptions) -> Result<Subscriber<T>> {
        let subscriber = raw::Subscriber::new(node, topic, &signature_of::<T>()?, qos, options)?;
        Ok(Subscriber { subscriber, of: PhantomData })
    }

    /// The same, but each message is given to `callback`, on an execution thread of the node, one at a time. A panic in it ends the process.
    pub fn with_callback(
        node: &Node,
        topic: &str,
        qos: &Qos,
        options: SubscriberOptions,
        mut callback: impl FnMut(Received<T>) + Send + 'static,
    ) -> Result<Subscriber<T>> {
        let on_frame = move |frame| callback(Received::of(frame));
        let subscriber = raw::Subscriber::with_callback(node, topic, &signature_of::<T>()?, qos, options, on_frame)?;
        Ok(Subscriber { subscriber, of: PhantomData })
    }

    /// The next waiting message, as [`raw::Subscriber::take`]: waits for one at most `timeout`, none is for ever, and, whatever `timeout` says, for another thread that is in `take` of this subscriber.
    pub fn take(&self, timeout: impl Into<Option<Duration>>) -> Result<Option<Received<T>>> {
        Ok(self.subscriber.take(timeout)?.map(Received::of))
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> SubscriberStatistics {
        self.subscriber.statistics()
    }
}

impl<T> fmt::Debug for Subscriber<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.subscriber.fmt(to)
    }
}

/// A received message. It keeps the publisher's memory while it is there, as a [`Frame`].
pub struct Received<T> {
    frame: Frame,
    of: PhantomData<fn() -> T>,
}

impl<T: Message> Received<T> {
    pub(crate) fn of(frame: Frame) -> Received<T> {
        Received { frame, of: PhantomData }
    }

    /// Reads it: [`Slice`](crate::Slice), `&str` and `&[u8]` are where the publisher wrote them, and change if its process runs wild; all else is a value of its own. [`ErrorKind::InvalidMessage`](crate::ErrorKind) where its publisher has sent what is none of the type.
    pub fn read(&self) -> Result<T::Read<'_>> {
        let parts: Vec<&[u8]> = self.frame.extents().collect();
        Ok(read::value_in(&parts)?)
    }
}

impl<T> Received<T> {
    /// Where it is from, and when.
    pub fn info(&self) -> MessageInfo {
        self.frame.info()
    }

    /// Its stream.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }
}

impl<T> fmt::Debug for Received<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Received").field(&self.frame).finish()
    }
}

/// Subscribes to a topic, and gives its messages to a task, as [`Frames`].
pub struct Messages<T> {
    frames: Frames,
    of: PhantomData<fn() -> T>,
}

impl<T: Message> Messages<T> {
    /// As [`Subscriber::with_options`].
    pub fn new(node: &Node, topic: &str, qos: &Qos, options: SubscriberOptions) -> Result<Messages<T>> {
        Ok(Messages { frames: Frames::new(node, topic, &signature_of::<T>()?, qos, options)?, of: PhantomData })
    }

    /// The next message.
    pub async fn recv(&mut self) -> Received<T> {
        Received::of(self.frames.recv().await)
    }

    /// What fills the queue, and how many messages were pushed out of it.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }
}

impl<T: Message> Stream for Messages<T> {
    type Item = Received<T>;
    /// Never ends.
    fn poll_next(mut self: Pin<&mut Messages<T>>, context: &mut Context<'_>) -> Poll<Option<Received<T>>> {
        self.frames.poll_recv(context).map(|frame| Some(Received::of(frame)))
    }
}

impl<T> fmt::Debug for Messages<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frames.fmt(to)
    }
}
