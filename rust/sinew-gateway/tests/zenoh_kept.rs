//! What was kept for those who come late, through a Zenoh network.
#![cfg(feature = "zenoh")]

mod common;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::chatter::{chatter, listener};
use common::numbers::Listener;
use common::texts::{latched, text};
use common::zenoh::{Robot, Router, Way, a_while};
use common::{next, rules, until};
use sinew::raw::Publisher;
use zenoh::Wait;
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::query::{ConsolidationMode, QueryTarget, Reply};

/// Everything goes both ways, and nothing is left out, however slow the machine is.
fn whole() -> sinew_gateway::rules::Rules {
    rules(r#"{ "topics": { "base_rule": "both", "reliable": true } }"#)
}

/// Somebody asks for what was kept who has more patience than a gateway.
fn asks(asker: &zenoh::Session) -> FifoChannelHandler<Reply> {
    let asked = asker.get("sinew/chatter").target(QueryTarget::All).consolidation(ConsolidationMode::None);
    asked.timeout(Duration::from_secs(120)).with(FifoChannel::new(2048)).wait().expect("it may")
}

/// All that is answered, which ends.
fn answered(replies: &FifoChannelHandler<Reply>) -> usize {
    tokio::task::block_in_place(|| std::iter::from_fn(|| replies.recv().ok()).count())
}

fn says(publisher: &Publisher, numbers: Range<u32>, pause: Duration) {
    for number in numbers {
        publisher.publish(&[&text(&number.to_string())]).expect("it is published");
        std::thread::sleep(pause);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_ends_also_where_a_message_comes_every_few_milliseconds() {
    let router = Router::new();
    let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
    let (node, viewer) = (drone.node("node"), base.node("viewer"));
    let said = chatter(&node, &latched(3));
    says(&said, 0..3, Duration::ZERO);
    let asker = router.client();
    until("the network knows of it", || answered(&asks(&asker)) > 0);
    let is_over = AtomicBool::new(false);
    let is_going_on = |number: &u32| *number < 5000 && !is_over.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        scope.spawn(|| (3..).take_while(is_going_on).for_each(|number| says(&said, number..number + 1, Duration::from_millis(20))));
        let heard = Listener::new(&viewer, &latched(512));
        until("it arrives", || !heard.heard().is_empty());
        for _ in 0..3 {
            let count = answered(&asks(&asker));
            assert!((1..=3).contains(&count), "{count} were kept");
        }
        is_over.store(true, Ordering::Relaxed);
        // A busy machine may lose some, as three are kept, and nothing else.
        let heard = heard.heard();
        assert!(heard.is_sorted_by(|before, next| before < next), "{heard:?}");
        let said = heard[heard.len() - 1] - heard[0] + 1;
        assert!(heard.len() * 4 >= said as usize * 3, "{heard:?}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_is_not_published_before_older_messages_that_have_come() {
    let router = Router::new();
    let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
    let (node, viewer) = (drone.node("node"), base.node("viewer"));
    let said = chatter(&node, &latched(1));
    says(&said, 0..1, Duration::ZERO);
    let asker = router.client();
    until("the network knows of it", || answered(&asks(&asker)) > 0);
    for first in [1, 1000, 2000] {
        // The drone is busy with these for a while, in which the base has asked, and messages come already.
        let before: Vec<_> = (0..40).map(|_| asks(&asker)).collect();
        let heard = Listener::new(&viewer, &latched(100));
        says(&said, first..first + 150, Duration::from_millis(5));
        heard.hears(first + 149);
        before.iter().for_each(|asked| assert!(answered(asked) > 0));
        a_while();
        let numbers = heard.heard();
        assert!(numbers.is_sorted_by(|before, next| before < next), "{numbers:?}");
        drop(heard);
        until("nobody wants it any more", || base.channel("chatter").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_publisher_has_kept_stays_when_another_one_comes_later_or_at_once() {
    for pause in [Duration::from_millis(1500), Duration::ZERO] {
        let router = Router::new();
        let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
        let (node, other, viewer) = (drone.node("node"), drone.node("other"), base.node("viewer"));
        let said = chatter(&node, &latched(1));
        said.publish(&[&text("1")]).expect("it is published");
        let heard = listener(&viewer, &latched(5));
        assert_eq!(next(&heard).to_vec(), text("1"));
        std::thread::sleep(pause);
        let more = chatter(&other, &latched(1));
        until("both are read", || said.statistics().subscribers == 1 && more.statistics().subscribers == 1);
        a_while();
        more.publish(&[&text("2")]).expect("it is published");
        assert_eq!(next(&heard).to_vec(), text("2"), "something came twice");
        assert!(heard.take(Duration::from_millis(500)).expect("it can be taken").is_none(), "something came twice");
        let all = |wanted: &[&str]| {
            let late = listener(&viewer, &latched(5));
            for data in wanted {
                assert_eq!(next(&late).to_vec(), text(data));
            }
            assert!(late.take(Duration::from_millis(500)).expect("it can be taken").is_none(), "more was kept");
        };
        all(&["1", "2"]);
        // And what is older than all that both keep together is not kept any more.
        for data in ["3", "4"] {
            said.publish(&[&text(data)]).expect("it is published");
            assert_eq!(next(&heard).to_vec(), text(data));
        }
        all(&["3", "4"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_published_while_only_one_of_several_could_not_be_reached_comes_when_that_can_be() {
    let (here, there) = (Router::later().endpoint, Router::later().endpoint);
    let way = Way::to(&there);
    let base = Robot::with(whole(), "tcp/127.0.0.1:1", &format!("mode: 'peer', listen: {{ endpoints: ['{there}'] }}"));
    let drone = Robot::with(whole(), &way.endpoint, &format!("mode: 'peer', listen: {{ endpoints: ['{here}'] }}"));
    let third = format!("mode: 'peer', listen: {{ endpoints: [] }}, connect: {{ endpoints: ['{here}'] }}");
    let third = Robot::with(whole(), &there, &third).connected();
    let (node, viewer, other) = (drone.node("node"), base.node("viewer"), third.node("other"));
    let said = chatter(&node, &latched(1));
    let both = [&viewer, &other].map(|node| listener(node, &latched(5)));
    said.publish(&[&text("1")]).expect("it is published");
    for heard in &both {
        assert_eq!(next(heard).to_vec(), text("1"));
    }
    way.cut();
    // Both are connected with the third one.
    a_while();
    said.publish(&[&text("2")]).expect("it is published");
    assert_eq!(next(&both[1]).to_vec(), text("2"));
    assert!(both[0].take(Duration::from_millis(500)).expect("it can be taken").is_none(), "it is not cut off");
    assert!(base.is_connected());
    way.mend();
    assert_eq!(next(&both[0]).to_vec(), text("2"));
    said.publish(&[&text("3")]).expect("it is published");
    for heard in &both {
        assert_eq!(next(heard).to_vec(), text("3"), "something came twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_more_and_more_publishers_keep_is_published_by_few() {
    let (count, router) = (12, Router::new());
    let (drone, base) = (Robot::new(whole(), &router).connected(), Robot::new(whole(), &router).connected());
    let viewer = base.node("viewer");
    let nodes: Vec<_> = (0..count).map(|number| drone.node(&format!("node_{number}"))).collect();
    let heard = listener(&viewer, &latched(50));
    let mut said = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let publisher = chatter(node, &latched(1));
        until("it is read", || publisher.statistics().subscribers == 1);
        a_while();
        publisher.publish(&[&text(&number.to_string())]).expect("it is published");
        assert_eq!(next(&heard).to_vec(), text(&number.to_string()));
        said.push(publisher);
    }
    // Which keep 1, 2, 4, 8 and 16.
    assert!(heard.statistics().publishers <= 5, "{} publish it", heard.statistics().publishers);
}
