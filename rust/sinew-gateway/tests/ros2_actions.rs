//! Actions of ROS 2, over DDS.

mod common;

use std::time::Duration;

use common::actions::{self, EXECUTING, Sender, Server, WITHOUT_END};
use common::ros2::{Domain, Peer, Robot};
use common::{PATIENCE, all, rules, until};
use serde_json::json;

/// Two domains with a bridge each: one executes goals, and the other one sends them.
struct Across {
    server: Server,
    sender: Sender,
    there: Robot,
    _here: Robot,
    domain: Domain,
}

impl Across {
    fn new() -> Across {
        let domain = Domain::new();
        let (here, there) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
        let (server, sender) = (Server::new(&there.node("counter")), Sender::new(&here.node("user")));
        sender.ready();
        Across { server, sender, there, _here: here, domain }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_are_executed_across_with_feedback_and_results() {
    let Across { server, sender, .. } = &Across::new();
    actions::are_executed_across(server, sender).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_that_is_not_accepted_is_rejected() {
    actions::are_rejected_across(&Across::new().sender).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_cancelled_by_a_wish() {
    let Across { server, sender, .. } = &Across::new();
    actions::are_cancelled_by_wishes_across(server, sender).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_whose_client_has_gone_is_to_give_up() {
    let Across { server, sender, .. } = &Across::new();
    actions::are_cancelled_when_their_client_has_gone(server, sender);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_of_ros_2_whose_action_is_let_out_no_more_is_told_to_be_aborted() {
    let mut across = Across::new();
    let Across { sender, there, .. } = &mut across;
    there.settings.rules = rules(r#"{ "topics": { "base_rule": "both" } }"#);
    let close = || there.bridge.as_ref().expect("it runs").change(&there.settings);
    actions::are_aborted_when_closed(sender, close).await;
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
async fn a_goal_whose_server_goes_fails_though_another_one_has_come_meanwhile() {
    let mut across = Across::new();
    let response = across.sender.send(1, WITHOUT_END);
    until("it is executed", || across.server.states() == [EXECUTING]);
    let new = Robot::new(all(), &across.domain);
    let successor = Server::new(&new.node("successor"));
    let mut goals = 2..=u8::MAX;
    let mut sent = Vec::new();
    until("the other one gets goals, too", || {
        sent.extend(goals.next().map(|number| across.sender.send(number, 1)));
        std::thread::sleep(Duration::from_millis(100));
        !successor.states().is_empty()
    });
    across.there.stop().await;
    let ended = tokio::time::timeout(PATIENCE, response).await.expect("it ends");
    let error = ended.expect_err("nobody can answer");
    assert_eq!(error.kind(), sinew::ErrorKind::Failed, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_cyclone_dds_executes_goals_of_the_domain() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ask(&json!({"do": "execute", "action": "count"}));
    let robot = Robot::new(all(), &domain);
    let node = robot.node("user");
    actions::are_executed_by(&mut peer, &Sender::new(&node)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_at_a_server_of_cyclone_dds_is_cancelled_when_its_only_client_here_goes_with_its_node() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ask(&json!({"do": "execute", "action": "count"}));
    let robot = Robot::new(all(), &domain);
    actions::are_cancelled_by(&mut peer, || robot.node("user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_at_a_server_of_cyclone_dds_are_cancelled_when_the_bridge_goes() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ask(&json!({"do": "execute", "action": "count"}));
    let mut robot = Robot::new(all(), &domain);
    let node = robot.node("user");
    let sender = Sender::new(&node);
    actions::are_cancelled_when_their_bridge_goes(&mut peer, &sender, robot.stop()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_cyclone_dds_has_goals_executed_in_the_domain() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("counter");
    actions::are_executed_for(&mut peer, &Server::new(&node));
}
