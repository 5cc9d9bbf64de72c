//! Robots whose gateways meet in a Zenoh network of the test's own.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sinew::{GatewayChannel, Node};
use sinew_gateway::bridge::Bridge;
use sinew_gateway::config::{RmwZenoh, Settings, Zenoh};
use sinew_gateway::rules::Rules;
use zenoh::{Config, Session, Wait};

use super::{PATIENCE, node, until, wanted};

/// A port that was free a moment ago, and that no other test has.
fn port() -> u16 {
    static GIVEN: Mutex<Vec<u16>> = Mutex::new(Vec::new());
    let free = || TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("there is one").port();
    let mut given = GIVEN.lock().expect("nobody panics with it");
    let port = std::iter::repeat_with(free).find(|port| !given.contains(port)).expect("there is no end");
    given.push(port);
    port
}

/// Nothing of it leaves the machine.
fn config(rest: &str) -> Config {
    let quiet = "scouting: { multicast: { enabled: false }, gossip: { enabled: false } }";
    Config::from_json5(&format!("{{ {quiet}, {rest} }}")).expect("it is valid")
}

/// Where all meet.
pub struct Router {
    pub endpoint: String,
    session: Option<Session>,
}

impl Router {
    pub fn new() -> Router {
        let mut router = Router { endpoint: format!("tcp/127.0.0.1:{}", port()), session: None };
        router.start();
        router
    }

    /// That does not run yet.
    pub fn later() -> Router {
        Router { endpoint: format!("tcp/127.0.0.1:{}", port()), session: None }
    }

    pub fn start(&mut self) {
        let config = config(&format!("mode: 'router', listen: {{ endpoints: ['{}'] }}", self.endpoint));
        let begin = Instant::now();
        // The kernel frees a port a moment after who had it has ended.
        self.session = loop {
            match zenoh::open(config.clone()).wait() {
                Ok(session) => break Some(session),
                Err(why) => assert!(begin.elapsed() < PATIENCE, "{why}"),
            }
        };
    }

    pub fn stop(&mut self) {
        self.session.take().expect("it runs").close().wait().expect("it ends");
    }

    /// A program that knows nothing of sinew.
    pub fn client(&self) -> Session {
        let config = config(&format!("mode: 'client', connect: {{ endpoints: ['{}'] }}", self.endpoint));
        zenoh::open(config).wait().expect("the router is there")
    }
}

/// A way to somebody who listens, which can be cut.
pub struct Way {
    pub endpoint: String,
    streams: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Way {
    pub fn to(endpoint: &str) -> Way {
        let there = endpoint.strip_prefix("tcp/").expect("it is one").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let endpoint = format!("tcp/{}", listener.local_addr().expect("it has one"));
        let streams = Arc::new(Mutex::new(Some(Vec::new())));
        let all = Arc::clone(&streams);
        std::thread::spawn(move || {
            for from in listener.incoming().map_while(Result::ok) {
                if let (Some(all), Ok(to)) = (all.lock().expect("nobody panics with it").as_mut(), TcpStream::connect(&there)) {
                    let copy = |stream: &TcpStream| stream.try_clone().expect("there are descriptors");
                    for (mut from, mut to) in [(copy(&from), copy(&to)), (copy(&to), copy(&from))] {
                        std::thread::spawn(move || {
                            let _ = std::io::copy(&mut from, &mut to);
                            let _ = to.shutdown(Shutdown::Both);
                        });
                    }
                    all.extend([from, to]);
                }
            }
        });
        Way { endpoint, streams }
    }

    pub fn cut(&self) {
        let cut = self.streams.lock().expect("nobody panics with it").take();
        cut.into_iter().flatten().for_each(|stream| _ = stream.shutdown(Shutdown::Both));
    }

    pub fn mend(&self) {
        *self.streams.lock().expect("nobody panics with it") = Some(Vec::new());
    }
}

/// A domain that nobody else is in, and a gateway in it.
pub struct Robot {
    folder: tempfile::TempDir,
    pub bridge: Option<Bridge>,
    pub settings: Settings,
    zenoh: Zenoh,
}

impl Robot {
    pub fn new(rules: Rules, router: &Router) -> Robot {
        Robot::with(rules, &router.endpoint, "mode: 'client'")
    }

    /// With its own words for Zenoh.
    pub fn with(rules: Rules, endpoint: &str, rest: &str) -> Robot {
        Robot::of(rules, endpoint, rest, None)
    }

    /// Among nodes of ROS 2.
    pub fn ros2(rules: Rules, router: &Router) -> Robot {
        let definitions = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../msggen/definitions")];
        Robot::of(rules, &router.endpoint, "mode: 'client', timestamping: { enabled: true }", Some(RmwZenoh { domain_id: 7, definitions }))
    }

    fn of(rules: Rules, endpoint: &str, rest: &str, ros2: Option<RmwZenoh>) -> Robot {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let (file, settings) = settings(&folder, folder.path().join("domain"), rules, rest);
        let zenoh = Zenoh { config_file: Some(file), connect: vec![endpoint.to_owned()], ros2, ..Zenoh::default() };
        let mut robot = Robot { folder, bridge: None, settings, zenoh };
        robot.start();
        robot
    }

    pub fn start(&mut self) {
        self.bridge = Some(sinew_gateway::zenoh::start(&self.settings, &self.zenoh).unwrap_or_else(|why| panic!("{why}")));
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

    pub fn is_connected(&self) -> bool {
        self.bridge.as_ref().is_some_and(|bridge| bridge.status()[0].connected)
    }

    /// Waits until it is.
    pub fn connected(self) -> Robot {
        until("it is connected with the router", || self.is_connected());
        self
    }

    pub fn channels(&self) -> Vec<GatewayChannel> {
        wanted(self.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default()).collect()
    }

    /// What is told of it, as long as somebody wants it.
    pub fn channel(&self, name: &str) -> Option<GatewayChannel> {
        self.channels().into_iter().find(|channel| channel.name == name)
    }

    /// "open", "waiting", "refused: ..." of what goes one way.
    pub fn state(&self, name: &str, outgoing: bool) -> String {
        let channel = self.channels().into_iter().find(|channel| channel.name == name && channel.outgoing == outgoing);
        channel
            .map(|channel| if channel.why.is_empty() { channel.state } else { format!("{}: {}", channel.state, channel.why) })
            .unwrap_or_default()
    }
}

/// A bridge in the domain of somebody else.
pub fn bridge_in(domain: &str, rules: Rules, router: &Router) -> (tempfile::TempDir, Bridge) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (file, settings) = settings(&folder, domain.into(), rules, "mode: 'client'");
    let zenoh = Zenoh { config_file: Some(file), connect: vec![router.endpoint.clone()], ..Zenoh::default() };
    let bridge = sinew_gateway::zenoh::start(&settings, &zenoh).unwrap_or_else(|why| panic!("{why}"));
    (folder, bridge)
}

/// With Zenoh's own file in this folder, and these words in it.
fn settings(folder: &tempfile::TempDir, domain: PathBuf, rules: Rules, rest: &str) -> (PathBuf, Settings) {
    let file = folder.path().join("zenoh.json5");
    let quiet = "scouting: { multicast: { enabled: false }, gossip: { enabled: false } }";
    std::fs::write(&file, format!("{{ {quiet}, {rest} }}")).expect("there is room");
    let text = r#"{ "transport": "zenoh", "max_message": "8 MiB" }"#;
    let settings = Settings::parse(Path::new("test.json"), text).unwrap_or_else(|why| panic!("{why}"));
    (file, Settings { domain: Some(domain), rules, ..settings })
}

/// As long as something may take that is not to happen.
pub fn a_while() {
    std::thread::sleep(Duration::from_millis(500));
}
