//! A master of ROS 1 of the test's own, robots whose bridges meet there, and programs of Debian's rospy.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{GatewayChannel, Node, Qos};
use sinew_gateway::bridge::Bridge;
use sinew_gateway::config::{Ros1, Settings, Transport};
use sinew_gateway::ros1::{self, Uri};
use sinew_gateway::rules::Rules;

use super::{PATIENCE, node, wanted};

/// Debian's, which has Debian's packages.
const PYTHON: &str = "/usr/bin/python3";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ros1_peer.py");

pub const ROS_STRING: &str = "std_msgs/String";

/// The same in ROS 1.
pub fn ros_text(data: &str) -> Vec<u8> {
    [&(data.len() as u32).to_le_bytes()[..], data.as_bytes()].concat()
}

pub fn publishes(node: &Node, topic: &str, signature: &str, qos: &Qos) -> Publisher {
    Publisher::new(node, topic, signature, qos, PublisherOptions::default()).expect("it may publish")
}

pub fn subscribes(node: &Node, topic: &str, signature: &str, qos: &Qos) -> Subscriber {
    Subscriber::new(node, topic, signature, qos, SubscriberOptions::default()).expect("it may subscribe")
}

/// Whether it has these; else that is said.
pub fn has(modules: &str) -> bool {
    static KNOWN: OnceLock<std::sync::Mutex<HashMap<String, bool>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Default::default).lock().expect("nobody panics with it");
    let has = *known.entry(modules.to_owned()).or_insert_with(|| {
        let imported = Command::new(PYTHON).args(["-c", &format!("import {modules}")]).stderr(Stdio::null()).status();
        imported.is_ok_and(|status| status.success())
    });
    if !has {
        eprintln!("not tried: {PYTHON} has no {modules}; `tools/setup test` installs Debian's packages of ROS 1");
    }
    has
}

/// A program in Python that speaks JSON, until it is dropped.
struct Script {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<Json>,
}

impl Script {
    fn run(arguments: &[&str], master: &str, folder: &std::path::Path) -> Script {
        let mut child = Command::new(PYTHON)
            .arg(SCRIPT)
            .args(arguments)
            .env("ROS_MASTER_URI", master)
            .env("ROS_HOSTNAME", "localhost")
            .env("ROS_HOME", folder)
            .env("ROS_LOG_DIR", folder)
            // genpy's folders, which it cannot remove when it is killed.
            .env("TMPDIR", folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it is a program");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let (tell, said) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}")));
            }
        });
        let input = child.stdin.take();
        Script { child, input, said }
    }

    fn next(&self) -> Json {
        self.said.recv_timeout(PATIENCE).expect("it answers")
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // It ends when nobody asks any more.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A master that no other test has.
pub struct Master {
    pub uri: Uri,
    folder: tempfile::TempDir,
    script: Option<Script>,
}

impl Master {
    /// None: there is no Python that has it.
    pub fn new() -> Option<Master> {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let uri = "http://localhost:1".parse().expect("it is one");
        let mut master = has("rosmaster").then_some(Master { uri, folder, script: None })?;
        master.start("0");
        Some(master)
    }

    fn start(&mut self, port: &str) {
        let script = Script::run(&["master", port], "http://localhost:1", self.folder.path());
        self.uri = script.next()["uri"].as_str().and_then(|uri| uri.parse().ok()).expect("it says where it is");
        self.script = Some(script);
    }

    /// As by `kill -9`.
    pub fn kill(&mut self) {
        self.script = None;
    }

    /// Where it was, without anything that it knew.
    pub fn start_anew(&mut self) {
        self.kill();
        self.start(&self.uri.port.to_string());
    }

    /// What a program of ROS 1 has to know.
    pub fn environment(&self, command: &mut Command) {
        command.env("ROS_MASTER_URI", self.uri.to_string()).env("ROS_HOSTNAME", "localhost");
        command.env("ROS_HOME", self.folder.path()).env("ROS_LOG_DIR", self.folder.path());
    }

    /// A program of rospy. None: there is no Python that has it.
    pub fn peer(&self, name: &str) -> Option<Peer> {
        if !has("rospy") {
            return None;
        }
        let script = Script::run(&["node", name], &self.uri.to_string(), self.folder.path());
        let mut peer = Peer { script, got: HashMap::new() };
        assert_eq!(peer.script.next()["done"], "node");
        peer.ty("std_msgs/String", "string data\n");
        Some(peer)
    }
}

/// A domain of sinew that nobody else is in, and a bridge in it.
pub struct Robot {
    folder: tempfile::TempDir,
    pub bridge: Option<Bridge>,
    pub settings: Settings,
    pub ros1: Ros1,
}

impl Robot {
    pub fn new(rules: Rules, master: &Uri) -> Robot {
        Robot::knowing(vec![], rules, master)
    }

    /// With definitions in these folders.
    pub fn knowing(definitions: Vec<PathBuf>, rules: Rules, master: &Uri) -> Robot {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let ros1 = Ros1 { master: Some(master.clone()), hostname: Some("localhost".to_owned()), definitions };
        let mut settings = Settings::everything(Some(folder.path().join("domain")), Transport::Ros1(ros1.clone()));
        settings.rules = rules;
        let mut robot = Robot { folder, bridge: None, settings, ros1 };
        robot.start();
        robot
    }

    pub fn start(&mut self) {
        self.bridge = Some(ros1::start(&self.settings, &self.ros1).unwrap_or_else(|why| panic!("{why}")));
    }

    pub fn domain(&self) -> String {
        self.folder.path().join("domain").to_str().expect("a path is a text").to_owned()
    }

    pub fn node(&self, name: &str) -> Node {
        node(&self.domain(), name)
    }

    pub fn is_connected(&self) -> bool {
        self.bridge.as_ref().is_some_and(|bridge| bridge.status()[0].connected)
    }

    /// What is told of it, as long as somebody wants it.
    pub fn channel(&self, name: &str, outgoing: bool) -> Option<GatewayChannel> {
        let channels = self.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
        wanted(channels).find(|channel| channel.name == name && channel.outgoing == outgoing)
    }

    /// "open", "waiting", "refused: ...".
    pub fn state(&self, name: &str, outgoing: bool) -> String {
        let channel = self.channel(name, outgoing);
        channel
            .map(|channel| if channel.why.is_empty() { channel.state } else { format!("{}: {}", channel.state, channel.why) })
            .unwrap_or_default()
    }
}

/// A program of rospy: see ros1_peer.py.
pub struct Peer {
    script: Script,
    got: HashMap<String, Vec<Vec<u8>>>,
}

impl Peer {
    /// What it answers.
    pub fn ask(&mut self, request: &Json) -> Json {
        writeln!(self.script.input.as_mut().expect("it is there"), "{request}").expect("it listens");
        loop {
            let said = self.script.next();
            assert!(said.get("error").is_none(), "{request}: {said}");
            if !self.note(&said) {
                return said["result"].clone();
            }
        }
    }

    fn note(&mut self, said: &Json) -> bool {
        let Some(id) = said.get("got") else { return false };
        let message = bytes(said["message"].as_str().expect("it is a text"));
        self.got.entry(id.as_str().expect("it is a text").to_owned()).or_default().push(message);
        true
    }

    /// What a subscriber has got so far, and until so many are there.
    pub fn messages(&mut self, id: &str, count: usize) -> Vec<Vec<u8>> {
        while self.got.get(id).map_or(0, Vec::len) < count {
            let said = self.script.said.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{id} has got {:?}", self.got.get(id)));
            assert!(self.note(&said), "{said}");
        }
        self.got.remove(id).unwrap_or_default()
    }

    /// Makes a type known; its MD5 sum.
    pub fn ty(&mut self, name: &str, text: &str) -> String {
        self.ask(&json!({"do": "type", "name": name, "text": text})).as_str().expect("it is a text").to_owned()
    }

    pub fn write(&mut self, id: &str, topic: &str, name: &str, latch: bool) {
        self.ask(&json!({"do": "write", "id": id, "topic": topic, "name": name, "latch": latch}));
    }

    pub fn read(&mut self, id: &str, topic: &str, name: &str) {
        self.ask(&json!({"do": "read", "id": id, "topic": topic, "name": name}));
    }

    pub fn publish(&mut self, id: &str, name: &str, message: &[u8]) {
        self.ask(&json!({"do": "publish", "id": id, "name": name, "message": hex(message)}));
    }

    pub fn close(&mut self, id: &str) {
        self.ask(&json!({"do": "close", "id": id}));
    }

    /// A message with random values.
    pub fn random(&mut self, name: &str) -> Vec<u8> {
        bytes(self.ask(&json!({"do": "random", "name": name})).as_str().expect("it is a text"))
    }

    /// Waits until a publisher or subscriber is connected with so many.
    pub fn connected(&mut self, id: &str, count: u64) {
        self.until("as many are connected", &json!({"do": "connected", "id": id}), |told| *told == json!(count));
    }

    /// Waits until what it answers is so.
    pub fn until(&mut self, what: &str, request: &Json, is_so: impl Fn(&Json) -> bool) -> Json {
        let begin = Instant::now();
        loop {
            let told = self.ask(request);
            if is_so(&told) {
                return told;
            }
            assert!(begin.elapsed() < PATIENCE, "in vain: {what}: {told}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// As by `kill -9`.
    pub fn kill(self) {
        drop(self);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("they are digits")).collect()
}
