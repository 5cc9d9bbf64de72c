//! Services of ROS 2, over DDS.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::ros2::{Domain, Peer, Robot};
use common::services::{adder, adds_a_thousand_times, asked, client, die, lost, number, provider, value};
use common::{IMAGE, PATIENCE, all, alone, domain_alone, image, node, rules, until};
use serde_json::json;
use sinew::raw::{Client, ClientOptions, Provider, ProviderOptions};
use sinew::{ErrorKind, Node};

fn doubling(node: &Node) -> Provider {
    provider(node, |call| {
        let doubled = 2 * asked(&call);
        call.answer(&[&number(doubled)]).expect("somebody waits");
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_across_in_both_directions() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    for (here, there) in [(&base, &drone), (&drone, &base)] {
        let (calculator, user) = (there.node("calculator"), here.node("user"));
        let provided = doubling(&calculator);
        let service = client(&user);
        for at in 0..1000 {
            assert_eq!(value(&service.call(&[&number(at)], PATIENCE).expect("it is answered").to_vec()), 2 * at);
        }
        for (robot, outgoing) in [(there, true), (here, false)] {
            // Who answers counts it when the answer is sent.
            until("all are counted", || robot.channel("double", outgoing).is_some_and(|told| told.messages >= 1000));
            let told = robot.channel("double", outgoing).expect("it is told");
            assert_eq!(
                (told.kind.as_str(), told.state.as_str(), told.messages, told.bytes, told.lost),
                ("service", "open", 1000, 16_000, 0)
            );
        }
        drop((service, provided));
        until("it is closed", || here.channel("double", false).is_none() && there.channel("double", true).is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_several_domains_get_their_own_answers() {
    let domain = Domain::new();
    let base = Robot::new(all(), &domain);
    let calculator = base.node("calculator");
    let _provided = doubling(&calculator);
    let robots = [1u32, 2, 3].map(|number| (number, Robot::new(all(), &domain)));
    std::thread::scope(|scope| {
        for (first, robot) in &robots {
            scope.spawn(move || {
                let service = client(&robot.node("user"));
                for at in 0..300 {
                    let asked = 1000 * first + at;
                    assert_eq!(value(&service.call(&[&number(asked)], PATIENCE).expect("it is answered").to_vec()), 2 * asked);
                }
            });
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_provider_that_comes_later() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let service = client(&user);
    let early = service.start(number(1), Duration::from_millis(500)).expect("it is called");
    assert_eq!(early.await.expect_err("there is nobody").kind(), ErrorKind::Timeout);
    let response = service.start(number(21), PATIENCE).expect("it is called");
    until("it waits", || base.state("double", false) == "waiting");
    let _provided = doubling(&calculator);
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 42);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_goes_fails() {
    let domain = Domain::new();
    let (base, mut drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let response = client(&user).start(number(1), PATIENCE).expect("it is called");
    let _call = calls.recv_timeout(PATIENCE).expect("it arrives");
    drone.stop().await;
    let error = response.await.expect_err("nobody can answer");
    assert_eq!(error.kind(), ErrorKind::Lost, "{error}");
}

/// In a process of its own.
#[test]
fn process_that_dies_when_it_is_called() {
    let Some(domain) = domain_alone() else { return };
    let node = node(&domain, "calculator");
    let _provided = provider(&node, die);
    std::thread::sleep(PATIENCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_ros_2_whose_provider_here_dies_is_answered_by_the_next_one_or_counted() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (calculator, local, user) = (drone.node("successor"), drone.node("local"), base.node("user"));
    // For whose sake the service stays.
    let _local = client(&local);
    let service = client(&user);
    let call = || {
        let mut dies = alone("process_that_dies_when_it_is_called", &drone.path());
        let response = service.start(number(4), PATIENCE).expect("it is called");
        assert!(dies.wait().expect("it is a child").code().is_none(), "it is killed");
        response
    };
    let response = call();
    let provided = doubling(&calculator);
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 8);
    drop(provided);
    until("nobody provides it any more", || drone.channel("double", true).is_none() && base.state("double", false) == "waiting");
    call().await.expect_err("nobody can answer");
    until("it is counted", || lost(drone.bridge.as_ref(), "double") == 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_goes_fails_though_another_one_has_come_meanwhile() {
    let domain = Domain::new();
    let (base, mut old, new) = (Robot::new(all(), &domain), Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (calculator, successor, user) = (old.node("calculator"), new.node("successor"), base.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let _silent = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let service = client(&user);
    let response = service.start(number(1), PATIENCE).expect("it is called");
    let _call = calls.recv_timeout(PATIENCE).expect("it arrives");
    let _answering = doubling(&successor);
    until("the other one is there", || service.call(&[&number(2)], Duration::from_millis(500)).is_ok());
    old.stop().await;
    let error = response.await.expect_err("nobody can answer");
    assert_eq!(error.kind(), ErrorKind::Failed, "{error}");
    assert_eq!(value(&service.call(&[&number(3)], PATIENCE).expect("it is answered").to_vec()), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_of_cyclone_dds_is_called_a_thousand_times() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ask(&json!({"do": "serve"}));
    let robot = Robot::new(all(), &domain);
    adds_a_thousand_times(&robot.node("user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_cyclone_dds_get_their_own_answers() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("adder");
    let _provided = adder(&node);
    assert_eq!(peer.ask(&json!({"do": "call", "clients": 4, "numbers": 250})), json!({"wrong": [], "unanswered": 0}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_is_forgotten() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let response = client(&user).start(number(1), PATIENCE).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    drop((response, user, base));
    // Else the answer may be on its way before the bridge knows that the caller has gone, and not be lost.
    until("the bridge knows", || drone.bridge.as_ref().is_some_and(|bridge| !bridge.status()[0].connected));
    call.answer(&[&number(2)]).expect("the bridge waits");
    until("it is given up", || drone.channel("double", true).is_some_and(|told| told.lost == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_comes_again_gets_no_answer_to_what_it_asked_before() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let before = client(&user);
    let given_up = before.start(number(1), PATIENCE).expect("it is called");
    let earlier = calls.recv_timeout(PATIENCE).expect("it arrives");
    drop((given_up, before));
    until("nobody calls any more", || base.channel("double", false).is_none());
    let service = client(&user);
    let response = service.start(number(2), PATIENCE).expect("it is called");
    let later = calls.recv_timeout(PATIENCE).expect("it arrives");
    earlier.answer(&[&number(11)]).expect("the bridge waits");
    until("it is sent", || drone.channel("double", true).is_some_and(|told| told.messages + told.lost == 1));
    later.answer(&[&number(22)]).expect("the bridge waits");
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 22);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_larger_than_the_bridge_takes_fails_with_a_text() {
    let domain = Domain::new();
    let (mut base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    base.stop().await;
    base.settings.max_message = 1 << 20;
    base.start();
    let options = ProviderOptions::default();
    let answer = |call: sinew::raw::Call| call.answer(&[&image(1, 2 << 20)]).expect("somebody waits");
    let _provided = Provider::new(&drone.node("lab"), "develop", IMAGE, IMAGE, &options, answer).expect("it may provide");
    let photos = Client::new(&base.node("user"), "develop", IMAGE, IMAGE, &ClientOptions::default()).expect("it may call");
    let why = photos.call(&[&image(1, 10)], PATIENCE).expect_err("it cannot be carried");
    assert_eq!(why.kind(), ErrorKind::Failed, "{why}");
    assert!(why.to_string().contains("1048576"), "{why}");
}

/// That counts in which domain a call is executed.
fn counting(node: &Node) -> (Provider, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let provided = provider(node, move |call| {
        counted.fetch_add(1, Ordering::Relaxed);
        let doubled = 2 * asked(&call);
        call.answer(&[&number(doubled)]).expect("somebody waits");
    });
    (provided, calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_domain_asks_of_others_it_does_not_ask_of_itself() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let mut second = Robot::new(rules(r#"{ "services": { "base_rule": "out" } }"#), &domain);
    second.stop().await;
    second.settings.domain = base.settings.domain.clone();
    second.start();
    let (here, there, user) = (base.node("here"), drone.node("there"), base.node("user"));
    let ((_here, executed_here), (_there, executed_there)) = (counting(&here), counting(&there));
    let service = client(&user);
    until("all is provided to each other", || {
        let states = [base.state("double", true), base.state("double", false), second.state("double", true), drone.state("double", true)];
        states.iter().all(|state| state == "open")
    });
    for at in 0..20 {
        assert_eq!(value(&service.call(&[&number(at)], PATIENCE).expect("it is answered").to_vec()), 2 * at);
    }
    std::thread::sleep(Duration::from_millis(500));
    let executed = [executed_here, executed_there].map(|calls| calls.load(Ordering::Relaxed));
    assert_eq!(executed.iter().sum::<u32>(), 20, "{executed:?}");
}
