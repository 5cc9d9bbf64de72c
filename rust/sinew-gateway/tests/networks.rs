//! Gateways as programs on machines of their own, which are network namespaces, and what happens to networks.

mod common;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use common::net::Net;
use common::program::Program;
use common::{PATIENCE, image, number_of, publisher, subscriber, until};
use sinew::raw::{Publisher, Subscriber};
use sinew::{Node, Qos};

/// Two machines with a cable between them, and on each a domain. The drone's gateway dials the base's.
struct Scene {
    folder: tempfile::TempDir,
    net: Net,
}

const DRONE: usize = 0;
const BASE: usize = 1;
const NAMES: [&str; 2] = ["drone", "base"];

impl Scene {
    fn new() -> Option<Scene> {
        let scene = Scene { folder: tempfile::tempdir().expect("there is room for a folder"), net: Net::new(2)? };
        scene.net.cable(DRONE, BASE, "wifi");
        scene.net.ip(DRONE, &["addr", "add", "10.7.0.1/24", "dev", "wifi"]);
        scene.net.ip(BASE, &["addr", "add", "10.7.0.9/24", "dev", "wifi"]);
        Some(scene)
    }

    fn domain(&self, at: usize) -> String {
        self.path(&format!("{}.sock", NAMES[at])).to_str().expect("a path is a text").to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, at: usize) -> Program {
        let config = self.path(&format!("{}.json", NAMES[at]));
        let peers = if at == DRONE { r#""peers": ["10.7.0.9:7463"],"# } else { "" };
        let rules = r#"[{ "topics": { "base_rule": "both" }, "services": { "base_rule": "both" } }]"#;
        let text = format!(r#"{{ "name": "{}", {peers} "discovery": false, "security": "ad-hoc", "rules": {rules} }}"#, NAMES[at]);
        std::fs::write(&config, text).expect("it can be written");
        Program::run_in(self.net.name(at), &config, &self.domain(at))
    }

    fn node(&self, at: usize, name: &str) -> Node {
        common::node(&self.domain(at), name)
    }
}

/// Publishes numbers, until one that it has published arrives at both. What the one on the same machine gets is to be without a gap.
struct Camera {
    images: Publisher,
    here: Subscriber,
    there: Subscriber,
    number: u32,
    last_here: u32,
}

impl Camera {
    fn new(scene: &Scene) -> Camera {
        let (camera, recorder, viewer) = (scene.node(DRONE, "camera"), scene.node(DRONE, "recorder"), scene.node(BASE, "viewer"));
        let qos = Qos::keep_last(50);
        let here = subscriber(&recorder, "camera/image", &qos);
        let there = subscriber(&viewer, "camera/image", &qos);
        Camera { images: publisher(&camera, "camera/image", &qos), here, there, number: 0, last_here: 0 }
    }

    /// Publishes once. Gives what has arrived at the other machine.
    fn publish(&mut self) -> Vec<u32> {
        self.number += 1;
        self.images.publish(&[&image(self.number, 1000)]).expect("it is published");
        std::thread::sleep(Duration::from_millis(5));
        while let Some(frame) = self.here.take(Duration::ZERO).expect("it can be taken") {
            let number = number_of(&frame);
            assert!(number == self.last_here + 1 || self.last_here == 0, "on its own machine {number} comes behind {}", self.last_here);
            self.last_here = number;
        }
        let mut there = Vec::new();
        while let Some(frame) = self.there.take(Duration::ZERO).expect("it can be taken") {
            there.push(number_of(&frame));
        }
        there
    }

    /// Until something that was published from now on has arrived there.
    fn arrives(&mut self) {
        let (begin, first) = (Instant::now(), self.number + 1);
        while !self.publish().iter().any(|number| *number >= first) {
            assert!(begin.elapsed() < PATIENCE, "nothing arrives");
        }
    }

    fn goes_on_for(&mut self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time {
            self.publish();
        }
    }
}

/// So often with the drone, and no more. A message may be here before the line that says so is read.
fn has_connected(base: &Program, times: usize) {
    let count = || base.said().matches("connected with 'drone'").count();
    until("it says so", || count() >= times);
    assert_eq!(count(), times, "{}", base.said());
}

#[test]
fn a_link_that_is_down_for_ten_seconds_is_used_again_when_it_is_up() {
    let Some(scene) = Scene::new() else { return };
    let (drone, base) = (scene.run(DRONE), scene.run(BASE));
    let mut camera = Camera::new(&scene);
    camera.arrives();
    scene.net.ip(DRONE, &["link", "set", "wifi", "down"]);
    camera.goes_on_for(Duration::from_secs(10));
    for program in [&drone, &base] {
        program.says("is over");
    }
    scene.net.ip(DRONE, &["link", "set", "wifi", "up"]);
    camera.arrives();
    has_connected(&base, 2);
}

#[test]
fn a_machine_that_changes_its_address_keeps_its_connection() {
    let Some(scene) = Scene::new() else { return };
    let (drone, base) = (scene.run(DRONE), scene.run(BASE));
    let mut camera = Camera::new(&scene);
    camera.arrives();
    for address in ["10.7.0.2/24", "10.7.0.3/24"] {
        scene.net.ip(DRONE, &["addr", "flush", "dev", "wifi", "scope", "global"]);
        scene.net.ip(DRONE, &["addr", "add", address, "dev", "wifi"]);
        camera.arrives();
        // Until the base follows, and what it wants still arrives.
        camera.goes_on_for(Duration::from_millis(300));
        camera.arrives();
    }
    for program in [&drone, &base] {
        assert!(!program.said().contains("is over"), "{}", program.said());
        assert_eq!(program.said().matches("connected with").count(), 1, "{}", program.said());
    }
}

#[test]
fn a_gateway_that_is_killed_leaves_nothing_behind_and_its_next_life_goes_on() {
    let Some(scene) = Scene::new() else { return };
    let (mut drone, base) = (scene.run(DRONE), scene.run(BASE));
    let mut camera = Camera::new(&scene);
    for life in 1..=3 {
        camera.arrives();
        drone.signal("KILL");
        // It was the only one of whom the camera knew beside the recorder.
        until("the camera is left", || camera.images.statistics().subscribers == 1);
        camera.goes_on_for(Duration::from_millis(100));
        drone = scene.run(DRONE);
        camera.arrives();
        has_connected(&base, life + 1);
    }
}

#[test]
fn a_peer_that_is_killed_is_missed_by_nobody_on_this_machine() {
    let Some(scene) = Scene::new() else { return };
    let (drone, base) = (scene.run(DRONE), scene.run(BASE));
    let mut camera = Camera::new(&scene);
    camera.arrives();
    base.signal("KILL");
    let begin = Instant::now();
    while !drone.said().contains("is over") {
        assert!(begin.elapsed() < PATIENCE, "{}", drone.said());
        camera.publish();
    }
    until("nobody takes images for the base any more", || camera.images.statistics().subscribers == 1);
    let _base = scene.run(BASE);
    camera.arrives();
}
