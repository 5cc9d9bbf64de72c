//! Quality of service.

use std::time::Duration;

use sinew_sys as sys;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi::nanoseconds;

/// What a publisher offers, or a subscriber asks for. Two that do not fit are not connected: an [`Event`](crate::Event) tells.
///
/// ```
/// use sinew::Qos;
///
/// let map = Qos { transient_local: true, ..Qos::keep_last(1) };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qos {
    /// 1 to 512, and 8 unless set: keep so many of the newest messages of each publisher.
    pub depth: u32,
    /// As many as a ring has (1024), in place of `depth`, which is not looked at then; a subscriber of another user has 8 at most, of either.
    pub keep_all: bool,
    /// A reliable publisher, whatever it keeps, waits for a reliable subscriber that keeps all and is a whole ring behind, at most `max_blocking`; not for one of another user.
    pub reliable: bool,
    /// Keep the newest for those who come late, or ask for what was kept.
    pub transient_local: bool,
    /// A publisher shows that it is alive by publishing or `assert_liveliness()`; else its process does. Needs [`lease`](Qos::lease), too: else [`ErrorKind::InvalidArgument`].
    pub manual_by_topic: bool,
    /// Between two messages at most. Zero is refused, as for the times below: leave out what is not wanted.
    pub deadline: Option<Duration>,
    /// Of a publisher: its messages that are older are not delivered. Of a subscriber it means nothing.
    pub lifespan: Option<Duration>,
    /// A sign of life at least so often.
    pub lease: Option<Duration>,
}

impl Default for Qos {
    /// The newest 8 messages of each publisher.
    fn default() -> Qos {
        Qos {
            depth: 8,
            keep_all: false,
            reliable: false,
            transient_local: false,
            manual_by_topic: false,
            deadline: None,
            lifespan: None,
            lease: None,
        }
    }
}

impl Qos {
    /// The newest `depth` messages of each publisher: 1 to 512, else [`ErrorKind::InvalidArgument`] where a publisher or subscriber is made.
    pub fn keep_last(depth: u32) -> Qos {
        Qos { depth, ..Qos::default() }
    }

    /// Keeps all, and is reliable: a publisher waits for subscribers that are a whole ring behind, but `max_blocking` (100 ms unless set) at most. Then it publishes that message to nobody, and fails with [`ErrorKind::WouldBlock`].
    pub fn reliable() -> Qos {
        Qos { depth: 0, keep_all: true, reliable: true, ..Qos::default() }
    }

    pub(crate) fn in_c(&self, topic: &str) -> Result<sys::sinew_qos> {
        let invalid = |why: &str| Error::new(ErrorKind::InvalidArgument, format!("topic '{topic}': {why}"));
        if self.depth == 0 && !self.keep_all {
            // In C that is the usual depth.
            return Err(invalid("keep_last(0) is out of range, 1 to 512; use Qos::default() for the usual 8"));
        }
        for (what, time) in [("deadline", self.deadline), ("lifespan", self.lifespan), ("lease", self.lease)] {
            if time == Some(Duration::ZERO) {
                // In C that is none.
                return Err(invalid(&format!("a {what} of 0 ns is out of range, 1 ns to 100 years; leave it out for none")));
            }
        }
        if self.manual_by_topic && self.lease.is_none() {
            // In C no lease is one of 0, of which the library would say that it is out of range.
            return Err(invalid("manual_by_topic needs `lease` too: how often at least a publisher shows that it is alive"));
        }
        let time = |time: Option<Duration>| time.map_or(0, nanoseconds);
        Ok(sys::sinew_qos {
            struct_size: size_of::<sys::sinew_qos>() as u32,
            depth: self.depth,
            keep_all: self.keep_all,
            reliable: self.reliable,
            transient_local: self.transient_local,
            manual_by_topic: self.manual_by_topic,
            deadline_ns: time(self.deadline),
            lifespan_ns: time(self.lifespan),
            lease_ns: time(self.lease),
        })
    }
}
