//! What a publisher has published goes on its way also when the publisher has gone.

mod common;

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::relay::{Relay, through_a_relay};
use common::stranger::{Stranger, open, record};
use common::{IMAGE, PATIENCE, Robot, all, connected, image, kill_manager, next, node, number_of, publisher, rules, subscriber, until};
use sinew::raw::{Publisher, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};
use sinew_gateway::protocol::{Control, End, Packing, TopicHead};
use sinew_gateway::rules::Rules;

/// A link of 40 ms, that loses so much. The drone has dialed.
async fn far_apart(lost_percent: u32) -> (Robot, Relay, Robot) {
    let (base, relay, mut drone) = through_a_relay().await;
    drone.stop().await;
    // From the begin on, or what is late now seems to wait in a queue.
    relay.delay(40);
    drone.start();
    until("they are connected", || drone.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty()));
    relay.lose(lost_percent);
    (base, relay, drone)
}

/// How many of its messages a gateway tells that it has lost, and how many that it has sent, or handed on.
fn counted(robot: &Robot, topic: &str) -> (u64, u64) {
    robot.channels(topic).iter().fold((0, 0), |(lost, messages), channel| (lost + channel.lost, messages + channel.messages))
}

/// The next messages.
fn numbers(seen: &Subscriber, count: usize) -> Vec<u32> {
    (0..count).map(|_| number_of(&next(seen))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_only_message_of_a_publisher_that_goes_at_once_arrives_each_time() {
    let (base, _relay, drone) = far_apart(0).await;
    let planner = base.node("planner");
    let heard = subscriber(&planner, "goal", &Qos::default());
    for number in 0..12 {
        let station = drone.node("station");
        let goals = publisher(&station, "goal", &Qos::default());
        until("its gateway wants it", || goals.statistics().subscribers == 1);
        goals.publish(&[&image(number, 10)]).expect("it is published");
        drop(goals);
        drop(station);
        assert_eq!(number_of(&next(&heard)), number);
    }
    for robot in [&base, &drone] {
        until("they are counted", || counted(robot, "goal") == (0, 12));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_it_has_published_last_arrives_in_order_however_much_that_is_and_whatever_the_link_loses() {
    let (base, _relay, drone) = far_apart(2).await;
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let seen = subscriber(&planner, "map", &Qos::reliable());
    // Not so much that a busy machine would need longer for it than an end is waited for, which is five seconds.
    for (size, count) in [(10, 20), (10_000, 20), (100_000, 3)] {
        let maps = publisher(&mapper, "map", &Qos::reliable());
        until("its gateway wants it", || maps.statistics().subscribers == 1);
        for number in 0..count {
            maps.publish(&[&image(number, size)]).expect("it is published");
        }
        drop(maps);
        assert_eq!(numbers(&seen, count as usize), (0..count).collect::<Vec<_>>(), "{size} bytes");
    }
    until("they are counted", || counted(&base, "map") == (0, 43));
}

#[tokio::test(flavor = "multi_thread")]
async fn publishers_that_go_and_come_one_after_the_other_are_heard_in_order_and_nothing_twice() {
    let (base, _relay, drone) = far_apart(0).await;
    let seen = subscriber(&base.node("planner"), "goal", &Qos::reliable());
    let other = drone.node("other");
    for round in 0..30 {
        // While there is somebody else the topic stays, and is the same.
        let _stays = (round / 5 % 2 == 0).then(|| subscriber(&other, "goal", &Qos::default()));
        let goals = publisher(&drone.node("station"), "goal", &Qos::reliable());
        let subscribers = 1 + u64::from(round / 5 % 2 == 0);
        until("its gateway wants it", || goals.statistics().subscribers == subscribers);
        for number in 0..3 {
            goals.publish(&[&image(3 * round + number, 10)]).expect("it is published");
        }
    }
    assert_eq!(numbers(&seen, 90), (0..90).collect::<Vec<_>>());
    until("they are counted", || counted(&base, "goal") == (0, 90));
}

/// In a process of its own, as what follows says.
#[test]
fn process_that_publishes_and_is_killed() {
    let Ok(domain) = std::env::var("SINEW_TEST_PUBLISHES_IN") else { return };
    let first: u32 = std::env::var("SINEW_TEST_FIRST").ok().and_then(|first| first.parse().ok()).expect("it is a number");
    let beat = node(&domain, "beat");
    let beats = publisher(&beat, "beat", &Qos::keep_last(100));
    until("its gateway wants it", || beats.statistics().subscribers == 1);
    for number in first..first + EACH {
        beats.publish(&[&image(number, 10)]).expect("it is published");
        std::thread::sleep(Duration::from_millis(3));
    }
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

const EACH: u32 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn of_publishers_that_are_killed_again_and_again_every_message_arrives_in_order_or_is_counted() {
    const LIVES: u32 = 20;
    let (base, _relay, drone) = far_apart(2).await;
    let came = Arc::new(Mutex::new(Vec::new()));
    let (to, witness) = (Arc::clone(&came), base.node("witness"));
    let seen = Subscriber::with_callback(&witness, "beat", IMAGE, &Qos::keep_last(100), SubscriberOptions::default(), move |frame| {
        to.lock().expect("nobody fails with it").push(number_of(&frame));
    });
    let seen = seen.expect("it may subscribe");
    for life in 0..LIVES {
        let mut beat = Command::new(std::env::current_exe().expect("this test is a program"));
        beat.args(["--exact", "process_that_publishes_and_is_killed"]).stdout(Stdio::null());
        beat.env("SINEW_TEST_PUBLISHES_IN", drone.path()).env("SINEW_TEST_FIRST", (life * EACH).to_string());
        assert!(beat.status().expect("it was built").code().is_none(), "it is killed");
    }
    let came = || came.lock().expect("nobody fails with it").clone();
    until("all have come or are counted", || came().len() as u64 + counted(&base, "beat").0 == u64::from(LIVES * EACH));
    let came = came();
    assert!(came.is_sorted_by(|a, b| a < b), "{came:?}");
    assert_eq!(seen.statistics().missed, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_go_in_time_is_given_up_and_counted_on_both_sides_also_afterwards() {
    let base = Robot::new("base", all());
    let slowly = rules(r#"{ "topics": { "base_rule": "out", "max_bandwidth": "10 kbit/s" } }"#);
    let drone = Robot::dialing("drone", slowly, &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let seen = subscriber(&viewer, "image", &Qos::reliable());
    let images = publisher(&camera, "image", &Qos::reliable());
    connected(&images, &[&seen]);
    images.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    for number in 2..5 {
        images.publish(&[&image(number, 200_000)]).expect("it is published");
    }
    drop(images);
    until("they are given up", || counted(&drone, "image") == (3, 1));
    until("the other one knows", || counted(&base, "image") == (3, 1));
    until("the channel is closed there, too", || seen.statistics().publishers == 0);
    let images = publisher(&camera, "image", &Qos::reliable());
    connected(&images, &[&seen]);
    images.publish(&[&image(5, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 5);
    for robot in [&base, &drone] {
        until("it is counted", || counted(robot, "image") == (3, 2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_wanted_any_more_is_not_waited_for() {
    let (base, relay, drone) = far_apart(0).await;
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let seen = subscriber(&viewer, "image", &Qos::reliable());
    let images = publisher(&camera, "image", &Qos::reliable());
    connected(&images, &[&seen]);
    relay.delay(1000);
    (0..20).for_each(|number| images.publish(&[&image(number, 2_000_000)]).expect("it is published"));
    drop(seen);
    // Much sooner than the rest would have gone, or been given up.
    until("nobody takes it any more", || images.statistics().subscribers == 0);
}

/// Until the gateway asks the stranger anew, who has closed a channel so.
async fn asked_again(robot: &Robot, end: End, say: &[Vec<u8>]) {
    let mut stranger = Stranger::introduced(robot).await;
    let channel = stranger.wanted("image").await;
    stranger.say(&open(channel)).await;
    stranger.say(&Control::Close { channel, end }).await;
    for message in say {
        stranger
            .uni(
                &[
                    TopicHead { channel, index: 0 }.encode(),
                    record(message.len() as u32, Packing::None, message.len() as u32),
                    message.clone(),
                ]
                .concat(),
            )
            .await;
    }
    assert_ne!(tokio::time::timeout(PATIENCE, stranger.wanted("image")).await.expect("it asks again"), channel);
    assert!(stranger.connection.close_reason().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_peer_says_of_the_end_of_a_channel_is_believed_for_a_while_only() {
    let base = Robot::on_this_machine("base", all());
    let seen = subscriber(&base.node("viewer"), "image", &Qos::default());
    // Nothing is under way; something is; it says so, and nothing comes.
    asked_again(&base, End::default(), &[]).await;
    asked_again(&base, End { sent: 1, last: 1 }, &[image(1, 10)]).await;
    assert_eq!(number_of(&next(&seen)), 1);
    asked_again(&base, End { sent: u64::MAX, last: u64::MAX }, &[image(2, 10)]).await;
    assert_eq!(number_of(&next(&seen)), 2);
    let mut stranger = Stranger::introduced(&base).await;
    let channel = stranger.wanted("image").await;
    stranger.say(&open(channel)).await;
    for _ in 0..2 {
        stranger.say(&Control::Close { channel, end: End { sent: 1, last: 1 } }).await;
    }
    assert_eq!(stranger.disconnected().await.0, 1);
}

/// Messages are published, with this QoS, before the connection is lost (0 arrives, 1 to 3 are under way), while there is none (4 to 13), and afterwards (14); these of them are kept. What both have counted.
async fn counted_where_the_connection_was_lost(rulesets: Rules, qos: &Qos, kept: &[u32]) -> [(u64, u64); 2] {
    let (base, relay, mut drone) = far_apart(0).await;
    drone.settings.rules = rulesets;
    drone.change();
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let seen = subscriber(&viewer, "image", qos);
    let images = publisher(&camera, "image", qos);
    let publish = |numbers: std::ops::Range<u32>| {
        numbers.for_each(|number| images.publish(&[&image(number, 10)]).expect("it is published"));
    };
    connected(&images, &[&seen]);
    publish(0..1);
    assert_eq!(numbers(&seen, 1), [0]);
    relay.cut(true);
    publish(1..4);
    let count = |robot: &Robot| robot.gateway.as_ref().map_or(0, |gateway| gateway.connections().len());
    until("both have lost the other one", || count(&base) == 0 && count(&drone) == 0);
    until("nobody takes it any more", || images.statistics().subscribers == 0);
    publish(4..14);
    relay.cut(false);
    connected(&images, &[&seen]);
    assert_eq!(numbers(&seen, kept.len()), kept);
    publish(14..15);
    assert_eq!(numbers(&seen, 1), [14]);
    let now = || [counted(&base, "image"), counted(&drone, "image")];
    // What it has given to QUIC it takes for sent.
    until("they are counted", || now().map(|(_, messages)| messages as usize) == [2, 5].map(|messages| messages + kept.len()));
    let counted = now();
    drop(seen);
    let is_closed = |robot: &Robot| robot.channels("image").iter().all(|channel| channel.state == "closed");
    until("nobody wants it any more", || is_closed(&base) && is_closed(&drone));
    let lost = |counted: [(u64, u64); 2]| counted.map(|(lost, _)| lost);
    assert_eq!(lost(now()), lost(counted), "and what was lost is told of all the same");
    counted
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_under_way_and_published_while_there_was_no_connection_is_counted_when_there_is_one_again() {
    let counted = counted_where_the_connection_was_lost(all(), &Qos::keep_last(20), &[]).await;
    assert_eq!(counted, [(13, 2), (10, 5)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_is_kept_what_was_published_while_there_was_no_connection_and_is_kept_no_more_is_counted() {
    let kept = Qos { reliable: true, transient_local: true, ..Qos::keep_last(5) };
    let counted = counted_where_the_connection_was_lost(all(), &kept, &[9, 10, 11, 12, 13]).await;
    assert_eq!(counted, [(5, 7), (5, 10)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_has_a_rate_what_was_under_way_when_the_connection_was_lost_is_counted() {
    let fast = rules(r#"{ "topics": { "base_rule": "both", "max_rate": 1000, "reliable": true } }"#);
    let counted = counted_where_the_connection_was_lost(fast, &Qos::keep_last(20), &[]).await;
    assert_eq!(counted, [(3, 2), (0, 5)]);
}

/// A subscriber, and the numbers of what has come to it so far.
fn collecting(viewer: &Node) -> (Subscriber, impl Fn() -> Vec<u32> + use<>) {
    let came = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&came);
    let seen = Subscriber::with_callback(viewer, "image", IMAGE, &Qos::keep_last(100), SubscriberOptions::default(), move |frame| {
        to.lock().expect("nobody fails with it").push(number_of(&frame));
    });
    (seen.expect("it may subscribe"), move || came.lock().expect("nobody fails with it").clone())
}

/// Waits until all have come, are counted, or were missed by the subscriber itself, as it happens on a busy machine. What was lost last is known when something is published behind it, so that is done now and then. How many there are then.
fn all_are_accounted(images: &Publisher, mut published: u32, accounted: impl Fn() -> u64) -> u32 {
    let mut last = Instant::now();
    until("all have come or are counted", || {
        if last.elapsed() > Duration::from_millis(500) {
            images.publish(&[&image(published, 10)]).expect("it is published");
            (published, last) = (published + 1, Instant::now());
        }
        accounted() == u64::from(published)
    });
    published
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_as_others_want_or_have_the_topic_otherwise_is_counted() {
    let (base, _relay, drone) = far_apart(0).await;
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let (seen, came) = collecting(&viewer);
    let images = publisher(&camera, "image", &Qos::keep_last(100));
    connected(&images, &[&seen]);
    let (mut wanted, mut had, other) = (None, None, drone.node("other"));
    for number in 0..300 {
        images.publish(&[&image(number, 10)]).expect("it is published");
        std::thread::sleep(Duration::from_millis(3));
        if number == 100 {
            wanted = Some(subscriber(&viewer, "image", &Qos::keep_last(200)));
        }
        if number == 200 {
            had = Some(publisher(&other, "image", &Qos::keep_last(300)));
        }
    }
    let accounted = || came().len() as u64 + counted(&base, "image").0 + seen.statistics().missed;
    let published = all_are_accounted(&images, 300, accounted);
    assert!(came().is_sorted_by(|a, b| a < b), "{:?}", came());
    assert!(wanted.is_some() && had.is_some() && came().len() < published as usize);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_as_managers_are_killed_is_counted_and_all_goes_on() {
    let (base, _relay, drone) = far_apart(0).await;
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let (seen, came) = collecting(&viewer);
    let images = publisher(&camera, "image", &Qos::keep_last(100));
    connected(&images, &[&seen]);
    for number in 0..900 {
        images.publish(&[&image(number, 10)]).expect("it is published");
        std::thread::sleep(Duration::from_millis(3));
        if number % 300 == 100 {
            kill_manager(&drone.path());
        }
        if number % 300 == 200 {
            kill_manager(&base.path());
        }
    }
    let mut published = 900;
    until("all goes on", || {
        images.publish(&[&image(published, 10)]).expect("it is published");
        published += 1;
        came().last().is_some_and(|last| *last >= 900)
    });
    let accounted = || came().len() as u64 + counted(&base, "image").0 + seen.statistics().missed;
    all_are_accounted(&images, published, accounted);
    assert!(came().is_sorted_by(|a, b| a < b), "{:?}", came());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_its_gateway_has_yet_to_take_when_a_publisher_goes_arrives_too() {
    let base = Robot::new("base", all());
    // Packing takes longer than publishing.
    let packed = rules(r#"{ "topics": { "base_rule": "out", "compression": "zstd" } }"#);
    let drone = Robot::dialing("drone", packed, &[&base]);
    let seen = subscriber(&base.node("planner"), "map", &Qos::reliable());
    let maps = publisher(&drone.node("mapper"), "map", &Qos::reliable());
    connected(&maps, &[&seen]);
    let whole = (0..20).map(|number| image(number, 2_000_000)).collect::<Vec<_>>();
    whole.iter().for_each(|image| maps.publish(&[image]).expect("it is published"));
    drop(maps);
    assert_eq!(numbers(&seen, 20), (0..20).collect::<Vec<_>>());
}
