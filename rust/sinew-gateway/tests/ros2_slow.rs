//! Topics between the domain and ROS 2 over DDS whose subscribers do not keep up.

mod common;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::ros2::{Domain, Peer, Robot, hex};
use common::texts::{STRING, hears_slowly, reliable, text};
use common::{all, next, rules, until};
use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
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

/// A subscriber that stands still, for which [`MORE`] messages of a publisher there wait.
fn waits_for_who_stands_still(domain: &Domain, robot: &Robot) -> Option<(Peer, Node, Subscriber)> {
    let mut peer = Peer::new(domain)?;
    let (node, still) = standing_still(robot, "log");
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.write("log", "rt/log", "std_msgs/msg/String", &json!({"depth": 0, "patience": 20}));
    peer.matched("log", 1);
    until("it is heard", || still.statistics().publishers == 1);
    let line = hex(&text("a line"));
    peer.ask(&json!({"do": "publish", "id": "log", "name": "std_msgs/msg/String", "stream": line, "times": MORE}));
    assert_eq!(peer.ask(&json!({"do": "acknowledged", "id": "log"})), json!(true));
    until("there is no more room", || log_counts(robot, false).0 >= 1024);
    // As long as it takes to try some of them in vain.
    std::thread::sleep(Duration::from_secs(1));
    Some((peer, node, still))
}

/// More than there is room for in the domain, and less than there is together with what may wait in the bridge.
const MORE: u32 = 1500;

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_subscriber_that_keeps_all_and_stands_still_is_heard_when_it_goes_on() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let Some((_peer, _node, still)) = waits_for_who_stands_still(&domain, &robot) else { return };
    (0..MORE).for_each(|_| drop(next(&still)));
    until("all are counted", || log_counts(&robot, false) == (MORE.into(), 0));
}

/// Of these the domain's memory has no room for the last, for which there is room in the bridge.
const LARGE: u32 = 185;
const LARGE_BYTES: usize = 6_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_no_memory_for_in_the_domain_waits_for_a_subscriber_that_keeps_all() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let Some(mut peer) = Peer::new(&domain) else { return };
    let (_node, still) = standing_still(&robot, "log");
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.write("log", "rt/log", "std_msgs/msg/String", &json!({"depth": 0, "patience": 60}));
    peer.matched("log", 1);
    until("it is heard", || still.statistics().publishers == 1);
    let line = hex(&text(&"x".repeat(LARGE_BYTES)));
    for _ in 0..LARGE / 5 {
        peer.ask(&json!({"do": "publish", "id": "log", "name": "std_msgs/msg/String", "stream": line, "times": 5}));
        assert_eq!(peer.ask(&json!({"do": "acknowledged", "id": "log"})), json!(true));
    }
    // As long as it takes to try some of them in vain.
    std::thread::sleep(Duration::from_secs(1));
    let (messages, lost) = log_counts(&robot, false);
    assert!(messages < LARGE.into() && lost == 0, "{messages} are published, {lost} lost");
    (0..LARGE).for_each(|_| assert!(next(&still).to_vec().len() > LARGE_BYTES));
    until("all are counted", || log_counts(&robot, false) == (LARGE.into(), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_subscriber_that_keeps_all_when_its_topic_is_closed_is_counted() {
    let domain = Domain::new();
    let mut robot = Robot::new(all(), &domain);
    let Some((_peer, _node, _still)) = waits_for_who_stands_still(&domain, &robot) else { return };
    let (messages, lost) = log_counts(&robot, false);
    assert_eq!(lost, 0);
    robot.settings.rules = rules(r#"{ "topics": { "base_rule": "none" }, "services": { "base_rule": "none" } }"#);
    robot.bridge.as_ref().expect("it runs").change(&robot.settings);
    until("it is closed", || robot.channel("log", false).is_none());
    assert_eq!(log_counts(&robot, false), (messages, u64::from(MORE) - messages));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_is_published_there_all_that_does_not_arrive_is_counted() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let mut robot = Robot::new(all(), &domain);
    robot.stop().await;
    robot.settings.max_message = 100_000;
    robot.start();
    let node = robot.node("node");
    let heard = Subscriber::new(&node, "log", STRING, &Qos::default(), SubscriberOptions::default()).expect("it may subscribe");
    peer.ty("std_msgs/msg/String", "string data\n");
    // Neither side holds the other one up.
    peer.write("log", "rt/log", "std_msgs/msg/String", &json!({"reliable": false}));
    peer.matched("log", 1);
    until("somebody there has it", || heard.statistics().publishers == 1);
    let told = || robot.channel("log", false).map(|told| (told.messages, told.lost)).unwrap_or_default();
    let mut published = 0;
    let mut publish = |size: usize, times: u32| {
        let line = hex(&text(&"x".repeat(size)));
        peer.ask(&json!({"do": "publish", "id": "log", "name": "std_msgs/msg/String", "stream": line, "times": times}));
        published += u64::from(times);
        published
    };
    until("the first arrives", || publish(1, 1) > 0 && told().0 > 0);
    // What is on its way arrives, too.
    std::thread::sleep(Duration::from_millis(500));
    let (first, before) = (told().0, publish(1, 0));
    // Too large, which is one loss, and more than arrives at once.
    publish(150_000, 1);
    publish(60_000, 1000);
    until("what comes last arrives, and all are counted", || {
        let published = publish(1, 1) - before;
        std::thread::sleep(Duration::from_millis(100));
        let (messages, lost) = told();
        messages - first + lost == published
    });
}

fn talker(node: &Node, topic: &str, qos: &Qos) -> Publisher {
    Publisher::new(node, topic, STRING, qos, PublisherOptions::default()).expect("it may publish")
}

/// A topic whose messages the bridge writes on the thread of this one.
fn beside(topic: &str) -> String {
    let thread = |name: &str| {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hasher.finish() % 4
    };
    (0..).map(|number| format!("cmd{number}")).find(|name| thread(name) == thread(topic)).expect("there are enough names")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reader_that_keeps_all_does_not_take_is_lost_and_counted_and_no_other_topic_waits() {
    let domain = Domain::new();
    // In Cyclone DDS one reader holds up all others of its program.
    let (Some(mut idle), Some(mut peer)) = (Peer::new(&domain), Peer::new(&domain)) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let cmd = beside("log");
    let (lines, said) = (talker(&node, "log", &Qos::reliable()), talker(&node, &cmd, &reliable(10)));
    idle.ty("std_msgs/msg/String", "string data\n");
    peer.ty("std_msgs/msg/String", "string data\n");
    idle.ask(&json!({"do": "read", "id": "log", "topic": "rt/log", "name": "std_msgs/msg/String", "qos": {"depth": 0, "most": 20}, "idle": true}));
    peer.read("cmd", &format!("rt/{cmd}"), "std_msgs/msg/String", &json!({}));
    idle.matched("log", 1);
    peer.matched("cmd", 1);
    until("both are read", || [&lines, &said].iter().all(|publisher| publisher.statistics().subscribers == 1));
    let mut published = 0;
    until("nothing more fits", || {
        (0..50).for_each(|_| lines.publish(&[&text("a line")]).expect("it is published"));
        published += 50;
        let counts = || robot.channel("log", true).map(|told| (told.messages, told.lost)).unwrap_or_default();
        until("all are sent, or lost", || counts().0 + counts().1 == published);
        counts().1 > 0
    });
    let lost = || robot.channel("log", true).map_or(0, |told| told.lost);
    let (before, commands) = (lost(), 200);
    (0..400).for_each(|_| lines.publish(&[&text("a line")]).expect("it is published"));
    for _ in 0..commands {
        said.publish(&[&text("go")]).expect("it is published");
        assert_eq!(peer.streams("cmd", 1), [text("go")]);
    }
    assert!(lost() - before < commands, "each waited for a line");
    assert!(robot.channel("log", true).is_some_and(|told| told.messages <= 1024 + 20), "no more is kept than there is room for");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_topic_that_keeps_all_for_those_who_come_late_no_more_is_kept_than_in_the_domain() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let lines = talker(&node, "log", &Qos { transient_local: true, ..Qos::reliable() });
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.read("early", "rt/log", "std_msgs/msg/String", &json!({"depth": 0}));
    peer.matched("early", 1);
    until("it is read", || lines.statistics().subscribers == 1);
    for number in 1..=2000_u64 {
        lines.publish(&[&text(&number.to_string())]).expect("it is published");
        until("it is sent", || number % 100 > 0 || robot.channel("log", true).is_some_and(|told| told.messages + told.lost == number));
    }
    // Until then Cyclone DDS may have some that are kept no more, and tell them to whoever comes.
    until("all has arrived", || peer.so_far("early").contains(&text("2000")));
    peer.read("late", "rt/log", "std_msgs/msg/String", &json!({"transient_local": true, "depth": 0}));
    let mut kept = peer.streams("late", 512);
    std::thread::sleep(Duration::from_millis(500));
    kept.extend(peer.so_far("late"));
    assert_eq!((kept.len(), kept.last()), (512, Some(&text("2000"))));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_all_gets_what_waits_for_him_though_its_publisher_has_gone() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let (heard, count) = hears_slowly(&node, "log");
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.write("log", "rt/log", "std_msgs/msg/String", &json!({"depth": 0}));
    peer.matched("log", 1);
    until("it is heard", || heard.statistics().publishers == 1);
    // Twice that is more than there is room for in the domain, and once is less than may wait in the bridge.
    let (line, times) = (hex(&text("a line")), 900);
    let publish = json!({"do": "publish", "id": "log", "name": "std_msgs/msg/String", "stream": line, "times": times});
    peer.ask(&publish);
    until("they are in the domain", || robot.channel("log", false).is_some_and(|told| told.messages == times));
    peer.ask(&publish);
    // What it goes without giving away goes with it.
    assert_eq!(peer.ask(&json!({"do": "acknowledged", "id": "log"})), json!(true));
    peer.ask(&json!({"do": "close", "id": "log"}));
    let lost = || robot.channel("log", false).map(|told| told.lost);
    until("all are heard, or counted", || count.load(Ordering::Relaxed) + lost().unwrap_or_default() == 2 * times);
    assert_eq!(lost(), Some(0));
    until("nobody publishes it any more", || heard.statistics().publishers == 0);
}

/// Reads "log" and keeps all, of which it has room for little, and takes nothing until it wakes.
fn idle_reader(domain: &Domain, lines: &Publisher) -> Option<Peer> {
    let mut idle = Peer::new(domain)?;
    idle.ty("std_msgs/msg/String", "string data\n");
    idle.ask(&json!({"do": "read", "id": "log", "topic": "rt/log", "name": "std_msgs/msg/String", "qos": {"depth": 0, "most": 20}, "idle": true}));
    idle.matched("log", 1);
    until("it is read", || lines.statistics().subscribers == 1);
    Some(idle)
}

/// Of so many bytes that not all of them have room between the two programs, and some have to be sent again.
fn long_line() -> Vec<u8> {
    text(&"x".repeat(10_000))
}

/// Of "log", also when it is closed: messages, and lost ones.
fn log_counts(robot: &Robot, outgoing: bool) -> (u64, u64) {
    let channels = robot.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
    let told = channels.iter().find(|told| told.name == "log" && told.outgoing == outgoing);
    told.map(|told| (told.messages, told.lost)).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_who_keeps_all_when_its_publisher_goes_arrives_or_is_counted() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let lines = talker(&robot.node("node"), "log", &Qos::reliable());
    let Some(mut idle) = idle_reader(&domain, &lines) else { return };
    let mut published = 0;
    let mut say = |times: u64| {
        (0..times).for_each(|_| lines.publish(&[&long_line()]).expect("it is published"));
        published += times;
        published
    };
    until("nothing more fits", || {
        let published = say(50);
        until("all are sent, or lost", || log_counts(&robot, true).0 + log_counts(&robot, true).1 == published);
        log_counts(&robot, true).1 > 0
    });
    // More than DDS lets go of in the time that there is for it.
    let published = say(200);
    drop(lines);
    until("it is closed", || robot.channel("log", true).is_none());
    idle.ask(&json!({"do": "wake", "id": "log"}));
    let (mut arrived, (_, lost)) = (0, log_counts(&robot, true));
    until("the rest arrives", || {
        arrived += idle.so_far("log").len() as u64;
        // What lay between the two programs arrives though nobody had told that it does.
        arrived + lost >= published
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_in_dds_for_who_keeps_all_when_its_publisher_goes_arrives() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let lines = talker(&robot.node("node"), "log", &Qos::reliable());
    let Some(mut idle) = idle_reader(&domain, &lines) else { return };
    for published in 1..=900 {
        lines.publish(&[&long_line()]).expect("it is published");
        until("it is sent", || published % 50 > 0 || log_counts(&robot, true) == (published, 0));
    }
    drop(lines);
    // Whatever is there no more when all was taken is gone by then.
    std::thread::sleep(Duration::from_secs(1));
    idle.ask(&json!({"do": "wake", "id": "log"}));
    assert_eq!(idle.streams("log", 900).len(), 900);
    until("it is closed", || robot.channel("log", true).is_none());
    assert_eq!(log_counts(&robot, true).1, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_lost_once_whoever_else_publishes_the_topic() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let mut robot = Robot::new(all(), &domain);
    robot.stop().await;
    robot.settings.max_message = 10_000;
    robot.start();
    let node = robot.node("node");
    let heard = Subscriber::new(&node, "log", STRING, &Qos::default(), SubscriberOptions::default()).expect("it may subscribe");
    peer.ty("std_msgs/msg/String", "string data\n");
    for (id, reliable) in [("more", true), ("less", false)] {
        peer.write(id, "rt/log", "std_msgs/msg/String", &json!({"reliable": reliable, "depth": 0}));
    }
    // Of the one that offers less there is a reader with which both are connected.
    peer.matched("more", 2);
    peer.matched("less", 1);
    until("both are there", || heard.statistics().publishers == 2);
    let publish = |peer: &mut Peer, size: usize, times: u32| {
        let line = hex(&text(&"x".repeat(size)));
        peer.ask(&json!({"do": "publish", "id": "more", "name": "std_msgs/msg/String", "stream": line, "times": times}));
    };
    publish(&mut peer, 20_000, 10);
    publish(&mut peer, 1, 1);
    next(&heard);
    until("all are counted", || robot.channel("log", false).is_some_and(|told| told.messages == 1 && told.lost >= 10));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(robot.channel("log", false).map(|told| told.lost), Some(10));
}
