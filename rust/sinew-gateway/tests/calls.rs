//! Calls that cannot go as they are, or that nobody waits for any more (G24 to G27).

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::relay::through_a_relay;
use common::services::{NUMBER, asked, client, number, provider, value};
use common::stranger::Stranger;
use common::{IMAGE, PATIENCE, Robot, all, image, number_of, until};
use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions, Response};
use sinew::{ErrorKind, Node};
use sinew_gateway::protocol::{Answer, CallHead, Control, Kind, Offer, Packing, Want};

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

/// A call that a provider of `a` holds while another one at `b` answers, and what holds it.
struct Held {
    response: Response,
    call: Call,
    leaving: Option<Provider>,
    _other: Provider,
    service: Client,
    answered: Arc<AtomicU32>,
}

fn held(a: &Robot, b: &Robot, base: &Robot) -> Held {
    let (send, calls) = std::sync::mpsc::channel();
    let leaving = Some(provider(&a.node("at_a"), move |call| send.send(call).expect("the test goes on")));
    let service = client(&base.node("user"));
    let response = service.start(number(1), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    let answered = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&answered);
    let _other = provider(&b.node("at_b"), move |call| {
        counted.fetch_add(1, Ordering::Relaxed);
        let doubled = number(2 * asked(&call));
        call.answer(&[&doubled]).expect("somebody waits");
    });
    until("both provide it", || service.statistics().providers == 2);
    Held { response, call, leaving, _other, service, answered }
}

/// The call that was held, and all that follow, the other one answers.
async fn the_other_one_answers(held: Held) {
    let Held { response, call, service, answered, _other, .. } = held;
    let response = tokio::time::timeout(PATIENCE, response).await.expect("it does not wait for who has gone");
    assert_eq!(value(&response.expect("it is answered").to_vec()), 2);
    until("who has gone provides it no more", || service.statistics().providers == 1);
    for at in 0..6 {
        assert_eq!(value(&service.call(&[&number(at)], PATIENCE).expect("it is answered").to_vec()), 2 * at);
    }
    assert_eq!(answered.load(Ordering::Relaxed), 7);
    drop(call);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_provider_leaves_goes_to_the_one_at_another_peer_and_so_do_those_after_it() {
    let base = Robot::on_this_machine("base", all());
    let (a, b) = (Robot::dialing("a", all(), &[&base]), Robot::dialing("b", all(), &[&base]));
    let mut held = held(&a, &b, &base);
    held.leaving = None;
    the_other_one_answers(held).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_comes_again_without_its_provider_keeps_no_call() {
    let (base, relay, a) = through_a_relay().await;
    let b = Robot::dialing("b", all(), &[&base]);
    let mut held = held(&a, &b, &base);
    relay.cut(true);
    until("they have lost each other", || {
        let count = |robot: &Robot| robot.gateway.as_ref().map_or(0, |gateway| gateway.connections().len());
        count(&base) == 1 && count(&a) == 0
    });
    held.leaving = None;
    relay.cut(false);
    the_other_one_answers(held).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_provider_is_started_anew_while_the_connection_is_lost_goes_to_the_new_one() {
    let (base, relay, drone) = through_a_relay().await;
    let calculator = drone.node("calculator");
    let (send, calls) = std::sync::mpsc::channel();
    let leaving = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let response = client(&base.node("user")).start(number(1), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    relay.cut(true);
    until("they have lost each other", || {
        [&base, &drone].iter().all(|robot| robot.gateway.as_ref().is_some_and(|gateway| gateway.connections().is_empty()))
    });
    drop(leaving);
    let _anew = provider(&calculator, |call| {
        let doubled = number(2 * asked(&call));
        call.answer(&[&doubled]).expect("somebody waits");
    });
    relay.cut(false);
    let response = tokio::time::timeout(PATIENCE, response).await.expect("it does not wait for who has gone");
    assert_eq!(value(&response.expect("it is answered").to_vec()), 2);
    drop(call);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_stopped_while_its_answer_is_under_way_is_forgotten() {
    let base = Robot::on_this_machine("base", all());
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let answer = move |call: Call| {
        counted.fetch_add(1, Ordering::Relaxed);
        // Who has asked before may be forgotten only now, and this call with it.
        let _ = call.answer(&[&image(1, 12 << 20)]);
    };
    let _provided = Provider::new(&base.node("lab"), "develop", IMAGE, IMAGE, &ProviderOptions::default(), answer).expect("it may provide");
    let mut stranger = Stranger::taking(&base, 64 << 20).await;
    let want = Want {
        channel: 5,
        kind: Kind::Service,
        name: "develop".to_owned(),
        signature: IMAGE.to_owned(),
        response: IMAGE.to_owned(),
        offer: Offer::default(),
    };
    stranger.say(&Control::Want(want)).await;
    while !matches!(stranger.hear().await, Control::Open { channel: 5, .. }) {}
    let request = image(1, 10);
    let size = request.len() as u32;
    let call = [CallHead { channel: 5, call: 1, packing: Packing::None, size, unpacked: size }.encode(), request].concat();
    // The same number is a new call, once the one before is forgotten.
    let begin = std::time::Instant::now();
    while count.load(Ordering::Relaxed) < 2 {
        assert!(begin.elapsed() < PATIENCE, "it is remembered");
        let (mut send, mut receive) = stranger.connection.open_bi().await.expect("a stream can be opened");
        send.write_all(&call).await.expect("it can be written");
        let _ = send.finish();
        let mut head = [0; Answer::SIZE];
        if receive.read_exact(&mut head).await.is_ok() {
            receive.stop(8_u32.into()).expect("it is under way");
        }
        // Until it is known there.
        let _ = tokio::time::timeout(std::time::Duration::from_millis(100), stranger.connection.closed()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_no_provider_may_execute_twice_fails_when_the_one_that_has_it_leaves() {
    let base = Robot::on_this_machine("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let calculator = drone.node("calculator");
    let (send, calls) = std::sync::mpsc::channel();
    let once = ProviderOptions { at_most_once: true, ..ProviderOptions::default() };
    let take = move |call| send.send(call).expect("the test goes on");
    let leaving = Provider::new(&calculator, "double", NUMBER, NUMBER, &once, take).expect("it may provide");
    let response = client(&base.node("user")).start(number(1), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    // The service stays.
    let _other = provider(&drone.node("other"), |call| panic!("{call:?}"));
    drop(leaving);
    let ended = tokio::time::timeout(PATIENCE, response).await.expect("it does not wait for ever");
    assert_eq!(ended.expect_err("it is lost").kind(), ErrorKind::Failed);
    drop(call);
}
