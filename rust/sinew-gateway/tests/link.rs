//! Links that lose packets.

mod common;

use std::time::{Duration, Instant};

use common::relay::through_a_relay;
use common::{connected, image, next, number_of, publisher, subscriber};
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
