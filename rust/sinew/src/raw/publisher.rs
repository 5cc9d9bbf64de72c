//! Publishing streams.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::slice;
use std::time::Duration;

use sinew_sys as sys;

use super::callbacks::{self, Callbacks};
use super::extents_of;
use crate::error::{Error, ErrorKind, Result, check};
use crate::event::{Events, OnEvent};
use crate::ffi::{c_text, context_of, nanoseconds, release};
use crate::ghost::Ghost;
use crate::node::Node;
use crate::qos::Qos;

/// What makes room when the publisher's memory is full, after all that nobody wants any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The oldest messages that were not taken yet.
    #[default]
    Withdraw,
    /// The same, but at most so many for one new message, 1 or more; then that is refused.
    WithdrawSome(u32),
    /// Nothing: the new message is refused.
    Refuse,
    /// The new message waits, at most [`PublisherOptions::max_blocking`].
    Wait,
}

/// How a publisher is to be.
#[derive(Default)]
pub struct PublisherOptions {
    /// Bytes of shared memory at most, 64 KiB or more; 0: 1 GiB.
    pub memory_budget: u64,
    /// Bytes of it to have from the start; [`ErrorKind::Exhausted`](crate::ErrorKind) where they cannot be had.
    pub prefault: u64,
    /// Never swapped (mlock).
    pub lock_memory: bool,
    /// How long publishing may wait; none: 100 ms; zero: not at all.
    pub max_blocking: Option<Duration>,
    /// What makes room.
    pub when_full: WhenFull,
    /// Only there as long as others are.
    pub ghost: Ghost,
    /// Which events `on_event` is told of: one without the other is [`ErrorKind::InvalidArgument`](crate::ErrorKind).
    pub events: Events,
    /// Called on an execution thread of the node, one at a time. A panic in it ends the process.
    pub on_event: Option<OnEvent>,
    /// That thread: 0 to 1022.
    pub execution_thread: u32,
}

/// Publishes streams on a topic. What was published stays readable for those who hold it when this is dropped, and for those who were connected and have yet to take it.
pub struct Publisher {
    publisher: *mut sys::sinew_publisher,
    _node: Node,
}

// SAFETY: "Functions are thread-safe", of publishers all.
unsafe impl Send for Publisher {}
// SAFETY: likewise.
unsafe impl Sync for Publisher {}

impl Publisher {
    /// Publishes on `topic`. `signature` describes the type: "robot/Image{width:uint32;data:uint8[];}". Blocks until the manager has agreed. [`ErrorKind::TypeMismatch`](crate::ErrorKind) where the topic carries another type.
    pub fn new(node: &Node, topic: &str, signature: &str, qos: &Qos, options: PublisherOptions) -> Result<Publisher> {
        let qos = qos.in_c(topic)?;
        callbacks::require_both(topic, options.events, options.on_event.is_some())?;
        if options.when_full == WhenFull::WithdrawSome(0) {
            // In C that is the usual number.
            let why = format!("topic '{topic}': WhenFull::WithdrawSome(0) withdraws nothing: use WhenFull::Refuse for that");
            return Err(Error::new(ErrorKind::InvalidArgument, why));
        }
        let (topic, signature) = (c_text(topic)?, c_text(signature)?);
        let (when_full, withdraw_at_most) = match options.when_full {
            WhenFull::Withdraw => (sys::SINEW_WHEN_FULL_WITHDRAW, 0),
            WhenFull::WithdrawSome(most) => (sys::SINEW_WHEN_FULL_WITHDRAW_SOME, most),
            WhenFull::Refuse => (sys::SINEW_WHEN_FULL_REFUSE, 0),
            WhenFull::Wait => (sys::SINEW_WHEN_FULL_WAIT, 0),
        };
        let asked = sys::sinew_publisher_options {
            struct_size: size_of::<sys::sinew_publisher_options>() as u32,
            execution_thread: options.execution_thread,
            memory_budget: options.memory_budget,
            prefault: options.prefault,
            max_blocking_ns: match options.max_blocking {
                None => 0,
                Some(Duration::ZERO) => -1,
                Some(time) => nanoseconds(time),
            },
            when_full,
            withdraw_at_most,
            lock_memory: options.lock_memory,
            ghost: options.ghost.in_c(),
            events: options.events.bits(),
            on_event: Some(callbacks::on_event),
            context: context_of(Callbacks::new(None, options.on_event)),
            release: Some(release::<Callbacks>),
        };
        let mut publisher = ptr::null_mut();
        // SAFETY: what is given lives until it returns; the context belongs to the library from here on, which fits.
        check(unsafe { sys::sinew_publisher_create(node.0.raw(), topic.as_ptr(), signature.as_ptr(), &qos, &asked, &mut publisher) })?;
        Ok(Publisher { publisher, _node: node.clone() })
    }

    /// Publishes the stream that the parts, joined, are: one copy, into shared memory, whoever reads it. A stream begins with `00 01 00 00` where its numbers have the least significant byte first, or `00 00 00 00`. What follows is
    /// not looked at: a subscriber in C++ that it is no message for rejects it, and counts that; in Rust it is received, and reading it fails. May wait for memory, as [`loan`](Publisher::loan), and then as [`Loan::publish`].
    pub fn publish(&self, parts: &[&[u8]]) -> Result<()> {
        let extents = extents_of(parts);
        // SAFETY: the parts live until it returns.
        check(unsafe { sys::sinew_publisher_publish(self.publisher, extents.as_ptr(), extents.len()) })
    }

    /// Room for a stream of at most `capacity` bytes, where subscribers will read it. What it holds is left from earlier messages, or zero. Those behind the fourth are aligned to 16.
    /// May wait for memory: with [`WhenFull::Wait`] for subscribers to let go of some, at most [`PublisherOptions::max_blocking`]; with any other, where they have yet to unmap too much that was given back, for 0.1 s and no longer than that.
    pub fn loan(&self, capacity: usize) -> Result<Loan<'_>> {
        let (mut loan, mut data) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the publisher is there.
        check(unsafe { sys::sinew_publisher_loan(self.publisher, capacity, &mut loan, &mut data) })?;
        Ok(Loan { publisher: self, loan, data, capacity })
    }

    /// For [`Qos::manual_by_topic`].
    pub fn assert_liveliness(&self) {
        // SAFETY: the publisher is there.
        unsafe { sys::sinew_publisher_assert_liveliness(self.publisher) }
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> PublisherStatistics {
        let mut told = sys::sinew_publisher_statistics::default();
        // SAFETY: the publisher is there. It fails in the child of a fork alone, and then there is nothing to tell.
        let _ = unsafe { sys::sinew_publisher_get_statistics(self.publisher, &mut told) };
        PublisherStatistics {
            published: told.published,
            bytes: told.bytes,
            bytes_copied: told.bytes_copied,
            bytes_exported: told.bytes_exported,
            refused: told.refused,
            withdrawn: told.withdrawn,
            subscribers: told.subscribers,
            memory_mapped: told.memory_mapped,
            memory_in_use: told.memory_in_use,
            incompatible: told.incompatible,
            deadlines_missed: told.deadlines_missed,
            liveliness_lost: told.liveliness_lost,
            detached: told.detached,
        }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: loans borrow it.
        unsafe { sys::sinew_publisher_destroy(self.publisher) }
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Publisher").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

/// Room in the publisher's memory for one message. Given back when it is dropped unpublished.
pub struct Loan<'a> {
    publisher: &'a Publisher,
    loan: *mut sys::sinew_loan,
    data: *mut u8,
    capacity: usize,
}

// SAFETY: it may be published and released by any thread, and its bytes are its own.
unsafe impl Send for Loan<'_> {}

impl Loan<'_> {
    /// Where the stream is to be written.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes are this loan's alone until it is published.
        unsafe { slice::from_raw_parts_mut(self.data, self.capacity) }
    }

    /// Publishes the first `used` bytes, without a copy. May wait: for another thread that publishes on the same publisher, and, at most [`PublisherOptions::max_blocking`], which is 100 ms unless set, for a reliable keep-all subscriber
    /// that is a whole ring behind.
    pub fn publish(self, used: usize) -> Result<()> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the loan is of this publisher, and gone with this.
        check(unsafe { sys::sinew_publisher_publish_loan(this.publisher.publisher, this.loan, used) })
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        // SAFETY: it was not published.
        unsafe { sys::sinew_loan_release(self.loan) }
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Loan").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

/// Counts of a publisher since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublisherStatistics {
    /// Messages.
    pub published: u64,
    /// Of them.
    pub bytes: u64,
    /// While publishing.
    pub bytes_copied: u64,
    /// For readers of other users.
    pub bytes_exported: u64,
    /// Messages that were not published, but for those that are none of the type: what says so has published nothing.
    pub refused: u64,
    /// Messages taken back for want of memory before all had taken them.
    pub withdrawn: u64,
    /// Connected now.
    pub subscribers: u64,
    /// Bytes of shared memory.
    pub memory_mapped: u64,
    /// Of these.
    pub memory_in_use: u64,
    /// Subscribers that were not connected, as their quality of service does not fit.
    pub incompatible: u64,
    /// Whole periods without a message.
    pub deadlines_missed: u64,
    /// How often it showed no sign of life for a lease.
    pub liveliness_lost: u64,
    /// It is a ghost, and its topic is gone.
    pub detached: bool,
}
