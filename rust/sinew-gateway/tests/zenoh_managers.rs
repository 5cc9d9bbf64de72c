//! What goes through a Zenoh network when the managers of the domains die.
#![cfg(feature = "zenoh")]

mod common;

use std::time::Duration;

use common::actions::{CANCELLED, EXECUTING, Sender, Server, WITHOUT_END, ended};
use common::services::{client, number, provider, value};
use common::zenoh::{Robot, Router};
use common::{PATIENCE, all, kill_manager, until};

/// For what was there to be known again, and a while longer.
const SETTLED: Duration = Duration::from_secs(6);

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_goals_go_on_when_the_managers_on_both_sides_die() {
    let router = Router::new();
    let (base, drone) = (Robot::new(all(), &router).connected(), Robot::new(all(), &router).connected());
    let (server, sender) = (Server::new(&drone.node("counter")), Sender::new(&base.node("commander")));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&drone.node("calculator"), move |call| send.send(call).expect("the test goes on"));
    let service = client(&base.node("user"));
    let response = service.start(number(4), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    let goal = sender.send(1, WITHOUT_END);
    sender.stands(&[EXECUTING]);
    for robot in [&base, &drone] {
        kill_manager(&robot.path());
    }
    std::thread::sleep(SETTLED);
    assert!(!call.is_cancelled());
    assert_eq!(server.states(), [EXECUTING]);
    call.answer(&[&number(8)]).expect("somebody waits");
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 8);
    sender.cancel(1);
    assert_eq!(ended(goal).await.state, CANCELLED);
    // And what is new is opened.
    let late = client(&base.node("late"));
    let response = late.start(number(5), None).expect("it is called");
    calls.recv_timeout(PATIENCE).expect("it arrives").answer(&[&number(10)]).expect("somebody waits");
    assert_eq!(value(&response.await.expect("it is answered").to_vec()), 10);
    until("all is open", || base.state("double", false) == "open" && drone.state("double", true) == "open");
}
