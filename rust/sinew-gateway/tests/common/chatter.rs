//! The topic `chatter`, of texts, and a node of rmw_zenoh that has it.

use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

use super::ros2::{Peer, hex};
use super::zenoh::Router;

pub const STRING: &str = "std_msgs/msg/String{data:string;}";
pub const NAME: &str = "std_msgs/msg/String";

/// A message of std_msgs/msg/String.
pub fn text(data: &str) -> Vec<u8> {
    let mut stream = vec![0, 1, 0, 0];
    stream.extend((data.len() as u32 + 1).to_le_bytes());
    stream.extend(data.bytes().chain([0]));
    stream
}

pub fn reliable(depth: u32) -> Qos {
    Qos { reliable: true, ..Qos::keep_last(depth) }
}

pub fn latched(depth: u32) -> Qos {
    Qos { transient_local: true, ..reliable(depth) }
}

pub fn chatter(node: &Node, qos: &Qos) -> Publisher {
    Publisher::new(node, "chatter", STRING, qos, PublisherOptions::default()).expect("it may publish")
}

pub fn listener(node: &Node, qos: &Qos) -> Subscriber {
    Subscriber::new(node, "chatter", STRING, qos, SubscriberOptions::default()).expect("it may subscribe")
}

/// A node that knows the type. None: there is no Python for it.
pub fn peer(router: &Router) -> Option<Peer> {
    let mut peer = Peer::start("rmw_zenoh_peer.py", &[&router.endpoint, "7"])?;
    peer.ty(NAME, "string data\n");
    Some(peer)
}

pub fn says(peer: &mut Peer, data: &str) {
    peer.ask(&json!({"do": "publish", "id": "said", "stream": hex(&text(data))}));
}
