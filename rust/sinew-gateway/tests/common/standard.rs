//! A message of each type of the standard packages of ROS 2, that goes to a program there, and one that comes from it.

use std::time::{Duration, Instant};

use serde_json::json;
use sinew::msg::Type;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

use super::PATIENCE;
use super::ros2::Peer;
use super::values::{some, types};

/// Two topics of one type: `out_` and the id, and `in_` and the id.
pub struct Topic {
    pub name: String,
    pub id: String,
    pub stream: Vec<u8>,
    pub publisher: Publisher,
    pub subscriber: Subscriber,
}

impl Topic {
    /// And is what it was.
    pub fn has_come(&self, is_same: fn(&[u8], &[u8]) -> bool) -> bool {
        let Some(frame) = self.subscriber.take(Duration::ZERO).expect("it can be taken") else { return false };
        let told = frame.to_vec();
        assert!(is_same(&told, &self.stream), "{}: {told:02x?} here, {:02x?} there", self.name, self.stream);
        true
    }
}

/// Those of all types, in the domain.
pub fn topics(node: &Node, types: &[(String, Type)], seed: u64) -> Vec<Topic> {
    let mut random = fastrand::Rng::with_seed(seed);
    let qos = Qos { reliable: true, ..Qos::keep_last(5) };
    let topic = |(number, (name, ty)): (usize, &(String, Type))| {
        let (signature, id) = (ty.to_string(), format!("t{number}"));
        let stream = some(ty, &mut random).to_stream(ty).expect("it is of the type");
        let publisher = Publisher::new(node, &format!("out_{id}"), &signature, &qos, PublisherOptions::default()).expect("it may publish");
        let subscriber =
            Subscriber::new(node, &format!("in_{id}"), &signature, &qos, SubscriberOptions::default()).expect("it may subscribe");
        Topic { name: name.clone(), id, stream, publisher, subscriber }
    };
    types.iter().enumerate().map(topic).collect()
}

/// How a program of ROS 2 is told of topics and types, and what it may make of a message.
pub struct There<'a> {
    /// What a topic is called.
    pub topic: fn(&str) -> String,
    /// What a type is made of.
    pub definition: fn(&str, &Type) -> String,
    /// Whether the first is what the second has become on its way.
    pub is_same: fn(&[u8], &[u8]) -> bool,
    pub peer: &'a mut Peer,
}

impl There<'_> {
    /// Published until it arrives: what is sent before the other side knows the reader is lost.
    pub fn exchanges_all(self, node: &Node, seed: u64) {
        let types = types();
        assert!(types.len() > 120, "{} types", types.len());
        let topics = topics(node, &types, seed);
        let There { topic: named, definition, is_same, peer } = self;
        for (topic, (name, ty)) in topics.iter().zip(&types) {
            let id = &topic.id;
            peer.ty(name, &definition(name, ty));
            peer.read(&format!("read_{id}"), &named(&format!("out_{id}")), name, &json!({"depth": 5}));
            peer.write(&format!("write_{id}"), &named(&format!("in_{id}")), name, &json!({"depth": 5}));
        }
        until_none_is_missing(&topics, "there", |missing| {
            for topic in missing.iter() {
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
        });
        until_none_is_missing(&topics, "here", |missing| {
            for topic in missing.iter() {
                peer.publish(&format!("write_{}", topic.id), &topic.name, &topic.stream);
            }
            std::thread::sleep(Duration::from_millis(200));
            missing.retain(|topic| !topic.has_come(is_same));
        });
    }
}

/// Does it again until all have arrived.
pub fn until_none_is_missing<'a>(topics: &'a [Topic], place: &str, mut attempt: impl FnMut(&mut Vec<&'a Topic>)) {
    let begin = Instant::now();
    let mut missing: Vec<&Topic> = topics.iter().collect();
    while !missing.is_empty() {
        let names = || missing.iter().map(|topic| &topic.name).collect::<Vec<_>>();
        assert!(begin.elapsed() < 3 * PATIENCE, "in vain: {:?} arrive {place}", names());
        attempt(&mut missing);
    }
}
