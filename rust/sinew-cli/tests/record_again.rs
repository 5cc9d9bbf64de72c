//! `sinew record` of publishers that come, go and come again: each message is in the file, once.

mod common;
#[path = "common/record.rs"]
mod record;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{eventually, is_stopped};
use record::{NUMBER, Recorder, Scene, connected, number, read, read_so_far};
use sinew::raw::{Publisher, PublisherOptions, Subscriber};
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
    other.publish(&[&number(2)]).unwrap();
    ends_with(&path, "/number", 2);
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

#[test]
fn what_a_publisher_keeps_is_recorded_once_however_old_it_is_when_its_node_loses_its_manager() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    let sensor = scene.domain.node("sensor");
    let map = keeper(&sensor, "map");
    connected(&map);
    map.publish(&[&number(1)]).unwrap();
    recorder.has_received(1);
    // Longer than who has gone is remembered.
    std::thread::sleep(Duration::from_millis(5500));
    scene.node.disconnect("sensor").unwrap();
    assert!(eventually(|| map.statistics().subscribers == 2));
    recorder.has_received(2);
    map.publish(&[&number(2)]).unwrap();
    ends_with(&path, "/map", 2);
    recorder.interrupt();
    assert_eq!(read(&path)["/map"], [number(1), number(2)]);
}

#[test]
fn what_both_subscribers_of_a_topic_that_has_come_anew_lose_is_counted_once() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --json", path.display()));
    let sensor = scene.domain.node("sensor");
    let numbers = Publisher::new(&sensor, "number", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
    connected(&numbers);
    scene.node.disconnect("sensor").unwrap();
    assert!(eventually(|| numbers.statistics().subscribers == 2));
    numbers.publish(&[&number(0)]).unwrap();
    // By both: what one of them alone takes the other one loses.
    recorder.has_received(2);
    ends_with(&path, "/number", 0);
    recorder.signal("-STOP");
    assert!(eventually(|| is_stopped(recorder.child.id() as i32)));
    let published = 3000;
    (1..published).for_each(|n| numbers.publish(&[&number(n)]).unwrap());
    recorder.signal("-CONT");
    ends_with(&path, "/number", published - 1);
    connected(&numbers);
    let (_, text, _) = recorder.interrupt();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (written, lost) = (read(&path)["/number"].len() as u64, told["lost"].as_u64().unwrap());
    assert!(lost > 0);
    assert_eq!((written, written + lost), (told["messages"].as_u64().unwrap(), published));
}

#[test]
fn what_is_published_while_who_keeps_nothing_joins_and_leaves_is_recorded_once_or_counted() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let keeps = keeper(&scene.node, "number");
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --json", path.display()));
    connected(&keeps);
    let is_over = AtomicBool::new(false);
    let published = std::thread::scope(|scope| {
        let publishes = scope.spawn(|| {
            let numbers = (0..).take_while(|_| !is_over.load(Ordering::Relaxed));
            let publish = |n| {
                keeps.publish(&[&number(n)]).unwrap();
                std::thread::sleep(Duration::from_micros(100));
            };
            numbers.map(publish).count()
        });
        let is_heard = (0..10).all(|_| {
            let other = scene.publisher("number", NUMBER, &Qos::default());
            let is_heard = eventually(|| other.statistics().subscribers > 0);
            drop(other);
            std::thread::sleep(Duration::from_millis(20));
            is_heard
        });
        is_over.store(true, Ordering::Relaxed);
        assert!(is_heard);
        publishes.join().unwrap()
    });
    ends_with(&path, "/number", published as u64 - 1);
    let (_, text, _) = recorder.interrupt();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut numbers = read(&path).remove("/number").unwrap();
    let written = numbers.len();
    numbers.sort();
    numbers.dedup();
    assert_eq!((numbers.len(), written as u64 + told["lost"].as_u64().unwrap()), (written, published as u64));
}

#[test]
fn the_first_message_of_a_publisher_that_keeps_it_and_comes_again_is_recorded_also_after_one_that_kept_nothing() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    // It wants the topic, which stays for it.
    let _viewer = Subscriber::new(&scene.node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    let node = scene.domain.node("map");
    let keeps = keeper(&node, "number");
    keeps.publish(&[&number(1)]).unwrap();
    assert!(eventually(|| keeps.statistics().subscribers == 2));
    ends_with(&path, "/number", 1);
    let other = scene.publisher("number", NUMBER, &Qos::default());
    assert!(eventually(|| other.publish(&[&number(2)]).is_ok() && read_so_far(&path)["/number"].contains(&number(2))));
    drop((other, keeps, node));
    let node = scene.domain.node("map");
    let keeps = keeper(&node, "number");
    keeps.publish(&[&number(3)]).unwrap();
    ends_with(&path, "/number", 3);
    recorder.interrupt();
    let numbers = &read(&path)["/number"];
    assert_eq!(numbers.iter().filter(|each| **each != number(2)).collect::<Vec<_>>(), [&number(1), &number(3)]);
}
