//! What a publisher here has published goes on its way to a Zenoh network also when the publisher has gone.
#![cfg(feature = "zenoh")]

mod common;

use std::time::Duration;

use common::zenoh::{Robot, Router, a_while};
use common::{all, image, next, number_of, publisher, rules, subscriber, until};
use sinew::Qos;

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_when_its_publisher_goes_arrives_or_is_counted() {
    let router = Router::new();
    let slowly = rules(r#"{ "topics": { "base_rule": "out", "reliable": true, "max_rate": 20 } }"#);
    let (drone, base) = (Robot::new(slowly, &router), Robot::new(all(), &router));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let seen = subscriber(&viewer, "image", &Qos::reliable());
    let images = publisher(&camera, "image", &Qos::reliable());
    let mut first = 0;
    until("the first arrives", || {
        images.publish(&[&image(first, 10)]).expect("it is published");
        first += 1;
        seen.take(Duration::from_millis(20)).expect("it can be taken").is_some()
    });
    let channels = || drone.bridge.as_ref().map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
    let told = || channels().iter().find(|told| told.name == "image").map(|told| (told.messages, told.lost)).unwrap_or_default();
    until("all that came before are sent", || {
        let before = told();
        a_while();
        told() == before
    });
    while seen.take(Duration::from_millis(20)).expect("it can be taken").is_some() {}
    let (before, last) = (told(), first + 200);
    (first..last).for_each(|number| images.publish(&[&image(number, 10)]).expect("it is published"));
    drop(images);
    until("all are sent, or lost", || told().0 + told().1 == before.0 + before.1 + 200);
    let came = (told().0 - before.0) as u32;
    assert!(came > 20, "{came}");
    assert_eq!((0..came).map(|_| number_of(&next(&seen))).collect::<Vec<_>>(), (first..first + came).collect::<Vec<_>>());
}
