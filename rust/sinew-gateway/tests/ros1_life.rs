//! Programs, masters and topics of ROS 1 that come and go, and strangers who mean harm.

mod common;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::numbers::{self, Listener, MANY, TOPIC, among_others, say_in_parts, talker};
use common::program::Program;
use common::ros1::{Master, Peer, ROS_STRING, Robot, publishes, ros_text, subscribes};
use common::texts::{STRING, latched, reliable, text};
use common::{PATIENCE, all, next, until};
use serde_json::json;
use sinew::raw::{Publisher, Subscriber};

/// That come and go.
const TOPICS: u8 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_killed_and_comes_again_is_heard_again_and_hears() {
    let Some(master) = Master::new() else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let heard = subscribes(&node, "there", STRING, &reliable(10));
    let said = publishes(&node, "here", STRING, &reliable(10));
    for life in ["first", "second", "third"] {
        // Who takes the name of another one takes its place, as after a restart.
        let Some(mut peer) = master.peer("peer") else { return };
        peer.write("said", "/there", ROS_STRING, false);
        peer.read("heard", "/here", ROS_STRING);
        peer.connected("said", 1);
        until("both are connected", || heard.statistics().publishers == 1 && said.statistics().subscribers == 1);
        peer.publish("said", ROS_STRING, &ros_text(life));
        assert_eq!(next(&heard).to_vec(), text(life));
        said.publish(&[&text(life)]).expect("it is published");
        assert_eq!(peer.messages("heard", 1), [ros_text(life)]);
        peer.kill();
        until("nobody there has it, or wants it", || heard.statistics().publishers == 0 && said.statistics().subscribers == 0);
    }
}

/// A message each way between a new program of ROS 1 and the domain.
fn goes_both_ways(peer: &mut Peer, (heard, said): (&Subscriber, &Publisher), life: &str) {
    peer.write("said", "/there", ROS_STRING, false);
    peer.read("heard", "/here", ROS_STRING);
    peer.connected("said", 1);
    until("somebody there wants it", || said.statistics().subscribers > 0);
    peer.publish("said", ROS_STRING, &ros_text(life));
    let begin = Instant::now();
    while next(heard).to_vec() != text(life) {
        assert!(begin.elapsed() < PATIENCE, "in vain: {life} is heard");
    }
    said.publish(&[&text(life)]).expect("it is published");
    assert!(peer.messages("heard", 1).contains(&ros_text(life)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_that_starts_later_or_anew_learns_everything() {
    let Some(mut master) = Master::new() else { return };
    master.kill();
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let ends = (&subscribes(&node, "there", STRING, &reliable(10)), &publishes(&node, "here", STRING, &reliable(10)));
    assert!(!robot.is_connected());
    for life in ["later", "anew"] {
        master.start_anew();
        until("the master is there", || robot.is_connected());
        let Some(mut peer) = master.peer(life) else { return };
        goes_both_ways(&mut peer, ends, life);
        master.kill();
        until("the master is gone", || !robot.is_connected());
        // What is connected stays so.
        peer.publish("said", ROS_STRING, &ros_text("still"));
        assert_eq!(next(ends.0).to_vec(), text("still"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_connected_stays_so_with_a_master_that_is_started_anew_and_does_not_know_of_it() {
    let Some(mut master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let (heard, said) = (subscribes(&node, "there", STRING, &reliable(10)), publishes(&node, "here", STRING, &reliable(10)));
    peer.write("said", "/there", ROS_STRING, false);
    peer.read("heard", "/here", ROS_STRING);
    peer.connected("said", 1);
    until("both are connected", || heard.statistics().publishers == 1 && said.statistics().subscribers == 1);
    master.kill();
    until("the master is gone", || !robot.is_connected());
    master.start_anew();
    until("the master is there", || robot.is_connected());
    peer.publish("said", ROS_STRING, &ros_text("still"));
    assert_eq!(next(&heard).to_vec(), text("still"));
    said.publish(&[&text("still")]).expect("it is published");
    assert_eq!(peer.messages("heard", 1), [ros_text("still")]);
    // Also when the master tells of others.
    let Some(mut other) = master.peer("other") else { return };
    other.write("said", "/there", ROS_STRING, false);
    other.connected("said", 1);
    until("both are heard", || heard.statistics().publishers == 2);
    for (peer, data) in [(&mut peer, "one"), (&mut other, "other")] {
        peer.publish("said", ROS_STRING, &ros_text(data));
        assert_eq!(next(&heard).to_vec(), text(data));
    }
    peer.close("said");
    until("it is gone", || heard.statistics().publishers == 1);
    other.publish("said", ROS_STRING, &ros_text("goes on"));
    assert_eq!(next(&heard).to_vec(), text("goes on"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_holds_up_nobody_else() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let said = publishes(&node, "chatter", STRING, &reliable(5));
    let topics = peer.until("it is known", &json!({"do": "topics"}), |told| told["publishers"].get("/chatter").is_some());
    let place = peer.ask(&json!({"do": "where", "topic": "/chatter", "node": topics["publishers"]["/chatter"][0]}));
    peer.ask(&json!({"do": "stall", "topic": "/chatter", "port": place["messages"]}));
    until("it is open", || robot.state("chatter", true) == "open");
    peer.read("heard", "/chatter", ROS_STRING);
    peer.connected("heard", 1);
    let large = "a".repeat(400_000);
    for n in 0..100 {
        let data = format!("{n} {large}");
        said.publish(&[&text(&data)]).expect("it is published");
        assert!(peer.messages("heard", 1) == [ros_text(&data)], "message {n} has arrived damaged");
    }
    until("what was lost to the other one is counted", || {
        robot.channel("chatter", true).is_some_and(|channel| channel.lost > 0 && channel.messages >= 100)
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_who_speak_nonsense_or_nothing_hurt_nobody() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let ends = (&subscribes(&node, "there", STRING, &reliable(10)), &publishes(&node, "here", STRING, &reliable(10)));
    let topics = peer.until("it is known", &json!({"do": "topics"}), |told| told["publishers"].get("/here").is_some());
    let place = peer.ask(&json!({"do": "where", "topic": "/here", "node": topics["publishers"]["/here"][0]}));
    let port = |what: &str| u16::try_from(place[what].as_u64().expect("a number")).expect("a port");
    let dial = |what: &str| TcpStream::connect(("localhost", port(what))).expect("somebody listens");
    let answer = |what: &str, said: &[u8]| {
        let mut stream = dial(what);
        stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        // It may have heard enough before the end.
        let _ = stream.write_all(said);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let post = |body: &str| format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for said in [
        post("hello"),
        post("<methodCall><methodName>none</methodName></methodCall>"),
        post(&"<value>".repeat(10_000)),
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n".to_owned(),
        "\0".repeat(100_000),
    ] {
        let answered = answer("questions", said.as_bytes());
        assert!(answered.contains("faultString") || answered.is_empty(), "{answered}");
    }
    let killed = answer("questions", post("<methodCall><methodName>shutdown</methodName></methodCall>").as_bytes());
    assert!(killed.contains("a bridge ends where it was started"), "{killed}");
    for said in
        [&b"\xff\xff\xff\xff"[..], &b"\x00\x00\x00\x00"[..], &b"\x08\x00\x00\x00\x04\x00\x00\x00abcd"[..], &b"GET / HTTP/1.1\r\n\r\n"[..]]
    {
        let answered = answer("messages", said);
        assert!(answered.contains("error=") || answered.is_empty(), "{answered}");
    }
    // Those who say nothing have their places for a while only.
    let silent: Vec<TcpStream> = (0..200).map(|_| dial("questions")).chain((0..50).map(|_| dial("messages"))).collect();
    goes_both_ways(&mut peer, ends, "still");
    drop(silent);
}

/// Topics that come and go on either side, in any order; in the end nothing is there.
fn comes_and_goes(peer: &mut Peer, node: &sinew::Node, steps: usize) {
    let mut here: [(Option<Publisher>, Option<Subscriber>); TOPICS as usize] = Default::default();
    let mut there = BTreeSet::new();
    for _ in 0..steps {
        let topic = fastrand::u8(..TOPICS);
        let (name, ends) = (format!("t{topic}"), &mut here[usize::from(topic)]);
        match fastrand::u8(..4) {
            0 if ends.0.take().is_none() => ends.0 = Some(publishes(node, &name, STRING, &latched(1))),
            1 if ends.1.take().is_none() => ends.1 = Some(subscribes(node, &name, STRING, &reliable(5))),
            kind @ (2 | 3) => {
                let id = format!("{kind}{name}");
                if there.remove(&id) {
                    peer.close(&id);
                } else if kind == 2 {
                    peer.write(&id, &format!("/{name}"), ROS_STRING, true);
                    peer.publish(&id, ROS_STRING, &ros_text("there"));
                    there.insert(id);
                } else {
                    peer.read(&id, &format!("/{name}"), ROS_STRING);
                    there.insert(id);
                }
            }
            _ => {}
        }
        if let Some(publisher) = &here[usize::from(topic)].0 {
            publisher.publish(&[&text("here")]).expect("it is published");
        }
        std::thread::sleep(Duration::from_millis(fastrand::u64(..60)));
    }
    there.iter().for_each(|id| peer.close(id));
    drop(here);
    peer.until("nothing of it is there", &json!({"do": "topics"}), |told| {
        [&told["publishers"], &told["subscribers"]].iter().all(|ends| !ends.to_string().contains("/sinew_"))
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_that_come_and_go_at_random_leave_nothing_behind() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let domain = folder.path().join("domain").to_str().expect("a path is a text").to_owned();
    let uri = master.uri.to_string();
    let bridge = Program::with(&["ros1", "--master", &uri, "--hostname", "localhost"], &domain);
    bridge.says("connected with the ROS 1 network");
    let node = common::node(&domain, "node");
    let seed = fastrand::get_seed();
    eprintln!("seed {seed}");
    // Execution threads stay as long as their node, and each topic has one of four: all of them are there before they are counted.
    let said: Vec<Publisher> = (0..TOPICS)
        .map(|n| {
            peer.read(&format!("first{n}"), &format!("/t{n}"), ROS_STRING);
            publishes(&node, &format!("t{n}"), STRING, &latched(1))
        })
        .collect();
    until("all are read", || said.iter().all(|said| said.statistics().subscribers == 1));
    (0..TOPICS).for_each(|n| peer.close(&format!("first{n}")));
    drop(said);
    comes_and_goes(&mut peer, &node, 60);
    until("it is quiet", || {
        let before = bridge.holds();
        std::thread::sleep(Duration::from_millis(500));
        bridge.holds() == before
    });
    let (descriptors, threads) = bridge.holds();
    comes_and_goes(&mut peer, &node, 120);
    // Threads that look names up stay while each has something to do within ten seconds, and the master is asked once a second; what is left behind each time is more.
    bridge.lets_go((descriptors + 2, threads + 12));
    bridge.signal("TERM");
    assert_eq!(bridge.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_topic_that_is_latched_misses_nothing_and_gets_nothing_twice_when_others_publish_it_too_and_go() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let (first, second) = (robot.node("first"), robot.node("second"));
    let said = talker(&first, &latched(100));
    peer.read("heard", "/chatter", ROS_STRING);
    peer.connected("heard", 1);
    until("it is read", || said.statistics().subscribers == 1);
    let mut messages = Vec::new();
    among_others(&second, &latched(100), || say_in_parts(&said, 0..1500, |_| messages.extend(peer.messages("heard", 50))));
    let expected: Vec<Vec<u8>> = (0..1500_u32).map(|number| ros_text(&number.to_string())).collect();
    assert_eq!(messages, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_topic_misses_nothing_when_others_here_hear_it_too_and_go() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let (first, second) = (robot.node("first"), robot.node("second"));
    peer.write("said", "/chatter", ROS_STRING, false);
    let heard = Listener::new(&first, &reliable(MANY));
    peer.connected("said", 1);
    until("it is heard", || heard.subscriber.statistics().publishers == 1);
    heard.begins(|first| peer.publish("said", ROS_STRING, &ros_text(first)));
    let mut publish = |number: &str| peer.publish("said", ROS_STRING, &ros_text(number));
    let mut say = |numbers| numbers::each_in_parts(numbers, &mut publish, |last| heard.hears(last));
    say(1..300);
    let other = Listener::new(&second, &reliable(2 * MANY));
    say(300..600);
    other.hears(599);
    drop(other);
    say(600..900);
    heard.has_heard(1..900);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_topic_has_lost_is_told_when_nobody_there_wants_it_any_more() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let mut robot = Robot::new(all(), &master.uri);
    robot.bridge = None;
    robot.settings.max_message = 1000;
    robot.start();
    let node = robot.node("node");
    let said = talker(&node, &reliable(10));
    peer.read("heard", "/chatter", ROS_STRING);
    until("it is read", || said.statistics().subscribers == 1);
    said.publish(&[&text(&"x".repeat(2000))]).expect("it is published");
    until("it is lost", || robot.channel("chatter", true).is_some_and(|told| told.lost == 1));
    peer.close("heard");
    until("nobody reads it any more", || said.statistics().subscribers == 0);
    let told = || robot.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
    until("it is told all the same", || {
        told().iter().any(|told| (told.name.as_str(), told.state.as_str(), told.lost) == ("chatter", "closed", 1))
    });
}

/// A publisher here, and a program that subscribes to it there and does not read.
fn stalled(peer: &mut Peer, robot: &Robot) -> Publisher {
    let said = talker(&robot.node("talker"), &reliable(10));
    let topics = peer.until("it is known", &json!({"do": "topics"}), |told| told["publishers"].get("/chatter").is_some());
    let place = peer.ask(&json!({"do": "where", "topic": "/chatter", "node": topics["publishers"]["/chatter"][0]}));
    peer.ask(&json!({"do": "stall", "topic": "/chatter", "port": place["messages"]}));
    until("it is read", || said.statistics().subscribers == 1);
    said
}

/// More than lies on the way to a program that reads nothing.
fn say_much(said: Publisher) -> u64 {
    let large = text(&"a".repeat(3_000_000));
    (0..10).for_each(|_| said.publish(&[&large]).expect("it is published"));
    10
}

/// How many of its messages the bridge has lost, also when it is closed.
fn lost(robot: &Robot) -> u64 {
    let channels = robot.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
    channels.iter().filter(|channel| channel.name == TOPIC).map(|channel| channel.lost).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_slow_gets_what_waits_for_him_though_its_publisher_has_gone() {
    // Up to four times: what the peer does not take for seconds, since the machine has other things to do, is lost, and counted.
    for attempt in 1..=4 {
        let Some(master) = Master::new() else { return };
        let Some(mut peer) = master.peer("peer") else { return };
        let robot = Robot::new(all(), &master.uri);
        let said = say_much(stalled(&mut peer, &robot));
        let came = peer.ask(&json!({"do": "drain", "pause": 0.05})).as_u64().expect("it is a number");
        until("it is closed", || robot.channel(TOPIC, true).is_none());
        let lost = lost(&robot);
        assert_eq!(came + lost, said);
        if lost == 0 {
            return;
        }
        eprintln!("attempt {attempt}: {lost} of {said} were lost");
    }
    panic!("he does not get all");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_in_time_when_its_publisher_has_gone_is_lost_and_counted() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let said = say_much(stalled(&mut peer, &robot));
    until("it is given up", || robot.channel(TOPIC, true).is_none());
    let came = peer.ask(&json!({"do": "drain", "pause": 0})).as_u64().expect("it is a number");
    assert!(lost(&robot) > 0);
    assert_eq!(came + lost(&robot), said);
}
