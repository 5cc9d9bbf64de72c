//! What gateways and bridges bring, and who looks on: two carriers do not meet, an observer and a carrier do (W72, G13, G14, G16).

mod common;

use std::time::Duration;

use common::services::{NUMBER, asked, client, number, provider, value};
use common::{IMAGE, PATIENCE, Robot, all, connected, image, next, publisher, subscriber, until};
use sinew::raw::{Client, ClientOptions, Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, Qos};

/// As recorders are.
fn observer(node: &Node, topic: &str, qos: &Qos) -> Subscriber {
    let options = SubscriberOptions { ghost: Ghost::Observer, ..SubscriberOptions::default() };
    Subscriber::new(node, topic, IMAGE, qos, options).expect("it may look on")
}

/// As what a client of Foxglove publishes with.
fn observing_publisher(node: &Node, topic: &str) -> Publisher {
    let options = PublisherOptions { ghost: Ghost::Observer, ..PublisherOptions::default() };
    Publisher::new(node, topic, IMAGE, &Qos::default(), options).expect("it may publish")
}

fn knows_a_peer(robot: &Robot) -> bool {
    robot.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_gateway_brings_for_somebody_who_looks_on_gets_too() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, viewer, recorder) = (drone.node("camera"), base.node("viewer"), base.node("recorder"));
    let kept = Qos { reliable: true, transient_local: true, ..Qos::keep_last(5) };
    let images = publisher(&camera, "camera/image", &kept);
    images.publish(&[&image(1, 10)]).expect("it is published");
    let seen = subscriber(&viewer, "camera/image", &kept);
    assert_eq!(number_of(&seen), 1);
    let recorded = observer(&recorder, "camera/image", &kept);
    assert_eq!(number_of(&recorded), 1, "also what was kept");
    images.publish(&[&image(2, 3_000_000)]).expect("it is published");
    assert_eq!((number_of(&seen), number_of(&recorded)), (2, 2));
}

fn number_of(subscriber: &Subscriber) -> u32 {
    common::number_of(&next(subscriber))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_looks_on_is_no_reason_to_bring_a_topic() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (camera, station, recorder) = (drone.node("camera"), base.node("station"), base.node("recorder"));
    let (images, others) = (publisher(&camera, "image", &Qos::default()), publisher(&camera, "other", &Qos::default()));
    // The topic is there at the station, too, and nobody subscribes to it but who looks on.
    let _own = publisher(&station, "image", &Qos::default());
    let _recorded = observer(&recorder, "image", &Qos::default());
    until("they are connected", || knows_a_peer(&base) && knows_a_peer(&drone));
    // Whatever was wanted before is wanted by then.
    let seen = subscriber(&station, "other", &Qos::default());
    connected(&others, &[&seen]);
    assert_eq!(images.statistics().subscribers, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_observer_publishes_goes_to_the_peers_that_want_it() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (planner, station, foxglove) = (drone.node("planner"), base.node("station"), base.node("foxglove"));
    let goals = subscriber(&planner, "goal", &Qos::default());
    let shown = subscriber(&station, "goal", &Qos::default());
    let clicked = observing_publisher(&foxglove, "goal");
    connected(&clicked, &[&goals, &shown]);
    until("the gateway has it, too", || clicked.statistics().subscribers == 2);
    clicked.publish(&[&image(3, 10)]).expect("it is published");
    assert_eq!((number_of(&goals), number_of(&shown)), (3, 3));
    drop(clicked);
    until("nobody publishes for the planner any more", || goals.statistics().publishers == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_gateway_has_brought_none_takes_out_again_also_where_somebody_looks_on() {
    let middle = Robot::new("middle", all());
    let (left, right) = (Robot::dialing("left", all(), &[&middle]), Robot::dialing("right", all(), &[&middle]));
    until("both are there", || middle.gateway.as_ref().is_some_and(|gateway| gateway.connections().len() == 2));
    let (camera, viewer, far) = (left.node("camera"), middle.node("viewer"), right.node("far"));
    let recorder = middle.node("recorder");
    let (wanted, marks) = (subscriber(&far, "image", &Qos::default()), subscriber(&far, "mark", &Qos::default()));
    let images = publisher(&camera, "image", &Qos::default());
    let seen = subscriber(&viewer, "image", &Qos::default());
    let recorded = observer(&recorder, "image", &Qos::default());
    connected(&images, &[&seen, &recorded]);
    images.publish(&[&image(4, 10)]).expect("it is published");
    assert_eq!((number_of(&seen), number_of(&recorded)), (4, 4));
    // Whatever the middle would take out is here by then.
    let marked = publisher(&viewer, "mark", &Qos::default());
    connected(&marked, &[&marks]);
    marked.publish(&[&image(5, 0)]).expect("it is published");
    assert_eq!(number_of(&marks), 5);
    assert_eq!(wanted.statistics().publishers, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_calls_what_a_gateway_provides_for_somebody() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (arm, station, tool) = (drone.node("arm"), base.node("station"), base.node("tool"));
    let _provided = provider(&arm, |call| {
        let doubled = number(2 * asked(&call));
        call.answer(&[&doubled]).expect("somebody waits");
    });
    let doubled = |client: &Client, of| value(&client.call(&[&number(of)], PATIENCE).expect("it is answered").to_vec());
    assert_eq!(doubled(&client(&station), 3), 6);
    let _keeper = client(&station);
    let options = ClientOptions { ghost: Ghost::Observer, ..ClientOptions::default() };
    let called = Client::new(&tool, "double", NUMBER, NUMBER, &options).expect("it may call");
    assert_eq!(doubled(&called, 4), 8);
}

/// That a publisher in one domain is heard in the other one, by who wants it there and by who looks on.
fn is_heard_by_both(images: &Publisher, viewer: &Node, recorder: &Node) {
    let qos = Qos { reliable: true, ..Qos::keep_last(50) };
    let seen = subscriber(viewer, "image", &qos);
    // Nobody tells when a whole network knows of a subscriber.
    until("it arrives", || {
        images.publish(&[&image(1, 10)]).expect("it is published");
        seen.take(Duration::from_millis(20)).expect("it can be taken").is_some()
    });
    let recorded = observer(recorder, "image", &qos);
    until("who looks on is connected", || recorded.statistics().publishers == 1);
    images.publish(&[&image(2, 100_000)]).expect("it is published");
    for subscriber in [&seen, &recorded] {
        assert_eq!(std::iter::repeat_with(|| number_of(subscriber)).find(|number| *number == 2), Some(2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_bridge_to_ros_2_brings_who_looks_on_gets_too_and_what_an_observer_publishes_goes_there() {
    let ros2 = common::ros2::Domain::new();
    let (drone, base) = (common::ros2::Robot::new(all(), &ros2), common::ros2::Robot::new(all(), &ros2));
    let (camera, station, recorder) = (drone.node("camera"), base.node("station"), base.node("recorder"));
    let images = publisher(&camera, "image", &Qos { reliable: true, ..Qos::keep_last(50) });
    is_heard_by_both(&images, &station, &recorder);
    let goals = subscriber(&camera, "goal", &Qos::default());
    let _keeps = subscriber(&station, "goal", &Qos::default());
    let clicked = observing_publisher(&recorder, "goal");
    until("the bridge has it, too", || clicked.statistics().subscribers == 2);
    until("it arrives", || {
        clicked.publish(&[&image(3, 10)]).expect("it is published");
        goals.take(Duration::from_millis(20)).expect("it can be taken").is_some_and(|frame| common::number_of(&frame) == 3)
    });
}

#[cfg(feature = "zenoh")]
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_from_a_zenoh_network_who_looks_on_gets_too() {
    let router = common::zenoh::Router::new();
    let (drone, base) = (common::zenoh::Robot::new(all(), &router), common::zenoh::Robot::new(all(), &router));
    let (camera, station, recorder) = (drone.node("camera"), base.node("station"), base.node("recorder"));
    let images = publisher(&camera, "image", &Qos { reliable: true, ..Qos::keep_last(50) });
    is_heard_by_both(&images, &station, &recorder);
}
