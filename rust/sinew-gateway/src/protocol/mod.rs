//! What gateways say to each other, as bytes (spec/gateway.md). Pure: knows neither sockets nor domains.
//!
//! What is decoded comes from strangers: every length is read once and bounded, and whatever is no message is a [`Violation`], which says what is wrong.

mod bytes;
mod catalogue;
mod control;
mod qos;
mod stream;

use std::fmt;

pub use bytes::{Fields, Packing, put_string};
pub use catalogue::{Had, LOOK_STREAM, MAX_CATALOGUE};
pub use control::{Control, End, Hello, Kind, MAX_CONTROL, Refusal, Want};
pub use qos::Offer;
pub use stream::{Answer, CALL_STREAM, CallHead, REPAIR_STREAM, RecordHead, RepairHead, Status, TOPIC_STREAM, TopicHead};

/// (G3) What a gateway is known by, drawn when it starts.
pub type GatewayId = [u8; 16];

/// Of this protocol.
pub const VERSION: u32 = 1;
/// (G1)
pub const ALPN: &[u8] = b"sinew/1";

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Closed {
    /// The gateway ends, or is told to leave this peer.
    Leaving = 0,
    /// The peer has violated the protocol.
    Violation = 1,
    /// The gateway has dialed itself.
    Itself = 2,
    /// There is another connection with this peer.
    Duplicate = 3,
    /// Both gateways are in one domain.
    SameDomain = 4,
    /// The versions do not fit.
    Version = 5,
    /// What the peer has shown when the connection was made would not be taken now.
    Untrusted = 6,
}

/// Why a stream is reset or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Dropped {
    /// (G17)
    Unwanted = 6,
    /// (G23) A newer one is there.
    Stale = 7,
    /// (G26)
    Cancelled = 8,
    /// (G32) What was missing of it has been restored.
    Whole = 9,
    /// (G39) More was begun than there is room for.
    NoRoom = 10,
}

/// Bytes that are not what this protocol says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}

/// What decoding gives.
pub type Decoded<T> = Result<T, Violation>;

/// What decoding gives where this is wrong.
pub fn violation<T>(text: impl Into<String>) -> Decoded<T> {
    Err(Violation(text.into()))
}
