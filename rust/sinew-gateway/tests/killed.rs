//! A gateway that vanishes at any point: nobody in its domain or in that of its peer notices, nothing is left of it, and its next life goes on.
#![cfg(debug_assertions)] // releases have no such points

mod common;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use common::machine;
use common::program::{Program, output};
use common::services::{NUMBER, number, value};
use common::{PATIENCE, image, node, number_of, publisher, subscriber, until};
use sinew::Qos;
use sinew::raw::{Client, ClientOptions, Provider, ProviderOptions, Publisher, Response, Subscriber};
use sinew_gateway::point::POINTS;

/// Large enough to be half sent.
const SIZE: usize = 200_000;
const NAMES: [&str; 2] = ["drone", "base"];

/// A machine that publishes images, provides a service, and has somebody for those of both machines.
struct Machine {
    images: Publisher,
    own: Subscriber,
    others: Subscriber,
    _provider: Provider,
    client: Client,
    call: Option<Response>,
    published: u32,
    last_own: u32,
    last_others: u32,
}

impl Machine {
    fn new(domain: &str, name: &str, other: &str) -> Machine {
        let (robot, viewer) = (node(domain, "robot"), node(domain, "viewer"));
        let qos = Qos::keep_last(20);
        let double = move |call: sinew::raw::Call| {
            let doubled = 2 * common::services::asked(&call);
            // Its gateway may have gone meanwhile.
            let _ = call.answer(&[&number(doubled)]);
        };
        Machine {
            own: subscriber(&viewer, &format!("{name}/image"), &qos),
            others: subscriber(&viewer, &format!("{other}/image"), &qos),
            images: publisher(&robot, &format!("{name}/image"), &qos),
            _provider: Provider::new(&robot, &format!("{name}/double"), NUMBER, NUMBER, &ProviderOptions::default(), double)
                .expect("it may provide"),
            client: Client::new(&viewer, &format!("{other}/double"), NUMBER, NUMBER, &ClientOptions::default()).expect("it may call"),
            call: None,
            published: 0,
            last_own: 0,
            last_others: 0,
        }
    }

    /// Publishes, looks at what has come, and has the other machine called.
    fn live(&mut self) {
        self.published += 1;
        self.images.publish(&[&image(self.published, SIZE)]).expect("it is published");
        while let Some(frame) = self.own.take(Duration::ZERO).expect("it can be taken") {
            let number = number_of(&frame);
            assert!(number == self.last_own + 1 || self.last_own == 0, "image {number} came behind {}", self.last_own);
            self.last_own = number;
        }
        while let Some(frame) = self.others.take(Duration::ZERO).expect("it can be taken") {
            self.last_others = number_of(&frame);
        }
        if self.call.is_none() {
            self.call = Some(self.client.start(number(21), Duration::from_secs(60)).expect("it is called"));
        }
    }

    /// A call that was answered, and with what.
    fn answer(&mut self) -> Option<u32> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match Future::poll(std::pin::Pin::new(self.call.as_mut()?), &mut context) {
            std::task::Poll::Ready(answer) => {
                self.call = None;
                // What was under way with a gateway that was killed may fail, and says so.
                answer.ok().map(|answer| value(&answer.to_vec()))
            }
            std::task::Poll::Pending => None,
        }
    }
}

/// Both machines, which live on all the time.
struct Scene {
    folder: tempfile::TempDir,
    machines: [Machine; 2],
    /// Where their gateways run.
    networks: [machine::Machine; 2],
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        for what in [&["init"][..], &["issue", "drone"], &["issue", "base"]] {
            let path = folder.path().to_str().expect("a path is a text");
            assert!(output(&[&["certs"], what, &["--folder", path]].concat()).status.success());
        }
        let domain = |name: &str| folder.path().join(name).to_str().expect("a path is a text").to_owned();
        let machines = [Machine::new(&domain("drone"), "drone", "base"), Machine::new(&domain("base"), "base", "drone")];
        Scene { folder, machines, networks: [machine::Machine::new(), machine::Machine::new()] }
    }

    fn domain(&self, at: usize) -> String {
        self.folder.path().join(NAMES[at]).to_str().expect("a path is a text").to_owned()
    }

    fn config(&self, at: usize, port: u16, peers: &str) -> PathBuf {
        let config = self.folder.path().join(format!("{}.json", NAMES[at]));
        let rules = r#"[{ "topics": { "base_rule": "both" }, "services": { "base_rule": "both" } }]"#;
        let (name, address) = (NAMES[at], self.networks[at].address);
        let security = format!(r#"{{ "key_file": "{name}.key.pem", "cert_file": "{name}.pem", "ca_cert_file": "authority.pem" }}"#);
        let text = format!(
            r#"{{ "name": "{name}", "listen": "[{address}]:{port}", "peers": [{peers}], "discovery": false, "security": {security}, "rules": {rules} }}"#
        );
        std::fs::write(&config, text).expect("it can be written");
        config
    }

    fn live(&mut self) {
        for machine in &mut self.machines {
            machine.live();
        }
        std::thread::sleep(Duration::from_millis(3));
    }

    /// Until each machine has got an image and an answer of the other one that it did not have before.
    fn hear_of_each_other(&mut self, when: &str) {
        let begin = Instant::now();
        let seen = self.machines.each_ref().map(|machine| machine.published);
        let mut answered = [false; 2];
        loop {
            self.live();
            for (machine, answered) in self.machines.iter_mut().zip(&mut answered) {
                if let Some(answer) = machine.answer() {
                    assert_eq!(answer, 42, "{when}");
                    *answered = true;
                }
            }
            let is_seen = self.machines[0].last_others > seen[1] && self.machines[1].last_others > seen[0];
            if is_seen && answered == [true; 2] {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{when}: seen {is_seen}, answered {answered:?}");
        }
    }
}

#[test]
fn a_gateway_that_dies_at_any_point_is_noticed_by_nobody_and_its_next_life_goes_on() {
    let mut scene = Scene::new();
    let base = Program::run(&scene.networks[1], &scene.config(1, 0, ""), &scene.domain(1));
    let peer = format!(r#""{}""#, base.address());
    // As it has on a robot: the same port in each life, by which its peer notices that it is another one.
    let port = Program::run(&scene.networks[0], &scene.config(0, 0, &peer), &scene.domain(0)).address().port();
    let config = scene.config(0, port, &peer);
    for point in POINTS {
        let mut dying = Program::dying_at(point, &scene.networks[0], &config, &scene.domain(0));
        if point == "leaving" {
            dying.says("connected with");
            dying.signal("TERM");
        }
        let begin = Instant::now();
        while dying.killed_by().is_none() {
            assert!(begin.elapsed() < PATIENCE, "it does not come to '{point}':\n{}", dying.said());
            scene.live();
            // Answers are taken, so that there are calls all the time.
            for machine in &mut scene.machines {
                machine.answer();
            }
        }
        assert_eq!(dying.killed_by(), Some(9), "{point}");
        let images = &scene.machines[0].images;
        until("nothing is left of it in its domain", || images.statistics().subscribers == 1);
        let next = Program::run(&scene.networks[0], &config, &scene.domain(0));
        scene.hear_of_each_other(point);
        drop(next);
    }
}
