//! The bridge to ROS 2 over DDS when the managers of its domain die.

mod common;

use std::time::{Duration, Instant};

use common::actions::{CANCELLED, EXECUTING, Sender, Server, WITHOUT_END, ended};
use common::ros2::{Domain, Robot};
use common::services::{client, number, provider, value};
use common::{IMAGE, PATIENCE, all, connected, image, kill_manager, next, number_of, publisher, until};
use sinew::Qos;
use sinew::raw::{Subscriber, SubscriberOptions};

/// For what was there to be known again, and a while longer.
const SETTLED: Duration = Duration::from_secs(6);

#[tokio::test(flavor = "multi_thread")]
async fn calls_goals_and_topics_go_on_without_loss_when_the_managers_on_both_sides_die() {
    let domain = Domain::new();
    let (base, drone) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (server, sender) = (Server::new(&drone.node("counter")), Sender::new(&base.node("commander")));
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(&drone.node("calculator"), move |call| send.send(call).expect("the test goes on"));
    let images = publisher(&drone.node("camera"), "image", &Qos::reliable());
    let seen = Subscriber::new(&base.node("viewer"), "image", IMAGE, &Qos::reliable(), SubscriberOptions::default());
    let seen = seen.expect("it may subscribe");
    connected(&images, &[&seen]);
    sender.ready();
    let goal = sender.send(1, WITHOUT_END);
    sender.stands(&[EXECUTING]);
    let service = client(&base.node("user"));
    let response = service.start(number(4), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");

    let mut published = 0;
    let mut publish = |lasting: Duration| {
        let begin = Instant::now();
        while begin.elapsed() < lasting {
            images.publish(&[&image(published, 10)]).expect("it is published");
            published += 1;
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    publish(Duration::from_millis(100));
    for robot in [&base, &drone] {
        kill_manager(&robot.path());
    }
    publish(SETTLED);
    assert!((0..published).all(|number| number_of(&next(&seen)) == number), "none is lost");
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
    until("all is open", || base.state("image", false) == "open" && drone.state("image", true) == "open");
}
