//! Files of a test that are played, and who gets what is in them.
#![allow(dead_code)] // by each test file, another part

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};
use sinew_bag::{Compression, Stamp, Topic, Writer, qos};

use crate::common::Domain;

pub const NUMBER: &str = "test/Number{value:uint64;}";
const MOMENT: Duration = Duration::from_secs(30);

pub fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

/// A topic of this type, with what its publisher offered.
pub fn topic(name: &str, signature: &str, offered: &Qos) -> Topic {
    let schema = sinew::msg::schema::of(&signature.parse().unwrap());
    Topic {
        name: name.into(),
        message_encoding: "cdr".into(),
        type_name: schema.name,
        schema_encoding: schema.encoding.into(),
        schema: schema.text,
        metadata: [(qos::OFFERED_QOS.to_owned(), qos::to_yaml(std::slice::from_ref(offered)).unwrap())].into(),
    }
}

/// A message is due so many milliseconds after the first.
pub struct Due<'a>(pub u64, pub &'a str, pub Vec<u8>);

pub struct Scene {
    pub domain: Domain,
    pub folder: tempfile::TempDir,
    node: Node,
}

impl Scene {
    pub fn new() -> Scene {
        let domain = Domain::new();
        let node = domain.node("listens");
        Scene { domain, folder: tempfile::tempdir().unwrap(), node }
    }

    pub fn file(&self, name: &str, topics: &[Topic], messages: &[Due<'_>]) -> PathBuf {
        let path = self.folder.path().join(name);
        let mut writer = Writer::create(&path, Compression::None).unwrap();
        let ids: Vec<_> = topics.iter().map(|topic| (topic.name.clone(), writer.add_topic(topic).unwrap())).collect();
        for (n, Due(due, topic, bytes)) in messages.iter().enumerate() {
            let time = 1_700_000_000_000_000_000 + due * 1_000_000;
            let stamp = Stamp { sequence: n as u32, log_time: time, publish_time: time };
            let id = ids.iter().find(|(name, _)| name == topic).unwrap().1;
            writer.write(id, &stamp, &[bytes]).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    /// Numbers from 0 on, ten milliseconds apart.
    pub fn numbers(&self, topic_name: &str, count: u64) -> PathBuf {
        let messages: Vec<_> = (0..count).map(|n| Due(n * 10, topic_name, number(n))).collect();
        self.file("numbers", &[topic(topic_name, NUMBER, &Qos::reliable())], &messages)
    }

    pub fn subscriber(&self, topic: &str, signature: &str, qos: &Qos) -> Subscriber {
        Subscriber::new(&self.node, topic, signature, qos, SubscriberOptions::default()).unwrap()
    }

    pub fn every(&self, topic: &str) -> Subscriber {
        self.subscriber(topic, NUMBER, &Qos::reliable())
    }

    pub fn play(&self, path: &Path, arguments: &str) -> serde_json::Value {
        self.domain.json(&format!("play {}{arguments}", path.display()))
    }
}

pub fn take(subscriber: &Subscriber) -> Vec<u8> {
    subscriber.take(MOMENT).unwrap().map(|frame| frame.to_vec()).expect("a message comes")
}

/// So many messages, and no more: who plays them may end before they are taken.
pub fn just(subscriber: &Subscriber, count: usize) -> Vec<Vec<u8>> {
    let taken = (0..count).map(|_| take(subscriber)).collect();
    assert!(subscriber.take(Duration::ZERO).unwrap().is_none(), "more than {count} have come");
    taken
}

/// What has come so far.
pub fn all(subscriber: &Subscriber) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| subscriber.take(Duration::ZERO).unwrap()).map(|frame: Frame| frame.to_vec()).collect()
}

/// A player that is running.
pub struct Player(pub Child);

impl Player {
    pub fn start(scene: &Scene, path: &Path, arguments: &str) -> Player {
        let mut command = scene.domain.command(&format!("play {}{arguments} --json", path.display()));
        Player(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    pub fn interrupt(mut self) -> serde_json::Value {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.0.id() as i32), nix::sys::signal::Signal::SIGINT).unwrap();
        let told = serde_json::from_reader(self.0.stdout.take().unwrap()).unwrap();
        assert!(self.0.wait().unwrap().success());
        told
    }
}

/// It ends with the test, however that ends.
impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
