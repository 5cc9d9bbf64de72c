//! Who of ROS 2 over DDS does not fit a topic of the domain, though DDS may connect it, and what is told of it.

mod common;

use std::time::Duration;

use common::ros2::{Domain, Peer, Robot, hex};
use common::texts::{STRING, reliable, text};
use common::{all, next, until};
use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};

const NAME: &str = "std_msgs/msg/String";
const WHY: &str = "'chatter' has another std_msgs/msg/String in the ROS 2 network (RIHS01_0000000000000000000000000000000000000000000000000000000000000000) than in this domain";

/// Who has another type of the same name, and tells its hash.
fn other(domain: &Domain) -> Option<(Peer, serde_json::Value)> {
    let mut peer = Peer::with_key_hashes(domain)?;
    peer.ty(NAME, "string data\n");
    Some((peer, json!({"user_data": format!("typehash=RIHS01_{};", "0".repeat(64))})))
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_another_type_of_the_same_name_are_not_taken_and_counted() {
    let domain = Domain::new();
    let (Some(mut peer), Some((mut other, qos))) = (Peer::new(&domain), other(&domain)) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let heard = Subscriber::new(&node, "chatter", STRING, &reliable(10), SubscriberOptions::default()).expect("it may subscribe");
    peer.ty(NAME, "string data\n");
    peer.write("said", "rt/chatter", NAME, &json!({}));
    peer.matched("said", 1);
    until("somebody there has it", || heard.statistics().publishers == 1);
    other.write("said", "rt/chatter", NAME, &qos);
    until("it is told", || robot.state("chatter", false).starts_with(&format!("open: {WHY}")));
    other.matched("said", 1);
    until("they are counted", || {
        other.publish("said", NAME, &text("wrong"));
        robot.channel("chatter", false).is_some_and(|told| told.lost >= 3)
    });
    peer.publish("said", NAME, &text("right"));
    assert!(next(&heard).to_vec().starts_with(&text("right")));
    other.ask(&json!({"do": "close", "id": "said"}));
    until("nobody has another one", || robot.state("chatter", false) == "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_publisher_says_as_soon_as_it_is_connected_is_heard_though_only_one_of_another_type_was_there() {
    let domain = Domain::new();
    let (Some(mut peer), Some((mut other, qos))) = (Peer::new(&domain), other(&domain)) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    peer.ty(NAME, "string data\n");
    let topics = (0..20).map(|number| format!("said_{number}"));
    let mut subscribers = Vec::new();
    for topic in topics.clone() {
        let heard = Subscriber::new(&node, &topic, STRING, &reliable(10), SubscriberOptions::default()).expect("it may subscribe");
        until("it is wanted there", || robot.channel(&topic, false).is_some());
        other.write(&topic, &format!("rt/{topic}"), NAME, &qos);
        until("it is told", || robot.state(&topic, false).starts_with("refused: "));
        other.matched(&topic, 1);
        other.publish(&topic, NAME, &text("wrong"));
        peer.ask(&json!({"do": "write", "id": topic, "topic": format!("rt/{topic}"), "name": NAME, "first": hex(&text("at once"))}));
        assert!(next(&heard).to_vec().starts_with(&text("at once")), "{topic}");
        subscribers.push(heard);
    }
    for topic in topics {
        until("what is not taken is counted", || robot.channel(&topic, false).is_some_and(|told| (told.messages, told.lost) == (1, 1)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_read_for_who_subscribes_with_another_type_of_the_same_name() {
    let domain = Domain::new();
    let (Some(mut peer), Some((mut other, qos))) = (Peer::new(&domain), other(&domain)) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let said = Publisher::new(&node, "chatter", STRING, &reliable(10), PublisherOptions::default()).expect("it may publish");
    other.read("heard", "rt/chatter", NAME, &qos);
    other.matched("heard", 1);
    until("it is told", || robot.state("chatter", true).starts_with(&format!("refused: {WHY}")));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(said.statistics().subscribers, 0);
    peer.ty(NAME, "string data\n");
    peer.read("heard", "rt/chatter", NAME, &json!({}));
    until("it is open", || robot.state("chatter", true).starts_with(&format!("open: {WHY}")));
    other.ask(&json!({"do": "close", "id": "heard"}));
    until("nobody has another one", || robot.state("chatter", true) == "open");
    until("it is read", || said.statistics().subscribers == 1);
    // Each side finds out by itself that the two are connected.
    peer.matched("heard", 1);
    said.publish(&[&text("hello")]).expect("it is published");
    assert_eq!(peer.streams("heard", 1), [text("hello")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_who_asked_for_more_and_has_gone_nothing_is_told() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let _said = Publisher::new(&node, "chatter", STRING, &reliable(1), PublisherOptions::default()).expect("it may publish");
    peer.ty(NAME, "string data\n");
    peer.read("heard", "rt/chatter", NAME, &json!({"transient_local": true}));
    until("it is told", || robot.state("chatter", true).starts_with("refused: "));
    peer.ask(&json!({"do": "close", "id": "heard"}));
    until("it is forgotten", || robot.channel("chatter", true).is_none());
}
