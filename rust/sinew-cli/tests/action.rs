//! `sinew action`: with an action server of this test, made of a provider, two publishers and a subscriber as spec/actions.md says.

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use common::{Domain, Running, eventually, interrupt};
use serde_json::{Value as Json, json};
use sinew::msg::value::Value;
use sinew::raw::{Call, Provider, ProviderOptions, Publisher, Subscriber};
use sinew::{Node, Qos};
use terminal::Stopped;

const GOAL: &str = "sinew/ActionGoal<demo/Count>{id:uint8[16];sent_at:int64;goal:demo/Count{to:uint64;};}";
const RESULT: &str = "sinew/GoalResult<demo/Counted>{state:sinew/GoalState(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:demo/Counted{at:uint64;};text:string;}";
const FEEDBACK: &str = "sinew/ActionFeedback<demo/At>{id:uint8[16];server:uint64;number:uint64;feedback:demo/At{at:uint64;};}";
const STATUS: &str = "sinew/ActionStatus{goals:sinew/GoalStatus{id:uint8[16];accepted_at:int64;state:sinew/GoalState(uint8);}[];}";
const CANCEL: &str = "sinew/ActionCancel{id:uint8[16];sent_at:int64;}";

/// A goal that counts beyond this goes on until it is cancelled.
const WITHOUT_END: u64 = 1000;

fn stream(signature: &str, value: Json) -> Vec<u8> {
    Value::from_json(&value.to_string()).unwrap().to_stream(&signature.parse().unwrap()).unwrap()
}

fn kept(depth: u32) -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(depth) }
}

/// Counts: each number is feedback, the last one the result. It rejects what ends with 13.
struct Server {
    shared: Arc<Shared>,
    _provider: Provider,
    _wishes: Subscriber,
    _node: Node,
}

struct Shared {
    status: Publisher,
    feedback: Publisher,
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
        self.status.publish(&[&stream(STATUS, json!({"goals": goals}))]).unwrap();
    }

    fn begin(&self, call: Call) {
        let mut reader = call.reader().unwrap();
        let id = reader.elements::<u8>(16).unwrap().into_owned();
        let _sent_at: i64 = reader.number().unwrap();
        let to: u64 = reader.number().unwrap();
        if to == 13 {
            return answer(call, json!({"state": 7, "text": "that is unlucky"}));
        }
        let mut goals = self.goals.lock().unwrap();
        goals.push(Goal { id: id.clone(), state: 2, call: None });
        self.tell(&goals);
        let goal = goals.last_mut().unwrap();
        let say = |at: u64| {
            let feedback = json!({"id": id, "server": 7, "number": at, "feedback": {"at": 100 + at}});
            self.feedback.publish(&[&stream(FEEDBACK, feedback)]).unwrap();
        };
        if to >= WITHOUT_END {
            goal.call = Some(call);
            return say(1);
        }
        (1..to).for_each(say);
        goal.state = 4;
        self.tell(&goals);
        // The last feedback overtakes nothing: the client is to wait for it.
        answer(call, json!({"state": 4, "server": 7, "last_feedback": to, "ended_at": i64::MAX, "result": {"at": 100 + to}}));
        say(to);
    }

    /// Zeros are all goals.
    fn cancel(&self, id: &[u8]) {
        let mut goals = self.goals.lock().unwrap();
        let is_meant = |goal: &Goal| goal.state == 2 && (*id == [0; 16] || goal.id == id);
        for goal in goals.iter_mut().filter(|goal| is_meant(goal)) {
            goal.state = 5;
            if let Some(call) = goal.call.take() {
                answer(call, json!({"state": 5, "server": 7, "last_feedback": 1, "ended_at": i64::MAX, "result": {"at": 42}}));
            }
        }
        self.tell(&goals);
    }

    fn states(&self) -> Vec<u8> {
        self.goals.lock().unwrap().iter().map(|goal| goal.state).collect()
    }
}

fn answer(call: Call, result: Json) {
    call.answer(&[&stream(RESULT, result)]).unwrap();
}

impl Server {
    fn new(domain: &Domain) -> Server {
        let node = domain.node("counter");
        let publisher = |part, signature, depth| {
            Publisher::new(&node, &format!("count/_action/{part}"), signature, &kept(depth), Default::default()).unwrap()
        };
        let shared = Arc::new(Shared {
            status: publisher("status", STATUS, 1),
            feedback: publisher("feedback", FEEDBACK, 8),
            goals: Mutex::default(),
        });
        let (cancelling, executing) = (Arc::clone(&shared), Arc::clone(&shared));
        let wishes = Subscriber::with_callback(&node, "count/_action/cancel", CANCEL, &kept(512), Default::default(), move |frame| {
            cancelling.cancel(&frame.reader().unwrap().elements::<u8>(16).unwrap());
        });
        let options = ProviderOptions { at_most_once: true, execution_thread: 1, ..Default::default() };
        let provider = Provider::new(&node, "count/_action/goal", GOAL, RESULT, &options, move |call| executing.begin(call));
        Server { shared, _provider: provider.unwrap(), _wishes: wishes.unwrap(), _node: node }
    }

    fn executes(&self, count: usize) -> bool {
        eventually(|| self.shared.states().iter().filter(|state| **state == 2).count() == count)
    }
}

fn run(domain: &Domain, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = domain.command("action").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn start(domain: &Domain, arguments: &[&str]) -> Running {
    Running::new(domain.command("action").args(arguments))
}

/// "goal ... is sent": which.
fn id_of(sender: &mut Running) -> String {
    let mut line = String::new();
    BufReader::new(sender.0.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().strip_prefix("goal ").and_then(|line| line.strip_suffix(" is sent")).expect("it says which").to_owned()
}

#[test]
fn a_goal_is_sent_and_its_result_printed() {
    let domain = Domain::new();
    let server = Server::new(&domain);
    let (status, out, _) = run(&domain, &["send-goal", "/count", "to: 3"]);
    assert_eq!((status, out.as_str()), (Some(0), "state: succeeded\nresult:\n  at: 103\n"));
    assert_eq!(server.shared.states(), [4]);
    let with_type = run(&domain, &["send_goal", "count", "demo/action/Count", "{to: 3}"]);
    assert_eq!((with_type.0, with_type.1.as_str()), (status, out.as_str()), "as ROS 2 has it");
    let (_, _, said) = run(&domain, &["send_goal", "count", "demo/action/Fibonacci", "{order: 3}"]);
    assert_eq!(said, "error: goals of 'count' are demo/Count, and no demo/action/Fibonacci: the type may be left out\n");
    let (status, out, said) = run(&domain, &["send_goal", "count", "{to: 3}", "--json"]);
    let told: Json = serde_json::from_str(&out).unwrap();
    let id = told["goal"].as_str().unwrap();
    assert_eq!((status, said), (Some(0), format!("goal {id} is sent\n")));
    assert_eq!(told, json!({"goal": id, "state": "succeeded", "text": "", "result": {"at": 103}}));
}

#[test]
fn feedback_is_printed_as_it_comes_and_all_of_it_before_the_result() {
    let domain = Domain::new();
    let _server = Server::new(&domain);
    let (status, out, _) = run(&domain, &["send-goal", "--feedback", "count", "to: 3"]);
    let feedback: String = (101..=103).map(|at| format!("feedback:\n  at: {at}\n---\n")).collect();
    assert_eq!((status, out), (Some(0), format!("{feedback}state: succeeded\nresult:\n  at: 103\n")));
    let (_, out, _) = run(&domain, &["send-goal", "-f", "--json", "count", "to: 2"]);
    let lines: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[..2], [json!({"feedback": {"at": 101}}), json!({"feedback": {"at": 102}})]);
    assert_eq!((lines.len(), &lines[2]["result"]), (3, &json!({"at": 102})));
}

#[test]
fn a_goal_is_followed_to_its_end_also_where_nobody_reads_its_feedback() {
    let domain = Domain::new();
    let server = Server::new(&domain);
    let start = |to: &str| {
        let (nobody_reads, closed) = std::io::pipe().unwrap();
        drop(nobody_reads);
        let mut command = domain.command("action");
        command.args(["send-goal", "--feedback", "count", to]).stdout(closed).stderr(Stdio::piped());
        Running(command.spawn().unwrap())
    };
    let end = |mut sender: Running| {
        let mut said = String::new();
        sender.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (sender.0.wait().unwrap().code(), said)
    };
    let sender = start("to: 1000");
    assert!(server.executes(1));
    run(&domain, &["cancel", "count"]);
    let (status, said) = end(sender);
    assert!(status == Some(1) && said.ends_with("error: the goal was cancelled\n"), "{status:?}: {said}");
    assert_eq!((end(start("to: 3")).0, server.shared.states()), (Some(0), vec![5, 4]));
}

#[test]
fn a_goal_that_is_rejected_is_a_failure_with_the_reason() {
    let domain = Domain::new();
    let _server = Server::new(&domain);
    let (status, out, said) = run(&domain, &["send-goal", "count", "to: 13"]);
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(said.ends_with("error: the goal was rejected: that is unlucky\n"), "{said}");
    let (status, out, _) = run(&domain, &["send-goal", "--json", "count", "to: 13"]);
    let told: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &told["state"], &told["result"]), (Some(1), &json!("rejected"), &Json::Null));
}

#[test]
fn an_interrupt_cancels_the_goal_and_its_result_is_printed() {
    let domain = Domain::new();
    let server = Server::new(&domain);
    let sender = start(&domain, &["send-goal", "count", "to: 1000"]);
    assert!(server.executes(1));
    interrupt(&sender);
    let (status, out, said) = sender.end();
    assert_eq!((status, out.as_str()), (Some(1), "state: cancelled\nresult:\n  at: 42\n"));
    assert!(said.ends_with("cancelling: waiting for the end of the goal\nerror: the goal was cancelled\n"), "{said}");
    assert_eq!(server.shared.states(), [5]);
}

/// Whether a message has come to who subscribes to a topic.
fn has_come(watch: &Node, topic: &str) -> bool {
    let (state, counts) = (watch.domain_state().unwrap(), watch.domain_counters().unwrap().read().unwrap());
    let topic = state.topic(topic).unwrap().id;
    let subscribes = |id| state.endpoints.get(id).is_some_and(|subscriber| subscriber.topic == Some(topic));
    counts.pairs.iter().any(|pair| pair.messages > 0 && subscribes(&pair.subscriber))
}

#[test]
fn an_interrupt_cancels_the_goal_also_while_its_feedback_cannot_be_written() {
    let domain = Domain::new();
    let (server, watch, terminal) = (Server::new(&domain), domain.node("watch"), Stopped::new());
    let mut command = domain.command("action send-goal --feedback count");
    command.arg("to: 1000").stdout(terminal.theirs()).stderr(Stdio::piped());
    let mut sender = Running(command.spawn().unwrap());
    drop(command);
    assert!(server.executes(1) && eventually(|| has_come(&watch, "count/_action/feedback")));
    interrupt(&sender);
    assert!(server.executes(0));
    assert_eq!(server.shared.states(), [5]);
    terminal.go_on();
    let mut said = String::new();
    sender.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.ends_with("cancelling: waiting for the end of the goal\nerror: the goal was cancelled\n"), "{said}");
    assert_eq!(sender.0.wait().unwrap().code(), Some(1));
    let shown = terminal.shown().replace('\r', "");
    assert_eq!(shown, "feedback:\n  at: 101\n---\nstate: cancelled\nresult:\n  at: 42\n");
}

#[test]
fn one_goal_or_all_are_cancelled_by_anybody() {
    let domain = Domain::new();
    let server = Server::new(&domain);
    let mut senders: Vec<Running> = (0..3).map(|_| start(&domain, &["send-goal", "--json", "count", "to: 1000"])).collect();
    let ids: Vec<String> = senders.iter_mut().map(id_of).collect();
    assert!(server.executes(3));
    let (status, out, _) = run(&domain, &["cancel", "count", "--goal", &ids[1][..8], "--json"]);
    let told: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((status, told), (Some(0), json!([{"id": ids[1], "state": "cancelled", "accepted_at_ns": 1}])));
    let ended: Json = serde_json::from_str(&senders.remove(1).end().1).unwrap();
    assert_eq!(ended["state"], "cancelled");
    assert!(server.executes(2), "the others go on");

    let (status, out, _) = run(&domain, &["cancel", "count"]);
    assert_eq!((status, out.lines().count()), (Some(0), 3), "{out}");
    assert!(out.contains(&ids[0]) && out.contains(&ids[2]) && !out.contains(&ids[1]), "{out}");
    assert!(server.executes(0));
    assert!(senders.into_iter().all(|sender| sender.end().0 == Some(1)));

    let wanted = "error: no goal of 'count' is executed\n".to_owned();
    assert_eq!(run(&domain, &["cancel", "count"]), (Some(3), String::new(), wanted));
    let wanted = "error: no goal of 'count' is executed whose id begins with 'ab'\n".to_owned();
    assert_eq!(run(&domain, &["cancel", "count", "--goal", "ab"]), (Some(3), String::new(), wanted));
}

#[test]
fn an_action_is_shown_with_types_nodes_and_goals_and_its_parts_are_not_listed() {
    let domain = Domain::new();
    let server = Server::new(&domain);
    assert_eq!(domain.json("action info count")["goals"], json!([]), "before the first goal");
    let mut sender = start(&domain, &["send-goal", "count", "to: 1000"]);
    let id = id_of(&mut sender);
    assert!(server.executes(1));
    let told = domain.json("action info /count");
    assert_eq!((&told["goal"], &told["feedback"], &told["result"]), (&json!("demo/Count"), &json!("demo/At"), &json!("demo/Counted")));
    assert_eq!(told["goals"], json!([{"id": id, "state": "executing", "accepted_at_ns": 1}]));
    assert_eq!((&told["servers"], told["clients"].as_array().unwrap().len()), (&json!(["counter"]), 1));
    let text = domain.text("action info count");
    assert!(text.contains("servers   counter") && text.contains(&format!("{id}  executing")), "{text}");

    assert_eq!(domain.text("action list"), "count\n");
    let row = domain.text("action list --verbose").lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(row, "count demo/Count demo/At demo/Counted 1 1");
    assert_eq!(domain.text("topic list"), "");
    assert_eq!(domain.text("service list"), "");
    assert_eq!(domain.text("service list --all"), "count/_action/goal\n");
    assert_eq!(domain.text("topic list --all").lines().count(), 5);
    assert_eq!(domain.text("topic list --services").lines().count(), 5);
    assert_eq!(domain.json("node info counter")["action_servers"], json!(["count"]));
    assert_eq!(domain.json("node info counter")["provides"], json!([]));
    interrupt(&sender);
    assert_eq!(sender.end().0, Some(1));
}

#[test]
fn without_a_server_or_with_a_goal_that_does_not_fit_nothing_is_sent() {
    let domain = Domain::new();
    let (status, _, said) = run(&domain, &["send-goal", "--timeout", "20ms", "count"]);
    let wanted = "there is no action 'count': there is no action at all\n";
    assert_eq!((status, said), (Some(3), format!("waiting: {wanted}error: {wanted}")));
    let server = Server::new(&domain);
    let (status, _, said) = run(&domain, &["send-goal", "count", "to: -1"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("error: the goal is no demo/Count: field 'to': -1 is given"), "{said}");
    let (status, _, said) = run(&domain, &["info", "coun"]);
    assert_eq!((status, said.as_str()), (Some(3), "error: there is no action 'coun': did you mean 'count'?\n"));
    assert!(server.shared.states().is_empty());
}

#[test]
fn what_carries_something_else_is_no_action() {
    let domain = Domain::new();
    let node = domain.node("other");
    let topic =
        |part, signature| Publisher::new(&node, &format!("odd/_action/{part}"), signature, &Qos::default(), Default::default()).unwrap();
    let _topics = [topic("status", "A{x:uint8;}"), topic("feedback", FEEDBACK), topic("cancel", CANCEL)];
    let _provider = Provider::new(&node, "odd/_action/goal", GOAL, RESULT, &Default::default(), drop).unwrap();
    for verb in ["info", "cancel", "send-goal"] {
        let (status, _, said) = run(&domain, &[verb, "odd"]);
        let wanted = "error: 'odd' is no action: its topics carry what those of no action carry\n";
        assert_eq!((status, said.as_str()), (Some(1), wanted), "{verb}");
    }
}
