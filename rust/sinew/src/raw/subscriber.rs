//! Receiving streams.

use std::fmt;
use std::ptr;
use std::time::Duration;

use sinew_sys as sys;

use super::Frame;
use super::callbacks::{self, Callbacks, OnFrame};
use crate::error::{Error, Result, check};
use crate::event::{Events, OnEvent};
use crate::ffi::{c_text, context_of, release, timeout_ns};
use crate::ghost::Ghost;
use crate::node::Node;
use crate::qos::Qos;

/// How a subscriber is to be.
#[derive(Default)]
pub struct SubscriberOptions {
    /// Every n-th message of each publisher; 0: all.
    pub every: u32,
    /// Messages a second of each publisher at most, on average; 0: all.
    pub max_rate: f64,
    /// Only there as long as others are.
    pub ghost: Ghost,
    /// Which events `on_event` is told of: one without the other is [`ErrorKind::InvalidArgument`](crate::ErrorKind).
    pub events: Events,
    /// Called on an execution thread of the node, one at a time. A panic in it ends the process.
    pub on_event: Option<OnEvent>,
    /// That thread, and that of the callback for messages: 0 to 1022.
    pub execution_thread: u32,
}

/// Subscribes to a topic, and gets the streams of its messages.
pub struct Subscriber {
    subscriber: *mut sys::sinew_subscriber,
    _node: Node,
}

// SAFETY: "Functions are thread-safe", of subscribers all.
unsafe impl Send for Subscriber {}
// SAFETY: likewise.
unsafe impl Sync for Subscriber {}

impl Subscriber {
    /// Subscribes to `topic`; messages wait for [`take`](Subscriber::take). `signature` describes the type: "robot/Image{width:uint32;data:uint8[];}". Blocks until the manager has agreed.
    /// [`ErrorKind::TypeMismatch`](crate::ErrorKind) where the topic carries another type.
    pub fn new(node: &Node, topic: &str, signature: &str, qos: &Qos, options: SubscriberOptions) -> Result<Subscriber> {
        Subscriber::create(node, topic, signature, qos, options, None)
    }

    /// The same, but each message is given to `on_frame`, on an execution thread of the node, one at a time. A panic in it ends the process.
    pub fn with_callback(
        node: &Node,
        topic: &str,
        signature: &str,
        qos: &Qos,
        options: SubscriberOptions,
        on_frame: impl FnMut(Frame) + Send + 'static,
    ) -> Result<Subscriber> {
        Subscriber::create(node, topic, signature, qos, options, Some(Box::new(on_frame)))
    }

    fn create(
        node: &Node,
        topic: &str,
        signature: &str,
        qos: &Qos,
        options: SubscriberOptions,
        callback: Option<OnFrame>,
    ) -> Result<Subscriber> {
        let qos = qos.in_c(topic)?;
        callbacks::require_both(topic, options.events, options.on_event.is_some())?;
        let (topic, signature) = (c_text(topic)?, c_text(signature)?);
        let takes_frames: sys::sinew_frame_callback = Some(callbacks::on_frame);
        let asked = sys::sinew_subscriber_options {
            struct_size: size_of::<sys::sinew_subscriber_options>() as u32,
            execution_thread: options.execution_thread,
            every: options.every,
            events: options.events.bits(),
            max_rate: options.max_rate,
            ghost: options.ghost.in_c(),
            on_frame: callback.as_ref().and(takes_frames),
            on_event: Some(callbacks::on_event),
            context: context_of(Callbacks::new(callback, options.on_event)),
            release: Some(release::<Callbacks>),
        };
        let mut subscriber = ptr::null_mut();
        // SAFETY: what is given lives until it returns; the context belongs to the library from here on, which fits.
        check(unsafe { sys::sinew_subscriber_create(node.0.raw(), topic.as_ptr(), signature.as_ptr(), &qos, &asked, &mut subscriber) })?;
        Ok(Subscriber { subscriber, _node: node.clone() })
    }

    /// The next waiting message, oldest first of each publisher. Waits for one at most `timeout`; none is for ever. One thread takes at a time: whatever `timeout` says, it also waits for another one that is in `take` of this
    /// subscriber, as long as that waits. Gives none when none came, and fails with [`ErrorKind::Exhausted`](crate::ErrorKind) when there is no memory for
    /// it: then it is lost; with [`ErrorKind::Closed`](crate::ErrorKind) when it is a ghost, and its topic is gone, and in the child of a fork. Of subscribers without a callback.
    pub fn take(&self, timeout: impl Into<Option<Duration>>) -> Result<Option<Frame>> {
        let mut frame = ptr::null_mut();
        // SAFETY: the subscriber is there.
        let status = unsafe { sys::sinew_subscriber_take(self.subscriber, timeout_ns(timeout), &mut frame) };
        match status as u32 {
            // SAFETY: it is ours from now on.
            sys::SINEW_OK => Ok(Some(unsafe { Frame::of(frame) })),
            sys::SINEW_NOTHING => Ok(None),
            _ => Err(Error::last(status)),
        }
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> SubscriberStatistics {
        let mut told = sys::sinew_subscriber_statistics::default();
        // SAFETY: the subscriber is there. It fails in the child of a fork alone, and then there is nothing to tell.
        let _ = unsafe { sys::sinew_subscriber_get_statistics(self.subscriber, &mut told) };
        SubscriberStatistics {
            received: told.received,
            missed: told.missed,
            withdrawn: told.withdrawn,
            skipped: told.skipped,
            expired: told.expired,
            bytes_copied: told.bytes_copied,
            over_quota: told.over_quota,
            rejected: told.rejected,
            publishers: told.publishers,
            held: told.held,
            waiting: told.waiting,
            incompatible: told.incompatible,
            deadlines_missed: told.deadlines_missed,
            publishers_alive: told.publishers_alive,
            publishers_not_alive: told.publishers_not_alive,
            detached: told.detached,
        }
    }
}

impl Drop for Subscriber {
    /// Waits for the running callback, unless called in it.
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { sys::sinew_subscriber_destroy(self.subscriber) }
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Subscriber").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

/// Counts of a subscriber since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriberStatistics {
    /// Messages.
    pub received: u64,
    /// Lost: pushed out by newer ones, or withdrawn.
    pub missed: u64,
    /// Of those, by a publisher whose memory was full.
    pub withdrawn: u64,
    /// Not wanted: every n-th, or a rate.
    pub skipped: u64,
    /// Older than their lifespan.
    pub expired: u64,
    /// While receiving.
    pub bytes_copied: u64,
    /// Copied since the subscriber holds too much.
    pub over_quota: u64,
    /// That could not be received, as for want of memory. What is received and cannot be read is not counted here.
    pub rejected: u64,
    /// Connected now.
    pub publishers: u64,
    /// Messages whose memory it keeps from being used again, now.
    pub held: u64,
    /// Published for it, by who is connected or has gone, and neither taken nor counted as missed, skipped or expired so far.
    pub waiting: u64,
    /// Publishers that were not connected, as their quality of service does not fit.
    pub incompatible: u64,
    /// Whole periods without a message.
    pub deadlines_missed: u64,
    /// Of those that are connected.
    pub publishers_alive: u64,
    /// Connected and silent.
    pub publishers_not_alive: u64,
    /// It is a ghost, and its topic is gone.
    pub detached: bool,
}
