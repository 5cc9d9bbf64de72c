//! Services between domains.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::relay::through_a_relay;
use common::services::{asked, client, fails_as_its_provider_says, is_cancelled_when_nobody_waits, number, provider, value};
use common::{PATIENCE, Robot, all, until};
use sinew::Node;
use sinew::raw::Provider;

/// Doubles, and counts how often.
fn doubling(node: &Node) -> (Provider, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let provider = provider(node, move |call| {
        counted.fetch_add(1, Ordering::Relaxed);
        let doubled = 2 * asked(&call);
        call.answer(&[&number(doubled)]).expect("somebody waits");
    });
    (provider, count)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_across_domains_in_both_directions() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    for (here, there) in [(&base, &drone), (&drone, &base)] {
        let (calculator, user) = (there.node("calculator"), here.node("user"));
        let (provided, count) = doubling(&calculator);
        let service = client(&user);
        for at in 0..20 {
            assert_eq!(value(&service.call(&[&number(at)], PATIENCE).expect("it is answered").to_vec()), 2 * at);
        }
        assert_eq!(count.load(Ordering::Relaxed), 20);
        drop((service, provided));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_provider_that_comes_later_in_the_other_domain() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let service = client(&user);
    let response = service.start(number(21), PATIENCE).expect("it is called");
    until("the gateways are connected", || base.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty()));
    let (_provided, _) = doubling(&calculator);
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 42);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_fails_with_is_told_in_the_other_domain() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    fails_as_its_provider_says(&calculator, &user);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_nobody_waits_for_any_more_is_cancelled_in_the_other_domain() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    is_cancelled_when_nobody_waits(&calculator, &user);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_on_when_the_connection_was_lost_and_is_executed_once() {
    let (base, relay, drone) = through_a_relay().await;
    let (calculator, user) = (base.node("calculator"), drone.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let service = client(&user);
    let early = service.start(number(1), None).expect("it is called");
    let late = service.start(number(2), None).expect("it is called");
    let (first, second) = (calls.recv_timeout(PATIENCE).expect("it arrives"), calls.recv_timeout(PATIENCE).expect("it arrives"));
    let (one, two) = if asked(&first) == 1 { (first, second) } else { (second, first) };
    relay.cut(true);
    let count = |robot: &Robot| robot.gateway.as_ref().map_or(0, |gateway| gateway.connections().len());
    until("both have lost the other one", || count(&base) == 0 && count(&drone) == 0);
    // One is answered while nobody can hear it, one when they can again.
    one.answer(&[&number(11)]).expect("the gateway waits");
    relay.cut(false);
    assert_eq!(value(&early.await.expect("it is answered").to_vec()), 11);
    two.answer(&[&number(22)]).expect("the gateway waits");
    assert_eq!(value(&late.await.expect("it is answered").to_vec()), 22);
    assert!(calls.try_recv().is_err(), "a call has come twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_provider_leaves_goes_to_the_next_one_that_comes() {
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let leaving = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let service = client(&user);
    let response = service.start(number(21), Duration::from_secs(60)).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    drop(leaving);
    let (_provided, _) = doubling(&calculator);
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 42);
    drop(call);
}
