//! Messages without fields. In ROS 2 they have one byte all the same, which whoever there reads them wants to see; in a domain it may be there, or not.

mod common;

use std::time::{Duration, Instant};

use common::ros2::{Domain, Peer, Robot};
use common::{PATIENCE, all, until};
use serde_json::{Value as Json, json};
use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions, Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

const EMPTY: &str = "std_msgs/msg/Empty";
/// As serde has it, and as the definition is read.
const FORMS: [&str; 2] = ["", "structure_needs_at_least_one_member:uint8;"];
/// As ROS 2 has it.
const THERE: &[u8] = &[0, 1, 0, 0, 0];

/// Its stream in the domain.
fn here(fields: &str) -> &'static [u8] {
    if fields.is_empty() { &THERE[..4] } else { THERE }
}

fn parts(fields: &str) -> [String; 2] {
    ["Request", "Response"].map(|part| format!("std_srvs/srv/Empty_{part}{{{fields}}}"))
}

fn providing(node: &Node, fields: &'static str) -> Provider {
    let [request, response] = parts(fields);
    let clear = move |call: Call| {
        assert!(is_here(&call.extents().collect::<Vec<_>>().concat(), fields));
        call.answer(&[here(fields)]).expect("somebody waits");
    };
    Provider::new(node, "clear", &request, &response, &ProviderOptions::default(), clear).expect("it may provide")
}

fn client(node: &Node, fields: &str) -> Client {
    let [request, response] = parts(fields);
    Client::new(node, "clear", &request, &response, &ClientOptions::default()).expect("it may call")
}

/// What others add behind it does not matter.
fn is_here(stream: &[u8], fields: &str) -> bool {
    stream.strip_prefix(here(fields)).is_some_and(|added| added.len() < 4 && added.iter().all(|byte| *byte == 0))
}

fn is_called(service: &Client, fields: &str) {
    for _ in 0..20 {
        let answer = service.call(&[here(fields)], PATIENCE).expect("it is answered").to_vec();
        assert!(is_here(&answer, fields), "{answer:?}");
    }
}

fn reliable() -> Qos {
    Qos { reliable: true, ..Qos::keep_last(10) }
}

/// A message that is published here gets there, and one of there here. Each is sent until it has arrived: before the other side knows who reads, it is lost.
fn messages_arrive(node: &Node, peer: &mut Peer, dds_topic: impl Fn(&str) -> String) {
    for fields in FORMS {
        let signature = format!("{EMPTY}{{{fields}}}");
        // Of another type the topic would be another one.
        let (out, into) = (format!("out{}", fields.len()), format!("in{}", fields.len()));
        let said = Publisher::new(node, &out, &signature, &reliable(), PublisherOptions::default()).expect("it may publish");
        let heard = Subscriber::new(node, &into, &signature, &reliable(), SubscriberOptions::default()).expect("it may subscribe");
        peer.read(&out, &dds_topic(&out), EMPTY, &json!({}));
        peer.write(&into, &dds_topic(&into), EMPTY, &json!({}));
        let begin = Instant::now();
        let told = loop {
            assert!(begin.elapsed() < PATIENCE, "in vain: a message arrives there");
            said.publish(&[here(fields)]).expect("it is published");
            std::thread::sleep(Duration::from_millis(50));
            if let Some(told) = peer.so_far(&out).pop() {
                break told;
            }
        };
        assert!(told.starts_with(THERE) && told.len() <= 8, "{told:?}");
        let frame = loop {
            assert!(begin.elapsed() < 2 * PATIENCE, "in vain: a message arrives here");
            peer.ask(&json!({"do": "publish", "id": into, "name": EMPTY, "stream": "0001000000"}));
            if let Some(frame) = heard.take(Duration::from_millis(50)).expect("it can be taken") {
                break frame;
            }
        };
        assert!(is_here(&frame.to_vec(), fields), "{:?}", frame.to_vec());
    }
}

/// Over DDS, and over Zenoh.
fn call() -> Json {
    json!({"do": "call", "clients": 2, "numbers": 10, "service": "clear"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_without_fields_goes_to_cyclone_dds_and_comes_from_there() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    peer.ty(EMPTY, "uint8 structure_needs_at_least_one_member\n");
    messages_arrive(&robot.node("node"), &mut peer, |topic| format!("rt/{topic}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_fields_is_called_across_in_both_directions_over_dds() {
    let domain = Domain::new();
    let robots = [Robot::new(all(), &domain), Robot::new(all(), &domain)];
    for (here, there) in [(0, 1), (1, 0)] {
        for (ours, theirs) in [(FORMS[0], FORMS[0]), (FORMS[0], FORMS[1]), (FORMS[1], FORMS[0])] {
            let (server, user) = (robots[there].node("server"), robots[here].node("user"));
            let provided = providing(&server, theirs);
            let service = client(&user, ours);
            is_called(&service, ours);
            drop((service, provided));
            until("it is closed", || robots[here].channel("clear", false).is_none() && robots[there].channel("clear", true).is_none());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_fields_is_called_at_cyclone_dds() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ask(&json!({"do": "serve", "service": "clear"}));
    for fields in FORMS {
        let robot = Robot::new(all(), &domain);
        let node = robot.node("user");
        is_called(&client(&node, fields), fields);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_fields_is_called_by_cyclone_dds() {
    for fields in FORMS {
        let domain = Domain::new();
        let Some(mut peer) = Peer::new(&domain) else { return };
        let robot = Robot::new(all(), &domain);
        let node = robot.node("server");
        let _provided = providing(&node, fields);
        assert_eq!(peer.ask(&call()), json!({"wrong": [], "unanswered": 0}));
    }
}

#[cfg(feature = "zenoh")]
mod zenoh {
    use super::common::zenoh::{Robot, Router};
    use super::*;

    fn peer(router: &Router) -> Option<Peer> {
        Peer::start("rmw_zenoh_peer.py", &[&router.endpoint, "7"])
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_topic_without_fields_goes_to_a_node_of_ros_2_and_comes_from_there() {
        let router = Router::new();
        let Some(mut peer) = peer(&router) else { return };
        let robot = Robot::ros2(all(), &router).connected();
        peer.ty(EMPTY, "");
        messages_arrive(&robot.node("node"), &mut peer, str::to_owned);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_service_without_fields_is_called_at_a_node_of_ros_2() {
        let router = Router::new();
        let Some(mut peer) = peer(&router) else { return };
        peer.ask(&json!({"do": "serve", "service": "clear"}));
        for fields in FORMS {
            let robot = Robot::ros2(all(), &router).connected();
            let node = robot.node("user");
            is_called(&client(&node, fields), fields);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_service_without_fields_is_called_by_a_node_of_ros_2() {
        for fields in FORMS {
            let router = Router::new();
            let Some(mut peer) = peer(&router) else { return };
            let robot = Robot::ros2(all(), &router).connected();
            let node = robot.node("server");
            let _provided = providing(&node, fields);
            assert_eq!(peer.ask(&call()), json!({"wrong": [], "unanswered": 0, "failed": []}));
        }
    }
}
