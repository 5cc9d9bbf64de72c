//! What gateways tell of themselves.

use serde::{Deserialize, Serialize};

use crate::qos::Qos;

/// How a gateway stands. Every gateway publishes it once a second in its own domain, and who comes late gets the last one at once.
///
/// Whoever only looks should be an [observer](crate::Ghost::Observer): any other subscriber is wanted at peers, too, whose gateways then tell of themselves across.
///
/// ```no_run
/// use std::time::Duration;
/// use sinew::raw::SubscriberOptions;
/// use sinew::{GatewayStatus, Ghost, Node, Subscriber};
///
/// let node = Node::new("looker")?;
/// let options = SubscriberOptions { ghost: Ghost::Observer, ..SubscriberOptions::default() };
/// let gateways = Subscriber::<GatewayStatus>::with_options(&node, GatewayStatus::TOPIC, &GatewayStatus::qos(), options)?;
/// while let Some(message) = gateways.take(Duration::from_secs(2))? {
///     let status = message.read()?;
///     println!("{}: {} peers", status.name, status.peers.len());
/// }
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayStatus")]
pub struct GatewayStatus {
    /// As it calls itself to peers.
    pub name: String,
    /// Its node in this domain.
    pub node: String,
    /// Where it listens: IP address and UDP port. Empty where it goes through a Zenoh network.
    pub address: String,
    /// By name. Those that it is connected with, or was half a minute ago.
    pub peers: Vec<GatewayPeer>,
}
crate::message!(GatewayStatus);

impl GatewayStatus {
    /// On which it is published.
    pub const TOPIC: &str = "gateway/status";

    /// As it is published.
    pub fn qos() -> Qos {
        Qos { transient_local: true, ..Qos::keep_last(1) }
    }
}

/// Another gateway, as this one sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayPeer")]
pub struct GatewayPeer {
    /// As it calls itself. A whole Zenoh network is one, `zenoh`.
    pub name: String,
    /// What rules may be chosen by.
    pub tag: String,
    /// Else the connection is lost, and it is waited for.
    pub connected: bool,
    /// Where it is: IP address and UDP port. Empty while it is not connected.
    pub address: String,
    /// There and back again, smoothed.
    pub round_trip_ns: u64,
    /// In UDP datagrams over this connection, headers of IP and UDP aside. Of a Zenoh network, what the channels that are open have counted.
    pub sent_bytes: u64,
    /// Likewise.
    pub received_bytes: u64,
    /// In the second before, as all rates.
    pub sent_bytes_per_s: f64,
    /// Likewise.
    pub received_bytes_per_s: f64,
    /// Packets that this side has sent.
    pub sent_packets: u64,
    /// Of these, how many were taken for lost.
    pub lost_packets: u64,
    /// Of the packets that were sent in the second before, which part was taken for lost: 0 to 1.
    pub loss: f64,
    /// By name.
    pub channels: Vec<GatewayChannel>,
}

/// A topic or a service that one side wants of the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayChannel")]
pub struct GatewayChannel {
    /// Of the topic or service.
    pub name: String,
    /// `topic` or `service`.
    pub kind: String,
    /// The peer wants it: messages, or answers, go there. Else this domain does.
    pub outgoing: bool,
    /// `open`; `waiting`: the other side does not have it, or its rules do not let it; `refused`; `closed`: nobody wants it any more, or the connection is lost, and messages were lost before, which is why it
    /// is told of at all.
    pub state: String,
    /// Why it was refused, or what is not as somebody wants though it is open. Empty: all is well.
    pub why: String,
    /// Messages that were sent, or published here; calls that were answered.
    pub messages: u64,
    /// Of their streams; of a service, of requests and answers.
    pub bytes: u64,
    /// Messages that the link was too slow for, or that came too late or too large; calls that ended without an answer.
    pub lost: u64,
    /// In the second before.
    pub messages_per_s: f64,
    /// Likewise.
    pub bytes_per_s: f64,
}

/// Asks a gateway what its peers have, as they tell at that moment: topics that somebody publishes and services that somebody provides there, and that the rules of that side let out. Every gateway provides it in its own domain as [`GatewayCatalogue::service`]
/// of its node, and answers within two seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayCatalogue/Request")]
pub struct GatewayCatalogueRequest {
    /// Of the peer of this name alone. Empty: of all.
    pub peer: String,
}
crate::message!(GatewayCatalogueRequest);

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayCatalogue/Response")]
pub struct GatewayCatalogue {
    /// By name. Those that it is connected with.
    pub peers: Vec<GatewayPeerCatalogue>,
}
crate::message!(GatewayCatalogue);

impl GatewayCatalogue {
    /// The name of the service of the gateway whose node is called so.
    pub fn service(node: &str) -> String {
        format!("{node}/catalogue")
    }
}

/// What one peer has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayPeerCatalogue")]
pub struct GatewayPeerCatalogue {
    /// As it calls itself.
    pub name: String,
    /// Else it did not answer in time.
    pub answered: bool,
    /// By name.
    pub entries: Vec<GatewayEntry>,
}

/// A topic or a service of another domain. That this domain's rules let it in is not said: [`GatewayStatus`] tells what came of wanting it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "sinew/GatewayEntry")]
pub struct GatewayEntry {
    /// Of the topic or service.
    pub name: String,
    /// `topic` or `service`.
    pub kind: String,
    /// The type of the topic, or of the service's requests.
    pub signature: String,
    /// The type of the service's responses.
    pub response: String,
    /// What all of its publishers offer; 0: keep all.
    pub depth: u32,
    /// Likewise.
    pub reliable: bool,
    /// Likewise.
    pub transient_local: bool,
}
