//! Messages as CDR streams of types that are known when the program runs: for tools, recorders and gateways. Programs that know their types have [`Publisher`](crate::Publisher) and the others.
//!
//! ```no_run
//! use sinew::{Node, Qos, raw};
//!
//! let node = Node::new("viewer")?;
//! let images = raw::Subscriber::new(&node, "camera/image", "robot/Image{width:uint32;data:uint8[];}", &Qos::default(), Default::default())?;
//! while let Some(frame) = images.take(None)? {
//!     println!("{} bytes of {}", frame.size(), frame.info().publisher);
//! }
//! # Ok::<(), sinew::Error>(())
//! ```

mod callbacks;
mod client;
mod frame;
mod frames;
mod provider;
mod publisher;
mod subscriber;

pub use client::{Client, ClientOptions, ClientStatistics, Response};
pub use frame::{Delivery, Frame, MessageInfo};
pub use frames::Frames;
pub use provider::{Call, Provider, ProviderOptions, ProviderStatistics};
pub use publisher::{Loan, Publisher, PublisherOptions, PublisherStatistics, WhenFull};
pub use subscriber::{Subscriber, SubscriberOptions, SubscriberStatistics};

use sinew_sys as sys;

/// As C wants them.
fn extents_of(parts: &[&[u8]]) -> Vec<sys::sinew_extent> {
    parts.iter().map(|part| sys::sinew_extent { data: part.as_ptr(), size: part.len() }).collect()
}
