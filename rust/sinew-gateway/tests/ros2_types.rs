//! Messages of all standard packages of ROS 2, there and back again: by this bridge, and by Cyclone DDS, which knows their types.

mod common;

use std::time::{Duration, Instant};

use common::ros2::{Domain, Peer, Robot};
use common::values::{is_same, some, types};
use common::{PATIENCE, all};
use serde_json::json;
use sinew::msg::{Type, schema};
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

struct Topic {
    name: String,
    id: String,
    stream: Vec<u8>,
    publisher: Publisher,
    subscriber: Subscriber,
}

fn topic(node: &Node, number: usize, (name, ty): &(String, Type), random: &mut fastrand::Rng) -> Topic {
    let (qos, signature, id) = (Qos { reliable: true, ..Qos::keep_last(5) }, ty.to_string(), format!("t{number}"));
    let stream = some(ty, random).to_stream(ty).expect("it is of the type");
    let publisher = Publisher::new(node, &format!("out_{id}"), &signature, &qos, PublisherOptions::default()).expect("it may publish");
    let subscriber = Subscriber::new(node, &format!("in_{id}"), &signature, &qos, SubscriberOptions::default()).expect("it may subscribe");
    Topic { name: name.clone(), id, stream, publisher, subscriber }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_all_standard_packages_are_the_same_there_and_here() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let types = types();
    assert!(types.len() > 120, "{} types", types.len());
    let mut random = fastrand::Rng::with_seed(11);
    let topics: Vec<Topic> = types.iter().enumerate().map(|(number, ty)| topic(&node, number, ty, &mut random)).collect();
    for (topic, (name, ty)) in topics.iter().zip(&types) {
        peer.ty(name, &schema::of(ty).text);
        peer.read(&format!("read_{}", topic.id), &format!("rt/out_{}", topic.id), name, &json!({"depth": 5}));
        peer.write(&format!("write_{}", topic.id), &format!("rt/in_{}", topic.id), name, &json!({"depth": 5}));
    }
    // Published until it arrives: what is sent before the other side knows the reader is lost.
    let begin = Instant::now();
    let mut missing: Vec<&Topic> = topics.iter().collect();
    while !missing.is_empty() {
        assert!(begin.elapsed() < 2 * PATIENCE, "in vain: {:?} arrive there", missing.iter().map(|topic| &topic.name).collect::<Vec<_>>());
        for topic in &missing {
            topic.publisher.publish(&[&topic.stream]).expect("it is published");
        }
        std::thread::sleep(Duration::from_millis(200));
        missing.retain(|topic| {
            let told = peer.so_far(&format!("read_{}", topic.id));
            for stream in &told {
                assert!(is_same(stream, &topic.stream), "{}: {stream:02x?} there, {:02x?} here", topic.name, topic.stream);
            }
            told.is_empty()
        });
    }
    let begin = Instant::now();
    let mut missing: Vec<&Topic> = topics.iter().collect();
    while !missing.is_empty() {
        assert!(begin.elapsed() < 2 * PATIENCE, "in vain: {:?} arrive here", missing.iter().map(|topic| &topic.name).collect::<Vec<_>>());
        for topic in &missing {
            peer.publish(&format!("write_{}", topic.id), &topic.name, &topic.stream);
        }
        std::thread::sleep(Duration::from_millis(200));
        missing.retain(|topic| match topic.subscriber.take(Duration::ZERO).expect("it can be taken") {
            Some(frame) => {
                let told = frame.to_vec();
                assert!(is_same(&told, &topic.stream), "{}: {told:02x?} here, {:02x?} there", topic.name, topic.stream);
                false
            }
            None => true,
        });
    }
}
