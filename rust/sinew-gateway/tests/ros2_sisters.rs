//! Several bridges between a DDS domain and one domain, or several, and whether they know which it is.

mod common;

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::program::Program;
use common::ros2::Domain;
use common::{connected, image, next, node, number_of, publisher, subscriber};
use serde_json::json;
use sinew::Qos;

/// Where names of domains lead somewhere else.
struct Runtime {
    folder: tempfile::TempDir,
    config: PathBuf,
}

impl Runtime {
    fn new(domain: &Domain) -> Runtime {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let config = folder.path().join("ros2.json");
        let rules = json!([{"topics": {"base_rule": "both"}, "services": {"base_rule": "both"}}]);
        let ros2 = json!({"domain_id": domain.id, "interfaces": ["127.0.0.1"]});
        std::fs::write(&config, json!({"transport": "ros2", "ros2": ros2, "rules": rules}).to_string()).expect("there is room");
        Runtime { folder, config }
    }

    /// Of the domain `robot`.
    fn path(&self) -> String {
        self.folder.path().join("sinew/robot.sock").to_str().expect("a path is a text").to_owned()
    }

    fn bridge(&self, domain: &str) -> Program {
        let bridge = Program::told("XDG_RUNTIME_DIR", self.folder.path(), &self.config, domain);
        bridge.says("joins ROS 2");
        bridge
    }
}

fn is_said(bridge: &Program) -> bool {
    bridge.said().contains("another bridge of this domain is there")
}

#[test]
fn domains_of_one_name_in_different_folders_are_different_ones() {
    let domain = Domain::new();
    let [here, there] = [Runtime::new(&domain), Runtime::new(&domain)];
    let bridges = [here.bridge("robot"), there.bridge("robot")];
    let (camera, viewer) = (node(&here.path(), "camera"), node(&there.path(), "viewer"));
    let (images, seen) = (publisher(&camera, "image", &Qos::default()), subscriber(&viewer, "image", &Qos::default()));
    connected(&images, &[&seen]);
    images.publish(&[&image(1, 12)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(!bridges.iter().any(is_said));
}

#[test]
fn a_domain_that_has_a_name_here_and_a_path_there_is_one() {
    let domain = Domain::new();
    let runtime = Runtime::new(&domain);
    let link = runtime.folder.path().join("link");
    let named = runtime.bridge("robot");
    std::os::unix::fs::symlink(runtime.folder.path().join("sinew"), &link).expect("there is room");
    let path = |folder: &Path| folder.join("robot.sock").to_str().expect("a path is a text").to_owned();
    let others = [runtime.bridge(&runtime.path()), runtime.bridge(&path(&link))];
    let node = node(&runtime.path(), "node");
    let (images, seen) = (publisher(&node, "image", &Qos::default()), subscriber(&node, "image", &Qos::default()));
    connected(&images, &[&seen]);
    for bridge in others.iter().chain([&named]) {
        bridge.says("another bridge of this domain is there");
    }
    images.publish(&[&image(1, 12)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(seen.take(Duration::from_secs(1)).expect("it can be taken").is_none(), "it went round");
    assert_eq!(seen.statistics().publishers, 1);
}
