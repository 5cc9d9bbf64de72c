//! Calls that cannot go as they are, or that nobody waits for any more (G24 to G27).

mod common;

use common::{IMAGE, PATIENCE, Robot, all, image, number_of, until};
use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions};
use sinew::{ErrorKind, Node};

/// More than [`small`] takes.
const LARGE: usize = 2 << 20;

/// A base that takes messages up to 1 MiB, and a drone that takes larger ones.
async fn small() -> (Robot, Robot) {
    let mut base = Robot::on_this_machine("base", all());
    base.stop().await;
    base.settings.max_message = 1 << 20;
    base.start();
    let drone = Robot::dialing("drone", all(), &[&base]);
    (base, drone)
}

/// Whose answers have so many bytes.
fn developing(node: &Node, size: usize) -> Provider {
    let answer = move |call: Call| call.answer(&[&image(1, size)]).expect("somebody waits");
    Provider::new(node, "develop", IMAGE, IMAGE, &ProviderOptions::default(), answer).expect("it may provide")
}

/// That a call with a request of this size fails with a text of both sizes, and no connection with it: a small one goes after it.
fn fails(robots: [&Robot; 2], user: &Node, size: usize) {
    let photos = Client::new(user, "develop", IMAGE, IMAGE, &ClientOptions::default()).expect("it may call");
    let connections = |robot: &Robot| robot.gateway.as_ref().expect("it runs").connections();
    until("they are connected", || robots.iter().all(|robot| !connections(robot).is_empty()));
    let before = robots.map(|robot| connections(robot)[0].number);
    let why = photos.call(&[&image(1, size)], PATIENCE).expect_err("it cannot be carried");
    assert_eq!(why.kind(), ErrorKind::Failed, "{why}");
    assert!(why.to_string().contains(&(LARGE + 12).to_string()) && why.to_string().contains("1048576"), "{why}");
    assert_eq!(robots.map(|robot| connections(robot)[0].number), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_the_peer_does_not_take_for_its_size_fails_with_a_text_and_closes_nothing() {
    let (base, drone) = small().await;
    let _provided = developing(&base.node("lab"), 10);
    let user = drone.node("user");
    fails([&base, &drone], &user, LARGE);
    let photos = Client::new(&user, "develop", IMAGE, IMAGE, &ClientOptions::default()).expect("it may call");
    assert_eq!(number_of(&photos.call(&[&image(1, 10)], PATIENCE).expect("it is answered")), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_the_caller_does_not_take_for_its_size_fails_with_a_text_and_closes_nothing() {
    let (base, drone) = small().await;
    let _provided = developing(&drone.node("lab"), LARGE);
    fails([&base, &drone], &base.node("user"), 10);
}
