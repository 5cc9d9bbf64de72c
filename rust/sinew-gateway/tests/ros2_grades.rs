//! Publishers of ROS 2 that offer more, and less, over DDS.

mod common;

use common::ros2::{Domain, Robot};
use common::{all, grades};

#[tokio::test(flavor = "multi_thread")]
async fn who_offers_less_takes_nothing_from_others() {
    let domain = Domain::new();
    let robots = [(); 3].map(|()| Robot::new(all(), &domain));
    let nodes = [("viewer", &robots[0]), ("driver", &robots[1]), ("rogue", &robots[2])].map(|(name, robot)| robot.node(name));
    grades::who_offers_less_takes_nothing_from_others(nodes.each_ref(), || robots[0].state("battery", false));
}
