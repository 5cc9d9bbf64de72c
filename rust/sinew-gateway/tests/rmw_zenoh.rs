//! Topics of ROS 2, over Zenoh as rmw_zenoh speaks it.
#![cfg(feature = "zenoh")]

mod common;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::chatter::{NAME, chatter, listener, peer, says};
use common::ros2::{Peer, hex, told};
use common::texts::{STRING, hears_slowly, latched, reliable, text};
use common::zenoh::{Robot, Router, a_while};
use common::{PATIENCE, all, connected, grades, image, next, number_of, publisher, rules, subscriber, until};
use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber};
use sinew::{GatewayEntry, Qos};

/// Published until it arrives: that a node knows a subscription does not mean that the way there is.
fn arrives(peer: &mut Peer, heard: &Subscriber, data: &str) {
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < PATIENCE, "in vain: {data} arrives");
        says(peer, data);
        if let Some(frame) = heard.take(Duration::from_millis(100)).expect("it can be taken")
            && frame.to_vec() == text(data)
        {
            return;
        }
    }
}

fn tokens(peer: &mut Peer) -> Vec<(String, String)> {
    let told = peer.ask(&json!({"do": "tokens"}));
    let all = told.as_object().expect("it is one").iter();
    all.map(|(token, gid)| (token.clone(), gid.as_str().expect("it is a text").to_owned())).collect()
}

/// The gid of the token with these parts, when there is one.
fn gid_of(peer: &mut Peer, parts: &[&str]) -> String {
    let begin = Instant::now();
    loop {
        let all = tokens(peer);
        if let Some((_, gid)) = all.iter().find(|(token, _)| parts.iter().all(|part| token.contains(part))) {
            return gid.clone();
        }
        assert!(begin.elapsed() < PATIENCE, "in vain: {parts:?} is among {all:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_of_ros_2_reads_what_is_published_here_and_the_other_way_round() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let said = chatter(&node, &reliable(10));
    peer.read("heard", "chatter", NAME, &json!({}));
    until("somebody there wants it", || said.statistics().subscribers == 1);
    said.publish(&[&text("hello")]).expect("it is published");
    assert_eq!(peer.streams("heard", 1), [text("hello")]);
    drop(said);

    let heard = listener(&node, &reliable(10));
    peer.write("said", "chatter", NAME, &json!({}));
    until("somebody there has it", || heard.statistics().publishers == 1);
    arrives(&mut peer, &heard, "world");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_topics_and_messages_are_known_there_by_the_names_and_numbers_that_rmw_zenoh_gives() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("front/talker");
    let said = chatter(&node, &latched(3));
    gid_of(&mut peer, &["/NN/", "/%front/talker"]);
    peer.read("heard", "chatter", NAME, &json!({}));
    until("somebody there wants it", || said.statistics().subscribers == 1);
    for data in ["1", "2", "3"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    assert_eq!(peer.streams("heard", 3), [text("1"), text("2"), text("3")]);
    let gid = gid_of(&mut peer, &["/MP/", "/%front/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_df668c74", "/:1:,3:,:,:,,"]);
    assert_eq!(peer.ask(&json!({"do": "told", "id": "heard"})), json!([[1, gid], [2, gid], [3, gid]]));
    drop((said, node));
    let begin = Instant::now();
    while tokens(&mut peer).iter().any(|(token, _)| token.contains("talker")) {
        assert!(begin.elapsed() < PATIENCE, "in vain: nobody has it any more");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_another_domain_byte_for_byte() {
    let router = Router::new();
    let (drone, base) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    // As in rmw_zenoh, nothing else is waited for where the network is busy.
    let nothing_is_lost = Qos::reliable();
    let images = publisher(&camera, "camera/image", &nothing_is_lost);
    let seen = subscriber(&viewer, "camera/image", &nothing_is_lost);
    connected(&images, &[&seen]);
    for number in 0..20 {
        images.publish(&[&image(number, 100_000 * number as usize)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
    }
    // They are counted a moment after they have gone.
    let counted = |robot: &Robot| robot.channel("camera/image").map(|told| (told.state, told.messages, told.lost));
    let all_of_them = Some(("open".to_owned(), 20, 0));
    until("all are counted", || counted(&drone) == all_of_them && counted(&base) == all_of_them);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_with_both_on_both_sides_is_no_loop() {
    let router = Router::new();
    let robots = [Robot::ros2(all(), &router), Robot::ros2(all(), &router)];
    let nodes = [robots[0].node("node"), robots[1].node("node")];
    let (here, there) = (publisher(&nodes[0], "image", &reliable(50)), publisher(&nodes[1], "image", &reliable(50)));
    let (seen_here, seen_there) = (subscriber(&nodes[0], "image", &reliable(50)), subscriber(&nodes[1], "image", &reliable(50)));
    until("all are connected", || {
        let has_both = [&here, &there].iter().all(|images| images.statistics().subscribers == 2);
        has_both && [&seen_here, &seen_there].iter().all(|seen| seen.statistics().publishers == 2)
    });
    here.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!((number_of(&next(&seen_here)), number_of(&next(&seen_there))), (1, 1));
    there.publish(&[&image(2, 10)]).expect("it is published");
    assert_eq!((number_of(&next(&seen_here)), number_of(&next(&seen_there))), (2, 2));
    a_while();
    assert!(
        seen_here.take(Duration::ZERO).expect("it can be taken").is_none()
            && seen_there.take(Duration::ZERO).expect("it can be taken").is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_bridge_of_the_same_domain_brings_nothing_back() {
    let router = Router::new();
    let mut robot = Robot::ros2(all(), &router).connected();
    let first = robot.bridge.take();
    robot.start();
    let robot = robot.connected();
    let node = robot.node("node");
    let (images, seen) = (publisher(&node, "image", &latched(5)), subscriber(&node, "image", &latched(5)));
    connected(&images, &[&seen]);
    a_while();
    images.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(seen.take(Duration::from_millis(500)).expect("it can be taken").is_none());
    assert_eq!(seen.statistics().publishers, 1);
    drop(first);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_domain_is_read_only_while_somebody_there_subscribes() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let said = chatter(&node, &reliable(10));
    a_while();
    assert_eq!((said.statistics().subscribers, robot.channel("chatter")), (0, None));
    for _ in 0..2 {
        peer.read("heard", "chatter", NAME, &json!({}));
        until("it is read", || said.statistics().subscribers == 1);
        peer.ask(&json!({"do": "close", "id": "heard"}));
        until("nobody reads it any more", || said.statistics().subscribers == 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_do_not_let_stays() {
    let router = Router::new();
    let only_out = rules(r#"{ "topics": { "base_rule": "none", "exceptions": [{ "name": "right", "rule": "out" }] } }"#);
    let (drone, base) = (Robot::ros2(only_out, &router), Robot::ros2(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let (right, wrong) = (publisher(&camera, "right", &Qos::default()), publisher(&camera, "wrong", &Qos::default()));
    let (seen, unseen) = (subscriber(&viewer, "right", &Qos::default()), subscriber(&viewer, "wrong", &Qos::default()));
    connected(&right, &[&seen]);
    a_while();
    assert_eq!((wrong.statistics().subscribers, unseen.statistics().publishers), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_differs_is_told_both_ways() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    peer.ty("std_msgs/msg/Int32", "int32 data\n");
    let node = robot.node("node");
    let why = "refused: 'chatter' has std_msgs::msg::dds_::Int32_ in the ROS 2 network, and std_msgs::msg::dds_::String_ in this domain";
    // Who is there first does not matter.
    let early = listener(&node, &Qos::default());
    until("it is wanted", || robot.state("chatter", false) == "waiting");
    peer.write("said", "chatter", "std_msgs/msg/Int32", &json!({}));
    until("it is told", || robot.state("chatter", false) == why);
    drop(early);
    until("nobody wants it any more", || robot.channel("chatter").is_none());
    let late = listener(&node, &Qos::default());
    until("it is told again", || robot.state("chatter", false) == why);
    peer.ask(&json!({"do": "close", "id": "said"}));
    until("it waits again", || robot.state("chatter", false) == "waiting");
    drop(late);
    let _said = chatter(&node, &Qos::default());
    peer.read("heard", "chatter", "std_msgs/msg/Int32", &json!({}));
    until("it is told, too", || robot.state("chatter", true) == why);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_differs_is_told_with_its_hash() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    peer.ty(NAME, "string data\nint32 more\n");
    let node = robot.node("node");
    let _heard = listener(&node, &Qos::default());
    peer.write("said", "chatter", NAME, &json!({}));
    let why = "refused: 'chatter' has another std_msgs/msg/String in the ROS 2 network (RIHS01_";
    until("it is told", || robot.state("chatter", false).starts_with(why));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_offers_less_than_is_asked_for_is_told_with_the_policy() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let strict = listener(&node, &reliable(1));
    peer.write("said", "chatter", NAME, &json!({"reliable": false}));
    let why = "refused: a publisher there offers less than subscribers here ask for: reliability";
    until("it is told", || robot.state("chatter", false) == why);
    // Those who ask for no more hear it, and of the others it is told all the same.
    let easy = listener(&node, &Qos::default());
    arrives(&mut peer, &easy, "hello");
    let why = "open: a publisher there offers less than subscribers here ask for: reliability";
    until("it is open", || robot.state("chatter", false) == why);
    assert_eq!(strict.statistics().publishers, 0);
    drop(strict);
    until("nobody asks for more", || robot.state("chatter", false) == "open");
    drop(easy);
    peer.ask(&json!({"do": "close", "id": "said"}));

    let said = chatter(&node, &reliable(1));
    peer.read("heard", "chatter", NAME, &json!({"transient_local": true}));
    let why = "open: a subscriber there asks for more than publishers here offer: durability";
    until("it is told", || robot.state("chatter", true) == why && said.statistics().subscribers == 1);
    // rmw_zenoh matches them all the same.
    said.publish(&[&text("hello")]).expect("it is published");
    assert_eq!(peer.streams("heard", 1), [text("hello")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_ros_2_has_is_told_to_those_who_look() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let but_one = rules(
        r#"{ "topics": { "base_rule": "both", "exceptions": [{ "name": "secret", "rule": "out" }] }, "services": { "base_rule": "both" } }"#,
    );
    let robot = Robot::ros2(but_one, &router).connected();
    let node = robot.node("viewer");
    peer.ty("their_msgs/msg/Thing", "uint8 x\n");
    peer.write("known", "known", NAME, &json!({"transient_local": true, "depth": 3}));
    peer.write("unknown", "unknown", "their_msgs/msg/Thing", &json!({"reliable": false}));
    peer.write("secret", "secret", NAME, &json!({}));
    peer.write("part", "arm/go/_action/feedback", NAME, &json!({}));
    peer.read("read", "read", NAME, &json!({}));
    peer.ask(&json!({"do": "serve"}));
    // What goes there of this domain is nothing that others have.
    let _own = chatter(&node, &Qos::default());
    let entry = |name: &str, kind: &str, signature: &str| GatewayEntry {
        name: name.into(),
        kind: kind.into(),
        signature: signature.into(),
        ..GatewayEntry::default()
    };
    let known = GatewayEntry { depth: 3, reliable: true, transient_local: true, ..entry("known", "topic", STRING) };
    let unknown = GatewayEntry { depth: 10, ..entry("unknown", "topic", "their_msgs/msg/Thing") };
    let add = GatewayEntry {
        response: "example_interfaces/srv/AddTwoInts_Response{sum:int64;}".to_owned(),
        ..entry("add", "service", "example_interfaces/srv/AddTwoInts_Request{a:int64;b:int64;}")
    };
    let expected = [known, unknown, add];
    until("all is told", || told(&node) == expected);
    peer.kill();
    until("nobody has anything any more", || told(&node).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_node_of_ros_2_would_send_is_dropped_and_counted_and_harms_nobody() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let heard = listener(&node, &reliable(10));
    peer.write("said", "chatter", NAME, &json!({}));
    arrives(&mut peer, &heard, "hello");
    let lost = || robot.channel("chatter").map_or(0, |channel| channel.lost);
    let before = lost();
    for stream in [&text("bare")[..], b"", b"\x00", b"\x00\x07\x00\x00\x01\x00\x00\x00\x00"] {
        peer.ask(&json!({"do": "publish", "id": "said", "stream": hex(stream), "bare": stream == text("bare")}));
    }
    until("all are counted", || lost() >= before + 4);
    arrives(&mut peer, &heard, "again");
    assert_eq!(lost(), before + 4);
    drop(heard);
    let told = || robot.bridge.as_ref().expect("it runs").status().remove(0).channels;
    until("it is told of though nobody wants it any more", || {
        told().iter().any(|told| (told.name.as_str(), told.state.as_str(), told.lost) == ("chatter", "closed", before + 4))
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_killed_and_comes_again_is_heard_again() {
    let router = Router::new();
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let heard = listener(&node, &reliable(10));
    for life in ["first", "second"] {
        let Some(mut peer) = peer(&router) else { return };
        peer.write("said", "chatter", NAME, &json!({}));
        until("somebody there has it", || heard.statistics().publishers == 1);
        arrives(&mut peer, &heard, life);
        peer.kill();
        until("nobody there has it any more", || heard.statistics().publishers == 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_router_that_is_gone_and_comes_again_is_found_again() {
    let mut router = Router::new();
    let (drone, base) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    connected(&images, &[&seen]);
    router.stop();
    until("both know", || !drone.is_connected() && !base.is_connected());
    until("nobody is there for anybody", || images.statistics().subscribers == 0 && seen.statistics().publishers == 0);
    router.start();
    connected(&images, &[&seen]);
    until("it arrives", || {
        images.publish(&[&image(2, 10)]).expect("it is published");
        seen.take(Duration::from_millis(20)).expect("it can be taken").is_some()
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_with_variants_is_refused_with_why() {
    let router = Router::new();
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let _said = Publisher::new(&node, "state", "robot/State{it:(uint8|string);}", &Qos::default(), PublisherOptions::default())
        .expect("it may publish");
    let why = "refused: 'state' cannot be opened: ROS 2 can have no type like robot/State, which has variants";
    until("it is told", || robot.state("state", true) == why);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_offers_less_takes_nothing_from_others() {
    let router = Router::new();
    let robots = [(); 3].map(|()| Robot::ros2(all(), &router).connected());
    let nodes = [("viewer", &robots[0]), ("driver", &robots[1]), ("rogue", &robots[2])].map(|(name, robot)| robot.node(name));
    grades::who_offers_less_takes_nothing_from_others(nodes.each_ref(), || robots[0].state("battery", false));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_all_gets_what_waits_for_him_though_its_publisher_has_gone() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let (heard, count) = hears_slowly(&node, "chatter");
    peer.write("said", "chatter", NAME, &json!({"depth": 0}));
    until("somebody there has it", || heard.statistics().publishers == 1);
    until("the first arrives", || {
        says(&mut peer, "first");
        count.load(Ordering::Relaxed) > 0
    });
    a_while();
    let (before, times) = (count.load(Ordering::Relaxed), 900);
    let told = || robot.channel("chatter").map(|told| (told.messages, told.lost)).unwrap_or_default();
    // Twice that is more than there is room for in the domain, and once is less than may wait in the bridge.
    let publish = json!({"do": "publish", "id": "said", "stream": hex(&text("a line")), "times": times});
    peer.ask(&publish);
    until("they are in the domain", || told() == (before + times, 0));
    peer.ask(&publish);
    peer.ask(&json!({"do": "close", "id": "said"}));
    until("all are heard, or counted", || count.load(Ordering::Relaxed) + told().1 == before + 2 * times);
    assert_eq!(told().1, 0);
    until("nobody publishes it any more", || heard.statistics().publishers == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_those_offer_who_are_there_is_offered_here_and_not_what_those_did_who_have_gone() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("node");
    let easy = listener(&node, &reliable(10));
    peer.write("old", "chatter", NAME, &json!({}));
    until("somebody there has it", || easy.statistics().publishers == 1);
    peer.write("said", "chatter", NAME, &json!({"deadline_ms": 50}));
    let strict = listener(&node, &Qos { deadline: Some(Duration::from_millis(100)), ..reliable(10) });
    until("it is told", || robot.state("chatter", false) == "open: a publisher there offers less than subscribers here ask for: deadline");
    peer.ask(&json!({"do": "close", "id": "old"}));
    until("it is connected", || strict.statistics().publishers == 1);
    arrives(&mut peer, &strict, "hello");
    until("it is told no more", || robot.state("chatter", false) == "open");
}
