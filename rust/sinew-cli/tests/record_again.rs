//! `sinew record` of publishers that come, go and come again: each message is in the file, once.

mod common;
#[path = "common/record.rs"]
mod record;

use common::eventually;
use record::{NUMBER, Recorder, Scene, connected, number, read};
use sinew::Qos;
use sinew::raw::{Publisher, PublisherOptions};
use sinew_bag::Bag;

#[test]
fn a_topic_that_goes_and_comes_again_is_one() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    for n in 1..=3 {
        let node = scene.domain.node("sensor");
        let publisher = Publisher::new(&node, "number", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
        connected(&publisher);
        publisher.publish(&[&number(n)]).unwrap();
        recorder.has_received(1);
    }
    let (_, text, _) = recorder.interrupt();
    assert_eq!(read(&path)["/number"], [number(1), number(2), number(3)], "{text}");
    assert_eq!(Bag::open(&path).unwrap().topics().count(), 1);
}

#[test]
fn a_recorder_that_loses_its_manager_loses_no_message() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    let numbers = scene.publisher("number", NUMBER, &Qos::default());
    connected(&numbers);
    let name = format!("sinew-record-{}", recorder.child.id());
    let id = || scene.node.domain_state().unwrap().nodes.values().find(|node| node.name == name).map(|node| node.id);
    for n in 0..30 {
        if n % 10 == 5 {
            let before = id();
            scene.node.disconnect(&name).unwrap();
            assert!(eventually(|| id().is_some() && id() != before));
        }
        numbers.publish(&[&number(n)]).unwrap();
        recorder.has_received(n + 1);
    }
    let (_, text, _) = recorder.interrupt();
    assert_eq!(read(&path)["/number"], (0..30).map(number).collect::<Vec<_>>(), "{text}");
}

#[test]
fn who_keeps_nothing_is_recorded_beside_who_keeps_messages() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let keeps = scene.publisher("number", NUMBER, &Qos { transient_local: true, ..Qos::keep_last(1) });
    keeps.publish(&[&number(1)]).unwrap();
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    connected(&keeps);
    recorder.has_received(1);
    let other = scene.publisher("number", NUMBER, &Qos::default());
    connected(&other);
    connected(&keeps);
    other.publish(&[&number(2)]).unwrap();
    recorder.has_received(1);
    recorder.interrupt();
    assert_eq!(read(&path)["/number"], [number(1), number(2)]);
}
