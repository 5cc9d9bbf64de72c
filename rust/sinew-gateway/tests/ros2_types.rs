//! Messages of all standard packages of ROS 2, there and back again: by this bridge, and by Cyclone DDS, which knows their types.

mod common;

use common::all;
use common::ros2::{Domain, Peer, Robot};
use common::standard::There;
use common::values::is_same;
use sinew::msg::schema;

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_all_standard_packages_are_the_same_there_and_here() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let there = There { topic: |name| format!("rt/{name}"), definition: |_, ty| schema::of(ty).text, is_same, peer: &mut peer };
    there.exchanges_all(&robot.node("node"), 11);
}
