//! What all networks in place of peers have in common.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{all, node, subscriber, until};
use sinew::Qos;
use sinew_gateway::bridge::{Bridge, Channel, Due, Ear, Key, Look, Network};
use sinew_gateway::channels::State;
use sinew_gateway::config::{Settings, Transport};

/// A network in which this is what comes of opening something.
struct Opening<F>(F);

struct Opened {
    looks: u32,
}

impl<F: Fn() -> Result<Box<dyn Channel>, String> + Send> Network for Opening<F> {
    fn name(&self) -> &'static str {
        "the network"
    }

    fn tag(&self) -> &'static str {
        "network"
    }

    fn is_connected(&self) -> bool {
        true
    }

    fn open(&self, _: &Key, _: &Due, _: Look) -> Result<Box<dyn Channel>, String> {
        (self.0)()
    }
}

impl Channel for Opened {
    fn look(&mut self) {
        self.looks = self.looks.saturating_sub(1);
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let state = if self.looks == 0 { State::Open } else { State::Refused("the manager is away".to_owned()) };
        Some((state, (0, 0, 0)))
    }
}

/// It is refused, and then it is open, without any news: the network lets it be opened when that was tried so often, and the domain when it was looked at so often then.
fn opens_by_and_by(lets: u32, looks: u32) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("domain");
    let seen = subscriber(&node(path.to_str().expect("a path is a text"), "viewer"), "image", &Qos::default());
    let mut settings = Settings::everything(Some(path), Transport::Quic);
    settings.rules = all();
    let tries = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&tries);
    let network = Opening(move || match counts.fetch_add(1, Ordering::Relaxed) + 1 {
        tries if tries < lets => Err("the manager is away".to_owned()),
        _ => Ok(Box::new(Opened { looks }) as Box<dyn Channel>),
    });
    let bridge = Bridge::start(&settings, |_, _| Ok(async { network })).expect("it starts");
    let states = || bridge.status().into_iter().flat_map(|peer| peer.channels).map(|channel| channel.state).collect::<Vec<_>>();
    until("it is refused", || states() == ["refused"]);
    until("it is open", || states() == ["open"]);
    assert_eq!(tries.load(Ordering::Relaxed), lets);
    drop((bridge, seen));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_opened_is_tried_again_though_nothing_else_changes() {
    opens_by_and_by(3, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_domain_refuses_is_looked_at_again_though_nothing_else_changes() {
    opens_by_and_by(1, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_to_end_opens_nothing_more() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("domain");
    let viewer = node(path.to_str().expect("a path is a text"), "viewer");
    let seen = ["left", "middle", "right"].map(|topic| subscriber(&viewer, topic, &Qos::default()));
    let mut settings = Settings::everything(Some(path), Transport::Quic);
    settings.rules = all();
    let tries = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&tries);
    let slow = |ear: Ear| {
        Opening(move || {
            counts.fetch_add(1, Ordering::Relaxed);
            until("the bridge is to end", || ear.is_ending());
            Err("it is too late".to_owned())
        })
    };
    let bridge = Bridge::start(&settings, |_, ear| Ok(async { slow(ear) })).expect("it starts");
    until("one is being opened", || tries.load(Ordering::Relaxed) > 0);
    drop(bridge);
    assert_eq!(tries.load(Ordering::Relaxed), 1);
    drop(seen);
}
