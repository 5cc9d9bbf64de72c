//! Topics between domains.

mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::relay::through_a_relay;
use common::{IMAGE, Robot, all, connected, image, next, node, number_of, publisher, rules, subscriber, until};
use sinew::Qos;
use sinew::raw::{Publisher, PublisherOptions, Subscriber};
use sinew_gateway::gateway::Gateway;

fn latched() -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(5) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_the_domain_of_a_peer_byte_for_byte() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    connected(&images, &[&seen]);
    for number in 0..20 {
        images.publish(&[&image(number, 100_000 * number as usize)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
    }
}

/// In a process of its own, as what follows says.
#[test]
fn process_that_listens() {
    let Ok(domain) = std::env::var("SINEW_TEST_LISTENS_IN") else { return };
    let planner = node(&domain, "planner");
    let heard = subscriber(&planner, "goal", &Qos::default());
    println!("listens");
    println!("heard {}", number_of(&next(&heard)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_only_message_of_a_topic_arrives_also_where_its_subscriber_is_slow_to_connect() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let mut planner = Command::new(std::env::current_exe().expect("this test is a program"));
    planner.args(["--exact", "process_that_listens", "--nocapture"]).env("SINEW_TEST_LISTENS_IN", base.path());
    let mut planner = planner.stdout(Stdio::piped()).spawn().expect("it was built");
    let mut said = BufReader::new(planner.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "listens"));
    let signal =
        |name: &str| assert!(Command::new("kill").args([name, &planner.id().to_string()]).status().expect("it is there").success());
    signal("-STOP");
    let station = drone.node("station");
    let goals = publisher(&station, "goal", &Qos::default());
    until("its gateway wants it", || goals.statistics().subscribers == 1);
    goals.publish(&[&image(7, 10)]).expect("it is published");
    std::thread::sleep(Duration::from_millis(50));
    signal("-CONT");
    assert!(said.any(|line| line == "heard 7"));
    assert!(planner.wait().expect("it ends").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_dialed_sends_as_who_has_dialed() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (station, pilot) = (base.node("station"), drone.node("pilot"));
    let commands = publisher(&station, "command", &Qos::default());
    let heard = subscriber(&pilot, "command", &Qos::default());
    connected(&commands, &[&heard]);
    commands.publish(&[&image(7, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&heard)), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_leaves_and_comes_again_at_once_is_heard() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    let mut images = publisher(&camera, "camera/image", &Qos::default());
    for number in 0..20 {
        // The one before may still be known, and what it has published arrive.
        until("it is heard", || {
            images.publish(&[&image(number, 10)]).expect("it is published");
            std::iter::from_fn(|| seen.take(Duration::from_millis(2)).expect("it can be taken")).any(|frame| number_of(&frame) == number)
        });
        drop(images);
        images = publisher(&camera, "camera/image", &Qos::default());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interface_is_open_only_while_both_domains_want_it() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    until("the gateways are connected", || drone.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty()));
    assert_eq!(images.statistics().subscribers, 0);
    for _ in 0..3 {
        let seen = subscriber(&viewer, "camera/image", &Qos::default());
        connected(&images, &[&seen]);
        drop(seen);
        until("nobody subscribes to the camera any more", || images.statistics().subscribers == 0);
    }
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    connected(&images, &[&seen]);
    drop(images);
    until("nobody publishes for the viewer any more", || seen.statistics().publishers == 0);
    let images = publisher(&camera, "camera/image", &Qos::default());
    connected(&images, &[&seen]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_what_was_kept_in_the_other_domain() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let maps = publisher(&mapper, "map", &latched());
    for number in 0..7 {
        maps.publish(&[&image(number, 300_000)]).expect("it is published");
    }
    let seen = subscriber(&planner, "map", &latched());
    assert_eq!((0..5).map(|_| number_of(&next(&seen))).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    // From the far gateway, whose history is the same.
    let late = subscriber(&planner, "map", &latched());
    assert_eq!((0..5).map(|_| number_of(&next(&late))).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_what_each_of_several_publishers_has_kept() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let one = Qos { depth: 1, ..latched() };
    let nodes = ["a", "b", "c"].map(|name| drone.node(name));
    let frames = nodes.each_ref().map(|node| publisher(node, "tf_static", &one));
    for (number, frames) in (1..).zip(&frames) {
        frames.publish(&[&image(0, 10)]).expect("it is published");
        frames.publish(&[&image(number, 10)]).expect("it is published");
    }
    let (first, second) = (base.node("first"), base.node("second"));
    let deep = Qos { depth: 100, ..latched() };
    let all_of = |seen: &Subscriber, count| {
        let mut numbers: Vec<u32> = (0..count).map(|_| number_of(&next(seen))).collect();
        numbers.sort_unstable();
        numbers
    };
    let seen = subscriber(&first, "tf_static", &deep);
    assert_eq!(all_of(&seen, 3), [1, 2, 3]);
    let late = subscriber(&second, "tf_static", &deep);
    assert_eq!(all_of(&late, 3), [1, 2, 3]);
    // That others publish it from now on, or no more, is no reason for it to come a second time.
    let others = ["d", "e"].map(|name| drone.node(name));
    for (number, other) in [(4, &others[0]), (5, &others[1])] {
        let more = publisher(other, "tf_static", &one);
        until("there is room for what it keeps, too", || {
            let state = second.domain_state().expect("there is a manager");
            state.endpoints.values().any(|end| end.publishes && end.depth == 4)
        });
        more.publish(&[&image(number, 10)]).expect("it is published");
        assert_eq!([number_of(&next(&seen)), number_of(&next(&late))], [number; 2]);
        if number == 4 {
            let latest = subscriber(&second, "tf_static", &deep);
            assert_eq!(all_of(&latest, 4), [1, 2, 3, 4]);
        }
    }
    nothing_comes_before(&frames[0], &seen, 6);
}

/// The next message is this one, and nothing that was there before comes a second time.
fn nothing_comes_before(maps: &Publisher, seen: &Subscriber, number: u32) {
    assert!(seen.take(Duration::from_millis(300)).expect("it can be taken").is_none());
    maps.publish(&[&image(number, 10)]).expect("it is published");
    assert_eq!(number_of(&next(seen)), number);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_comes_no_second_time_when_others_want_it_otherwise_or_the_rules_change() {
    let base = Robot::new("base", all());
    let mut drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner, viewer) = (drone.node("mapper"), base.node("planner"), base.node("viewer"));
    let maps = publisher(&mapper, "map", &latched());
    (1..=3).for_each(|number| maps.publish(&[&image(number, 10)]).expect("it is published"));
    let seen = subscriber(&planner, "map", &latched());
    assert_eq!([1, 2, 3].map(|_| number_of(&next(&seen))), [1, 2, 3]);
    let late = subscriber(&viewer, "map", &Qos { depth: 10, ..latched() });
    assert_eq!([1, 2, 3].map(|_| number_of(&next(&late))), [1, 2, 3]);
    nothing_comes_before(&maps, &seen, 4);
    drop(late);
    nothing_comes_before(&maps, &seen, 5);
    drone.settings.rules = rules(r#"{ "topics": { "base_rule": "both", "priority": 5 } }"#);
    drone.change();
    nothing_comes_before(&maps, &seen, 6);
    // And what is kept is what it was.
    let late = subscriber(&viewer, "map", &latched());
    assert_eq!([2, 3, 4, 5, 6].map(|_| number_of(&next(&late))), [2, 3, 4, 5, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn however_often_a_topic_is_wanted_otherwise_only_those_stay_to_publish_it_who_keep_something() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner, viewer) = (drone.node("mapper"), base.node("planner"), base.node("viewer"));
    let kept = Qos { depth: 2, ..latched() };
    let maps = publisher(&mapper, "map", &kept);
    maps.publish(&[&image(0, 10)]).expect("it is published");
    let stays = subscriber(&planner, "map", &Qos { reliable: false, ..kept.clone() });
    assert_eq!(number_of(&next(&stays)), 0);
    let publishers = || {
        let state = viewer.domain_state().expect("there is a manager");
        let topic = state.topic("map").expect("it is there").id;
        state.endpoints.values().filter(|end| end.publishes && end.topic == Some(topic)).map(|end| end.id).collect::<Vec<_>>()
    };
    let mut known = HashSet::new();
    let mut is_another_there = || publishers().into_iter().filter(|id| known.insert(*id)).count() > 0;
    assert!(is_another_there());
    for number in 1..=8 {
        // Only what must not be lost goes in order.
        let comes = subscriber(&viewer, "map", &kept);
        until("it is opened anew", &mut is_another_there);
        drop(comes);
        until("it is opened anew", &mut is_another_there);
        if number > 4 {
            maps.publish(&[&image(number, 10)]).expect("it is published");
            assert_eq!(number_of(&next(&stays)), number);
        }
        // Who has published one message, or two, and who has come last.
        until("the others have gone", || publishers().len() <= 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_triangle_every_message_comes_once_everywhere() {
    // Nothing is left out, however slow the machine is.
    let whole = || rules(r#"{ "topics": { "base_rule": "both", "reliable": true } }"#);
    let a = Robot::new("a", whole());
    let b = Robot::dialing("b", whole(), &[&a]);
    let c = Robot::dialing("c", whole(), &[&a, &b]);
    let robots = [&a, &b, &c];
    for robot in robots {
        until("the triangle is there", || robot.gateway.as_ref().is_some_and(|gateway| gateway.connections().len() == 2));
    }
    let nodes = robots.map(|robot| robot.node("peer"));
    let publishers = nodes.each_ref().map(|node| publisher(node, "everywhere", &Qos::keep_last(100)));
    let subscribers = nodes.each_ref().map(|node| subscriber(node, "everywhere", &Qos::keep_last(100)));
    for (said, heard) in publishers.iter().zip(&subscribers) {
        // Its own, and two gateways' ghosts: one for each peer.
        until("all are connected", || said.statistics().subscribers == 3 && heard.statistics().publishers == 3);
    }
    for number in 0..10 {
        for (robot, said) in publishers.iter().enumerate() {
            said.publish(&[&image(100 * robot as u32 + number, 1000)]).expect("it is published");
        }
    }
    for heard in &subscribers {
        let mut numbers: Vec<u32> = (0..30).map(|_| number_of(&next(heard))).collect();
        numbers.sort_unstable();
        let all: Vec<u32> = (0..3).flat_map(|robot| (0..10).map(move |number| 100 * robot + number)).collect();
        assert_eq!(numbers, all);
    }
    // Whatever went round in circles would be here before this.
    for (robot, said) in publishers.iter().enumerate() {
        said.publish(&[&image(1000 + robot as u32, 0)]).expect("it is published");
    }
    for heard in &subscribers {
        let mut last: Vec<u32> = (0..3).map(|_| number_of(&next(heard))).collect();
        last.sort_unstable();
        assert_eq!(last, [1000, 1001, 1002]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_of_different_types_are_refused_on_both_sides_and_harm_nothing_else() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let other = IMAGE.replace("uint32", "uint64");
    let wrong = Publisher::new(&camera, "wrong", &other, &Qos::default(), PublisherOptions::default()).expect("it may publish");
    let images = publisher(&camera, "right", &Qos::default());
    let deaf = subscriber(&viewer, "wrong", &Qos::default());
    let seen = subscriber(&viewer, "right", &Qos::default());
    connected(&images, &[&seen]);
    let why = "topic 'wrong' has robot/Image in the domain that has it (there), and robot/Image in the one that wants it (here): field 'width' is uint64 there, and uint32 here";
    for robot in [&drone, &base] {
        until("it is told", || robot.refusals() == [why]);
    }
    images.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    assert_eq!((wrong.statistics().subscribers, deaf.statistics().publishers), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_that_dial_each_other_keep_one_connection() {
    let mut a = Robot::new("a", all());
    let b = Robot::dialing("b", all(), &[&a]);
    let address = a.address();
    a.stop().await;
    a.settings.listen = address;
    a.settings.peers = vec![b.address().to_string()];
    a.start();
    let count = |robot: &Robot| robot.gateway.as_ref().map_or(0, |gateway| gateway.connections().len());
    until("they are connected", || count(&a) == 1 && count(&b) == 1);
    let (camera, viewer) = (a.node("camera"), b.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    connected(&images, &[&seen]);
    for number in 0..50 {
        images.publish(&[&image(number, 10)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
        assert_eq!((count(&a), count(&b)), (1, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_in_one_domain_do_not_connect() {
    let base = Robot::new("base", all());
    let mut second = Robot::new("second", all());
    second.gateway = None;
    second.settings.domain = base.settings.domain.clone();
    second.settings.peers = vec![base.address().to_string()];
    second.start();
    let third = Robot::dialing("third", all(), &[&base]);
    until("another one is connected", || third.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty()));
    assert_eq!(second.gateway.as_ref().map(|gateway| gateway.connections().len()), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_started_anew_is_found_again() {
    let mut base = Robot::new("base", all());
    base.settings.listen = base.address();
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    for number in 0..3 {
        connected(&images, &[&seen]);
        images.publish(&[&image(number, 10)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
        base.stop().await;
        until("nobody publishes for the viewer any more", || seen.statistics().publishers == 0);
        base.start();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_does_not_come_twice_when_the_connection_was_lost() {
    let (base, relay, drone) = through_a_relay().await;
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let maps = publisher(&mapper, "map", &latched());
    let seen = subscriber(&planner, "map", &latched());
    for number in 0..3 {
        maps.publish(&[&image(number, 1000)]).expect("it is published");
    }
    assert_eq!((0..3).map(|_| number_of(&next(&seen))).collect::<Vec<_>>(), [0, 1, 2]);
    let count = |robot: &Robot| robot.gateway.as_ref().map_or(0, |gateway| gateway.connections().len());
    relay.cut(true);
    until("both have lost the other one", || count(&base) == 0 && count(&drone) == 0);
    maps.publish(&[&image(3, 1000)]).expect("it is published");
    relay.cut(false);
    assert_eq!(number_of(&next(&seen)), 3);
    // And who comes now still gets what was kept.
    let late = subscriber(&planner, "map", &latched());
    assert_eq!((0..4).map(|_| number_of(&next(&late))).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_goes_while_the_connection_is_lost_is_not_there_when_it_comes_again() {
    let (base, relay, drone) = through_a_relay().await;
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let maps = publisher(&mapper, "map", &latched());
    let seen = subscriber(&planner, "map", &latched());
    maps.publish(&[&image(1, 1000)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    let count = |robot: &Robot| robot.gateway.as_ref().map_or(0, |gateway| gateway.connections().len());
    relay.cut(true);
    until("both have lost the other one", || count(&base) == 0 && count(&drone) == 0);
    drop(maps);
    relay.cut(false);
    until("nobody publishes for the planner any more", || seen.statistics().publishers == 0);
    assert_eq!(count(&base), 1);
    let late = subscriber(&planner, "map", &latched());
    assert!(late.take(Duration::from_millis(100)).expect("it can be taken").is_none(), "it is of nobody");
    // And who comes later is heard as before.
    let maps = publisher(&mapper, "map", &latched());
    maps.publish(&[&image(2, 1000)]).expect("it is published");
    assert_eq!([number_of(&next(&seen)), number_of(&next(&late))], [2, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_packed_on_their_way_where_the_rules_say_so_and_arrive_as_they_were() {
    let base = Robot::new("base", all());
    for packing in ["zstd", "lz4"] {
        let rule = format!(r#"{{ "topics": {{ "base_rule": "both", "compression": "{packing}" }} }}"#);
        let drone = Robot::dialing(packing, rules(&rule), &[&base]);
        let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
        let maps = publisher(&mapper, packing, &Qos::default());
        let seen = subscriber(&planner, packing, &Qos::default());
        connected(&maps, &[&seen]);
        let sent = || drone.gateway.as_ref().and_then(|gateway| gateway.status().pop()).map_or(0, |peer| peer.sent_bytes);
        let before = sent();
        for number in 0..3 {
            // Its bytes repeat after 256.
            maps.publish(&[&image(number, 1_000_000)]).expect("it is published");
            assert_eq!(number_of(&next(&seen)), number);
        }
        assert!(sent() - before < 500_000, "{} bytes", sent() - before);
        // What would not become smaller goes as it is.
        maps.publish(&[&image(7, 3)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), 7);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_larger_than_the_peer_takes_is_counted_and_the_next_one_arrives() {
    let mut base = Robot::new("base", all());
    base.stop().await;
    base.settings.max_message = 10_000;
    base.start();
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    connected(&images, &[&seen]);
    images.publish(&[&image(1, 10_000)]).expect("it is published");
    images.publish(&[&image(2, 5_000)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 2);
    let lost = |robot: &Robot| {
        let status = robot.gateway.as_ref().map(Gateway::status).unwrap_or_default();
        status.iter().flat_map(|peer| &peer.channels).map(|channel| channel.lost).sum::<u64>()
    };
    // Here what was lost before it is counted a moment after it has arrived.
    until("each has counted it", || (lost(&drone), lost(&base)) == (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_leaves_takes_its_publishers_with_it_at_once() {
    let base = Robot::new("base", all());
    let mut drone = Robot::dialing("drone", all(), &[&base]);
    let images = publisher(&drone.node("camera"), "camera/image", &Qos::default());
    let seen = subscriber(&base.node("viewer"), "camera/image", &Qos::default());
    connected(&images, &[&seen]);
    drone.stop().await;
    // Sooner than what is lost is given up.
    until("the viewer has nobody", || seen.statistics().publishers == 0);
}
