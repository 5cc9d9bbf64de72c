//! `sinew record` of publishers that come, go and come again: each message is in the file, once.

mod common;
#[path = "common/record.rs"]
mod record;

use std::path::Path;

use common::eventually;
use record::{NUMBER, Recorder, Scene, connected, number, read, read_so_far};
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, Qos};
use sinew_bag::Bag;

/// It keeps its newest message for who comes late.
fn keeper(node: &Node, topic: &str) -> Publisher {
    let qos = Qos { transient_local: true, ..Qos::keep_last(1) };
    Publisher::new(node, topic, NUMBER, &qos, PublisherOptions::default()).unwrap()
}

/// Until this is the last in the file of those on that topic.
fn ends_with(path: &Path, topic: &str, last: u64) {
    assert!(eventually(|| read_so_far(path).get(topic).and_then(|numbers| numbers.last().cloned()) == Some(number(last))));
}

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

#[test]
fn what_is_published_after_a_publisher_lost_its_manager_is_recorded_once() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --json", path.display()));
    let sensor = scene.domain.node("sensor");
    let numbers = Publisher::new(&sensor, "number", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
    let publishers = [&numbers, &keeper(&sensor, "map")];
    let publish = |n| publishers.iter().for_each(|publisher| publisher.publish(&[&number(n)]).unwrap());
    publishers.into_iter().for_each(connected);
    publish(1);
    recorder.has_received(2);
    scene.node.disconnect("sensor").unwrap();
    // By the subscriber that was there, and by the one for the topic that has come anew.
    assert!(eventually(|| publishers.iter().all(|publisher| publisher.statistics().subscribers == 2)));
    (2..=10).for_each(publish);
    ["/number", "/map"].into_iter().for_each(|topic| ends_with(&path, topic, 10));
    // Nothing changes in the domain meanwhile.
    publishers.into_iter().for_each(connected);
    let (_, text, _) = recorder.interrupt();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let received: Vec<_> = told["topics"].as_array().unwrap().iter().map(|topic| topic["received"].as_u64()).collect();
    assert_eq!((received, told["lost"].as_u64()), (vec![Some(10); 2], Some(0)));
    let read = read(&path);
    assert_eq!((&read["/number"], &read["/map"]), (&(1..=10).map(number).collect(), &(1..=10).map(number).collect()));
}
