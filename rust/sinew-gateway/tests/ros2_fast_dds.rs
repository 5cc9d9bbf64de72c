//! Services of ROS 2 as rmw_fastrtps has them, which is the default middleware: the other side is a program of Fast DDS alone.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::all;
use common::built::{Running, build};
use common::ros2::{Domain, Robot};
use common::services::{adder, adds_a_thousand_times};

/// Builds it in this folder.
fn program(folder: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ros2_adder.cpp");
    build(Command::new("c++").args(["-std=c++20", "-o", "ros2_adder", source, "-lfastrtps", "-lfastcdr"]), folder);
    folder.join("ros2_adder")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_a_thousand_times_by_clients_of_fast_dds_and_a_thousand_times_there() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (program, domain) = (program(folder.path()), Domain::new());
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let provided = adder(&node);
    let calling = Command::new(&program).args([&domain.id.to_string(), "call", "4", "250"]).stderr(Stdio::inherit()).output();
    assert_eq!(String::from_utf8_lossy(&calling.expect("it was built").stdout), "1000 right, 0 wrong\n");
    drop(provided);

    let _served = Running::start(Command::new(&program).args([&domain.id.to_string(), "serve"]));
    adds_a_thousand_times(&node);
}
