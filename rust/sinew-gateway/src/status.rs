//! How a gateway stands.

use std::net::SocketAddr;
use std::time::Duration;

use crate::channels::State;
use crate::protocol::Kind;

/// Of a peer that there is, or was half a minute ago.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerStatus {
    /// As it calls itself.
    pub name: String,
    /// What rules may be chosen by.
    pub tag: String,
    /// None: the connection is lost.
    pub link: Option<LinkStatus>,
    /// By name.
    pub channels: Vec<ChannelStatus>,
}

/// Of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkStatus {
    /// Where the peer is now.
    pub address: SocketAddr,
    /// There and back again.
    pub round_trip: Duration,
    /// Of datagrams.
    pub bytes_sent: u64,
    /// Likewise.
    pub bytes_received: u64,
    /// Of packets that were sent.
    pub lost: u64,
}

/// Of a channel that one side wants.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelStatus {
    /// What it is.
    pub kind: Kind,
    /// Of the topic or service.
    pub name: String,
    /// The peer wants it: messages, or answers, go there.
    pub is_outgoing: bool,
    /// How it stands.
    pub state: State,
    /// Messages that went over it.
    pub messages: u64,
    /// Of them.
    pub bytes: u64,
    /// Messages that it was too slow for.
    pub lost: u64,
}
