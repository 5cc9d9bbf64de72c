//! Links that lose packets, or carry less than is published.

mod common;

use std::time::{Duration, Instant};

use common::relay::through_a_relay;
use common::{Robot, all, connected, image, next, number_of, publisher, rules, subscriber, until};
use sinew::Qos;

#[tokio::test(flavor = "multi_thread")]
async fn of_small_messages_hardly_one_is_late_where_one_packet_in_ten_is_lost() {
    let (base, relay, drone) = through_a_relay().await;
    let (pilot, motor) = (drone.node("pilot"), base.node("motor"));
    // Deep enough for what piles up where a busy machine lets one of them wait.
    let commands = publisher(&pilot, "command", &Qos::keep_last(100));
    let heard = subscriber(&motor, "command", &Qos::keep_last(100));
    connected(&commands, &[&heard]);
    // What is lost is sent again when the next ones have long arrived.
    relay.delay(20);
    relay.lose(10);
    let (mut sent, mut last) = (0, 0);
    let mut arrived = || {
        let (mut arrived, begin) = (0, Instant::now());
        for _ in 0..600 {
            sent += 1;
            commands.publish(&[&image(sent, 100)]).expect("it is published");
            // As a control loop does: a machine that is busy delays it, and it goes on.
            std::thread::sleep(Duration::from_millis(10));
            while let Some(frame) = heard.take(Duration::ZERO).expect("it can be taken") {
                let number = number_of(&frame);
                assert!(number > last, "{number} behind {last}");
                (last, arrived) = (number, arrived + 1);
            }
        }
        eprintln!("{arrived} of 600 have arrived in {:?}", begin.elapsed());
        arrived
    };
    // Of what goes once, nine in ten are in time. What a busy machine itself has held up is late, too, so there are several tries.
    assert!((0..4).any(|_| arrived() > 570));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_bursts_of_small_messages_hardly_one_is_lost_where_one_packet_in_ten_is() {
    const BURST: u32 = 6;
    let (base, relay, drone) = through_a_relay().await;
    let (sensors, logger) = (drone.node("sensors"), base.node("logger"));
    let readings = publisher(&sensors, "reading", &Qos::keep_last(100));
    let heard = subscriber(&logger, "reading", &Qos::keep_last(100));
    connected(&readings, &[&heard]);
    relay.delay(20);
    relay.lose(10);
    let mut sent = 0;
    let mut arrived = || {
        let mut arrived = 0;
        for _ in 0..400 {
            for _ in 0..BURST {
                sent += 1;
                readings.publish(&[&image(sent, 100)]).expect("it is published");
            }
            std::thread::sleep(Duration::from_millis(10));
            while let Some(frame) = heard.take(Duration::ZERO).expect("it can be taken") {
                number_of(&frame);
                arrived += 1;
            }
        }
        eprintln!("{arrived} of {} have arrived", 400 * BURST);
        arrived
    };
    // Where the last of a burst alone goes twice, one in twelve is lost. What a busy machine itself has held up is late, too, so there are several tries.
    assert!((0..8).any(|_| arrived() > 400 * BURST * 95 / 100));
}

#[tokio::test(flavor = "multi_thread")]
async fn large_messages_arrive_whole_and_in_their_order_where_one_packet_in_ten_is_lost() {
    let (base, relay, drone) = through_a_relay().await;
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    connected(&images, &[&seen]);
    relay.lose(10);
    for number in 0..20 {
        images.publish(&[&image(number, 1_000_000)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
    }
}

// Of one thread, so that all that has come is there before anything of it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_comes_twice_before_it_is_read_is_read_once() {
    let (base, relay, drone) = through_a_relay().await;
    let (pilot, motor) = (drone.node("pilot"), base.node("motor"));
    let commands = publisher(&pilot, "command", &Qos::keep_last(100));
    let heard = subscriber(&motor, "command", &Qos::keep_last(100));
    connected(&commands, &[&heard]);
    let connections = || [&base, &drone].map(|robot| robot.gateway.as_ref().expect("it runs").connections()[0].number);
    let before = connections();
    for round in 1..=20 {
        relay.hold();
        for number in 20 * round..20 * round + 19 {
            commands.publish(&[&image(number, 100)]).expect("it is published");
            std::thread::sleep(Duration::from_millis(1));
        }
        // What is held was sent again meanwhile, as if it were lost, and held again.
        std::thread::sleep(Duration::from_millis(100));
        relay.release();
        commands.publish(&[&image(20 * round + 19, 100)]).expect("it is published");
        while number_of(&next(&heard)) != 20 * round + 19 {}
    }
    assert_eq!(connections(), before);
}

/// A drone that may send so much, by a rule and as its budget, to a base.
async fn may_send(bandwidth: &str, bits: u64) -> [(Robot, Robot); 2] {
    let pair = |rules| {
        let base = Robot::new("base", all());
        let drone = Robot::dialing("drone", rules, &[&base]);
        (base, drone)
    };
    let by_rule = pair(rules(&format!(r#"{{ "topics": {{ "base_rule": "both", "max_bandwidth": "{bandwidth}" }} }}"#)));
    let mut by_budget = pair(all());
    by_budget.1.stop().await;
    by_budget.1.settings.budget = Some(bits);
    by_budget.1.start();
    [by_rule, by_budget]
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_rules_or_a_budget_hold_up_the_newest_goes_first() {
    for (base, drone) in may_send("1 Mbit/s", 1_000_000).await {
        let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
        let images = publisher(&camera, "camera/image", &Qos::keep_last(50));
        let seen = subscriber(&viewer, "camera/image", &Qos::keep_last(50));
        connected(&images, &[&seen]);
        let mut behind = Vec::new();
        for number in 0..300 {
            images.publish(&[&image(number, 20_000)]).expect("it is published");
            std::thread::sleep(Duration::from_millis(20));
            while let Some(frame) = seen.take(Duration::ZERO).expect("it can be taken") {
                behind.push(number - number_of(&frame));
            }
        }
        // Eight are published while one is on its way, and 50 wait, which the oldest of them would be behind. On a busy machine some are held up elsewhere.
        let in_time = behind.iter().filter(|behind| **behind < 20).count();
        assert!(behind.len() > 10 && in_time * 4 >= behind.len() * 3, "{behind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rules_or_a_budget_hold_up_half_sent_is_not_given_up_for_that() {
    // More than a quarter of a second between two pieces, of 16 KiB and of a packet.
    let [slow, _] = may_send("200 kbit/s", 200_000).await;
    let [_, slowest] = may_send("20 kbit/s", 20_000).await;
    for ((base, drone), size) in [(slow, 40_000), (slowest, 8_000)] {
        let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
        let images = publisher(&camera, "camera/image", &Qos::keep_last(5));
        let seen = subscriber(&viewer, "camera/image", &Qos::keep_last(5));
        connected(&images, &[&seen]);
        images.publish(&[&image(1, size)]).expect("it is published");
        images.publish(&[&image(2, size)]).expect("it is published");
        assert_eq!([number_of(&next(&seen)), number_of(&next(&seen))], [1, 2]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_message_arrives_also_where_its_receiver_gets_another_address_meanwhile() {
    let (base, relay, drone) = through_a_relay().await;
    let (mapper, pilot) = (base.node("mapper"), drone.node("pilot"));
    let maps = publisher(&mapper, "map", &Qos::default());
    let seen = subscriber(&pilot, "map", &Qos::default());
    connected(&maps, &[&seen]);
    let sent = || base.gateway.as_ref().expect("it runs").status().iter().map(|peer| peer.sent_bytes).sum::<u64>();
    relay.leave();
    let before = sent();
    maps.publish(&[&image(1, 1_000_000)]).expect("it is published");
    // As much as goes before something is acknowledged, and nothing will be: what comes from the other address does so when there is nothing to say.
    until("some of it is on its way", || sent() > before + 50_000);
    relay.arrive();
    assert_eq!(number_of(&next(&seen)), 1);
}
