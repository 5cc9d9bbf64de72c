//! Topics through a Zenoh network.
#![cfg(feature = "zenoh")]

mod common;

use std::time::{Duration, Instant};

use common::numbers::{Listener, MANY, among_others, say, say_in_parts, talker};
use common::texts;
use common::zenoh::{Robot, Router, a_while};
use common::{IMAGE, PATIENCE, all, connected, grades, image, next, number_of, publisher, rules, subscriber, until};
use sinew::Qos;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::query::QueryTarget;
use zenoh::sample::Sample;

fn latched() -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(5) }
}

fn text(topic: &str, rule: &str) -> sinew_gateway::rules::Rules {
    rules(&format!(
        r#"{{ "topics": {{ "base_rule": "none", "exceptions": [{{ "name": "{topic}", "rule": "{rule}" }}] }}, "services": {{ "base_rule": "none" }} }}"#
    ))
}

/// Everything goes both ways, and nothing is left out, however slow the machine is.
fn whole() -> sinew_gateway::rules::Rules {
    rules(r#"{ "topics": { "base_rule": "both", "reliable": true } }"#)
}

/// Publishes until it arrives: nobody tells when a whole network knows of a subscriber.
fn arrives(images: &Publisher, seen: &Subscriber, number: u32, size: usize) {
    until("it arrives", || {
        images.publish(&[&image(number, size)]).expect("it is published");
        seen.take(Duration::from_millis(20)).expect("it can be taken").is_some_and(|frame| number_of(&frame) == number)
    });
}

/// The number of the next message below 1000: others were published until one of them had arrived.
fn next_below_1000(seen: &Subscriber) -> u32 {
    std::iter::repeat_with(|| number_of(&next(seen))).find(|number| *number < 1000).expect("there is no end")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_another_domain_through_a_router_byte_for_byte() {
    let router = Router::new();
    let (drone, base) = (Robot::new(whole(), &router), Robot::new(whole(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::keep_last(50));
    let seen = subscriber(&viewer, "camera/image", &Qos::keep_last(50));
    arrives(&images, &seen, 1000, 10);
    for number in 0..20 {
        images.publish(&[&image(number, 100_000 * number as usize)]).expect("it is published");
        assert_eq!(next_below_1000(&seen), number);
    }
    let told = |robot: &Robot| robot.channel("camera/image").expect("it is open");
    // They are counted a moment after they have gone, and a moment after they were handed on.
    until("all are counted", || {
        let (sent, received) = (told(&drone), told(&base));
        sent.messages > 20 && (sent.messages, sent.bytes) == (received.messages, received.bytes)
    });
    let (sent, received) = (told(&drone), told(&base));
    assert_eq!((sent.state.as_str(), sent.outgoing, sent.kind.as_str(), sent.lost), ("open", true, "topic", 0));
    assert_eq!((received.state.as_str(), received.outgoing, received.lost, received.messages), ("open", false, 0, sent.messages));
    assert_eq!((sent.bytes, received.bytes > 19_000_000), (received.bytes, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_that_are_peers_of_each_other_need_no_router() {
    let endpoint = Router::later().endpoint;
    let base = Robot::with(all(), "tcp/127.0.0.1:1", &format!("mode: 'peer', listen: {{ endpoints: ['{endpoint}'] }}"));
    let drone = Robot::with(all(), &endpoint, "mode: 'peer', listen: { endpoints: [] }");
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    arrives(&images, &seen, 1, 100_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_of_either_side_do_not_let_stays() {
    let router = Router::new();
    for (here, there) in [(text("right", "out"), all()), (all(), text("right", "in"))] {
        let (drone, base) = (Robot::new(here, &router), Robot::new(there, &router));
        let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
        let right = publisher(&camera, "right", &Qos::default());
        let wrong = publisher(&camera, "wrong", &Qos::default());
        let seen = subscriber(&viewer, "right", &Qos::default());
        let unseen = subscriber(&viewer, "wrong", &Qos::default());
        arrives(&right, &seen, 1, 10);
        wrong.publish(&[&image(2, 10)]).expect("it is published");
        assert!(unseen.take(Duration::from_millis(500)).expect("it can be taken").is_none());
        assert_eq!((wrong.statistics().subscribers, unseen.statistics().publishers), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_change_hold_at_once() {
    let router = Router::new();
    let (mut drone, base) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    arrives(&images, &seen, 1, 10);
    drone.settings.rules = text("image", "in");
    drone.bridge.as_ref().expect("it runs").change(&drone.settings);
    until("nobody reads it any more", || images.statistics().subscribers == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_domain_is_read_only_while_somebody_there_subscribes() {
    let router = Router::new();
    let drone = Robot::new(all(), &router).connected();
    let camera = drone.node("camera");
    let images = publisher(&camera, "image", &Qos::default());
    let other = router.client();
    a_while();
    assert_eq!((images.statistics().subscribers, drone.channels().len()), (0, 0));
    for _ in 0..2 {
        let subscribed = other.declare_subscriber("sinew/image").wait().expect("it may");
        until("it is read", || images.statistics().subscribers == 1);
        drop(subscribed);
        until("nobody reads it any more", || images.statistics().subscribers == 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_zenoh_alone_reads_a_topic_and_publishes_one() {
    let router = Router::new();
    let drone = Robot::new(whole(), &router).connected();
    let robot = drone.node("robot");
    let other = router.client();
    let images = publisher(&robot, "image", &Qos::default());
    let heard = other.declare_subscriber("sinew/**").wait().expect("it may");
    connected(&images, &[]);
    images.publish(&[&image(7, 100_000)]).expect("it is published");
    // How the gateway stands is there, too.
    let sample = tokio::task::block_in_place(|| {
        loop {
            let sample: Sample = heard.recv_timeout(PATIENCE).expect("it goes on").expect("it comes in time");
            if sample.key_expr().as_str() == "sinew/image" {
                break sample;
            }
        }
    });
    assert_eq!((sample.payload().to_bytes().as_ref(), sample.encoding()), (image(7, 100_000).as_slice(), &Encoding::APPLICATION_CDR));
    // A reliable subscriber gets it, too: of what a stranger sends nothing is known.
    let seen = subscriber(&robot, "command", &latched());
    until("it arrives", || {
        other.put("sinew/command", image(8, 1000)).wait().expect("it is put");
        seen.take(Duration::from_millis(20)).expect("it can be taken").is_some_and(|frame| number_of(&frame) == 8)
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn another_type_is_refused_and_named_and_harms_nobody() {
    let router = Router::new();
    let (drone, base) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let other = "robot/Depth{width:uint64;data:uint8[];}";
    let wrong = Publisher::new(&camera, "wrong", other, &Qos::default(), PublisherOptions::default()).expect("it may publish");
    let images = publisher(&camera, "right", &Qos::default());
    let deaf = subscriber(&viewer, "wrong", &Qos::default());
    let seen = subscriber(&viewer, "right", &Qos::default());
    arrives(&images, &seen, 1, 10);
    until("it is refused", || {
        wrong.publish(&[&[0, 1, 0, 0], &[0; 12]]).expect("it is published");
        base.channel("wrong").is_some_and(|channel| channel.state == "refused")
    });
    let refused = base.channel("wrong").expect("it is wanted");
    assert!(
        refused.why.contains("topic 'wrong' has robot/Depth (hash ") && refused.why.contains("and robot/Image (hash "),
        "{}",
        refused.why
    );
    assert!(refused.lost > 0 && refused.messages == 0, "{refused:?}");
    assert_eq!(deaf.statistics().publishers, 0);
    arrives(&images, &seen, 2, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_what_was_kept_once() {
    let router = Router::new();
    let (drone, base, third) = (Robot::new(whole(), &router), Robot::new(whole(), &router), Robot::new(whole(), &router));
    let (drone, base, third) = (drone.connected(), base.connected(), third.connected());
    let (mapper, planner, other) = (drone.node("mapper"), base.node("planner"), third.node("planner"));
    let maps = publisher(&mapper, "map", &latched());
    for number in 0..7 {
        maps.publish(&[&image(number, 300_000)]).expect("it is published");
    }
    a_while();
    // The first one, for whom the domain begins to be read, and one who comes when it is read already.
    for node in [&planner, &other] {
        let seen = subscriber(node, "map", &latched());
        assert_eq!((0..5).map(|_| number_of(&next(&seen))).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert!(seen.take(Duration::from_millis(700)).expect("it can be taken").is_none(), "something came twice");
        // From the gateway, whose history is the same.
        let late = subscriber(node, "map", &latched());
        assert_eq!((0..5).map(|_| number_of(&next(&late))).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        std::mem::forget(seen);
    }
    maps.publish(&[&image(7, 10)]).expect("it is published");
    assert_eq!(base.channel("map").map(|map| map.lost), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_nothing_that_was_kept_gets_nothing_of_it() {
    let router = Router::new();
    let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let maps = publisher(&mapper, "map", &latched());
    maps.publish(&[&image(1, 10)]).expect("it is published");
    a_while();
    let seen = subscriber(&planner, "map", &Qos::keep_last(10));
    connected(&maps, &[]);
    a_while();
    maps.publish(&[&image(2, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_storage_has_kept_comes_once_though_a_gateway_has_it_too() {
    let router = Router::new();
    let (drone, base) = (Robot::new(all(), &router).connected(), Robot::new(all(), &router).connected());
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let storage = router.client();
    // As storages do, it answers with what it has, and says nothing beside it.
    let storing = storage.declare_queryable("sinew/**").complete(true).callback(|query| {
        if query.payload().is_none() {
            for (key, number) in [("sinew/map", 6), ("sinew/old", 3)] {
                if query.key_expr().as_str() == key {
                    query.reply(key, image(number, 10)).encoding(Encoding::APPLICATION_CDR).wait().expect("it is sent");
                }
            }
        }
    });
    let _storing = storing.wait().expect("it may");
    a_while();
    let old = subscriber(&planner, "old", &latched());
    assert_eq!(number_of(&next(&old)), 3);
    let maps = publisher(&mapper, "map", &latched());
    for number in [5, 6] {
        maps.publish(&[&image(number, 10)]).expect("it is published");
    }
    a_while();
    let seen = subscriber(&planner, "map", &latched());
    assert_eq!([number_of(&next(&seen)), number_of(&next(&seen))], [5, 6]);
    assert!(seen.take(Duration::from_millis(700)).expect("it can be taken").is_none(), "something came twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_router_that_is_gone_and_comes_again_is_found_again() {
    let mut router = Router::later();
    // Robots may start before it.
    let (drone, base) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    a_while();
    assert!(!drone.is_connected());
    router.start();
    arrives(&images, &seen, 1, 10);
    router.stop();
    until("both know", || !drone.is_connected() && !base.is_connected());
    until("the domain is not read any more", || images.statistics().subscribers == 0);
    router.start();
    arrives(&images, &seen, 2, 10);
    assert!(drone.is_connected() && base.is_connected());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_ends_leaves_nothing_and_comes_again() {
    let router = Router::new();
    let (mut drone, base) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    arrives(&images, &seen, 1, 10);
    drone.stop().await;
    until("nobody reads the domain any more", || images.statistics().subscribers == 0);
    drone.start();
    arrives(&images, &seen, 2, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_beside_messages_and_in_them_harms_nobody() {
    let router = Router::new();
    let (drone, base) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    let _raw = subscriber(&viewer, "raw", &Qos::default());
    arrives(&images, &seen, 1, 10);
    let other = router.client();
    let right = image(9, 10);
    let mut attachments: Vec<Vec<u8>> = (0..80).map(|size| [b"SINEW\x01\x00".as_slice(), &vec![0xff; size]].concat()).collect();
    attachments.extend([b"SINEW".to_vec(), b"SINEW\x02".to_vec(), b"SINEW\x01\x07".to_vec(), vec![0; 100_000]]);
    let mut payloads: Vec<Vec<u8>> = (0..right.len()).map(|end| right[..end].to_vec()).collect();
    payloads.extend([vec![0xff; 1000], vec![0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], vec![0; 9 << 20]]);
    until("something is refused", || {
        for attachment in &attachments {
            other.put("sinew/image", right.clone()).attachment(attachment.clone()).wait().expect("it is put");
        }
        for payload in &payloads {
            other.put("sinew/image", payload.clone()).wait().expect("it is put");
            other.put("sinew/raw", payload.clone()).wait().expect("it is put");
            other.put("sinew/raw", payload.clone()).attachment(attachments[83].clone()).wait().expect("it is put");
        }
        other.delete("sinew/image").wait().expect("it is deleted");
        base.channel("raw").is_some_and(|raw| raw.state == "refused" && raw.lost > 0)
            && base.channel("image").is_some_and(|image| image.lost > 0)
    });
    arrives(&images, &seen, 2, 100_000);
    assert_eq!(base.channel("raw").map(|raw| raw.messages), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_robots_that_all_publish_and_subscribe_each_hears_every_message_once() {
    let router = Router::new();
    let robots = [(); 3].map(|()| Robot::new(whole(), &router));
    let nodes = robots.each_ref().map(|robot| robot.node("robot"));
    let publishers = nodes.each_ref().map(|node| publisher(node, "everywhere", &Qos::keep_last(100)));
    let subscribers = nodes.each_ref().map(|node| subscriber(node, "everywhere", &Qos::keep_last(100)));
    for (at, said) in (0..).zip(&publishers) {
        for heard in &subscribers {
            arrives(said, heard, 1000 + at, 10);
        }
    }
    for number in 0..10 {
        for (at, said) in (0..).zip(&publishers) {
            said.publish(&[&image(100 * at + number, 1000)]).expect("it is published");
        }
    }
    for heard in &subscribers {
        let mut numbers: Vec<u32> = (0..30).map(|_| next_below_1000(heard)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..3).flat_map(|at| (0..10).map(move |number| 100 * at + number)).collect::<Vec<u32>>());
        assert!(heard.take(Duration::from_millis(200)).expect("it can be taken").is_none(), "something came twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_comes_again_with_another_quality_of_service_is_heard_by_those_whom_it_fits() {
    let router = Router::new();
    let (drone, base) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let easy = subscriber(&viewer, "image", &Qos::default());
    let strict = subscriber(&viewer, "image", &Qos { reliable: true, ..Qos::default() });
    arrives(&images, &easy, 1, 10);
    assert_eq!(strict.statistics().publishers, 0);
    drop(images);
    // Longer than what is offered stays as it is.
    std::thread::sleep(Duration::from_millis(1100));
    let images = publisher(&camera, "image", &Qos { reliable: true, ..Qos::default() });
    arrives(&images, &strict, 2, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reliable_topic_loses_nothing_and_one_with_a_rate_leaves_out() {
    let router = Router::new();
    let limits = rules(
        r#"{ "topics": { "base_rule": "both", "exceptions": [
            { "name": "all", "rule": "out", "reliable": true, "priority": 10 }, { "name": "some", "rule": "out", "max_rate": 5 } ] } }"#,
    );
    let (drone, base) = (Robot::new(limits, &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let every = Publisher::new(&camera, "all", IMAGE, &Qos::keep_last(512), PublisherOptions::default()).expect("it may publish");
    let some = publisher(&camera, "some", &Qos::default());
    let got = Subscriber::new(&viewer, "all", IMAGE, &Qos::keep_last(512), SubscriberOptions::default()).expect("it may subscribe");
    let few = subscriber(&viewer, "some", &Qos::keep_last(512));
    arrives(&every, &got, 1000, 10);
    arrives(&some, &few, 1000, 10);
    let begin = Instant::now();
    for number in 0..400 {
        every.publish(&[&image(number, 20_000)]).expect("it is published");
        some.publish(&[&image(number, 10)]).expect("it is published");
        std::thread::sleep(Duration::from_millis(2));
    }
    let seconds = begin.elapsed().as_secs_f64();
    for number in 0..400 {
        assert_eq!(next_below_1000(&got), number);
    }
    let rest = std::iter::from_fn(|| few.take(Duration::from_millis(400)).expect("it can be taken"));
    let count = rest.filter(|frame| number_of(frame) < 1000).count();
    // A busy machine takes longer for all of them.
    let most = (5.0 * seconds).ceil() as usize + 10;
    assert!((2..most.min(200)).contains(&count), "{count} messages at 5 a second, in {seconds} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_offers_less_takes_nothing_from_others() {
    let router = Router::new();
    let robots = [(); 3].map(|()| Robot::new(whole(), &router).connected());
    let nodes = [("viewer", &robots[0]), ("driver", &robots[1]), ("rogue", &robots[2])].map(|(name, robot)| robot.node(name));
    grades::who_offers_less_takes_nothing_from_others(nodes.each_ref(), || robots[0].state("battery", false));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_ask_at_once_get_what_was_kept() {
    let router = Router::new();
    let drone = Robot::new(whole(), &router).connected();
    let mapper = drone.node("mapper");
    let maps = publisher(&mapper, "map", &latched());
    maps.publish(&[&image(1, 10)]).expect("it is published");
    let asker = router.client();
    let asked = || asker.get("sinew/map").target(QueryTarget::All).wait().expect("it may");
    until("the network knows of it", || asked().recv().is_ok());
    let all: Vec<_> = (0..24).map(|_| asked()).collect();
    let answered = all.iter().filter(|replies| replies.recv().is_ok_and(|reply| reply.result().is_ok()));
    assert_eq!(answered.count(), 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_topic_misses_nothing_when_others_publish_it_too_and_go() {
    let router = Router::new();
    for (offered, more) in [(texts::reliable(100), texts::reliable(200)), (texts::latched(100), texts::latched(100))] {
        let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
        let (first, second, viewer) = (drone.node("first"), drone.node("second"), base.node("viewer"));
        let said = talker(&first, &offered);
        let heard = Listener::new(&viewer, &Qos { depth: 512, ..offered.clone() });
        heard.begins(|_| {
            say(&said, 0..1);
            // Not so many of them that a busy machine would lose some before the first one arrives.
            std::thread::sleep(Duration::from_millis(20));
        });
        among_others(&second, &more, || say_in_parts(&said, 1..1500, |last| heard.hears(last)));
        heard.has_heard(1..1500);
        assert_eq!([&drone, &base].map(|robot| robot.channel("chatter").map(|told| told.lost)), [Some(0); 2]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_a_topic_misses_nothing_when_others_here_hear_it_too_and_go() {
    let router = Router::new();
    let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
    let (talks, first, second) = (drone.node("talks"), base.node("first"), base.node("second"));
    let said = talker(&talks, &texts::latched(MANY));
    let heard = Listener::new(&first, &texts::latched(MANY));
    say(&said, 0..1);
    heard.hears(0);
    let say = |numbers| say_in_parts(&said, numbers, |last| heard.hears(last));
    say(1..300);
    let other = Listener::new(&second, &texts::latched(2 * MANY));
    say(300..600);
    other.hears(599);
    drop(other);
    say(600..900);
    heard.has_heard(0..900);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_of_zenoh_alone_says_reaches_those_too_who_come_later_and_ask_for_more() {
    let router = Router::new();
    let drone = Robot::new(whole(), &router).connected();
    let (robot, other) = (drone.node("robot"), router.client());
    let heard_by = |subscriber: &Subscriber, number: u32| {
        until("it arrives", || {
            other.put("sinew/command", image(number, 10)).wait().expect("it is put");
            subscriber.take(Duration::from_millis(20)).expect("it can be taken").is_some_and(|frame| number_of(&frame) == number)
        });
    };
    let easy = subscriber(&robot, "command", &Qos::default());
    heard_by(&easy, 1);
    let strict = subscriber(&robot, "command", &Qos { reliable: true, ..Qos::default() });
    heard_by(&strict, 2);
    heard_by(&easy, 2);
    let within = Qos { reliable: true, deadline: Some(Duration::from_secs(1)), ..Qos::default() };
    heard_by(&subscriber(&robot, "command", &within), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_topic_has_lost_is_told_when_nobody_there_wants_it_any_more() {
    let router = Router::new();
    let drone = Robot::new(all(), &router).connected();
    let camera = drone.node("camera");
    let images = publisher(&camera, "image", &Qos::default());
    let other = router.client();
    let subscribed = other.declare_subscriber("sinew/image").wait().expect("it may");
    until("it is read", || images.statistics().subscribers == 1);
    images.publish(&[&image(1, 9 << 20)]).expect("it is published");
    until("it is lost", || drone.channel("image").is_some_and(|told| told.lost == 1));
    drop(subscribed);
    until("nobody reads it any more", || images.statistics().subscribers == 0);
    let told = || drone.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
    until("it is told all the same", || {
        told().iter().any(|told| (told.name.as_str(), told.state.as_str(), told.lost) == ("image", "closed", 1))
    });
}
