//! What tests of the gateway have in common: robots, each with a domain and a gateway of its own.
#![allow(dead_code)] // by each test file, another part

pub mod actions;
pub mod built;
#[cfg(feature = "zenoh")]
pub mod chatter;
pub mod grades;
pub mod initials;
pub mod machine;
pub mod net;
pub mod numbers;
pub mod program;
pub mod relay;
pub mod ros1;
pub mod ros2;
pub mod services;
pub mod standard;
pub mod stranger;
pub mod texts;
pub mod values;
#[cfg(feature = "zenoh")]
pub mod zenoh;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sinew::raw::{Frame, Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{GatewayChannel, Node, NodeOptions, Qos};
use sinew_gateway::config::{Discovery, Security, Settings, Transport};
use sinew_gateway::gateway::Gateway;
use sinew_gateway::rules::Rules;
use sinew_gateway::security::Identity;
use tokio::runtime::Handle;

use machine::Machine;

/// How long something may take that takes milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Rules as a configuration says them.
pub fn rules(rulesets: &str) -> Rules {
    Settings::parse(Path::new("test.json"), &format!(r#"{{ "security": "ad-hoc", "rules": [{rulesets}] }}"#))
        .unwrap_or_else(|why| panic!("{why}"))
        .rules
}

/// Everything goes both ways.
pub fn all() -> Rules {
    rules(r#"{ "topics": { "base_rule": "both" }, "services": { "base_rule": "both" } }"#)
}

pub const IMAGE: &str = "robot/Image{width:uint32;data:uint8[];}";

/// A domain that nobody else is in, and a gateway in it.
pub struct Robot {
    folder: tempfile::TempDir,
    machine: Machine,
    pub gateway: Option<Gateway>,
    pub settings: Settings,
}

/// Of these, what is there: what is told of for the messages that it has lost is not.
pub fn wanted(channels: Vec<GatewayChannel>) -> impl Iterator<Item = GatewayChannel> {
    channels.into_iter().filter(|channel| channel.state != "closed")
}

impl Robot {
    /// Without peers; those of others may dial it. Its gateway has a machine of its own.
    pub fn new(name: &str, rules: Rules) -> Robot {
        Robot::on(Machine::new(), name, rules)
    }

    /// The same for a test that speaks to it itself.
    pub fn on_this_machine(name: &str, rules: Rules) -> Robot {
        Robot::on(Machine::this(), name, rules)
    }

    /// Another gateway in the domain of this one, that dials others.
    pub fn beside(&self, name: &str, rules: Rules, peers: &[&Robot]) -> Robot {
        let mut robot = Robot::unstarted(Machine::new(), name, rules);
        robot.settings.domain = self.settings.domain.clone();
        robot.settings.peers = peers.iter().map(|peer| peer.address().to_string()).collect();
        robot.start();
        robot
    }

    fn on(machine: Machine, name: &str, rules: Rules) -> Robot {
        let mut robot = Robot::unstarted(machine, name, rules);
        robot.start();
        robot
    }

    fn unstarted(machine: Machine, name: &str, rules: Rules) -> Robot {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let settings = Settings {
            name: Some(name.to_owned()),
            tag: name.to_owned(),
            domain: Some(folder.path().join("domain")),
            transport: Transport::Quic,
            listen: SocketAddr::from((machine.address, 0)),
            peers: Vec::new(),
            discovery: Discovery::default(),
            security: Security::default(),
            budget: None,
            max_message: 64 << 20,
            rules,
        };
        Robot { folder, machine, gateway: None, settings }
    }

    /// That dials others, which it can reach.
    pub fn dialing(name: &str, rules: Rules, peers: &[&Robot]) -> Robot {
        let is_reached = peers.iter().all(|peer| !peer.address().ip().is_loopback());
        let mut robot = Robot::on(if is_reached { Machine::new() } else { Machine::this() }, name, rules);
        robot.gateway = None;
        robot.settings.peers = peers.iter().map(|peer| peer.address().to_string()).collect();
        robot.start();
        robot
    }

    /// All that is told of a topic or a service, of all peers.
    pub fn channels(&self, name: &str) -> Vec<GatewayChannel> {
        let peers = self.gateway.as_ref().map(Gateway::status).unwrap_or_default();
        peers.into_iter().flat_map(|peer| peer.channels).filter(|channel| channel.name == name).collect()
    }

    pub fn start(&mut self) {
        let identity = Identity::load(&self.settings.security).expect("an identity is made on the fly");
        let (begin, runtime) = (Instant::now(), Handle::current());
        let started = self.machine.within(|| {
            let _entered = runtime.enter();
            // The kernel frees a port a moment after who had it has ended.
            loop {
                match Gateway::start(&self.settings, &identity) {
                    Ok(gateway) => break gateway,
                    Err(why) => assert!(why.0.contains("in use") && begin.elapsed() < PATIENCE, "{why}"),
                }
            }
        });
        self.gateway = Some(started);
    }

    /// As on SIGHUP.
    pub fn change(&self) {
        let identity = Identity::load(&self.settings.security).expect("an identity is made on the fly");
        self.gateway.as_ref().expect("it runs").change(&self.settings, &identity);
    }

    pub async fn stop(&mut self) {
        self.gateway.take().expect("it runs").end().await;
    }

    pub fn address(&self) -> SocketAddr {
        self.gateway.as_ref().expect("it runs").address()
    }

    /// What the peers of this gateway cannot have, or it cannot have of them.
    pub fn refusals(&self) -> Vec<String> {
        let status = self.gateway.as_ref().map(Gateway::status).unwrap_or_default();
        let channels = status.into_iter().flat_map(|peer| peer.channels);
        channels.filter(|channel| channel.state == "refused").map(|channel| channel.why).collect()
    }

    pub fn path(&self) -> String {
        self.settings.domain.as_ref().and_then(|path| path.to_str()).expect("a path is a text").to_owned()
    }

    pub fn node(&self, name: &str) -> Node {
        node(&self.path(), name)
    }
}

/// In this domain.
pub fn node(domain: &str, name: &str) -> Node {
    Node::with_options(name, &NodeOptions { domain: domain.to_owned(), by_caller: false }).expect("there is a manager")
}

/// Waits until there is somebody for each.
pub fn connected(publisher: &Publisher, subscribers: &[&Subscriber]) {
    until("they are connected", || {
        publisher.statistics().subscribers > 0 && subscribers.iter().all(|subscriber| subscriber.statistics().publishers > 0)
    });
}

pub fn publisher(node: &Node, topic: &str, qos: &Qos) -> Publisher {
    Publisher::new(node, topic, IMAGE, qos, PublisherOptions::default()).expect("it may publish")
}

pub fn subscriber(node: &Node, topic: &str, qos: &Qos) -> Subscriber {
    Subscriber::new(node, topic, IMAGE, qos, SubscriberOptions::default()).expect("it may subscribe")
}

/// An image whose width is a number, and whose bytes are so many.
pub fn image(number: u32, size: usize) -> Vec<u8> {
    let mut stream = vec![0, 1, 0, 0];
    stream.extend(number.to_le_bytes());
    stream.extend((size as u32).to_le_bytes());
    stream.extend((0..size).map(|at| (at as u32).wrapping_mul(31).wrapping_add(number) as u8));
    stream
}

/// The number of an image, which is whole.
pub fn number_of(frame: &Frame) -> u32 {
    let stream = frame.to_vec();
    let number = u32::from_le_bytes(stream[4..8].try_into().expect("four"));
    assert!(stream == image(number, stream.len() - 12), "image {number} has arrived damaged");
    number
}

/// Waits until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The next message.
pub fn next(subscriber: &Subscriber) -> Frame {
    subscriber.take(PATIENCE).expect("it can be taken").expect("it comes in time")
}

/// That of the domain in which a test runs alone, where it does ([`alone`]).
pub fn domain_alone() -> Option<String> {
    std::env::var("SINEW_TEST_ALONE_IN").ok()
}

/// A process in which this test runs alone, until it is killed.
pub fn alone(test: &str, domain: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this test is a program"));
    command.args(["--exact", test]).env("SINEW_TEST_ALONE_IN", domain).stdout(Stdio::null());
    command.spawn().expect("it was built")
}

/// The manager of the domain with this socket vanishes. The next one is started by those who need it.
pub fn kill_manager(socket: &str) {
    let is_it = |command: &[u8]| String::from_utf8_lossy(command).contains("sinewd") && String::from_utf8_lossy(command).contains(socket);
    let manager = || {
        let processes = std::fs::read_dir("/proc").expect("there is one").flatten();
        processes
            .filter(|process| std::fs::read(process.path().join("cmdline")).is_ok_and(|command| is_it(&command)))
            .find_map(|process| process.file_name().to_str()?.parse().ok().and_then(rustix::process::Pid::from_raw))
    };
    // On a busy machine the next one may be yet to start; and of several that are started at once, all but one end again.
    until("there is a manager, and it is killed", || {
        manager().is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok())
    });
}
