//! Topics between the domain and ROS 2 over DDS whose subscribers do not keep up.

mod common;

use common::ros2::{Domain, Peer, Robot, STRING, hex, reliable, text};
use common::{all, next, until};
use serde_json::json;
use sinew::raw::{Subscriber, SubscriberOptions};
use sinew::{Node, NodeOptions, Qos};

/// Of a program that stands still: nothing is ever taken in its node.
fn standing_still(robot: &Robot, topic: &str) -> (Node, Subscriber) {
    let domain = robot.settings.domain.as_ref().and_then(|path| path.to_str()).expect("a path is a text");
    let node = Node::with_options("still", &NodeOptions { domain: domain.to_owned(), by_caller: true }).expect("there is a manager");
    let subscriber = Subscriber::new(&node, topic, STRING, &Qos::reliable(), SubscriberOptions::default()).expect("it may subscribe");
    (node, subscriber)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_topic_waits_for_a_subscriber_that_keeps_all_and_stands_still() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let (_node, still) = standing_still(&robot, "log");
    let heard = Subscriber::new(&node, "cmd", STRING, &reliable(10), SubscriberOptions::default()).expect("it may subscribe");
    peer.ty("std_msgs/msg/String", "string data\n");
    for id in ["log", "cmd"] {
        peer.write(id, &format!("rt/{id}"), "std_msgs/msg/String", &json!({"depth": 0, "patience": 20}));
        peer.matched(id, 1);
    }
    until("both are there", || [&still, &heard].iter().all(|subscriber| subscriber.statistics().publishers == 1));
    let mut log = |times: u32| {
        peer.ask(&json!({"do": "publish", "id": "log", "name": "std_msgs/msg/String", "stream": hex(&text("a line")), "times": times}))
    };
    until("nothing more fits", || {
        log(200);
        robot.channel("log", false).is_some_and(|told| told.lost > 0)
    });
    log(500);
    peer.publish("cmd", "std_msgs/msg/String", &text("go"));
    assert!(next(&heard).to_vec().starts_with(&text("go")));
}
