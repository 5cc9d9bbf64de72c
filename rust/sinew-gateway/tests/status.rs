//! What a gateway tells its domain of itself.

mod common;

use std::time::{Duration, Instant};

use common::relay::through_a_relay;
use common::services::{asked, client, number, provider};
use common::{PATIENCE, Robot, all, connected, image, next, publisher, subscriber, until};
use sinew::raw::SubscriberOptions;
use sinew::{GatewayChannel, GatewayPeer, GatewayStatus, Ghost, Node, Qos, Subscriber};

/// Who only looks.
fn looking(node: &Node) -> Subscriber<GatewayStatus> {
    let options = SubscriberOptions { ghost: Ghost::Observer, ..SubscriberOptions::default() };
    Subscriber::with_options(node, GatewayStatus::TOPIC, &GatewayStatus::qos(), options).expect("it is told")
}

/// The first status that is as it should be.
fn told(looking: &Subscriber<GatewayStatus>, is_so: impl Fn(&GatewayStatus) -> bool) -> GatewayStatus {
    let begin = Instant::now();
    let mut last = None;
    while begin.elapsed() < PATIENCE {
        if let Some(message) = looking.take(Duration::from_secs(2)).expect("the domain goes on") {
            let status = message.read().expect("it is one");
            if is_so(&status) {
                return status;
            }
            last = Some(status);
        }
    }
    panic!("the last was {last:#?}");
}

fn channel<'a>(status: &'a GatewayStatus, name: &str) -> Option<&'a GatewayChannel> {
    status.peers.first()?.channels.iter().find(|channel| channel.name == name)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_is_told_who_the_gateway_is_and_where_it_listens() {
    let base = Robot::new("base", all());
    let looker = base.node("looker");
    let message = looking(&looker).take(PATIENCE).expect("the domain goes on").expect("it is there");
    let status = message.read().expect("it is one");
    assert_eq!((status.name.as_str(), status.address, status.peers), ("base", base.address().to_string(), vec![]));
    assert!(status.node.starts_with("gateway_"), "{}", status.node);
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_told_with_what_goes_over_them_and_why_not() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    let _other =
        sinew::raw::Publisher::new(&camera, "odd", "robot/Other{a:uint8;}", &Qos::default(), Default::default()).expect("it may publish");
    let _odd = subscriber(&viewer, "odd", &Qos::default());
    let _nobody = subscriber(&camera, "nobody", &Qos::default());
    connected(&images, &[&seen]);
    let (looks_there, looks_here) = (looking(&camera), looking(&viewer));
    for number in 0..20 {
        images.publish(&[&image(number, 100_000)]).expect("it is published");
        next(&seen);
    }
    let has_20 = |status: &GatewayStatus| channel(status, "image").is_some_and(|image| image.messages == 20);
    let (there, here) = (told(&looks_there, has_20), told(&looks_here, has_20));
    for (status, peer, sends) in [(&there, "base", true), (&here, "drone", false)] {
        let link = &status.peers[0];
        assert_eq!((link.name.as_str(), link.tag.as_str(), link.connected, status.peers.len()), (peer, peer, true, 1));
        assert!(link.round_trip_ns > 0 && link.sent_packets > 0 && link.received_bytes > 0, "{link:?}");
        assert_eq!(
            if sends { link.sent_bytes } else { link.received_bytes }.max(2_000_000),
            if sends { link.sent_bytes } else { link.received_bytes }
        );
        let sent = channel(status, "image").expect("it is open");
        assert_eq!(
            (sent.kind.as_str(), sent.outgoing, sent.state.as_str(), sent.bytes, sent.lost),
            ("topic", sends, "open", 20 * 100_012, 0)
        );
        let odd = channel(status, "odd").expect("it is wanted");
        assert_eq!((odd.state.as_str(), odd.why.contains("robot/Other"), odd.messages), ("refused", true, 0));
        assert_eq!(channel(status, "nobody").map(|nobody| (nobody.outgoing, nobody.state.as_str())), Some((!sends, "waiting")));
    }
    // The second after has rates, which end with what they count. It may have passed unseen on a busy machine, so there are more.
    told(&looks_there, |status| {
        images.publish(&[&image(20, 10)]).expect("it is published");
        channel(status, "image").is_some_and(|image| image.messages_per_s > 0.0)
    });
    told(&looks_there, |status| channel(status, "image").is_some_and(|image| image.messages_per_s == 0.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn services_are_told_with_their_calls_on_both_sides() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (calculator, user) = (base.node("calculator"), drone.node("user"));
    let _doubling = provider(&calculator, |call| {
        let doubled = number(2 * asked(&call));
        call.answer(&[&doubled]).expect("somebody waits");
    });
    let service = client(&user);
    for at in 0..3 {
        service.call(&[&number(at)], PATIENCE).expect("it is answered");
    }
    for (node, provides) in [(&calculator, true), (&user, false)] {
        let status = told(&looking(node), |status| channel(status, "double").is_some_and(|double| double.messages == 3));
        let double = channel(&status, "double").expect("it is there");
        // A request and an answer of 8 bytes each.
        assert_eq!((double.kind.as_str(), double.outgoing, double.bytes, double.lost), ("service", provides, 3 * 16, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_is_lost_is_told_as_not_connected_until_it_comes_again() {
    let (base, relay, drone) = through_a_relay().await;
    let looks = looking(&drone.node("looker"));
    let is = |connected| move |status: &GatewayStatus| status.peers.first().is_some_and(|peer| peer.connected == connected);
    assert!(!told(&looks, is(true)).peers[0].address.is_empty());
    relay.cut(true);
    let lost = GatewayPeer { name: "base".to_owned(), tag: "base".to_owned(), ..GatewayPeer::default() };
    assert_eq!(told(&looks, is(false)).peers, vec![lost]);
    relay.cut(false);
    told(&looks, is(true));
    drop(base);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_is_lost_has_not_become_one_of_its_name_and_address_that_was_there_beside_it() {
    let (base, relay, first) = through_a_relay().await;
    let _second = Robot::dialing("drone", all(), &[&base]);
    let gateway = base.gateway.as_ref().expect("it runs");
    until("both are connected", || gateway.connections().len() == 2);
    let images = publisher(&first.node("camera"), "image", &Qos::default());
    let seen = subscriber(&base.node("viewer"), "image", &Qos::default());
    connected(&images, &[&seen]);
    // Whoever was lost before the second one came could have become that.
    images.publish(&[&image(1, 10)]).expect("it is published");
    next(&seen);
    relay.cut(true);
    until("the first is lost, and waited for", || gateway.status().iter().any(|peer| !peer.connected));
    assert_eq!(seen.statistics().publishers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_only_looks_makes_no_gateway_tell_of_itself_across() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let looks = looking(&drone.node("looker"));
    let status = told(&looks, |status| status.peers.first().is_some_and(|peer| peer.connected));
    assert_eq!(status.peers[0].channels, vec![]);
    until("the other one knows the peer, too", || base.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty()));
    // Two seconds later nobody wants anything, either.
    for _ in 0..2 {
        assert_eq!(told(&looks, |_| true).peers[0].channels, vec![]);
    }
}
