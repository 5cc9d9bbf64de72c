//! Actions of ROS 2, over DDS.

mod common;

use common::actions::{CANCELLED, EXECUTING, Ended, REJECTED, SUCCEEDED, Sender, Server, WITHOUT_END, ended, fibonacci};
use common::ros2::{Domain, Peer, Robot};
use common::{all, until};
use serde_json::json;

/// Two domains with a bridge each: one executes goals, and the other one sends them.
struct Across {
    server: Server,
    sender: Sender,
    there: Robot,
    _here: Robot,
    _domain: Domain,
}

impl Across {
    fn new() -> Across {
        let domain = Domain::new();
        let (here, there) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
        let (server, sender) = (Server::new(&there.node("counter")), Sender::new(&here.node("user")));
        sender.ready();
        Across { server, sender, there, _here: here, _domain: domain }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_are_executed_across_with_feedback_and_results() {
    let Across { server, sender, .. } = &Across::new();
    let told = ended(sender.send(1, 5)).await;
    assert_eq!((told.state, &told.sequence, told.text.as_str()), (SUCCEEDED, &fibonacci(5), ""));
    let feedback = sender.feedback(5);
    assert_eq!(feedback.iter().map(|each| each.sequence.clone()).collect::<Vec<_>>(), (1..=5).map(fibonacci).collect::<Vec<_>>());
    assert!(feedback.iter().all(|each| each.id == [1; 16] && each.server == told.server));
    assert!(feedback.iter().map(|each| each.number).eq(1..=5) && told.last_feedback <= 5);
    sender.stands(&[SUCCEEDED]);
    assert_eq!(server.states(), [SUCCEEDED]);

    let several: Vec<_> = (2..20).map(|number| sender.send(number, i32::from(number))).collect();
    for (response, order) in several.into_iter().zip(2..) {
        assert_eq!(ended(response).await.sequence, fibonacci(order));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_that_is_not_accepted_is_rejected() {
    let Across { sender, .. } = &Across::new();
    let rejected = ended(sender.send(1, -1)).await;
    let text = "the server there does not accept the goal".to_owned();
    assert_eq!(rejected, Ended { state: REJECTED, server: 0, last_feedback: 0, sequence: vec![], text });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_cancelled_by_a_wish() {
    let Across { server, sender, .. } = &Across::new();
    let [kept, cancelled] = [1, 2].map(|number| sender.send(number, WITHOUT_END));
    sender.stands(&[EXECUTING, EXECUTING]);
    sender.cancel(2);
    let told = ended(cancelled).await;
    assert_eq!((told.state, told.sequence, told.text.as_str()), (CANCELLED, vec![42], ""));
    assert_eq!(server.states(), [EXECUTING, CANCELLED]);
    sender.cancel(0);
    assert_eq!(ended(kept).await.state, CANCELLED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_whose_client_has_gone_is_to_give_up() {
    let Across { server, sender, .. } = &Across::new();
    let response = sender.send(1, WITHOUT_END);
    sender.stands(&[EXECUTING]);
    drop(response);
    until("it is cancelled", || server.states() == [CANCELLED]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_whose_bridge_has_gone_is_to_give_up() {
    let mut across = Across::new();
    let response = across.sender.send(1, WITHOUT_END);
    across.sender.stands(&[EXECUTING]);
    across.there.stop().await;
    until("it is given up", || across.server.is_given_up());
    let error = response.await.expect_err("nobody can answer");
    assert_eq!(error.kind(), sinew::ErrorKind::Lost, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_cyclone_dds_executes_goals_of_the_domain() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ask(&json!({"do": "execute", "action": "count"}));
    let robot = Robot::new(all(), &domain);
    let node = robot.node("user");
    let sender = Sender::new(&node);
    sender.ready();
    let responses: Vec<_> = (1..=20).map(|number| sender.send(number, i32::from(number))).collect();
    for (response, order) in responses.into_iter().zip(1..) {
        let told = ended(response).await;
        assert_eq!((told.state, told.sequence), (SUCCEEDED, fibonacci(order)));
    }
    sender.feedback(0);
    let told = ended(sender.send(21, 5)).await;
    assert_eq!(sender.feedback(5).iter().filter(|each| each.server == told.server).count(), 5);
    let rejected = ended(sender.send(30, -1)).await;
    assert_eq!(rejected.state, REJECTED);
    let response = sender.send(31, WITHOUT_END);
    until("it is executed", || {
        sender.cancel(31);
        peer.ask(&json!({"do": "cancelled"})) == json!(1)
    });
    assert_eq!(ended(response).await.state, CANCELLED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_cyclone_dds_has_goals_executed_in_the_domain() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("counter");
    let server = Server::new(&node);
    // What is told before the bridge reads feedback is lost, but for the last.
    let told = peer.ask(&json!({"do": "goals", "action": "count", "first": 50, "orders": [1]}));
    assert_eq!(told[0]["feedback"], json!(1));
    let orders: Vec<i32> = (1..=8).collect();
    let told = peer.ask(&json!({"do": "goals", "action": "count", "first": 1, "orders": orders}));
    for (goal, order) in told.as_array().expect("it is a list").iter().zip(1..) {
        assert_eq!(goal["sequence"], json!(fibonacci(order)), "{goal}");
        assert_eq!((&goal["accepted"], &goal["status"], &goal["feedback"]), (&json!(true), &json!(SUCCEEDED), &json!(order)), "{goal}");
    }
    assert_eq!(server.states(), [SUCCEEDED; 9]);
    let told = peer.ask(&json!({"do": "goals", "action": "count", "first": 100, "orders": [-1]}));
    assert_eq!(told[0]["accepted"], json!(false));
    // A goal that goes on until it is cancelled, twice.
    let told = peer.ask(&json!({"do": "cancel", "action": "count", "order": WITHOUT_END}));
    assert_eq!(told, json!({"codes": [0, 3, 2], "cancelling": 1, "status": CANCELLED, "sequence": [42]}));
}
