//! Actions between machines whose clocks do not say the same (A2, G45), and what becomes of a goal when a gateway ends (A5).

mod common;

use std::ops::RangeInclusive;

use common::actions::{CANCEL, STATUS};
use common::stranger::{Stranger, hello, open, record};
use common::{PATIENCE, Robot, all, next, until};
use quinn::{RecvStream, SendStream};
use sinew::msg::value::Value;
use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions, Response, Subscriber, SubscriberOptions};
use sinew::{ErrorKind, Qos};
use sinew_gateway::protocol::{Answer, CallHead, Control, Hello, Kind, Offer, Packing, Status, TopicHead, Want};
use sinew_gateway::ros2::action::Clock;

const GOALS: &str = "arm/go/_action/goal";
const GOAL: &str = "sinew/ActionGoal<arm/Go>{id:uint8[16];sent_at:int64;goal:arm/Go{x:float64;};}";
const RESULT: &str = "sinew/GoalResult<arm/Went>{state:sinew/GoalState(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:arm/Went{x:float64;};text:string;}";

/// That the clock of the stranger says less: its machine was started so much later.
const BEHIND: i64 = 3_600_000_000_000;

fn stream(signature: &str, json: &str) -> Vec<u8> {
    Value::from_json(json).expect("it is JSON").to_stream(&signature.parse().expect("it is a type")).expect("it fits")
}

fn now() -> i64 {
    Clock::now().monotonic()
}

/// A peer on a machine of its own.
struct There {
    stranger: Stranger,
    /// The time here just before it said what its clock says.
    begin: i64,
}

impl There {
    async fn new(robot: &Robot) -> There {
        let begin = now();
        let Control::Hello(hello) = hello() else { unreachable!("it is one") };
        let mut stranger = Stranger::new(robot).await;
        stranger.introduce_as(Hello { clock: begin - BEHIND, ..hello }).await;
        There { stranger, begin }
    }

    /// What its clock said then.
    fn clock(&self) -> i64 {
        self.begin - BEHIND
    }

    /// The channel on which this is wanted, and what that time may be taken for here: the robot has heard what the clock says by now.
    async fn wanted(&mut self, name: &str) -> (u32, RangeInclusive<i64>) {
        let channel = self.stranger.wanted(name).await;
        (channel, self.begin..=now())
    }

    /// Has the call that this client makes then, with its answer, and how it is answered.
    async fn is_called(&mut self, client: &Client) -> (Response, SendStream, RangeInclusive<i64>) {
        let (channel, times) = self.wanted(GOALS).await;
        self.stranger.say(&open(channel)).await;
        let response = client.start(stream(GOAL, "{}"), None).expect("it is called");
        let (send, mut receive) = self.stranger.connection.accept_bi().await.expect("it comes");
        receive.read_to_end(1000).await.expect("it is a call");
        (response, send, times)
    }

    async fn wants_goals(&mut self) {
        let (name, signature, response) = (GOALS.to_owned(), GOAL.to_owned(), RESULT.to_owned());
        self.stranger
            .say(&Control::Want(Want { channel: 5, kind: Kind::Service, name, signature, response, offer: Offer::default() }))
            .await;
    }

    /// Sends this goal, and has where its answer comes.
    async fn calls(&mut self, goal: &[u8]) -> RecvStream {
        self.wants_goals().await;
        while !matches!(self.stranger.hear().await, Control::Open { channel: 5, .. }) {}
        let size = goal.len() as u32;
        let (mut send, receive) = self.stranger.connection.open_bi().await.expect("a stream can be opened");
        let head = CallHead { channel: 5, call: 1, packing: Packing::None, size, unpacked: size };
        send.write_all(&[&head.encode(), goal].concat()).await.expect("it can be written");
        send.finish().expect("it is open");
        receive
    }

    /// What comes here of a message that it publishes.
    async fn publishes(&mut self, heard: &Subscriber, name: &str, message: Vec<u8>) -> (Vec<u8>, RangeInclusive<i64>) {
        let (channel, times) = self.wanted(name).await;
        self.stranger.say(&open(channel)).await;
        until("it publishes", || heard.statistics().publishers == 1);
        let size = message.len() as u32;
        self.stranger.uni(&[TopicHead { channel, index: 0 }.encode(), record(size, Packing::None, size), message].concat()).await;
        (next(heard).to_vec(), times)
    }
}

fn subscriber(robot: &Robot, topic: &str, signature: &str) -> Subscriber {
    Subscriber::new(&robot.node("listener"), topic, signature, &Qos::default(), SubscriberOptions::default()).expect("it may subscribe")
}

/// That the number at this place of a stream is one of them.
fn assert_time(stream: &[u8], at: usize, times: &RangeInclusive<i64>) {
    let time = i64::from_le_bytes(stream[at..at + 8].try_into().expect("eight"));
    assert!(times.contains(&time), "{time}, and not in {times:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wish_to_cancel_all_comes_with_its_time_by_the_clock_here() {
    let robot = Robot::on_this_machine("robot", all());
    let heard = subscriber(&robot, "arm/go/_action/cancel", CANCEL);
    let mut there = There::new(&robot).await;
    let wish = stream(CANCEL, &format!(r#"{{"sent_at":{}}}"#, there.clock()));
    let (came, times) = there.publishes(&heard, "arm/go/_action/cancel", wish).await;
    assert_time(&came, 20, &times);
}

#[tokio::test(flavor = "multi_thread")]
async fn how_goals_stand_comes_with_their_times_by_the_clock_here() {
    let robot = Robot::on_this_machine("robot", all());
    let heard = subscriber(&robot, "arm/go/_action/status", STATUS);
    let mut there = There::new(&robot).await;
    let goal = format!(r#"{{"accepted_at":{},"state":2}}"#, there.clock());
    let (came, times) = there.publishes(&heard, "arm/go/_action/status", stream(STATUS, &format!(r#"{{"goals":[{goal},{goal}]}}"#))).await;
    assert_time(&came, 28, &times);
    assert_time(&came, 60, &times);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_comes_with_its_time_by_the_clock_here() {
    let robot = Robot::on_this_machine("robot", all());
    let (send, calls) = std::sync::mpsc::channel();
    let take = move |call: Call| send.send(call).expect("the test goes on");
    let _arm = Provider::new(&robot.node("arm"), GOALS, GOAL, RESULT, &ProviderOptions::default(), take).expect("it may provide");
    let mut there = There::new(&robot).await;
    let goal = stream(GOAL, &format!(r#"{{"sent_at":{}}}"#, there.clock()));
    let _waits = there.calls(&goal).await;
    let times = there.begin..=now();
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    assert_time(&call.extents().collect::<Vec<_>>().concat(), 20, &times);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_a_goal_comes_with_its_time_by_the_clock_here() {
    let robot = Robot::on_this_machine("robot", all());
    let client = Client::new(&robot.node("user"), GOALS, GOAL, RESULT, &ClientOptions::default()).expect("it may call");
    let mut there = There::new(&robot).await;
    let (response, mut send, times) = there.is_called(&client).await;
    let answer = stream(RESULT, &format!(r#"{{"state":4,"ended_at":{}}}"#, there.clock()));
    let size = answer.len() as u32;
    let head = Answer { status: Status::Executed, packing: Packing::None, size, unpacked: size };
    send.write_all(&[head.encode(), answer].concat()).await.expect("it can be written");
    send.finish().expect("it is open");
    let response = tokio::time::timeout(PATIENCE, response).await.expect("it comes in time").expect("it is answered");
    assert_time(&response.to_vec(), 28, &times);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_whose_gateway_ends_is_lost_and_not_executed_again() {
    let drone = Robot::on_this_machine("drone", all());
    let mut base = Robot::dialing("base", all(), &[&drone]);
    let (send, calls) = std::sync::mpsc::channel();
    let take = move |call: Call| send.send(call).expect("the test goes on");
    let options = ProviderOptions { at_most_once: true, ..ProviderOptions::default() };
    let _arm = Provider::new(&drone.node("arm"), GOALS, GOAL, RESULT, &options, take).expect("it may provide");
    let client = Client::new(&base.node("user"), GOALS, GOAL, RESULT, &ClientOptions::default()).expect("it may call");
    let response = client.start(stream(GOAL, "{}"), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    base.stop().await;
    base.start();
    let ended = tokio::time::timeout(PATIENCE, response).await.expect("it does not wait for the next one");
    assert_eq!(ended.expect_err("it is lost").kind(), ErrorKind::Lost);
    // What the next gateway brings is the next goal.
    let next = client.start(stream(GOAL, r#"{"goal":{"x":2}}"#), None).expect("it is called");
    let came = calls.recv_timeout(PATIENCE).expect("it arrives");
    assert_eq!(came.extents().collect::<Vec<_>>().concat()[28..], 2_f64.to_le_bytes());
    drop((call, next, came));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_not_sent_to_the_next_gateway_of_a_machine_whose_first_one_has_it() {
    let robot = Robot::on_this_machine("robot", all());
    let client = Client::new(&robot.node("user"), GOALS, GOAL, RESULT, &ClientOptions::default()).expect("it may call");
    let mut first = There::new(&robot).await;
    let (response, _send, _) = first.is_called(&client).await;
    first.stranger.connection.close(1_u32.into(), b"as if it was killed");
    let Control::Hello(hello) = hello() else { unreachable!("it is one") };
    let mut second = Stranger::new(&robot).await;
    second.introduce_as(Hello { id: [0xee; 16], ..hello }).await;
    let channel = second.wanted(GOALS).await;
    second.say(&open(channel)).await;
    tokio::select! {
        response = tokio::time::timeout(PATIENCE, response) => {
            let why = response.expect("it does not wait for ever").expect_err("nobody knows what has become of it");
            assert_eq!(why.kind(), ErrorKind::Lost, "{why}");
        }
        call = second.connection.accept_bi() => panic!("it is made again: {}", call.is_ok()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_not_sent_again_to_a_gateway_that_has_forgotten_what_it_was_sent() {
    let robot = Robot::on_this_machine("robot", all());
    let client = Client::new(&robot.node("user"), GOALS, GOAL, RESULT, &ClientOptions::default()).expect("it may call");
    let mut there = There::new(&robot).await;
    let (response, _send, _) = there.is_called(&client).await;
    there.stranger.connection.close(1_u32.into(), b"as if it was lost");
    let mut again = There::new(&robot).await;
    again.stranger.say(&Control::Forgotten).await;
    let (channel, _) = again.wanted(GOALS).await;
    again.stranger.say(&open(channel)).await;
    tokio::select! {
        response = tokio::time::timeout(PATIENCE, response) => {
            let why = response.expect("it does not wait for ever").expect_err("nobody knows what has become of it");
            assert_eq!(why.kind(), ErrorKind::Lost, "{why}");
        }
        call = again.stranger.connection.accept_bi() => panic!("it is made again: {}", call.is_ok()),
    }
    // The next one is sent as ever.
    let _response = client.start(stream(GOAL, "{}"), None).expect("it is called");
    tokio::time::timeout(PATIENCE, again.stranger.connection.accept_bi()).await.expect("it comes in time").expect("it comes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_that_was_not_sent_yet_is_sent_to_a_gateway_that_has_forgotten_what_it_was_sent() {
    let robot = Robot::on_this_machine("robot", all());
    let client = Client::new(&robot.node("user"), GOALS, GOAL, RESULT, &ClientOptions::default()).expect("it may call");
    let mut there = There::new(&robot).await;
    let (channel, _) = there.wanted(GOALS).await;
    there.stranger.say(&open(channel)).await;
    until("it is provided", || client.statistics().providers == 1);
    there.stranger.connection.close(1_u32.into(), b"as if it was lost");
    until("the connection is lost", || robot.channels(GOALS).iter().all(|channel| channel.state != "open"));
    let response = client.start(stream(GOAL, "{}"), None).expect("it is called");
    let mut again = There::new(&robot).await;
    again.stranger.say(&Control::Forgotten).await;
    let (channel, _) = again.wanted(GOALS).await;
    again.stranger.say(&open(channel)).await;
    tokio::select! {
        response = response => panic!("it is not sent: {:?}", response.err()),
        call = tokio::time::timeout(PATIENCE, again.stranger.connection.accept_bi()) => drop(call.expect("it comes in time").expect("it comes")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_known_from_before_is_told_so_over_each_connection_until_it_has_heard_it() {
    let robot = Robot::on_this_machine("robot", all());
    let heard = subscriber(&robot, "heard", STATUS);
    // It opens nothing before the third time, and may have read nothing.
    for has_opened in [false, false, true] {
        let mut there = There::new(&robot).await;
        assert_eq!(there.stranger.hear().await, Control::Forgotten);
        if has_opened {
            let (channel, _) = there.wanted("heard").await;
            there.stranger.say(&open(channel)).await;
            until("it publishes", || heard.statistics().publishers == 1);
        }
        there.stranger.connection.close(1_u32.into(), b"as if it was lost");
    }
    assert_ne!(There::new(&robot).await.stranger.hear().await, Control::Forgotten);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_called_is_not_told_that_nothing_is_remembered_of_it() {
    let robot = Robot::on_this_machine("robot", all());
    let (send, calls) = std::sync::mpsc::channel();
    let take = move |call: Call| send.send(call).expect("the test goes on");
    let _arm = Provider::new(&robot.node("arm"), GOALS, GOAL, RESULT, &ProviderOptions::default(), take).expect("it may provide");
    let mut there = There::new(&robot).await;
    assert_eq!(there.stranger.hear().await, Control::Forgotten);
    let _waits = there.calls(&stream(GOAL, "{}")).await;
    let _call = calls.recv_timeout(PATIENCE).expect("it arrives");
    there.stranger.connection.close(1_u32.into(), b"as if it was lost");
    let mut again = There::new(&robot).await;
    again.wants_goals().await;
    assert!(matches!(again.stranger.hear().await, Control::Open { channel: 5, .. }));
}

/// Through a Zenoh network, what the clock says stands beside each message and call (Z10).
#[cfg(feature = "zenoh")]
mod in_a_zenoh_network {
    use common::zenoh::{Robot, Router};
    use sinew::msg::Type;
    use zenoh::Wait;

    use super::*;

    /// An attachment of sinew, of this kind, from where the clock says so much.
    fn attachment(kind: u8, fields: &[&[u8]], clock: i64) -> Vec<u8> {
        [b"SINEW\x01".as_slice(), &[kind], &fields.concat(), &clock.to_le_bytes()].concat()
    }

    fn tag(signature: &str) -> Vec<u8> {
        let ty: Type = signature.parse().expect("it is a type");
        let name = ty.name();
        [ty.hash().as_slice(), &(name.len() as u32).to_le_bytes(), name.as_bytes()].concat()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_wish_to_cancel_all_comes_with_its_time_by_the_clock_here() {
        let router = Router::new();
        let (drone, there) = (Robot::new(all(), &router).connected(), router.client());
        let topic = "arm/go/_action/cancel";
        let options = SubscriberOptions::default();
        let heard = Subscriber::new(&drone.node("arm"), topic, CANCEL, &Qos::default(), options).expect("it may subscribe");
        let mut origin = 0_u64;
        let mut came = None;
        let begin = now();
        until("it comes", || {
            origin += 1;
            let counts = [origin, 1, 0].map(u64::to_le_bytes).concat();
            let clock = now() - BEHIND;
            let beside = attachment(0, &[&tag(CANCEL), &counts, &[0], &8_u32.to_le_bytes(), &[0; 26]], clock);
            let wish = stream(CANCEL, &format!(r#"{{"sent_at":{clock}}}"#));
            there.put(format!("sinew/{topic}"), wish).attachment(beside).wait().expect("it is put");
            came = heard.take(std::time::Duration::from_millis(50)).expect("it can be taken");
            came.is_some()
        });
        assert_time(&came.expect("it has come").to_vec(), 20, &(begin..=now()));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_goal_and_its_answer_come_with_their_times_by_the_clock_here() {
        let router = Router::new();
        let (drone, there) = (Robot::new(all(), &router).connected(), router.client());
        let (send, times) = std::sync::mpsc::channel();
        let answer = move |call: Call| {
            send.send(call.extents().collect::<Vec<_>>().concat()).expect("the test goes on");
            call.answer(&[&stream(RESULT, "{}")]).expect("somebody waits");
        };
        let arm = drone.node("arm");
        let _arm = Provider::new(&arm, GOALS, GOAL, RESULT, &ProviderOptions::default(), answer).expect("it may provide");
        let mut id = 0_u128;
        let begin = now();
        until("it is answered", || {
            id += 1;
            let clock = now() - BEHIND;
            let beside = attachment(1, &[&id.to_le_bytes(), &tag(GOAL), &tag(RESULT)], clock);
            let goal = stream(GOAL, &format!(r#"{{"sent_at":{clock}}}"#));
            let asked = there.get(format!("sinew/@service/{GOALS}")).payload(goal).attachment(beside);
            let replies = asked.wait().expect("it is asked");
            let reply = tokio::task::block_in_place(|| replies.recv_timeout(PATIENCE).ok().flatten());
            reply.is_some_and(|reply| reply.into_result().is_ok())
        });
        assert_time(&times.recv().expect("it has come"), 20, &(begin..=now()));

        let other = "leg/go/_action/goal";
        let answers = there.declare_queryable(format!("sinew/@service/{other}")).callback(move |query| {
            let result = stream(RESULT, &format!(r#"{{"ended_at":{}}}"#, now() - BEHIND));
            query.reply(format!("sinew/@service/{other}"), result).wait().expect("it is sent");
        });
        let _answers = answers.wait().expect("it may");
        let client = Client::new(&arm, other, GOAL, RESULT, &ClientOptions::default()).expect("it may call");
        let begin = now();
        let result = client.call(&[&stream(GOAL, "{}")], PATIENCE).expect("it is answered").to_vec();
        assert_time(&result, 28, &(begin..=now()));
    }
}
