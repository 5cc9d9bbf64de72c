//! The action example_interfaces/action/Fibonacci, called `count`, as programs of sinew have it (spec/actions.md).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use sinew::msg::stream::Reader;
use sinew::msg::value::Value;
use sinew::raw::{Call, Client, Provider, ProviderOptions, Publisher, Response, Subscriber};
use sinew::{Node, Qos};

use super::ros2::Peer;
use super::{PATIENCE, until};

const GOAL: &str = "sinew/ActionGoal<example_interfaces/action/Fibonacci_Goal>{id:uint8[16];sent_at:int64;goal:example_interfaces/action/Fibonacci_Goal{order:int32;};}";
const RESULT: &str = "sinew/GoalResult<example_interfaces/action/Fibonacci_Result>{state:sinew/GoalState(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:example_interfaces/action/Fibonacci_Result{sequence:int32[];};text:string;}";
const FEEDBACK: &str = "sinew/ActionFeedback<example_interfaces/action/Fibonacci_Feedback>{id:uint8[16];server:uint64;number:uint64;feedback:example_interfaces/action/Fibonacci_Feedback{sequence:int32[];};}";
pub const STATUS: &str = "sinew/ActionStatus{goals:sinew/GoalStatus{id:uint8[16];accepted_at:int64;state:sinew/GoalState(uint8);}[];}";
pub const CANCEL: &str = "sinew/ActionCancel{id:uint8[16];sent_at:int64;}";

/// A goal of so many numbers, or more, goes on until it is cancelled.
pub const WITHOUT_END: i32 = 1000;

pub const EXECUTING: u8 = 2;
pub const SUCCEEDED: u8 = 4;
pub const CANCELLED: u8 = 5;
pub const ABORTED: u8 = 6;
pub const REJECTED: u8 = 7;

fn stream(signature: &str, value: &Json) -> Vec<u8> {
    Value::from_json(&value.to_string()).unwrap().to_stream(&signature.parse().unwrap()).unwrap()
}

fn kept(depth: u32) -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(depth) }
}

/// The first numbers, from 0 on.
pub fn fibonacci(order: i32) -> Vec<i32> {
    let mut numbers = vec![0, 1];
    for at in 2..=order as usize {
        numbers.push(numbers[at - 1] + numbers[at - 2]);
    }
    numbers.truncate(order as usize + 1);
    numbers
}

// --- a server ------------------------------------------------------------------------------------------------------------------------------

/// Computes them. It does not accept less than none.
pub struct Server {
    shared: Arc<Shared>,
    _provider: Provider,
    _wishes: Subscriber,
}

struct Shared {
    status: Publisher,
    feedback: Publisher,
    number: AtomicU64,
    goals: Mutex<Vec<Goal>>,
}

struct Goal {
    id: Vec<u8>,
    state: u8,
    call: Option<Call>,
}

impl Shared {
    fn tell(&self, goals: &[Goal]) {
        let goals: Vec<_> = goals.iter().map(|goal| json!({"id": goal.id, "accepted_at": 1, "state": goal.state})).collect();
        self.status.publish(&[&stream(STATUS, &json!({"goals": goals}))]).unwrap();
    }

    fn begin(&self, call: Call) {
        let (id, order) = {
            let mut reader = call.reader().unwrap();
            let id = reader.elements::<u8>(16).unwrap().into_owned();
            let _sent_at: i64 = reader.number().unwrap();
            (id, reader.number::<i32>().unwrap())
        };
        if order < 0 {
            return answer(call, &json!({"state": REJECTED, "text": "less than none"}));
        }
        let mut goals = self.goals.lock().unwrap();
        goals.push(Goal { id: id.clone(), state: EXECUTING, call: None });
        self.tell(&goals);
        let goal = goals.last_mut().unwrap();
        if order >= WITHOUT_END {
            goal.call = Some(call);
            return;
        }
        let mut last = 0;
        for at in 1..=order {
            last = self.number.fetch_add(1, Ordering::Relaxed) + 1;
            let feedback = json!({"id": id, "server": 7, "number": last, "feedback": {"sequence": fibonacci(at)}});
            self.feedback.publish(&[&stream(FEEDBACK, &feedback)]).unwrap();
        }
        goal.state = SUCCEEDED;
        self.tell(&goals);
        let result = json!({"sequence": fibonacci(order)});
        answer(call, &json!({"state": SUCCEEDED, "server": 7, "last_feedback": last, "ended_at": 1, "result": result}));
    }

    /// Zeros are all goals.
    fn cancel(&self, id: &[u8]) {
        let mut goals = self.goals.lock().unwrap();
        let is_meant = |goal: &Goal| goal.state == EXECUTING && (*id == [0; 16] || goal.id == id);
        let mut ended = Vec::new();
        for goal in goals.iter_mut().filter(|goal| is_meant(goal)) {
            goal.state = CANCELLED;
            ended.extend(goal.call.take());
        }
        self.tell(&goals);
        for call in ended {
            answer(call, &json!({"state": CANCELLED, "result": {"sequence": [42]}}));
        }
    }
}

fn answer(call: Call, result: &Json) {
    let _ = call.answer(&[&stream(RESULT, result)]);
}

impl Server {
    pub fn new(node: &Node) -> Server {
        let publisher = |part, signature, depth| {
            Publisher::new(node, &format!("count/_action/{part}"), signature, &kept(depth), Default::default()).unwrap()
        };
        let shared = Arc::new(Shared {
            status: publisher("status", STATUS, 1),
            feedback: publisher("feedback", FEEDBACK, 8),
            number: AtomicU64::new(0),
            goals: Mutex::default(),
        });
        let (cancelling, executing) = (Arc::clone(&shared), Arc::clone(&shared));
        let wishes = Subscriber::with_callback(node, "count/_action/cancel", CANCEL, &kept(512), Default::default(), move |frame| {
            cancelling.cancel(&frame.reader().unwrap().elements::<u8>(16).unwrap());
        });
        let options = ProviderOptions { at_most_once: true, execution_thread: 1, ..Default::default() };
        let provider = Provider::new(node, "count/_action/goal", GOAL, RESULT, &options, move |call| executing.begin(call));
        Server { shared, _provider: provider.unwrap(), _wishes: wishes.unwrap() }
    }

    /// Of all goals, in the order of the numbers that they were sent with.
    pub fn states(&self) -> Vec<u8> {
        let goals = self.shared.goals.lock().unwrap();
        let states: BTreeMap<_, _> = goals.iter().map(|goal| (&goal.id, goal.state)).collect();
        states.into_values().collect()
    }

    /// Whether nobody waits for the first goal any more.
    pub fn is_given_up(&self) -> bool {
        self.shared.goals.lock().unwrap().first().is_some_and(|goal| goal.call.as_ref().is_some_and(Call::is_cancelled))
    }
}

// --- a client ------------------------------------------------------------------------------------------------------------------------------

/// Sends goals.
pub struct Sender {
    goals: Client,
    feedback: Subscriber,
    status: Subscriber,
    wishes: Publisher,
}

/// What a goal has ended with.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub state: u8,
    pub server: u64,
    pub last_feedback: u64,
    pub sequence: Vec<i32>,
    pub text: String,
}

/// Feedback, as it was told.
#[derive(Debug, PartialEq, Eq)]
pub struct Feedback {
    pub id: Vec<u8>,
    pub server: u64,
    pub number: u64,
    pub sequence: Vec<i32>,
}

fn id_of(number: u8) -> [u8; 16] {
    [number; 16]
}

impl Sender {
    pub fn new(node: &Node) -> Sender {
        let subscriber = |part, signature, depth| {
            Subscriber::new(node, &format!("count/_action/{part}"), signature, &kept(depth), Default::default()).unwrap()
        };
        Sender {
            goals: Client::new(node, "count/_action/goal", GOAL, RESULT, &Default::default()).unwrap(),
            feedback: subscriber("feedback", FEEDBACK, 64),
            status: subscriber("status", STATUS, 1),
            wishes: Publisher::new(node, "count/_action/cancel", CANCEL, &kept(512), Default::default()).unwrap(),
        }
    }

    /// Waits until somebody executes goals, and tells how they stand.
    pub fn ready(&self) {
        until("somebody executes goals", || {
            let is_told = |topic: &Subscriber| topic.statistics().publishers > 0;
            self.goals.statistics().providers > 0 && is_told(&self.feedback) && is_told(&self.status)
        });
    }

    pub fn send(&self, number: u8, order: i32) -> Response {
        let goal = json!({"id": id_of(number), "sent_at": 1, "goal": {"order": order}});
        self.goals.start(stream(GOAL, &goal), None).unwrap()
    }

    pub fn cancel(&self, number: u8) {
        self.wishes.publish(&[&stream(CANCEL, &json!({"id": id_of(number), "sent_at": 1}))]).unwrap();
    }

    /// So many, and what else comes until it is silent for a while.
    pub fn feedback(&self, count: usize) -> Vec<Feedback> {
        let mut told = Vec::new();
        loop {
            let patience = if told.len() < count { PATIENCE } else { Duration::from_millis(500) };
            let Some(frame) = self.feedback.take(patience).unwrap() else { return told };
            let mut reader = frame.reader().unwrap();
            let id = reader.elements::<u8>(16).unwrap().into_owned();
            let (server, number) = (reader.number().unwrap(), reader.number().unwrap());
            told.push(Feedback { id, server, number, sequence: reader.slice::<i32>().unwrap().into_owned() });
        }
    }

    /// Waits until the newest status says this, of each goal.
    pub fn stands(&self, states: &[u8]) {
        let mut last = Vec::new();
        until("goals stand so", || {
            while let Some(frame) = self.status.take(Duration::ZERO).unwrap() {
                last = states_of(frame.reader().unwrap());
            }
            last == states
        });
    }
}

fn states_of(mut reader: Reader<'_>) -> Vec<u8> {
    let count = reader.number::<u32>().unwrap();
    let state = |_| {
        let _id = reader.elements::<u8>(16).unwrap();
        let _accepted_at = reader.number::<i64>().unwrap();
        reader.number::<u8>().unwrap()
    };
    (0..count).map(state).collect()
}

/// Waits for it.
pub async fn ended(response: Response) -> Ended {
    let frame = tokio::time::timeout(PATIENCE, response).await.expect("it ends").expect("it is answered");
    let mut reader = frame.reader().unwrap();
    let state = reader.number().unwrap();
    let (server, last_feedback) = (reader.number().unwrap(), reader.number().unwrap());
    let _ended_at = reader.number::<i64>().unwrap();
    let sequence = reader.slice::<i32>().unwrap().into_owned();
    let text = String::from_utf8(reader.string().unwrap().into_owned()).unwrap();
    reader.finish().unwrap();
    Ended { state, server, last_feedback, sequence, text }
}

// --- across bridges ------------------------------------------------------------------------------------------------------------------------

/// Goals have the same ids there, and their feedback, results and states are those that the server tells.
pub async fn are_executed_across(server: &Server, sender: &Sender) {
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

pub async fn are_rejected_across(sender: &Sender) {
    let rejected = ended(sender.send(1, -1)).await;
    let text = "the server there does not accept the goal".to_owned();
    assert_eq!(rejected, Ended { state: REJECTED, server: 0, last_feedback: 0, sequence: vec![], text });
}

pub async fn are_cancelled_by_wishes_across(server: &Server, sender: &Sender) {
    let [kept, cancelled] = [1, 2].map(|number| sender.send(number, WITHOUT_END));
    sender.stands(&[EXECUTING, EXECUTING]);
    sender.cancel(2);
    let told = ended(cancelled).await;
    assert_eq!((told.state, told.sequence, told.text.as_str()), (CANCELLED, vec![42], ""));
    assert_eq!(server.states(), [EXECUTING, CANCELLED]);
    sender.cancel(0);
    assert_eq!(ended(kept).await.state, CANCELLED);
}

pub fn are_cancelled_when_their_client_has_gone(server: &Server, sender: &Sender) {
    let response = sender.send(1, WITHOUT_END);
    sender.stands(&[EXECUTING]);
    drop(response);
    until("it is cancelled", || server.states() == [CANCELLED]);
}

/// When what goes over does not any more.
pub async fn are_aborted_when_closed(sender: &Sender, close: impl FnOnce()) {
    let response = sender.send(1, WITHOUT_END);
    sender.stands(&[EXECUTING]);
    close();
    assert_eq!(ended(response).await.state, ABORTED);
}

/// A program of ROS 2 executes them, one that knows the request "execute".
pub async fn are_executed_by(peer: &mut Peer, sender: &Sender) {
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

/// A program of ROS 2 executes them, one that knows the request "cancelled"; and it is told to cancel when their clients here go with their nodes.
pub fn are_cancelled_by(peer: &mut Peer, clients: impl Fn() -> Node) {
    for number in 1..=10 {
        let node = clients();
        let sender = Sender::new(&node);
        sender.ready();
        let response = sender.send(number, WITHOUT_END);
        let before = usize::from(number) - 1;
        sender.stands(&[&vec![CANCELLED; before][..], &[EXECUTING]].concat());
        drop((response, sender, node));
        until("it is cancelled", || peer.ask(&json!({"do": "cancelled"})) == json!(number));
    }
}

/// Likewise, when the bridge goes that they went through.
pub async fn are_cancelled_when_their_bridge_goes(peer: &mut Peer, sender: &Sender, going: impl Future<Output = ()>) {
    sender.ready();
    let responses: Vec<_> = [1, 2].map(|number| sender.send(number, WITHOUT_END)).into();
    sender.stands(&[EXECUTING, EXECUTING]);
    going.await;
    until("they are cancelled", || peer.ask(&json!({"do": "cancelled"})) == json!(responses.len()));
}

/// They come from a program of ROS 2, one that knows the request "goals".
pub fn are_executed_for(peer: &mut Peer, server: &Server) {
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
