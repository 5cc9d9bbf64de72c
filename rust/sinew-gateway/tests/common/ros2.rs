//! Robots whose bridges meet in a DDS domain of the test's own, on the loopback interface, and a program of Cyclone DDS there.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value as Json, json};
use sinew::{Client, GatewayCatalogue, GatewayCatalogueRequest, GatewayChannel, GatewayEntry, Node};
use sinew_gateway::bridge::Bridge;
use sinew_gateway::config::{Ros2, Settings, Transport};
use sinew_gateway::dds;
use sinew_gateway::rules::Rules;

use super::{PATIENCE, kill_manager, node, wanted};

/// A DDS domain that no other test has.
pub struct Domain {
    pub id: u32,
    _lock: File,
}

impl Domain {
    pub fn new() -> Domain {
        let lock = |id: u32| {
            let path = std::env::temp_dir().join(format!("sinew-test-dds-domain-{id}"));
            let file = File::options().create(true).truncate(false).write(true).open(path).ok()?;
            flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
            Some(Domain { id, _lock: file })
        };
        // Of higher numbers, ports are among those that Linux gives to whoever asks for any.
        (20..=100).find_map(lock).expect("there are not so many tests")
    }
}

/// A domain of sinew that nobody else is in, and a bridge in it.
pub struct Robot {
    folder: tempfile::TempDir,
    pub bridge: Option<Bridge>,
    pub settings: Settings,
    pub ros2: Ros2,
}

impl Robot {
    pub fn new(rules: Rules, domain: &Domain) -> Robot {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let definitions = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../msggen/definitions")];
        let ros2 = Ros2 { domain_id: domain.id, interfaces: vec![[127, 0, 0, 1].into()], definitions };
        let mut settings = Settings::everything(Some(folder.path().join("domain")), Transport::Ros2(ros2.clone()));
        settings.rules = rules;
        let mut robot = Robot { folder, bridge: None, settings, ros2 };
        robot.start();
        robot
    }

    pub fn start(&mut self) {
        self.bridge = Some(dds::start(&self.settings, &self.ros2).unwrap_or_else(|why| panic!("{why}")));
    }

    pub async fn stop(&mut self) {
        self.bridge.take().expect("it runs").end().await;
    }

    pub fn node(&self, name: &str) -> Node {
        node(&self.path(), name)
    }

    pub fn path(&self) -> String {
        self.folder.path().join("domain").to_str().expect("a path is a text").to_owned()
    }

    /// Until it is dropped, nobody starts a manager.
    pub fn without_managers(&self) -> File {
        let folder = File::open(self.folder.path()).expect("it is there");
        flock(&folder, FlockOperation::LockExclusive).expect("it can be locked");
        kill_manager(&self.path());
        folder
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

/// A program of ROS 2: of Cyclone DDS (ros2_peer.py), or of Zenoh (rmw_zenoh_peer.py).
pub struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<Json>,
    got: HashMap<String, Vec<Vec<u8>>>,
}

impl Peer {
    /// Of Cyclone DDS. None: there is no Python that has it.
    pub fn new(domain: &Domain) -> Option<Peer> {
        Peer::configured(domain, "")
    }

    /// That tells what it closes in the way that Fast DDS 2.9 understands, as Cyclone DDS does when it is asked to.
    pub fn with_key_hashes(domain: &Domain) -> Option<Peer> {
        Peer::configured(domain, "<Internal><GenerateKeyhash>true</GenerateKeyhash></Internal>")
    }

    fn configured(domain: &Domain, more: &str) -> Option<Peer> {
        Some(Peer::run(python("ros2_peer.py")?.arg(domain.id.to_string()).env("CYCLONEDDS_URI", on_loopback(more))))
    }

    /// By its script. None: there is no Python for it.
    pub fn start(script: &str, arguments: &[&str]) -> Option<Peer> {
        Some(Peer::run(python(script)?.args(arguments)))
    }

    fn run(command: &mut Command) -> Peer {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it is a program");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let (tell, said) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}")));
            }
        });
        let input = child.stdin.take();
        Peer { child, input, said, got: HashMap::new() }
    }

    /// What it answers.
    pub fn ask(&mut self, request: &Json) -> Json {
        writeln!(self.input.as_mut().expect("it is there"), "{request}").expect("it listens");
        loop {
            let said = self.said.recv_timeout(PATIENCE).expect("it answers");
            assert!(said.get("error").is_none(), "{request}: {said}");
            if !self.note(&said) {
                return said["result"].clone();
            }
        }
    }

    fn note(&mut self, said: &Json) -> bool {
        let Some(id) = said.get("got") else { return false };
        let stream = bytes(said["stream"].as_str().expect("it is a text"));
        self.got.entry(id.as_str().expect("it is a text").to_owned()).or_default().push(stream);
        true
    }

    /// What a reader has got so far, and until so many are there.
    pub fn streams(&mut self, id: &str, count: usize) -> Vec<Vec<u8>> {
        while self.got.get(id).map_or(0, Vec::len) < count {
            let said = self.said.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{id} has got {:?}", self.got.get(id)));
            assert!(self.note(&said), "{said}");
        }
        self.got.remove(id).unwrap_or_default()
    }

    /// What a reader has got that was not asked for yet.
    pub fn so_far(&mut self, id: &str) -> Vec<Vec<u8>> {
        while let Ok(said) = self.said.try_recv() {
            assert!(self.note(&said), "{said}");
        }
        self.got.remove(id).unwrap_or_default()
    }

    /// Makes a type known.
    pub fn ty(&mut self, name: &str, text: &str) {
        self.ask(&json!({"do": "type", "name": name, "text": text}));
    }

    pub fn write(&mut self, id: &str, topic: &str, name: &str, qos: &Json) {
        self.ask(&json!({"do": "write", "id": id, "topic": topic, "name": name, "qos": qos}));
    }

    pub fn read(&mut self, id: &str, topic: &str, name: &str, qos: &Json) {
        self.ask(&json!({"do": "read", "id": id, "topic": topic, "name": name, "qos": qos}));
    }

    pub fn publish(&mut self, id: &str, name: &str, stream: &[u8]) {
        self.ask(&json!({"do": "publish", "id": id, "name": name, "stream": hex(stream)}));
    }

    /// Waits until a writer or reader is connected with so many.
    pub fn matched(&mut self, id: &str, count: u64) {
        let begin = std::time::Instant::now();
        while self.ask(&json!({"do": "matched", "id": id})) != json!(count) {
            assert!(begin.elapsed() < PATIENCE, "in vain: {id} is connected with {count}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// As by `kill -9`.
    pub fn kill(mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends when nobody asks any more.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// That runs a script of these tests. None: there is no interpreter for it.
fn python(script: &str) -> Option<Command> {
    let Ok(python) = std::env::var("SINEW_TEST_PYTHON") else {
        eprintln!("not tried: SINEW_TEST_PYTHON is not set; tools/python_env.py makes an interpreter for it");
        return None;
    };
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script));
    Some(command)
}

/// The configuration of Cyclone DDS with which it stays on this machine.
pub fn on_loopback(more: &str) -> String {
    let loopback = r#"<General><Interfaces><NetworkInterface name="lo" multicast="true"/></Interfaces></General>"#;
    format!("<CycloneDDS><Domain>{loopback}{more}</Domain></CycloneDDS>")
}

/// What the bridge of the node's domain tells those who look for what others have. Nothing: there is no bridge yet.
pub fn told(node: &Node) -> Vec<GatewayEntry> {
    let state = node.domain_state().expect("there is a manager");
    let Some(bridge) = state.nodes.values().find(|node| node.name.starts_with("gateway_")) else { return Vec::new() };
    let client =
        Client::<GatewayCatalogueRequest, GatewayCatalogue>::new(node, &GatewayCatalogue::service(&bridge.name), &Default::default());
    let answer = client.expect("it may call").call(&GatewayCatalogueRequest::default(), PATIENCE).expect("it is answered");
    let mut peers = answer.read().expect("it is one").peers;
    assert_eq!(peers.len(), 1, "the network is one peer");
    peers.remove(0).entries
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("they are digits")).collect()
}
