//! The topic `chatter`, of texts, and a node of rmw_zenoh that has it.

use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

use super::ros2::{Peer, hex};
use super::texts::{STRING, text};
use super::zenoh::Router;

pub const NAME: &str = "std_msgs/msg/String";

pub fn chatter(node: &Node, qos: &Qos) -> Publisher {
    Publisher::new(node, "chatter", STRING, qos, PublisherOptions::default()).expect("it may publish")
}

pub fn listener(node: &Node, qos: &Qos) -> Subscriber {
    Subscriber::new(node, "chatter", STRING, qos, SubscriberOptions::default()).expect("it may subscribe")
}

/// A node that knows the type. None: there is no Python for it.
pub fn peer(router: &Router) -> Option<Peer> {
    peer_of(&[&router.endpoint, "7"])
}

/// The same, whose session has this id in each of its lives.
pub fn peer_with_id(router: &Router, id: &str) -> Option<Peer> {
    peer_of(&[&router.endpoint, "7", id])
}

fn peer_of(arguments: &[&str]) -> Option<Peer> {
    let mut peer = Peer::start("rmw_zenoh_peer.py", arguments)?;
    peer.ty(NAME, "string data\n");
    Some(peer)
}

pub fn says(peer: &mut Peer, data: &str) {
    peer.ask(&json!({"do": "publish", "id": "said", "stream": hex(&text(data))}));
}
