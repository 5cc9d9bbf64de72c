//! Recorders of a test, and what they have written.
#![allow(dead_code)] // by each test file, another part

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, Qos};
use sinew_bag::Bag;

use crate::common::{Domain, eventually};

pub const NUMBER: &str = "test/Number{value:uint64;}";

pub fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

/// A recorder that is running.
pub struct Recorder {
    pub child: Child,
    watch: sinew::DomainCounters,
    _node: Node,
}

impl Recorder {
    pub fn start(domain: &Domain, arguments: &str) -> Recorder {
        Recorder::of(domain, domain.command(&format!("record {arguments}")))
    }

    pub fn of(domain: &Domain, mut command: Command) -> Recorder {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let node = domain.node(&format!("watches-{}", child.id()));
        Recorder { child, watch: node.domain_counters().unwrap(), _node: node }
    }

    pub fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Until so many messages have come to subscribers in this domain, of which it is the only one.
    pub fn has_received(&self, count: u64) {
        let received = || self.watch.read().unwrap().pairs.iter().map(|pair| pair.messages).sum::<u64>();
        assert!(eventually(|| received() >= count), "{} came", received());
    }

    /// Until of so many messages all have come or were lost.
    pub fn has_counted(&self, count: u64) {
        let counted = || self.watch.read().unwrap().pairs.iter().map(|pair| pair.messages + pair.missed).sum::<u64>();
        assert!(eventually(|| counted() >= count), "{} are counted", counted());
    }

    pub fn interrupt(self) -> (ExitStatus, String, String) {
        self.signal("-INT");
        self.end()
    }

    pub fn end(mut self) -> (ExitStatus, String, String) {
        let (mut text, mut complaint) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        (self.child.wait().unwrap(), text, complaint)
    }
}

/// It ends with the test, however that ends.
impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A publisher with a recorder.
pub fn connected(publisher: &Publisher) {
    assert!(eventually(|| publisher.statistics().subscribers == 1));
}

/// All messages, by topics.
pub fn read(path: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let bag = Bag::open(path).unwrap();
    assert!(bag.messages(Default::default()).all(|message| message.is_ok()));
    read_so_far(path)
}

/// Those of a file that somebody is writing: a chunk may be there in part.
pub fn read_so_far(path: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let bag = Bag::open(path).unwrap();
    let mut read: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let mut last = 0;
    for message in bag.messages(Default::default()).flatten() {
        assert!(message.stamp.log_time >= last && message.stamp.publish_time <= message.stamp.log_time);
        last = message.stamp.log_time;
        let topic = &bag.topic(message.topic).unwrap().name;
        read.entry(topic.clone()).or_default().push(message.to_vec().unwrap());
    }
    read
}

pub struct Scene {
    pub domain: Domain,
    pub folder: tempfile::TempDir,
    pub node: Node,
}

impl Scene {
    pub fn new() -> Scene {
        let domain = Domain::new();
        let node = domain.node("robot");
        Scene { domain, folder: tempfile::tempdir().unwrap(), node }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Until a recorder that has ended is connected with none of these any more, and not known any more: the next one is not to be taken for it.
    pub fn has_no_recorder(&self, publishers: &[&Publisher]) {
        let is_connected = || publishers.iter().any(|publisher| publisher.statistics().subscribers > 0);
        let is_known = || self.node.domain_state().unwrap().nodes.values().any(|node| node.name.starts_with("sinew-record"));
        assert!(eventually(|| !is_connected() && !is_known()));
    }

    pub fn publisher(&self, topic: &str, signature: &str, qos: &Qos) -> Publisher {
        Publisher::new(&self.node, topic, signature, qos, PublisherOptions::default()).unwrap()
    }
}
