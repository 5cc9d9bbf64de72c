//! Services of ROS 2, over Zenoh as rmw_zenoh speaks it.
#![cfg(feature = "zenoh")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::ros2::Peer;
use common::services::{client as doubler, die, lost, number};
use common::zenoh::{Robot, Router};
use common::{PATIENCE, all, alone, domain_alone, node, rules, until};
use serde_json::json;
use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions};
use sinew::{ErrorKind, Node};
use zenoh::{Session, Wait};

const REQUEST: &str = "example_interfaces/srv/AddTwoInts_Request{a:int64;b:int64;}";
const RESPONSE: &str = "example_interfaces/srv/AddTwoInts_Response{sum:int64;}";

fn numbers(values: &[i64]) -> Vec<u8> {
    let mut stream = vec![0, 1, 0, 0];
    stream.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    stream
}

fn number_at(stream: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(stream[4 + 8 * at..12 + 8 * at].try_into().expect("eight"))
}

fn providing(node: &Node, callback: impl FnMut(Call) + Send + 'static) -> Provider {
    Provider::new(node, "add", REQUEST, RESPONSE, &ProviderOptions::default(), callback).expect("it may provide")
}

fn adding(node: &Node) -> Provider {
    providing(node, |call| {
        let asked = call.extents().collect::<Vec<_>>().concat();
        call.answer(&[&numbers(&[number_at(&asked, 0) + number_at(&asked, 1)])]).expect("somebody waits");
    })
}

fn client(node: &Node) -> Client {
    Client::new(node, "add", REQUEST, RESPONSE, &ClientOptions::default()).expect("it may call")
}

fn peer(router: &Router) -> Option<Peer> {
    Peer::start("rmw_zenoh_peer.py", &[&router.endpoint, "7"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_across_in_both_directions() {
    let router = Router::new();
    let (base, drone) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    for (here, there) in [(&base, &drone), (&drone, &base)] {
        let (adder, user) = (there.node("adder"), here.node("user"));
        let provided = adding(&adder);
        let service = client(&user);
        for at in 0..1000 {
            let answer = service.call(&[&numbers(&[at, 7])], PATIENCE).expect("it is answered");
            assert_eq!(number_at(&answer.to_vec(), 0), at + 7);
        }
        for (robot, outgoing) in [(there, true), (here, false)] {
            // An answer is counted a moment after it has gone.
            until("all are counted", || robot.channel("add").is_some_and(|told| told.messages == 1000));
            let told = robot.channel("add").expect("it is told");
            assert_eq!((told.kind.as_str(), told.outgoing, told.state.as_str()), ("service", outgoing, "open"));
            assert_eq!((told.messages, told.bytes, told.lost), (1000, 32_000, 0));
        }
        drop((service, provided));
        until("it is closed", || here.channel("add").is_none() && there.channel("add").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_several_domains_get_their_own_answers() {
    let router = Router::new();
    let base = Robot::ros2(all(), &router);
    let adder = base.node("adder");
    let _provided = adding(&adder);
    let robots = [1i64, 2, 3].map(|number| (number, Robot::ros2(all(), &router)));
    std::thread::scope(|scope| {
        for (first, robot) in &robots {
            scope.spawn(move || {
                let node = robot.node("user");
                let service = client(&node);
                for at in 0..300 {
                    let answer = service.call(&[&numbers(&[1000 * first, at])], PATIENCE).expect("it is answered");
                    assert_eq!(number_at(&answer.to_vec(), 0), 1000 * first + at);
                }
            });
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_ros_2_is_called_a_thousand_times() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let service = client(&node);
    peer.ask(&json!({"do": "serve"}));
    for at in 0..1000 {
        let answer = service.call(&[&numbers(&[at, 7])], PATIENCE).expect("it is answered");
        assert_eq!(number_at(&answer.to_vec(), 0), at + 7);
    }
    // And at once.
    let calls: Vec<_> = (0..200).map(|at| (at, service.start(numbers(&[at, 1000]), PATIENCE).expect("it is called"))).collect();
    for (at, response) in calls {
        assert_eq!(number_at(&response.await.expect("it is answered").to_vec(), 0), at + 1000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_ros_2_get_their_own_answers() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("adder");
    let _provided = adding(&node);
    assert_eq!(peer.ask(&json!({"do": "call", "clients": 4, "numbers": 250})), json!({"wrong": [], "unanswered": 0, "failed": []}));
    until("all are counted", || robot.channel("add").is_some_and(|told| (told.messages, told.lost) == (1000, 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_provider_that_comes_later() {
    let router = Router::new();
    let (base, drone) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    let (adder, user) = (drone.node("adder"), base.node("user"));
    let service = client(&user);
    let early = service.start(numbers(&[1, 2]), Duration::from_millis(500)).expect("it is called");
    assert_eq!(early.await.expect_err("there is nobody").kind(), ErrorKind::Timeout);
    let response = service.start(numbers(&[20, 1]), PATIENCE).expect("it is called");
    until("it waits", || base.state("add", false) == "waiting");
    let _provided = adding(&adder);
    assert_eq!(number_at(&response.await.expect("it is answered").to_vec(), 0), 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_goes_fails() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let service = client(&node);
    peer.ask(&json!({"do": "serve", "silently": true}));
    until("it is provided", || robot.state("add", false) == "open");
    let response = service.start(numbers(&[1, 2]), PATIENCE).expect("it is called");
    common::zenoh::a_while();
    peer.kill();
    let error = response.await.expect_err("nobody can answer");
    // By the bridge, or, where that had heard first that nobody is there any more, by the domain.
    assert!(matches!(error.kind(), ErrorKind::Failed | ErrorKind::Lost), "{error}");
}

/// In a process of its own.
#[test]
fn process_that_dies_when_it_is_called() {
    let Some(domain) = domain_alone() else { return };
    let node = node(&domain, "adder");
    let _provided = providing(&node, die);
    std::thread::sleep(PATIENCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_ros_2_whose_provider_here_dies_is_answered_by_the_next_one_or_counted() {
    let router = Router::new();
    let (base, drone) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    let (successor, local, user) = (drone.node("successor"), drone.node("local"), base.node("user"));
    // For whose sake the service stays.
    let _local = client(&local);
    let service = client(&user);
    let call = || {
        let mut dies = alone("process_that_dies_when_it_is_called", &drone.path());
        let response = service.start(numbers(&[1, 2]), PATIENCE).expect("it is called");
        assert!(dies.wait().expect("it is a child").code().is_none(), "it is killed");
        response
    };
    let response = call();
    let provided = adding(&successor);
    assert_eq!(number_at(&response.await.expect("it is answered").to_vec(), 0), 3);
    drop(provided);
    until("nobody provides it any more", || drone.state("add", true).is_empty() && base.state("add", false) == "waiting");
    call().await.expect_err("nobody can answer");
    until("it is counted", || lost(drone.bridge.as_ref(), "add") == 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_goes_fails_though_another_one_has_come_meanwhile() {
    let router = Router::new();
    let (Some(mut old), Some(mut new)) = (peer(&router), peer(&router)) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let service = client(&node);
    old.ask(&json!({"do": "serve", "silently": true}));
    until("it is provided", || robot.state("add", false) == "open");
    let response = service.start(numbers(&[1, 2]), PATIENCE).expect("it is called");
    until("it arrives", || old.ask(&json!({"do": "kept"})) == 1);
    new.ask(&json!({"do": "serve"}));
    until("the other one is there", || service.call(&[&numbers(&[1, 2])], Duration::from_millis(500)).is_ok());
    old.kill();
    let error = response.await.expect_err("nobody can answer");
    assert_eq!(error.kind(), ErrorKind::Failed, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_its_server_keeps_for_ever_is_nothing_that_is_waited_for_when_it_has_failed() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let service = client(&node);
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    peer.ask(&json!({"do": "serve", "silently": true}));
    until("it is provided", || robot.state("add", false) == "open");
    let before = tasks();
    let cancelled = service.start(numbers(&[1, 2]), PATIENCE).expect("it is called");
    until("the server has it", || peer.ask(&json!({"do": "kept"})) == 1);
    assert!(tasks() > before, "it is under way");
    drop(cancelled);
    until("it is not any more", || tasks() == before);
    let failed = service.start(numbers(&[1, 2]), PATIENCE).expect("it is called");
    until("the server has it, too", || peer.ask(&json!({"do": "kept"})) == 2);
    peer.ask(&json!({"do": "close", "id": "serve"}));
    failed.await.expect_err("nobody serves it any more");
    until("it is not any more", || tasks() == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_ros_2_is_told_why_a_call_fails() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("adder");
    let _provided = providing(&node, |call| call.fail("these cannot be added").expect("somebody waits"));
    let told = peer.ask(&json!({"do": "call", "clients": 1, "numbers": 1}));
    assert!(told["failed"][0].as_str().is_some_and(|why| why.contains("these cannot be added")), "{told}");
    until("it is counted", || robot.channel("add").is_some_and(|told| told.lost == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_types_are_no_pair_is_refused_with_why() {
    let router = Router::new();
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let service = doubler(&node);
    let _pending = service.start(number(1), PATIENCE).expect("it is called");
    let why = "refused: 'double' cannot be opened: a service of ROS 2 has requests NAME_Request and responses NAME_Response, and this one has calc/msg/Number and calc/msg/Number";
    until("it is told", || robot.state("double", false) == why);
}

/// That counts in which domain a call is executed.
fn counting(node: &Node) -> (Provider, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let provided = providing(node, move |call| {
        counted.fetch_add(1, Ordering::Relaxed);
        call.answer(&[&numbers(&[7])]).expect("somebody waits");
    });
    (provided, calls)
}

/// Whether ROS 2 knows of this node.
fn is_known(network: &Session, node: &str) -> bool {
    let all = network.liveliness().get("@ros2_lv/7/**").wait().expect("they can be asked for");
    let tokens = std::iter::from_fn(|| all.recv().ok()).filter_map(|reply| reply.into_result().ok());
    tokens.map(|token| token.key_expr().to_string()).any(|token| token.contains(&format!("/{node}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_domain_asks_of_others_it_does_not_ask_of_itself_whoever_has_asked_first_and_gone() {
    let router = Router::new();
    let network = router.client();
    let (base, drone) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
    let mut second = Robot::ros2(rules(r#"{ "services": { "base_rule": "out" } }"#), &router);
    second.stop().await;
    second.settings.domain = base.settings.domain.clone();
    second.start();
    let (here, there, earlier, user) = (base.node("here"), drone.node("there"), base.node("earlier"), base.node("user"));
    let ((_here, executed_here), (_there, executed_there)) = (counting(&here), counting(&there));
    let first = client(&earlier);
    until("all is provided to each other", || {
        let states = [base.state("add", true), base.state("add", false), second.state("add", true), drone.state("add", true)];
        states.iter().all(|state| state == "open")
    });
    first.call(&[&numbers(&[1, 1])], PATIENCE).expect("it is answered");
    let service = client(&user);
    until("who is to go on is known", || is_known(&network, "user/%add"));
    drop((first, earlier));
    until("who has asked first is not any more", || !is_known(&network, "earlier"));
    common::zenoh::a_while();
    for at in 0..20 {
        assert_eq!(number_at(&service.call(&[&numbers(&[at, at])], PATIENCE).expect("it is answered").to_vec(), 0), 7);
    }
    common::zenoh::a_while();
    let executed = [executed_here, executed_there].map(|calls| calls.load(Ordering::Relaxed));
    assert_eq!(executed.iter().sum::<u32>(), 21, "{executed:?}");
}
