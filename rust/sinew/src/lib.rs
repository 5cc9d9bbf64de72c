//! Messages between the processes of a robot, read where their publisher wrote them.
//!
//! A [`Node`] takes part in a domain. In it a [`Publisher`] and [`Subscriber`]s of a topic, a [`Client`] and a [`Provider`] of a service exchange messages with programs in C++, Python and C, through shared memory: arrays are
//! written where they will be read ([`Slice::room`]), and read where they were written.
//!
//! ```no_run
//! use serde::{Deserialize, Serialize};
//! use sinew::{Node, Qos, Slice, Subscriber};
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(rename = "robot/Image")]
//! struct Image<'a> {
//!     width: u32,
//!     height: u32,
//!     #[serde(borrow)]
//!     data: Slice<'a, u8>,
//! }
//! sinew::message!(Image<'a>);
//!
//! let node = Node::new("viewer")?;
//! let images = Subscriber::<Image>::new(&node, "camera/image", &Qos::default())?;
//! while let Some(message) = images.take(None)? {
//!     let image = message.read()?;
//!     println!("{} x {}: {} bytes of {}", image.width, image.height, image.data.len(), message.info().publisher);
//! }
//! # Ok::<(), sinew::Error>(())
//! ```
//!
//! [`Messages`] and [`Client::start`] are for tasks of any runtime; [`Node::run`], of the feature `tokio`, runs callbacks there, too. [`raw`] is for streams of types that are known when the program runs, [`Node::domain_state`],
//! [`Node::watch_domain`] and [`Node::domain_counters`] tell what there is in a domain, and what it counts.
//!
//! Everything is `Send`, and `Sync` but for a [`Loan`] and the options that have an `on_event`. What may wait says so. Panics in callbacks end the process, as they cannot go on through the library.

mod cdr;
mod counters;
mod domain;
mod error;
mod event;
mod ffi;
mod gateway;
mod ghost;
mod installed;
mod message;
mod node;
mod publisher;
mod qos;
pub mod raw;
mod service;
mod slice;
mod subscriber;

pub use cdr::trace::{signature_of, type_of};
pub use counters::{DomainCounters, DomainCounts, Latency, PairCounts, PublisherCounts};
pub use domain::{DomainEndpoint, DomainNode, DomainPair, DomainState, DomainTopic, DomainUpdate, DomainWatch, Id};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, Events};
pub use gateway::{
    GatewayCatalogue, GatewayCatalogueRequest, GatewayChannel, GatewayEntry, GatewayPeer, GatewayPeerCatalogue, GatewayStatus,
};
pub use ghost::Ghost;
pub use installed::{definition_folders, library_folder};
pub use message::Message;
pub use node::{Node, NodeOptions};
pub use publisher::{Loan, Publisher};
pub use qos::Qos;
pub use service::{Call, Client, Provider, Response};
pub use sinew_msg as msg;
pub use slice::Slice;
pub use subscriber::{Messages, Received, Subscriber};
