//! Topics of the bridge to ROS 2 that come and go.

mod common;

use std::time::{Duration, Instant};

use common::machine::Machine;
use common::program::Program;
use common::ros2::{Domain, Robot};
use common::{IMAGE, all, node, until, wanted};
use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

/// How long; SINEW_CHURN_SECONDS says another time.
const SECONDS: u64 = 15;
const TOPICS: usize = 100;
/// What memory may grow by that allocators keep for later, in bytes.
const KEPT: usize = 24 << 20;

enum End {
    Publishes(Publisher),
    Subscribes { _with: Subscriber },
}

/// Somebody for the topic, or nobody any more.
fn turn(ends: &mut [Option<End>], nodes: &[Node; 2], random: &mut fastrand::Rng) {
    let at = random.usize(..ends.len());
    if ends[at].take().is_some() {
        return;
    }
    let (node, topic, qos) = (&nodes[at % 2], format!("churn_{}", at / 2), Qos::default());
    ends[at] = Some(if random.bool() {
        End::Publishes(Publisher::new(node, &topic, IMAGE, &qos, PublisherOptions::default()).expect("it may publish"))
    } else {
        End::Subscribes { _with: Subscriber::new(node, &topic, IMAGE, &qos, SubscriberOptions::default()).expect("it may subscribe") }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_topics_that_come_and_go_leave_nothing_behind() {
    let domain = Domain::new();
    let there = Robot::new(all(), &domain);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (config, here) = (folder.path().join("ros2.json"), folder.path().join("domain"));
    let both = json!({"topics": {"base_rule": "both"}, "services": {"base_rule": "both"}});
    let settings =
        json!({"name": "churn", "transport": "ros2", "ros2": {"domain_id": domain.id, "interfaces": ["127.0.0.1"]}, "rules": [both]});
    std::fs::write(&config, settings.to_string()).expect("there is room");
    let here = here.to_str().expect("a path is a text");
    let node = node(here, "node");
    let bridge = Program::run(&Machine::this(), &config, here);
    bridge.says("joins ROS 2");
    let nodes = [node, there.node("node")];
    // Execution threads stay as long as their node, and each topic has one of four: all of them are there before they are counted.
    let first: Vec<_> = (0..20)
        .map(|at| {
            let topic = format!("churn_{at}");
            (common::publisher(&nodes[0], &topic, &Qos::default()), common::subscriber(&nodes[1], &topic, &Qos::default()))
        })
        .collect();
    first.iter().for_each(|(images, seen)| common::connected(images, &[seen]));
    drop(first);
    let mut ends: Vec<Option<End>> = (0..2 * TOPICS).map(|_| None).collect();
    let mut random = fastrand::Rng::with_seed(12);
    let mut churn = |ends: &mut Vec<Option<End>>, time: Duration| {
        let begin = Instant::now();
        while begin.elapsed() < time {
            for _ in 0..5 {
                turn(ends, &nodes, &mut random);
            }
            if let Some(End::Publishes(publisher)) = ends[random.usize(..2 * TOPICS)].as_ref() {
                let _ = publisher.publish(&[&common::image(1, 1000)]);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        ends.iter_mut().for_each(|end| *end = None);
        let is_closed =
            |robot: &Robot| robot.bridge.as_ref().is_some_and(|bridge| wanted(bridge.status().remove(0).channels).next().is_none());
        until("the other bridge has closed all", || is_closed(&there));
        // What it tells of is as of a second ago; what it holds is what is looked at.
        std::thread::sleep(Duration::from_secs(2));
        (bridge.holds(), bridge.memory())
    };
    let seconds = std::env::var("SINEW_CHURN_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let (held, memory) = churn(&mut ends, Duration::from_secs(seconds / 3));
    let (_, memory_after) = churn(&mut ends, Duration::from_secs(seconds - seconds / 3));
    // Where much was to be done at once there may be more threads, and on a busy machine all takes longer to go; what is left behind stays.
    bridge.lets_go(held);
    assert!(memory_after <= memory + KEPT, "{memory_after} bytes, of {memory}\n{}", bridge.said());
    assert!(!bridge.said().contains("panicked"), "{}", bridge.said());
}
