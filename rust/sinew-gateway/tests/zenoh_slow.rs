//! Topics of a Zenoh network, and of nodes of rmw_zenoh, whose subscribers here keep all, and do not keep up.
#![cfg(feature = "zenoh")]

mod common;

use std::time::Duration;

use common::chatter::{NAME, listener, peer, says};
use common::numbers::{self, TOPIC, say, talker};
use common::ros2::Peer;
use common::texts::{latched, text};
use common::zenoh::{Robot, Router, a_while};
use common::{next, rules, until};
use serde_json::json;
use sinew::Qos;
use sinew::raw::{Publisher, Subscriber};
use sinew_gateway::rules::Rules;

/// More than there is room for in the domain, and less than that and what may wait in the bridge.
const ALL: u32 = 1600;
/// More than both.
const MORE: u32 = 2500;
/// So many there is room for.
const ROOM: u64 = 1024;

fn whole() -> Rules {
    rules(r#"{ "topics": { "base_rule": "both", "reliable": true } }"#)
}

/// Messages of the topic that were published here, and those that were lost.
fn counted(robot: &Robot) -> (u64, u64) {
    robot.channel(TOPIC).map_or((0, 0), |told| (told.messages, told.lost))
}

/// Says the first number until one comes, and then the others; how often it was said.
fn say_all(base: &Robot, count: u32, mut say_one: impl FnMut(u32)) -> u64 {
    until("the first arrives", || {
        say_one(0);
        std::thread::sleep(Duration::from_millis(20));
        counted(base).0 > 0
    });
    a_while();
    let firsts = counted(base).0;
    (1..count).for_each(&mut say_one);
    until("no more can be taken", || counted(base).0 == ROOM);
    firsts
}

/// Somebody who asks for what was kept, of which there is none.
fn is_counted_when_somebody_asks_for_what_was_kept(base: &Robot, firsts: u64) {
    let _asks = listener(&base.node("other"), &latched(1));
    until("all are published, or counted as lost", || {
        let (messages, lost) = counted(base);
        lost > 0 && messages + lost == u64::from(ALL) - 1 + firsts
    });
}

/// Also after much longer than one message is tried.
fn gets_all_when_he_goes_on(base: &Robot, seen: &Subscriber, firsts: u64) {
    std::thread::sleep(Duration::from_secs(2));
    (1..firsts).for_each(|_| drop(next(seen)));
    for text in numbers::texts(0..ALL) {
        assert_eq!(next(seen).to_vec(), text);
    }
    until("all are counted", || counted(base) == (u64::from(ALL) - 1 + firsts, 0));
}

/// When he goes on; `go_on`: says one more.
fn is_counted_once(base: &Robot, seen: &Subscriber, firsts: u64, go_on: impl FnOnce()) {
    let published = u64::from(MORE) - 1 + firsts;
    until("there is no room for more", || counted(base) == (ROOM, published - 2 * ROOM - 1));
    let (mut heard, all) = (0, published + 1);
    go_on();
    until("all are heard, or counted", || {
        heard += u64::from(seen.take(Duration::from_millis(1)).expect("it can be taken").is_some());
        counted(base).0 + counted(base).1 >= all && heard == counted(base).0
    });
    assert_eq!(counted(base).0 + counted(base).1, all);
}

fn of_a_node(router: &Router) -> Option<(Robot, Peer)> {
    let mut peer = peer(router)?;
    peer.write("said", TOPIC, NAME, &json!({"depth": 0}));
    Some((Robot::ros2(whole(), router).connected(), peer))
}

/// With who says something there.
fn of_a_gateway(router: &Router) -> (Robot, (Robot, Publisher)) {
    let (drone, base) = (Robot::new(whole(), router).connected(), Robot::new(whole(), router).connected());
    let said = talker(&drone.node("talks"), &Qos::reliable());
    (base, (drone, said))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_all_and_stands_still_gets_all_of_a_node_when_he_goes_on() {
    let router = Router::new();
    let Some((base, mut peer)) = of_a_node(&router) else { return };
    let seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, ALL, |number| says(&mut peer, &number.to_string()));
    gets_all_when_he_goes_on(&base, &seen, firsts);
}

#[tokio::test(flavor = "multi_thread")]
async fn and_in_their_order_also_where_it_goes_and_somebody_comes_meanwhile_who_offers_more() {
    let router = Router::new();
    let Some((base, mut peer)) = of_a_node(&router) else { return };
    let seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, ALL, |number| says(&mut peer, &number.to_string()));
    peer.ask(&json!({"do": "close", "id": "said"}));
    peer.write("other", TOPIC, NAME, &json!({"depth": 0, "deadline_ms": 50}));
    gets_all_when_he_goes_on(&base, &seen, firsts);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_all_and_stands_still_gets_all_of_another_domain_when_he_goes_on() {
    let router = Router::new();
    let (base, (_drone, said)) = of_a_gateway(&router);
    let seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, ALL, |number| say(&said, number..number + 1));
    gets_all_when_he_goes_on(&base, &seen, firsts);
}

/// Of these the domain's memory has no room for the last, for which there is room in the bridge.
const LARGE: u64 = 185;

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_no_memory_for_waits_for_who_keeps_all() {
    let router = Router::new();
    let (base, (_drone, said)) = of_a_gateway(&router);
    let seen = listener(&base.node("viewer"), &Qos::reliable());
    let large = text(&"x".repeat(6_000_000));
    let mut firsts = 0;
    until("the first arrives", || {
        said.publish(&[&large]).expect("it is published");
        firsts += 1;
        std::thread::sleep(Duration::from_millis(100));
        counted(&base).0 > 0
    });
    a_while();
    let missing = firsts - counted(&base).0;
    for number in firsts..LARGE {
        said.publish(&[&large]).expect("it is published");
        until("there is no more room, or it arrives", || counted(&base).0 > number.min(170) - missing);
    }
    // As long as it takes to try some of them in vain.
    std::thread::sleep(Duration::from_secs(1));
    assert!(counted(&base).0 + missing < LARGE, "{:?}", counted(&base));
    (missing..LARGE).for_each(|_| drop(next(&seen)));
    until("all are counted", || counted(&base) == (LARGE - missing, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_of_a_node_when_its_topic_is_subscribed_to_anew_is_counted() {
    let router = Router::new();
    let Some((base, mut peer)) = of_a_node(&router) else { return };
    let _seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, ALL, |number| says(&mut peer, &number.to_string()));
    is_counted_when_somebody_asks_for_what_was_kept(&base, firsts);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_of_another_domain_when_its_topic_is_subscribed_to_anew_is_counted() {
    let router = Router::new();
    let (base, (_drone, said)) = of_a_gateway(&router);
    let _seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, ALL, |number| say(&said, number..number + 1));
    is_counted_when_somebody_asks_for_what_was_kept(&base, firsts);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_no_room_for_of_a_node_is_counted_once() {
    let router = Router::new();
    let Some((base, mut peer)) = of_a_node(&router) else { return };
    let seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, MORE, |number| says(&mut peer, &number.to_string()));
    is_counted_once(&base, &seen, firsts, || says(&mut peer, "last"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_no_room_for_of_another_domain_is_counted_once() {
    let router = Router::new();
    let (base, (_drone, said)) = of_a_gateway(&router);
    let seen = listener(&base.node("viewer"), &Qos::reliable());
    let firsts = say_all(&base, MORE, |number| say(&said, number..number + 1));
    is_counted_once(&base, &seen, firsts, || say(&said, MORE..MORE + 1));
}
