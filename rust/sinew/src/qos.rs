//! Quality of service.

use std::time::Duration;

use sinew_sys as sys;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi::optional_nanoseconds;

/// What a publisher offers, or a subscriber asks for. Two that do not fit are not connected: an [`Event`](crate::Event) tells.
///
/// ```
/// use sinew::Qos;
///
/// let map = Qos { transient_local: true, ..Qos::keep_last(1) };
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qos {
    /// 1 to 512: keep so many of the newest messages of each publisher. 0: 8.
    pub depth: u32,
    /// Lose nothing, in place of `depth`.
    pub keep_all: bool,
    /// With `keep_all` on both sides a publisher waits for a subscriber that is a whole ring behind.
    pub reliable: bool,
    /// Keep the newest for those who come late, or ask for what was kept.
    pub transient_local: bool,
    /// A publisher shows that it is alive by publishing or `assert_liveliness()`; else its process does. Needs [`lease`](Qos::lease), too: else [`ErrorKind::InvalidArgument`].
    pub manual_by_topic: bool,
    /// Between two messages at most.
    pub deadline: Option<Duration>,
    /// Messages that are older are not delivered.
    pub lifespan: Option<Duration>,
    /// A sign of life at least so often.
    pub lease: Option<Duration>,
}

impl Qos {
    /// The newest `depth` messages of each publisher.
    pub fn keep_last(depth: u32) -> Qos {
        Qos { depth, ..Qos::default() }
    }

    /// Every message: publishers wait for subscribers that are a whole ring behind.
    pub fn reliable() -> Qos {
        Qos { keep_all: true, reliable: true, ..Qos::default() }
    }

    pub(crate) fn in_c(&self, topic: &str) -> Result<sys::sinew_qos> {
        if self.manual_by_topic && self.lease.is_none() {
            // In C no lease is one of 0, of which the library would say that it is out of range.
            let why = format!("topic '{topic}': manual_by_topic needs `lease` too: how often at least a publisher shows that it is alive");
            return Err(Error::new(ErrorKind::InvalidArgument, why));
        }
        Ok(sys::sinew_qos {
            struct_size: size_of::<sys::sinew_qos>() as u32,
            depth: self.depth,
            keep_all: self.keep_all,
            reliable: self.reliable,
            transient_local: self.transient_local,
            manual_by_topic: self.manual_by_topic,
            deadline_ns: optional_nanoseconds(self.deadline),
            lifespan_ns: optional_nanoseconds(self.lifespan),
            lease_ns: optional_nanoseconds(self.lease),
        })
    }
}
