//! Actions of ROS 2, over Zenoh as rmw_zenoh speaks it.
#![cfg(feature = "zenoh")]

mod common;

use common::actions::{self, CANCELLED, EXECUTING, SUCCEEDED, Sender, Server, WITHOUT_END, ended, fibonacci};
use common::ros2::Peer;
use common::zenoh::{Robot, Router};
use common::{all, rules, until};
use serde_json::json;
use sinew::ErrorKind;

/// Two domains with a bridge each: one executes goals, and the other one sends them.
struct Across {
    server: Server,
    sender: Sender,
    there: Robot,
    _here: Robot,
    _router: Router,
}

impl Across {
    fn new() -> Across {
        let router = Router::new();
        let (here, there) = (Robot::ros2(all(), &router).connected(), Robot::ros2(all(), &router).connected());
        let (server, sender) = (Server::new(&there.node("counter")), Sender::new(&here.node("user")));
        sender.ready();
        Across { server, sender, there, _here: here, _router: router }
    }
}

fn peer(router: &Router) -> Option<Peer> {
    Peer::start("rmw_zenoh_peer.py", &[&router.endpoint, "7"])
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
    is_lost(&response.await.expect_err("nobody can answer"));
}

/// By the bridge, or, where that had heard first that nobody is there any more, by the domain.
fn is_lost(error: &sinew::Error) {
    assert!(matches!(error.kind(), ErrorKind::Failed | ErrorKind::Lost), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_ros_2_executes_goals_of_the_domain() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let sender = Sender::new(&node);
    peer.ask(&json!({"do": "execute", "action": "count"}));
    actions::are_executed_by(&mut peer, &sender).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_at_a_server_of_ros_2_is_cancelled_when_its_only_client_here_goes_with_its_node() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    peer.ask(&json!({"do": "execute", "action": "count"}));
    let robot = Robot::ros2(all(), &router).connected();
    actions::are_cancelled_by(&mut peer, || robot.node("user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_at_a_server_of_ros_2_are_cancelled_when_the_bridge_goes() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    peer.ask(&json!({"do": "execute", "action": "count"}));
    let mut robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let sender = Sender::new(&node);
    actions::are_cancelled_when_their_bridge_goes(&mut peer, &sender, robot.stop()).await;
}

/// So a client of the domain that waits for its last feedback waits for no more (A11).
#[tokio::test(flavor = "multi_thread")]
async fn feedback_that_comes_before_a_result_is_told_before_it() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let sender = Sender::new(&node);
    peer.ask(&json!({"do": "execute", "action": "count"}));
    sender.ready();
    for number in 1..50 {
        assert_eq!(ended(sender.send(number, 5)).await.last_feedback, 5 * u64::from(number));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_ros_2_has_goals_executed_in_the_domain() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("counter");
    actions::are_executed_for(&mut peer, &Server::new(&node));
}

#[tokio::test(flavor = "multi_thread")]
async fn goals_wait_for_a_server_of_ros_2_and_end_when_it_goes() {
    let router = Router::new();
    let Some(mut first) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("user");
    let sender = Sender::new(&node);
    let early = sender.send(1, 3);
    let waits = || until("goals wait", || robot.state("count/_action/goal", false) == "waiting");
    waits();
    first.ask(&json!({"do": "execute", "action": "count"}));
    assert_eq!(ended(early).await.sequence, fibonacci(3));
    let under_way = sender.send(2, WITHOUT_END);
    sender.stands(&[SUCCEEDED, EXECUTING]);
    first.kill();
    is_lost(&under_way.await.expect_err("nobody can answer"));
    waits();
    let late = sender.send(3, 4);
    let mut second = peer(&router).expect("there was one");
    second.ask(&json!({"do": "execute", "action": "count"}));
    assert_eq!(ended(late).await.sequence, fibonacci(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_of_ros_2_goes_on_without_its_client_and_whoever_asks_later_is_told_how_it_stands_and_its_result() {
    let router = Router::new();
    let (Some(mut first), Some(mut second)) = (peer(&router), peer(&router)) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let node = robot.node("counter");
    let server = Server::new(&node);
    let told = first.ask(&json!({"do": "goals", "action": "count", "first": 1, "orders": [3]}));
    assert_eq!(told[0]["status"], json!(SUCCEEDED));
    assert_eq!(first.ask(&json!({"do": "send", "action": "count", "id": 2, "order": WITHOUT_END})), json!(true));
    assert_eq!(first.ask(&json!({"do": "send", "action": "count", "id": 2, "order": 1})), json!(false), "it was sent before");
    first.kill();
    assert_eq!(second.ask(&json!({"do": "stand", "action": "count", "count": 2})), json!([SUCCEEDED, EXECUTING]));
    assert_eq!(server.states(), [SUCCEEDED, EXECUTING]);
    let mut result = |id: u8| second.ask(&json!({"do": "result", "action": "count", "id": id}));
    assert_eq!(result(1), json!({"status": SUCCEEDED, "sequence": fibonacci(3)}));
    assert_eq!(result(9), json!({"status": 0, "sequence": []}), "nobody knows it");
    let sender = Sender::new(&node);
    sender.cancel(2);
    assert_eq!(result(2), json!({"status": CANCELLED, "sequence": [42]}));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_three_servers_and_two_publishers_of_the_node_that_has_it() {
    let router = Router::new();
    let Some(mut peer) = peer(&router) else { return };
    let robot = Robot::ros2(all(), &router).connected();
    let server = Server::new(&robot.node("arm/counter"));
    let expected = [
        ("SS", "send_goal", "example_interfaces::action::dds_::Fibonacci_SendGoal_"),
        ("SS", "get_result", "example_interfaces::action::dds_::Fibonacci_GetResult_"),
        ("SS", "cancel_goal", "action_msgs::srv::dds_::CancelGoal_"),
        ("MP", "feedback", "example_interfaces::action::dds_::Fibonacci_FeedbackMessage_"),
        ("MP", "status", "action_msgs::msg::dds_::GoalStatusArray_"),
    ];
    let mut there = || {
        let told = peer.ask(&json!({"do": "tokens"}));
        let tokens: Vec<String> = told.as_object().expect("it is one").keys().cloned().collect();
        let is_there = |(kind, part, ty): &(&str, &str, &str)| {
            let named = format!("/%arm/counter/%count%_action%{part}/{ty}/RIHS01_");
            tokens.iter().filter(|token| token.contains(&format!("/{kind}/")) && token.contains(&named)).count()
        };
        expected.iter().map(is_there).collect::<Vec<_>>()
    };
    until("all are there", || there() == [1; 5]);
    drop(server);
    until("none is", || there() == [0; 5]);
}
