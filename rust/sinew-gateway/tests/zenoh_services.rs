//! Services through a Zenoh network.
#![cfg(feature = "zenoh")]

mod common;

use std::time::Duration;

use common::services::{NUMBER, asked, client, fails_as_its_provider_says, is_cancelled_when_nobody_waits, number, provider, value};
use common::zenoh::{Robot, Router};
use common::{PATIENCE, all, rules, until};
use sinew::raw::{Client, ClientOptions, Provider};
use sinew::{ErrorKind, Node};
use zenoh::Wait;
use zenoh::query::Reply;

fn doubling(node: &Node) -> Provider {
    provider(node, |call| {
        let doubled = 2 * asked(&call);
        call.answer(&[&number(doubled)]).expect("somebody waits");
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_across_in_both_directions() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router), Robot::new(all(), &router));
    for (here, there) in [(&base, &drone), (&drone, &base)] {
        let (calculator, user) = (there.node("calculator"), here.node("user"));
        let provided = doubling(&calculator);
        let service = client(&user);
        for at in 0..20 {
            assert_eq!(value(&service.call(&[&number(at)], PATIENCE).expect("it is answered").to_vec()), 2 * at);
        }
        for (robot, outgoing) in [(there, true), (here, false)] {
            // An answer is counted a moment after it has gone.
            until("all are counted", || robot.channel("double").is_some_and(|told| told.messages >= 20));
            let told = robot.channel("double").expect("it is told");
            assert_eq!((told.kind.as_str(), told.outgoing, told.state.as_str(), told.messages), ("service", outgoing, "open", 20));
            assert_eq!((told.bytes, told.lost), (20 * 16, 0));
        }
        drop((service, provided));
        until("it is closed", || here.channel("double").is_none() && there.channel("double").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_provider_that_comes_later() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router).connected(), Robot::new(all(), &router).connected());
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let service = client(&user);
    let early = service.start(number(1), Duration::from_millis(500)).expect("it is called");
    assert_eq!(early.await.expect_err("there is nobody").kind(), ErrorKind::Timeout);
    let response = service.start(number(21), PATIENCE).expect("it is called");
    until("it waits", || base.channel("double").is_some_and(|channel| channel.state == "waiting"));
    let _provided = doubling(&calculator);
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 42);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_fails_with_is_told() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    fails_as_its_provider_says(&calculator, &user);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_of_either_side_do_not_let_is_not_called() {
    let router = Router::new();
    let closed = |rule| rules(&format!(r#"{{ "topics": {{ "base_rule": "both" }}, "services": {{ "base_rule": "{rule}" }} }}"#));
    for (here, there) in [(closed("in"), all()), (all(), closed("out"))] {
        let (drone, base) = (Robot::new(here, &router).connected(), Robot::new(there, &router).connected());
        let (calculator, user) = (drone.node("calculator"), base.node("user"));
        let _provided = doubling(&calculator);
        let error = client(&user).call(&[&number(1)], Duration::from_secs(1)).expect_err("nobody answers");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_nobody_waits_for_any_more_is_cancelled_there() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    is_cancelled_when_nobody_waits(&calculator, &user);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_provider_goes_before_it_has_answered_fails_and_is_not_made_again() {
    let router = Router::new();
    let (base, mut drone) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&calculator, move |call| send.send(call).expect("the test goes on"));
    let response = client(&user).start(number(1), PATIENCE).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    drone.stop().await;
    let error = response.await.expect_err("it fails");
    // By the gateway, or, where that had heard first that nobody is there any more, by the domain.
    assert!(matches!(error.kind(), ErrorKind::Failed | ErrorKind::Lost), "{error}");
    drop(call);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_its_provider_keeps_for_ever_is_nothing_that_is_waited_for_when_it_has_failed() {
    let router = Router::new();
    let robot = Robot::new(all(), &router).connected();
    let (user, other) = (robot.node("user"), router.client());
    let (keep, kept) = std::sync::mpsc::channel();
    let silent = other.declare_queryable("sinew/@service/double").callback(move |query| keep.send(query).expect("the test goes on"));
    let silent = silent.wait().expect("it may");
    let service = client(&user);
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until("it is provided", || robot.channel("double").is_some_and(|told| told.state == "open"));
    let before = tasks();
    let failed = service.start(number(1), PATIENCE).expect("it is called");
    let _kept = tokio::task::block_in_place(|| kept.recv_timeout(PATIENCE)).expect("it arrives");
    assert!(tasks() > before, "it is under way");
    silent.undeclare().wait().expect("it may");
    failed.await.expect_err("nobody provides it any more");
    until("nobody waits for it any more", || tasks() == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn services_of_different_types_are_not_called_and_the_caller_hears_why() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let _provided = doubling(&calculator);
    let other = "calc/Big{value:uint64;}";
    let service = Client::new(&user, "double", other, NUMBER, &ClientOptions::default()).expect("it may call");
    let error = service.call(&[&[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]], PATIENCE).expect_err("it fails");
    assert!(error.to_string().contains("requests calc/Number in the domain that provides it (there), and calc/Big"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_zenoh_alone_calls_a_service_and_provides_one() {
    let router = Router::new();
    let drone = Robot::new(all(), &router).connected();
    let (calculator, other) = (drone.node("calculator"), router.client());
    let _provided = doubling(&calculator);
    let answer = |request: Vec<u8>| {
        let replies = other.get("sinew/@service/double").payload(request).wait().expect("it is asked");
        tokio::task::block_in_place(|| replies.recv_timeout(PATIENCE).ok().flatten()).map(Reply::into_result)
    };
    until("it is answered", || matches!(answer(number(4)), Some(Ok(sample)) if value(&sample.payload().to_bytes()) == 8));
    let refused = answer(vec![1, 2, 3]).expect("there is an answer").expect_err("it is no request");
    assert!(refused.payload().try_to_string().expect("it is a text").contains("a call of 'double' is no calc/Number"), "{refused:?}");
    let halving = other.declare_queryable("sinew/@service/half").callback(|query| {
        let half = query.payload().map_or(0, |request| value(&request.to_bytes())) / 2;
        let reply = if half == 50 { vec![0xff; 3] } else { number(half) };
        query.reply("sinew/@service/half", reply).wait().expect("it is sent");
    });
    let _halving = halving.wait().expect("it may");
    let service = Client::new(&calculator, "half", NUMBER, NUMBER, &ClientOptions::default()).expect("it may call");
    assert_eq!(value(&service.call(&[&number(42)], PATIENCE).expect("it is answered").to_vec()), 21);
    let error = service.call(&[&number(100)], PATIENCE).expect_err("what comes back is none");
    assert!(error.to_string().contains("what the Zenoh network has answered is no calc/Number"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storage_of_everything_answers_no_calls_and_a_topic_may_have_the_name_of_a_service() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router), Robot::new(all(), &router));
    let storage = router.client();
    let storing = storage.declare_queryable("sinew/**").complete(true).callback(|query| {
        query.reply(query.key_expr(), number(666)).wait().expect("it is sent");
    });
    let _storing = storing.wait().expect("it may");
    let (calculator, user) = (drone.node("calculator"), base.node("user"));
    let _provided = doubling(&calculator);
    let latched = sinew::Qos { transient_local: true, ..sinew::Qos::keep_last(1) };
    let topic = common::publisher(&calculator, "double", &latched);
    topic.publish(&[&common::image(1, 10)]).expect("it is published");
    for at in 0..5 {
        assert_eq!(value(&client(&user).call(&[&number(at)], PATIENCE).expect("it is answered").to_vec()), 2 * at);
    }
}
