//! Topics between the domain and ROS 2 over DDS while those who publish them and who subscribe come and go.

mod common;

use std::time::Duration;

use common::numbers::{self, Listener, MANY};
use common::ros2::{Domain, Peer, Robot};
use common::texts::{STRING, latched, reliable, text};
use common::{all, next, until};
use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

const NAME: &str = "std_msgs/msg/String";

fn talker(node: &Node, qos: &Qos) -> Publisher {
    Publisher::new(node, "chatter", STRING, qos, PublisherOptions::default()).expect("it may publish")
}

fn say(publisher: &Publisher, what: &str) {
    publisher.publish(&[&text(what)]).expect("it is published");
}

fn sorted(mut streams: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    streams.sort();
    streams
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_what_each_of_several_publishers_has_kept() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let nodes = ["a", "b", "c"].map(|name| robot.node(name));
    let said = nodes.each_ref().map(|node| talker(node, &latched(1)));
    for (publisher, what) in said.iter().zip(["old a", "old b", "old c"]) {
        say(publisher, what);
    }
    for (publisher, what) in said.iter().zip(["a", "b", "c"]) {
        say(publisher, what);
    }
    peer.ty(NAME, "string data\n");
    let kept = json!({"transient_local": true, "depth": 100});
    let all = ["a", "b", "c"].map(text);
    for reader in ["first", "second"] {
        peer.read(reader, "rt/chatter", NAME, &kept);
        assert_eq!(sorted(peer.streams(reader, 3)), all, "{reader}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_misses_nothing_and_gets_nothing_twice_when_others_publish_it_too_and_go() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (first, second) = (robot.node("first"), robot.node("second"));
    peer.ty(NAME, "string data\n");
    // Deep enough for what piles up on a busy machine.
    let said = talker(&first, &reliable(200));
    peer.read("heard", "rt/chatter", NAME, &json!({"depth": 0}));
    peer.matched("heard", 1);
    until("somebody there wants it", || said.statistics().subscribers == 1);
    let numbers = |range: std::ops::Range<u32>| range.map(|number| text(&number.to_string())).collect::<Vec<_>>();
    let publish = |range: std::ops::Range<u32>| {
        for number in range {
            say(&said, &number.to_string());
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    publish(0..100);
    let other = talker(&second, &reliable(300));
    publish(100..300);
    drop(other);
    publish(300..400);
    assert_eq!(peer.streams("heard", 400), numbers(0..400));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_comes_no_second_time_when_one_of_two_publishers_goes() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (first, second) = (robot.node("first"), robot.node("second"));
    let (said, other) = (talker(&first, &latched(1)), talker(&second, &latched(2)));
    say(&said, "map");
    peer.ty(NAME, "string data\n");
    peer.read("heard", "rt/chatter", NAME, &json!({"transient_local": true, "depth": 100}));
    assert_eq!(peer.streams("heard", 1), [text("map")]);
    drop(other);
    std::thread::sleep(Duration::from_secs(1));
    say(&said, "another");
    assert_eq!(peer.streams("heard", 1), [text("another")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_counted_on_when_a_topic_goes_and_comes_again() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    peer.ty(NAME, "string data\n");
    peer.read("heard", "rt/chatter", NAME, &json!({}));
    for life in 1..=3 {
        let said = talker(&node, &reliable(10));
        until("somebody there wants it", || said.statistics().subscribers == 1);
        say(&said, "hello");
        until("it is counted on", || robot.channel("chatter", true).is_some_and(|told| told.messages == life));
        drop(said);
        until("nobody has it", || robot.channel("chatter", true).is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_keeps_more_than_the_first_one_loses_no_more_than_alone() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (first, second) = (robot.node("first"), robot.node("second"));
    peer.ty(NAME, "string data\n");
    let _said = talker(&first, &reliable(1));
    peer.read("heard", "rt/chatter", NAME, &json!({"depth": 0}));
    peer.matched("heard", 1);
    let other = talker(&second, &reliable(300));
    until("it is read", || other.statistics().subscribers > 0);
    let told = || robot.channel("chatter", true).map(|told| (told.messages, told.lost)).unwrap_or_default();
    let mut published = 0;
    let mut burst = || {
        let before = told();
        (0..200).for_each(|_| say(&other, "a burst"));
        published += 200;
        until("all are sent, or lost", || told().0 + told().1 == published);
        (told().0 - before.0, told().1 - before.1)
    };
    until("nothing of a burst is lost", || burst() == (200, 0));
    for _ in 0..5 {
        assert_eq!(burst(), (200, 0));
    }
}

/// A program of ROS 2 says 900 numbers; a third of them have been said when somebody else here begins to hear them so, who goes with two thirds, or hears the last one. The first one hears all of them.
fn misses_nothing_beside(other: &Qos, goes: bool) {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (first, second) = (robot.node("first"), robot.node("second"));
    peer.ty(NAME, "string data\n");
    peer.write("said", "rt/chatter", NAME, &json!({"depth": 0}));
    let heard = Listener::new(&first, &reliable(MANY));
    peer.matched("said", 1);
    until("it is heard", || heard.subscriber.statistics().publishers == 1);
    heard.begins(|first| peer.publish("said", NAME, &text(first)));
    let mut say = |numbers| numbers::each_in_parts(numbers, |number| peer.publish("said", NAME, &text(number)), |last| heard.hears(last));
    say(1..300);
    let other = Listener::new(&second, other);
    say(300..600);
    other.hears(599);
    let other = (!goes).then_some(other);
    say(600..900);
    if let Some(other) = other {
        other.hears(899);
    }
    heard.has_heard(1..900);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_topic_misses_nothing_when_others_here_hear_it_too_and_go() {
    misses_nothing_beside(&reliable(2 * MANY), true);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_topic_misses_nothing_when_somebody_here_comes_who_keeps_all() {
    misses_nothing_beside(&Qos::reliable(), false);
}

/// Numbers from 0 on, for those who come late.
fn keeps_ten(peer: &mut Peer) {
    peer.ty(NAME, "string data\n");
    peer.write("said", "rt/chatter", NAME, &json!({"transient_local": true, "depth": 20}));
    (0..10_u32).for_each(|number| peer.publish("said", NAME, &text(&number.to_string())));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_more_of_what_was_kept_there_than_those_before_gets_it() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (first, second) = (robot.node("first"), robot.node("second"));
    keeps_ten(&mut peer);
    let few = Listener::new(&first, &latched(1));
    few.hears(9);
    let all = Listener::new(&second, &latched(10));
    (0..10).for_each(|number| all.hears(number));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_publisher_there_says_as_soon_as_it_is_connected_is_heard() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    peer.ty(NAME, "string data\n");
    for number in 0..20 {
        let topic = format!("said_{number}");
        let heard = Subscriber::new(&node, &topic, STRING, &reliable(10), SubscriberOptions::default()).expect("it may subscribe");
        until("it is wanted there", || robot.channel(&topic, false).is_some());
        peer.write(&topic, &format!("rt/{topic}"), NAME, &json!({}));
        peer.matched(&topic, 1);
        peer.publish(&topic, NAME, &text("at once"));
        assert!(next(&heard).to_vec().starts_with(&text("at once")), "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_publisher_there_says_and_goes_is_heard_at_once_though_the_bridge_is_busy_and_not_when_another_one_comes() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let subscriber = |topic: &str| Subscriber::new(&node, topic, STRING, &reliable(10), SubscriberOptions::default());
    let heard = subscriber("go").expect("it may subscribe");
    let busy = ["a", "b", "c", "d"];
    let _unheard = busy.map(|topic| subscriber(topic).expect("it may subscribe"));
    until("they are waited for", || ["go"].iter().chain(&busy).all(|topic| robot.state(topic, false) == "waiting"));
    peer.ty(NAME, "string data\n");
    // The bridge waits a while in vain for those who subscribe: they ask for more.
    for topic in busy {
        peer.write(topic, &format!("rt/{topic}"), NAME, &json!({"reliable": false}));
    }
    let first = common::ros2::hex(&text("go"));
    peer.ask(&json!({"do": "write", "id": "once", "topic": "rt/go", "name": NAME, "first": first}));
    peer.ask(&json!({"do": "close", "id": "once"}));
    assert!(next(&heard).to_vec().starts_with(&text("go")));
    until("nobody publishes it any more", || robot.state("go", false) == "waiting");
    peer.write("again", "rt/go", NAME, &json!({}));
    peer.matched("again", 1);
    peer.publish("again", NAME, &text("stop"));
    assert!(next(&heard).to_vec().starts_with(&text("stop")));
    let told = robot.channel("go", false).expect("it is open");
    assert_eq!((told.messages, told.lost), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_nothing_that_was_kept_there_has_nobody_get_it_twice_however_deep_he_is() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (first, second) = (robot.node("first"), robot.node("second"));
    keeps_ten(&mut peer);
    let kept = Listener::new(&first, &latched(10));
    kept.hears(9);
    let deep = Listener::new(&second, &reliable(100));
    until("it is connected", || deep.subscriber.statistics().publishers > 0);
    // Who reads it in his place would by now.
    std::thread::sleep(Duration::from_secs(1));
    peer.publish("said", NAME, &text("10"));
    deep.has_heard(10..11);
    kept.has_heard(0..11);
}

/// Of two publishers there the first offers less, and goes. Somebody here asks for what the other one offers, which has said something before.
fn is_offered_as_who_is_there_does(here: impl Fn(u32) -> Qos, there: &serde_json::Value) -> Vec<u8> {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return text("before") };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let heard = |qos: &Qos| Subscriber::new(&node, "chatter", STRING, qos, SubscriberOptions::default()).expect("it may subscribe");
    let easy = heard(&here(10));
    peer.ty(NAME, "string data\n");
    peer.write("old", "rt/chatter", NAME, there);
    until("somebody there has it", || easy.statistics().publishers == 1);
    let mut more = there.clone();
    more["deadline_ms"] = json!(50);
    peer.write("new", "rt/chatter", NAME, &more);
    peer.matched("new", 1);
    peer.publish("new", NAME, &text("before"));
    next(&easy);
    let strict = heard(&Qos { deadline: Some(Duration::from_millis(100)), ..here(10) });
    until("it is told", || robot.state("chatter", false) == "open: a publisher there offers less than subscribers here ask for: deadline");
    peer.ask(&json!({"do": "close", "id": "old"}));
    until("it is connected", || strict.statistics().publishers == 1);
    until("it is told no more", || robot.state("chatter", false) == "open");
    let mut came = strict.take(Duration::from_millis(500)).expect("it can be taken");
    until("something arrives", || {
        if came.is_none() {
            peer.publish("new", NAME, &text("after"));
            came = strict.take(Duration::from_millis(20)).expect("it can be taken");
        }
        came.is_some()
    });
    came.map(|frame| frame.to_vec()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_those_offer_who_are_there_is_offered_here_and_not_what_those_did_who_have_gone() {
    is_offered_as_who_is_there_does(reliable, &json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_those_have_kept_who_are_there_comes_though_somebody_has_gone_who_offered_less() {
    let came = is_offered_as_who_is_there_does(latched, &json!({"transient_local": true}));
    assert!(came.starts_with(&text("before")), "{came:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_and_offers_more_in_one_policy_and_less_in_another_takes_nothing_from_who_is_served() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let qos = Qos { deadline: Some(Duration::from_millis(100)), ..reliable(10) };
    let strict = Subscriber::new(&robot.node("node"), "chatter", STRING, &qos, SubscriberOptions::default()).expect("it may subscribe");
    peer.ty(NAME, "string data\n");
    peer.write("prompt", "rt/chatter", NAME, &json!({"deadline_ms": 10, "lifespan_ms": 1000}));
    peer.matched("prompt", 1);
    let is_served = |peer: &mut Peer, what: &str| {
        peer.publish("prompt", NAME, &text(what));
        assert!(next(&strict).to_vec().starts_with(&text(what)));
        assert_eq!(robot.state("chatter", false), "open");
    };
    is_served(&mut peer, "alone");
    peer.write("lasting", "rt/chatter", NAME, &json!({}));
    peer.matched("lasting", 1);
    // What takes the place of something else has done so by then.
    std::thread::sleep(Duration::from_secs(2));
    is_served(&mut peer, "beside another");
    peer.ask(&json!({"do": "close", "id": "lasting"}));
    std::thread::sleep(Duration::from_secs(2));
    is_served(&mut peer, "alone again");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_served_goes_on_to_be_while_what_is_to_be_offered_in_place_cannot_be_opened() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let heard = Listener::new(&robot.node("node"), &reliable(200));
    peer.ty(NAME, "string data\n");
    peer.write("old", "rt/chatter", NAME, &json!({}));
    until("it is heard", || heard.subscriber.statistics().publishers == 1);
    peer.write("new", "rt/chatter", NAME, &json!({"deadline_ms": 50}));
    peer.matched("new", 1);
    heard.begins(|first| peer.publish("new", NAME, &text(first)));
    let away = robot.without_managers();
    peer.ask(&json!({"do": "close", "id": "old"}));
    let mut say = |numbers: std::ops::Range<u32>| numbers.for_each(|number| peer.publish("new", NAME, &text(&number.to_string())));
    until("it cannot be opened", || robot.state("chatter", false).contains("cannot be opened"));
    // What others take the place of would be gone by then.
    std::thread::sleep(Duration::from_secs(2));
    say(1..10);
    heard.has_heard(1..10);
    drop(away);
    until("it is opened, and the other one closed", || {
        robot.state("chatter", false) == "open" && heard.subscriber.statistics().publishers == 1
    });
    let mut number = 10;
    until("all goes on", || {
        say(number..number + 1);
        number += 1;
        heard.heard().iter().any(|number| *number >= 10)
    });
}
