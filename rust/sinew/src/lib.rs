//! Messages between the processes of a robot, read where their publisher wrote them.
//!
//! A [`Node`] takes part in a domain. In it publishers, subscribers, clients and providers exchange messages with programs in C++, Python and C, through shared memory.

mod counters;
mod domain;
mod error;
mod event;
mod ffi;
mod node;
mod qos;
pub mod raw;

pub use counters::{DomainCounters, DomainCounts, Latency, PairCounts, PublisherCounts};
pub use domain::{DomainEndpoint, DomainNode, DomainPair, DomainState, DomainTopic, DomainUpdate, DomainWatch, Id};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, Events};
pub use node::{Node, NodeOptions};
pub use qos::Qos;
pub use sinew_msg as msg;
