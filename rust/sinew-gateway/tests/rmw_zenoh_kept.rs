//! What was kept for those who come late, over Zenoh as rmw_zenoh speaks it.
#![cfg(feature = "zenoh")]

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::chatter::{NAME, chatter, listener, peer, peer_with_id, says};
use common::numbers::{self, Listener, MANY, say, say_among_others};
use common::ros2::hex;
use common::texts::{latched, reliable, text};
use common::zenoh::{Robot, Router, a_while};
use common::{all, next, rules, until};
use serde_json::json;
use sinew::Qos;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_comes_late_gets_what_was_kept_once() {
    let router = Router::new();
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let said = chatter(&node, &latched(3));
    for data in ["1", "2", "3", "4", "5"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    let kept = json!({"transient_local": true, "depth": 3});
    for life in 0..2 {
        let Some(mut peer) = peer(&router) else { return };
        // For the first the domain begins to be read; for the second it is read already.
        for id in ["first", "second"] {
            peer.read(id, "chatter", NAME, &kept);
            assert_eq!(peer.streams(id, 3), [text("3"), text("4"), text("5")], "{life}");
        }
        a_while();
        // Whoever gets a message, its number is the same.
        let told = ["first", "second"].map(|id| peer.ask(&json!({"do": "told", "id": id})));
        assert_eq!((told[0].as_array().map(Vec::len), &told[0]), (Some(3), &told[1]), "something came twice");
        drop(peer);
        until("nobody reads it any more", || said.statistics().subscribers == 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_there_first_gets_what_was_kept_before_it_knew_of_it() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    peer.read("heard", "chatter", NAME, &json!({"transient_local": true, "depth": 3}));
    let mut robot = Robot::ros2(all(), &router);
    robot.stop().await;
    let node = robot.node("node");
    let said = chatter(&node, &latched(3));
    for data in ["1", "2", "3", "4"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    robot.start();
    assert_eq!(peer.streams("heard", 3), [text("2"), text("3"), text("4")]);
    said.publish(&[&text("5")]).expect("it is published");
    assert_eq!(peer.streams("heard", 1), [text("5")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_has_got_comes_no_second_time_when_what_is_offered_changes() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let (node, other) = (robot.node("node"), robot.node("other"));
    let said = chatter(&node, &latched(3));
    for data in ["1", "2", "3"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    peer.read("heard", "chatter", NAME, &json!({"transient_local": true, "depth": 3}));
    assert_eq!(peer.streams("heard", 3), [text("1"), text("2"), text("3")]);
    // Of both together more is kept, so that it is offered anew.
    let more = chatter(&other, &latched(5));
    until("both are read", || said.statistics().subscribers == 1 && more.statistics().subscribers == 1);
    a_while();
    more.publish(&[&text("4")]).expect("it is published");
    assert_eq!(peer.streams("heard", 1), [text("4")]);
    assert_eq!(peer.ask(&json!({"do": "told", "id": "heard"})).as_array().map(Vec::len), Some(4), "something came twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_domain_has_got_comes_no_second_time_when_what_is_offered_changes_and_is_kept_there_all_the_same() {
    let router = Router::new();
    let (drone, base) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    let (node, other, viewer) = (drone.node("node"), drone.node("other"), base.node("viewer"));
    let said = chatter(&node, &latched(3));
    for data in ["1", "2", "3"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    let heard = listener(&viewer, &latched(5));
    for data in ["1", "2", "3"] {
        assert_eq!(next(&heard).to_vec(), text(data));
    }
    let more = chatter(&other, &latched(5));
    until("both are read", || said.statistics().subscribers == 1 && more.statistics().subscribers == 1);
    a_while();
    more.publish(&[&text("4")]).expect("it is published");
    assert_eq!(next(&heard).to_vec(), text("4"), "something came twice");
    assert!(heard.take(Duration::from_millis(500)).expect("it can be taken").is_none(), "something came twice");
    let late = listener(&viewer, &latched(5));
    for data in ["1", "2", "3", "4"] {
        assert_eq!(next(&late).to_vec(), text(data));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_here_gets_what_a_node_has_kept_once() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    peer.write("said", "chatter", NAME, &json!({"transient_local": true, "depth": 3}));
    for data in ["1", "2", "3", "4", "5"] {
        says(&mut peer, data);
    }
    for _ in 0..2 {
        let heard = listener(&node, &latched(3));
        for data in ["3", "4", "5"] {
            assert_eq!(next(&heard).to_vec(), text(data));
        }
        assert!(heard.take(Duration::from_millis(500)).expect("it can be taken").is_none(), "something came twice");
        drop(heard);
        until("nobody wants it any more", || robot.channel("chatter").is_none());
    }
    let heard = listener(&node, &latched(1));
    assert_eq!(next(&heard).to_vec(), text("5"));
    says(&mut peer, "6");
    assert_eq!(next(&heard).to_vec(), text("6"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_comes_in_the_order_in_which_it_was_published_whatever_the_clock_did_there() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    peer.write("said", "chatter", NAME, &json!({"transient_local": true, "depth": 3}));
    for (data, age) in [("1", 0), ("2", 20), ("3", 10)] {
        peer.ask(&json!({"do": "publish", "id": "said", "stream": hex(&text(data)), "age": age}));
    }
    let heard = listener(&node, &latched(3));
    for data in ["1", "2", "3"] {
        assert_eq!(next(&heard).to_vec(), text(data));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_here_gets_what_a_node_that_comes_later_has_kept() {
    let router = Router::new();
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let heard = listener(&node, &latched(3));
    for life in ["first", "second"] {
        let Some(mut peer) = peer(&router) else { return };
        peer.write("said", "chatter", NAME, &json!({"transient_local": true, "depth": 3}));
        says(&mut peer, life);
        assert_eq!(next(&heard).to_vec(), text(life));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_here_gets_what_a_node_has_kept_that_begins_anew_as_who_it_was() {
    let router = Router::new();
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let begins = || {
        let mut peer = peer_with_id(&router, "5eed")?;
        let qos = json!({"transient_local": true, "depth": 3});
        let gid = peer.ask(&json!({"do": "write", "id": "said", "topic": "chatter", "name": NAME, "qos": qos}));
        Some((peer, gid))
    };
    let Some((mut first, gid)) = begins() else { return };
    ["1", "2", "3"].iter().for_each(|data| says(&mut first, data));
    let heard = listener(&node, &latched(3));
    for data in ["1", "2", "3"] {
        assert_eq!(next(&heard).to_vec(), text(data));
    }
    drop(first);
    until("it has gone", || heard.statistics().publishers == 0);
    let (mut second, same) = begins().expect("there was one");
    assert_eq!(same, gid, "it is another");
    for data in ["4", "5"] {
        says(&mut second, data);
        assert_eq!(next(&heard).to_vec(), text(data));
    }
    assert!(heard.take(Duration::from_millis(500)).expect("it can be taken").is_none(), "something came twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_misses_nothing_when_others_publish_it_too_and_go() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(rules(r#"{ "topics": { "base_rule": "both", "reliable": true } }"#), &router).connected();
    let (first, second) = (robot.node("first"), robot.node("second"));
    let said = chatter(&first, &reliable(100));
    peer.read("heard", "chatter", NAME, &json!({"depth": 100}));
    until("it is read", || said.statistics().subscribers == 1);
    say(&said, 0..1);
    let mut streams = peer.streams("heard", 1);
    say_among_others(&said, 1..1500, &second, &reliable(200));
    streams.extend(peer.streams("heard", 1499));
    assert_eq!(streams, numbers::texts(0..1500));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_node_misses_nothing_when_others_here_hear_it_too_and_go() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let (first, second) = (robot.node("first"), robot.node("second"));
    peer.write("said", "chatter", NAME, &json!({"depth": 10}));
    let heard = Listener::new(&first, &reliable(MANY));
    until("it is heard", || heard.subscriber.statistics().publishers == 1);
    heard.begins(|first| says(&mut peer, first));
    let mut say = |numbers| numbers::each(numbers, |number| says(&mut peer, number));
    say(1..300);
    let other = Listener::new(&second, &reliable(2 * MANY));
    say(300..600);
    other.hears(599);
    drop(other);
    say(600..900);
    heard.has_heard(1..900);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_those_have_kept_who_are_there_comes_though_somebody_has_gone_who_offered_less() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    peer.write("old", "chatter", NAME, &json!({"transient_local": true}));
    let easy = listener(&node, &latched(3));
    until("somebody there has it", || easy.statistics().publishers == 1);
    peer.write("said", "chatter", NAME, &json!({"transient_local": true, "deadline_ms": 50}));
    says(&mut peer, "before");
    assert_eq!(next(&easy).to_vec(), text("before"));
    let strict = listener(&node, &Qos { deadline: Some(Duration::from_millis(100)), ..latched(3) });
    until("it is told", || robot.state("chatter", false) == "open: a publisher there offers less than subscribers here ask for: deadline");
    peer.ask(&json!({"do": "close", "id": "old"}));
    assert_eq!(next(&strict).to_vec(), text("before"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_all_gets_what_waits_for_him_also_where_what_was_kept_is_asked_for_once_more() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let heard = Listener::taking(Duration::from_millis(3), &node, &Qos { transient_local: true, ..Qos::reliable() });
    peer.write("old", "chatter", NAME, &json!({"transient_local": true}));
    until("somebody there has it", || heard.subscriber.statistics().publishers == 1);
    peer.write("said", "chatter", NAME, &json!({"transient_local": true, "deadline_ms": 50}));
    heard.begins(|first| says(&mut peer, first));
    // Twice that is more than there is room for in the domain, and once is less than may wait in the bridge.
    let mut say = |numbers: std::ops::Range<u32>| numbers.for_each(|number| says(&mut peer, &number.to_string()));
    say(1..900);
    until("they are in the domain", || robot.channel("chatter").is_some_and(|told| told.messages >= 900));
    say(900..1800);
    peer.ask(&json!({"do": "close", "id": "old"}));
    let numbers = || heard.heard().into_iter().collect::<BTreeSet<u32>>();
    until("the last is heard", || heard.subscriber.statistics().publishers == 1 && numbers().contains(&1799));
    until("all are heard", || numbers().len() == 1800);
    assert_eq!(robot.channel("chatter").map(|told| told.lost), Some(0));
}
