//! Messages of all standard packages of ROS 2, over Zenoh as rmw_zenoh speaks it. There, a topic has the hash of its type in its name, which rosbags makes of the definitions' own files.
#![cfg(feature = "zenoh")]

mod common;

use common::all;
use common::ros2::Peer;
use common::standard::There;
use common::values::definition;
use common::zenoh::{Robot, Router};

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_all_standard_packages_are_the_same_byte_for_byte_at_nodes_of_rmw_zenoh_and_here() {
    let router = Router::new();
    let Some(mut peer) = Peer::start("rmw_zenoh_peer.py", &[&router.endpoint, "7"]) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let there = There { topic: str::to_owned, definition, is_same: |told, stream| told == stream, peer: &mut peer };
    there.exchanges_all(&robot.node("node"), 17);
}
