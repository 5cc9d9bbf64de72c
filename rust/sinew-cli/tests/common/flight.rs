//! Flight recorders of a test, and what they have written.
#![allow(dead_code)] // by each test file, another part

use std::io::{BufRead, BufReader, Lines, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, Qos};
use sinew_bag::Bag;

use crate::common::{Domain, eventually};

pub const NUMBER: &str = "test/Number{value:uint64;}";

pub fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

/// A flight recorder that is running.
pub struct Recorder {
    pub child: Child,
    pub lines: Lines<BufReader<ChildStdout>>,
    pub counters: sinew::DomainCounters,
    pub _node: Node,
}

impl Recorder {
    pub fn start(domain: &Domain, folder: &Path, arguments: &[&str]) -> Recorder {
        Recorder::lasting("60s", domain, folder, arguments)
    }

    pub fn lasting(last: &str, domain: &Domain, folder: &Path, arguments: &[&str]) -> Recorder {
        let mut command = domain.command(&format!("record --json --last {last} -o"));
        command.arg(folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let node = domain.node("sinew-test");
        let is_there = || {
            let state = node.domain_state().unwrap();
            let answers = |topic: &sinew::DomainTopic| topic.name.starts_with("sinew/flight/") && topic.name.ends_with("@response");
            state.endpoints.values().any(|end| end.publishes && end.topic.and_then(|topic| state.topics.get(&topic)).is_some_and(answers))
        };
        assert!(eventually(is_there));
        Recorder { child, lines, counters: node.domain_counters().unwrap(), _node: node }
    }

    /// Until so many messages have come to it from those who are there.
    pub fn has_received(&self, count: u64) {
        assert!(eventually(|| self.received() >= count));
    }

    pub fn received(&self) -> u64 {
        self.counters.read().unwrap().pairs.iter().map(|pair| pair.messages).sum()
    }

    /// What it tells of the next file.
    pub fn written(&mut self) -> serde_json::Value {
        serde_json::from_str(&self.lines.next().expect("it writes").unwrap()).unwrap()
    }

    pub fn interrupt(&self) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.child.id() as i32), nix::sys::signal::Signal::SIGINT).unwrap();
    }

    pub fn end(self) -> String {
        self.interrupt();
        self.has_ended()
    }

    pub fn has_ended(self) -> String {
        let (status, said) = self.status();
        assert_eq!(status, Some(0), "{said}");
        said
    }

    /// With which it ends, and what it has said.
    pub fn status(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

/// It ends with the test, however that ends.
impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Scene {
    pub domain: Domain,
    pub folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Scene {
        Scene { domain: Domain::new(), folder: tempfile::tempdir().unwrap() }
    }

    pub fn recorder(&self, arguments: &[&str]) -> Recorder {
        Recorder::start(&self.domain, self.folder.path(), arguments)
    }

    pub fn publisher(&self, node: &Node, topic: &str) -> Publisher {
        let publisher = Publisher::new(node, topic, NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
        assert!(eventually(|| publisher.statistics().subscribers == 1));
        publisher
    }
}

/// Messages of a topic.
pub fn read(written: &serde_json::Value, topic: &str) -> Vec<Vec<u8>> {
    let bag = Bag::open(&PathBuf::from(written["path"].as_str().unwrap())).unwrap();
    assert_eq!(bag.cut(), None);
    let messages = bag.messages(Default::default()).map(Result::unwrap);
    messages.filter(|message| bag.topic(message.topic).unwrap().name == topic).map(|message| message.to_vec().unwrap()).collect()
}
