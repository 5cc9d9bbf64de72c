//! `sinew-gateway run` in a Zenoh network.
#![cfg(feature = "zenoh")]

mod common;

use std::path::Path;

use common::machine::Machine;
use common::program::Program;
use common::zenoh::Router;
use common::{connected, image, node, publisher, until};
use sinew::Qos;
use zenoh::Wait;

fn write(folder: &Path, endpoint: &str, rest: &str) {
    std::fs::write(folder.join("zenoh.json5"), "{ mode: 'client', scouting: { multicast: { enabled: false } } }").expect("there is room");
    let text = format!(
        r#"{{ "name": "robot", "transport": "zenoh", "zenoh": {{ "config_file": "zenoh.json5", "connect": ["{endpoint}"] }}, {rest} }}"#
    );
    std::fs::write(folder.join("gateway.json"), text).expect("there is room");
}

fn letting(rule: &str) -> String {
    format!(r#""rules": [{{ "tag": "zenoh", "topics": {{ "base_rule": "{rule}", "reliable": true }} }}]"#)
}

#[test]
fn it_joins_reads_its_rules_again_and_leaves_when_it_is_told() {
    let (folder, router) = (tempfile::tempdir().expect("there is room"), Router::new());
    write(folder.path(), &router.endpoint, &letting("out"));
    let (config, domain) = (folder.path().join("gateway.json"), folder.path().join("domain"));
    let domain = domain.to_str().expect("a path is a text");
    let program = Program::run(&Machine::this(), &config, domain);
    program.says("connected with the Zenoh network");
    let (camera, other) = (node(domain, "camera"), router.client());
    let images = publisher(&camera, "image", &Qos::default());
    let heard = other.declare_subscriber("sinew/image").wait().expect("it may");
    connected(&images, &[]);
    images.publish(&[&image(1, 100_000)]).expect("it is published");
    let sample = heard.recv_timeout(common::PATIENCE).expect("it goes on").expect("it comes in time");
    assert_eq!(sample.payload().to_bytes(), image(1, 100_000));
    // A mistake changes nothing, and neither does another transport, which would need a new start.
    write(folder.path(), &router.endpoint, r#""security": "ad-hoc""#);
    program.signal("HUP");
    program.says("nothing has changed: ");
    std::fs::write(&config, r#"{ "security": "ad-hoc" }"#).expect("there is room");
    program.signal("HUP");
    program.says("has another \"transport\" now");
    assert_eq!(images.statistics().subscribers, 1);
    write(folder.path(), &router.endpoint, &letting("in"));
    program.signal("HUP");
    until("the domain is not read any more", || images.statistics().subscribers == 0);
    program.signal("TERM");
    program.says("leaving");
    assert_eq!(program.end(), Some(0));
}

#[test]
fn what_zenoh_cannot_use_ends_it_with_a_sentence() {
    let folder = tempfile::tempdir().expect("there is room");
    write(folder.path(), "tcp/127.0.0.1:1", &letting("out"));
    std::fs::write(folder.path().join("zenoh.json5"), "{ mode: 'captain' }").expect("there is room");
    let domain = folder.path().join("domain");
    let program = Program::run(&Machine::this(), &folder.path().join("gateway.json"), domain.to_str().expect("a path is a text"));
    program.says("error: Zenoh's own configuration, ");
    program.says("zenoh.json5, cannot be used: ");
}
