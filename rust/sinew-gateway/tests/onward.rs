//! What bridges and other gateways have brought into a domain, and goes onward to peers of a gateway there (G38).

mod common;

use std::time::Duration;

use common::{IMAGE, PATIENCE, Robot, all, connected, image, next, number_of, publisher, rules, subscriber, until, wanted};
use sinew::raw::{Publisher, PublisherOptions, Subscriber};
use sinew::{GatewayStatus, Node, Qos};
use sinew_gateway::rules::Rules;

fn onward() -> Rules {
    rules(r#"{ "topics": { "base_rule": "both", "onward": true }, "services": { "base_rule": "both" } }"#)
}

/// Nothing is left out, however slow the machine is.
fn whole() -> Rules {
    rules(r#"{ "topics": { "base_rule": "both", "reliable": true, "onward": true } }"#)
}

/// As a bridge publishes, once somebody wants it.
fn brought(node: &Node, topic: &str, qos: &Qos) -> Publisher {
    until("it is wanted", || is_there(node, topic));
    let options = PublisherOptions { ghost: sinew::Ghost::Carrier, ..PublisherOptions::default() };
    let publisher = Publisher::new(node, topic, IMAGE, qos, options).expect("it may publish");
    connected(&publisher, &[]);
    publisher
}

fn is_there(node: &Node, topic: &str) -> bool {
    node.domain_state().is_ok_and(|state| state.topic(topic).is_some())
}

/// The numbers of all that comes, until nothing comes any more for as long as something may take that is not to happen.
fn rest(seen: &Subscriber) -> Vec<u32> {
    let all = std::iter::from_fn(|| seen.take(Duration::from_millis(700)).expect("it can be taken"));
    // Where something goes round there is no end.
    all.take(1000).map(|frame| number_of(&frame)).collect()
}

/// The numbers of all that comes, of which so many are to come, however long each takes, and nothing beyond them: sorted.
fn all_of(seen: &Subscriber, count: usize) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).map(|_| number_of(&next(seen))).collect();
    numbers.extend(rest(seen));
    numbers.sort_unstable();
    numbers
}

/// "open", "waiting", "refused: ..." of what goes from here.
fn state(robot: &Robot, name: &str) -> String {
    let channel = wanted(robot.channels(name)).find(|channel| channel.outgoing);
    channel.map(|channel| format!("{}{}", channel.state, channel.why)).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_brought_goes_over_by_a_rule_that_says_onward() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", onward(), &[&base]);
    let seen = subscriber(&base.node("viewer"), "battery", &Qos::default());
    let bridge = drone.node("bridge");
    until("it is asked for", || is_there(&bridge, "battery"));
    assert_eq!(state(&drone, "battery"), "waiting");
    let battery = brought(&bridge, "battery", &Qos::default());
    // The only one of its kind, published before anybody knows that there is a publisher.
    battery.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    battery.publish(&[&image(2, 100_000)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 2);
    assert_eq!(state(&drone, "battery"), "open");
    drop(battery);
    until("nobody has it any more", || state(&drone, "battery") == "waiting");
    let again = brought(&bridge, "battery", &Qos::default());
    until("it comes again", || {
        again.publish(&[&image(3, 10)]).expect("it is published");
        seen.take(Duration::from_millis(20)).expect("it can be taken").is_some_and(|frame| number_of(&frame) == 3)
    });
    drop(seen);
    until("nobody wants it any more", || !is_there(&bridge, "battery"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_brought_stays_without() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (bridge, viewer) = (drone.node("bridge"), base.node("viewer"));
    let here = subscriber(&drone.node("controller"), "battery", &Qos::default());
    let there = subscriber(&viewer, "battery", &Qos::default());
    let battery = brought(&bridge, "battery", &Qos::default());
    let (images, seen) = (publisher(&bridge, "image", &Qos::default()), subscriber(&viewer, "image", &Qos::default()));
    connected(&images, &[&seen]);
    battery.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&here)), 1);
    assert_eq!((rest(&there), state(&drone, "battery").as_str()), (vec![], "waiting"));
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_change_hold_at_once_for_what_goes_onward() {
    let base = Robot::new("base", all());
    let mut drone = Robot::dialing("drone", all(), &[&base]);
    let seen = subscriber(&base.node("viewer"), "battery", &Qos::default());
    let bridge = drone.node("bridge");
    drone.settings.rules = onward();
    drone.change();
    let battery = brought(&bridge, "battery", &Qos::default());
    until("it goes over", || seen.statistics().publishers == 1);
    drone.settings.rules = all();
    drone.change();
    until("nobody wants it any more", || !is_there(&bridge, "battery"));
    until("it goes over no more", || seen.statistics().publishers == 0);
    drop(battery);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nodes_publish_goes_over_beside_what_was_brought_and_each_once() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", whole(), &[&base]);
    let qos = Qos::keep_last(100);
    let (camera, bridge) = (drone.node("camera"), drone.node("bridge"));
    let seen = subscriber(&base.node("viewer"), "image", &qos);
    let own = publisher(&camera, "image", &qos);
    let foreign = brought(&bridge, "image", &qos);
    connected(&own, &[&seen]);
    for number in 0..20 {
        [&own, &foreign][number as usize % 2].publish(&[&image(number, 1000)]).expect("it is published");
    }
    assert_eq!(all_of(&seen, 20), (0..20).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_less_gets_what_is_published_with_less() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", whole(), &[&base]);
    let (strict, viewer) = (base.node("strict"), base.node("viewer"));
    let unreliable = publisher(&drone.node("camera"), "image", &Qos::keep_last(8));
    let deaf = subscriber(&strict, "image", &Qos { reliable: true, ..Qos::keep_last(8) });
    let seen = subscriber(&viewer, "image", &Qos::keep_last(8));
    connected(&unreliable, &[&seen]);
    unreliable.publish(&[&image(5, 10)]).expect("it is published");
    assert_eq!((number_of(&next(&seen)), deaf.statistics().publishers), (5, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_is_there_with_another_type_is_refused_until_it_is_gone() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", onward(), &[&base]);
    let odd = Subscriber::new(&drone.node("odd"), "battery", "robot/Other{a:uint8;}", &Qos::default(), Default::default());
    let seen = subscriber(&base.node("viewer"), "battery", &Qos::default());
    until("it is refused", || state(&drone, "battery").starts_with("refused") && base.refusals().len() == 1);
    assert!(base.refusals()[0].contains("robot/Other"), "{:?}", base.refusals());
    drop(odd);
    let battery = brought(&drone.node("bridge"), "battery", &Qos::default());
    connected(&battery, &[&seen]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_for_those_who_come_late_they_get_on_the_other_machine_too() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", onward(), &[&base]);
    let latched = Qos { reliable: true, transient_local: true, ..Qos::keep_last(3) };
    let here = subscriber(&drone.node("planner"), "map", &latched);
    let map = brought(&drone.node("bridge"), "map", &latched);
    for number in 1..=3 {
        map.publish(&[&image(number, 10)]).expect("it is published");
        assert_eq!(number_of(&next(&here)), number);
    }
    for name in ["first", "second"] {
        let viewer = base.node(name);
        let late = subscriber(&viewer, "map", &latched);
        assert_eq!([1, 2, 3].map(|_| number_of(&next(&late))), [1, 2, 3], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_gateway_has_brought_itself_it_sends_to_no_peer() {
    let hub = Robot::new("hub", whole());
    let plain = rules(r#"{ "topics": { "base_rule": "both", "reliable": true } }"#);
    let (left, right) = (Robot::dialing("left", plain, &[&hub]), Robot::dialing("right", whole(), &[&hub]));
    let (camera, looker) = (left.node("camera"), right.node("looker"));
    let images = publisher(&camera, "image", &Qos::keep_last(50));
    let at = [&left, &hub, &right].map(|robot| subscriber(&robot.node("viewer"), "image", &Qos::keep_last(50)));
    connected(&images, &[&at[0], &at[1]]);
    // The viewer, and the gateway: it has told the hub before the camera hears of it.
    until("the gateway takes it, too", || images.statistics().subscribers == 2);
    let (marks, marked) = (publisher(&hub.node("marker"), "mark", &Qos::default()), subscriber(&looker, "mark", &Qos::default()));
    connected(&marks, &[&marked]);
    for number in 0..10 {
        images.publish(&[&image(number, 10)]).expect("it is published");
    }
    for (at, count) in at.iter().zip([10, 10, 0]) {
        assert_eq!(all_of(at, count as usize), (0..count).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_gateway_tells_of_itself_goes_over_as_it_does_without_onward() {
    let base = Robot::new("base", all());
    let _drone = Robot::dialing("drone", onward(), &[&base]);
    let seen = sinew::Subscriber::<GatewayStatus>::new(&base.node("viewer"), GatewayStatus::TOPIC, &GatewayStatus::qos()).expect("it may");
    let heard = || seen.take(PATIENCE).expect("it can be taken").and_then(|message| message.read().ok()).map(|status| status.name);
    until("the drone's is there", || heard().is_some_and(|name| name == "drone"));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_ring_of_gateways_that_all_send_onward_nothing_goes_round_and_nothing_is_wanted_for_ever() {
    let (here, there) = (Robot::new("a1", whole()), Robot::new("b1", whole()));
    let second = there.beside("b2", whole(), &[&here]);
    // Two links between two domains, with other gateways at the ends of each.
    let other = here.beside("a2", whole(), &[&there]);
    let (a, b) = (here.node("a"), there.node("b"));
    let images = publisher(&a, "image", &Qos::keep_last(50));
    let (seen_here, seen_there) = (subscriber(&a, "image", &Qos::keep_last(50)), subscriber(&b, "image", &Qos::keep_last(50)));
    // Of the camera's own domain the viewer and both gateways, which have told the other domain before the camera hears of them.
    until("both links are used", || seen_there.statistics().publishers == 2 && images.statistics().subscribers == 3);
    for number in 0..10 {
        images.publish(&[&image(number, 10)]).expect("it is published");
    }
    let twice = (0..10).flat_map(|number| [number; 2]);
    assert_eq!(all_of(&seen_there, 20), twice.collect::<Vec<_>>());
    assert_eq!(all_of(&seen_here, 10), (0..10).collect::<Vec<_>>());
    drop((images, seen_here, seen_there));
    until("nobody wants it any more", || !is_there(&a, "image") && !is_there(&b, "image"));
    drop((second, other));
}

#[cfg(feature = "zenoh")]
mod bridges {
    use super::*;
    use common::zenoh::{Router, a_while, bridge_in};
    use sinew_gateway::bridge::Bridge;
    use zenoh::Wait;

    fn wants(bridge: &Bridge, topic: &str) -> bool {
        wanted(bridge.status().remove(0).channels).any(|channel| channel.name == topic)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_bridge_brings_what_a_peer_of_a_gateway_wants_as_long_as_it_does() {
        let router = Router::new();
        let base = Robot::new("base", all());
        let drone = Robot::dialing("drone", onward(), &[&base]);
        let (_folder, bridge) = bridge_in(&drone.path(), all(), &router);
        let (other, looker) = (router.client(), drone.node("looker"));
        for round in 1..=2 {
            let seen = subscriber(&base.node(&format!("viewer{round}")), "battery", &Qos::default());
            until("it arrives", || {
                other.put("sinew/battery", image(round, 1000)).wait().expect("it is put");
                seen.take(Duration::from_millis(20)).expect("it can be taken").is_some_and(|frame| number_of(&frame) == round)
            });
            assert!(wants(&bridge, "battery"));
            drop(seen);
            until("the bridge brings it no more", || !wants(&bridge, "battery") && !is_there(&looker, "battery"));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn without_onward_nobody_asks_a_bridge_for_it() {
        let router = Router::new();
        let base = Robot::new("base", all());
        let drone = Robot::dialing("drone", all(), &[&base]);
        let (_folder, bridge) = bridge_in(&drone.path(), all(), &router);
        let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
        let unseen = subscriber(&viewer, "battery", &Qos::default());
        let (images, seen) = (publisher(&camera, "image", &Qos::default()), subscriber(&viewer, "image", &Qos::default()));
        connected(&images, &[&seen]);
        a_while();
        assert!(!wants(&bridge, "battery") && !is_there(&camera, "battery"));
        assert_eq!(unseen.statistics().publishers, 0);
    }

    /// Both have a bridge to one network, in which what one has brought to it would come to the other.
    #[tokio::test(flavor = "multi_thread")]
    async fn between_two_domains_that_have_a_bridge_to_one_network_nothing_goes_round() {
        let router = Router::new();
        let base = Robot::new("base", whole());
        let drone = Robot::dialing("drone", whole(), &[&base]);
        let (_here, _there) = (bridge_in(&drone.path(), all(), &router), bridge_in(&base.path(), all(), &router));
        let other = router.client();
        let (here, there) = (drone.node("here"), base.node("there"));
        let seen = [subscriber(&here, "battery", &Qos::keep_last(100)), subscriber(&there, "battery", &Qos::keep_last(100))];
        until("it arrives everywhere, by both ways", || {
            other.put("sinew/battery", image(1000, 10)).wait().expect("it is put");
            seen.iter().all(|seen| seen.statistics().publishers == 2)
        });
        seen.iter().for_each(|seen| drop(rest(seen)));
        for number in 0..10 {
            other.put("sinew/battery", image(number, 10)).wait().expect("it is put");
        }
        for seen in &seen {
            // On a busy machine some of those before may come only now.
            let mut numbers: Vec<u32> =
                std::iter::repeat_with(|| number_of(&next(seen))).filter(|number| *number < 1000).take(20).collect();
            numbers.extend(rest(seen).into_iter().filter(|number| *number < 1000));
            numbers.sort_unstable();
            assert_eq!(numbers, (0..10).flat_map(|number| [number; 2]).collect::<Vec<_>>());
        }
    }
}
