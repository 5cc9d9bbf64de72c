//! `sinew action send-goal`: a goal from YAML or JSON, its feedback and its result as text.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::Wake;
use std::time::{Duration, Instant};

use sinew::msg::print::{self, PrintError};
use sinew::msg::stream::Reader;
use sinew::msg::value::Value;
use sinew::msg::{Field, Structure, Type};
use sinew::raw::{Client, Frame, Publisher, PublisherOptions, Response, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node};

use crate::actions::{self, Ended, GoalId, State};
use crate::cli::{Cli, duration};
use crate::completion::Names;
use crate::documents;
use crate::domain::{View, body_of, canonical, join, wait_for};
use crate::failure::{Done, Failure};
use crate::interrupt::on_interrupt;
use crate::output::{out, say, shown, shown_lines};
use crate::pending::{NOW_AND_THEN, Pending};
use crate::typed;

/// What `--help` shows.
pub const EXAMPLES: &str = "\
Examples:
  sinew action send-goal --feedback dock 'metres: 2'
  sinew action send-goal --json fibonacci '{order: 10}' | jq -c .result

Fields that are left out are zero, empty or none. Who interrupts it cancels the goal, and gets the result that it has then; who does so again, a second later or more, ends it at once. Exit status 1: the goal did not succeed.";

/// What to send.
#[derive(clap::Args, Debug)]
pub struct SendGoal {
    /// The action
    #[arg(add = Names::Actions.completer())]
    pub action: String,
    /// Its type, which may be left out
    #[arg(value_name = "TYPE", add = Names::TypesOfActions.completer())]
    first: Option<String>,
    /// The goal as YAML or JSON
    #[arg(value_name = "GOAL")]
    second: Option<String>,
    /// Print how it gets on, too
    #[arg(long, short)]
    pub feedback: bool,
    /// How long to wait for a server, as 500ms or 2s
    #[arg(long, value_parser = duration, default_value = "5s")]
    pub timeout: Duration,
}

/// What the domain says of the action.
struct Parts {
    request: Type,
    response: Type,
    goal: Type,
    feedback: Type,
    result: Type,
    /// Signatures of two topics, and how many publish feedback.
    feedback_topic: String,
    cancel_topic: String,
    servers: u64,
}

/// Sends it, and prints what comes of it.
pub fn send_goal(cli: &Cli, asked: &SendGoal) -> Done {
    let node = join(cli, "send-goal")?;
    let name = canonical(&asked.action);
    let parts = wait_for(&node, asked.timeout, |view| find(view, name))?;
    let (type_name, text) = typed::split(asked.first.as_deref(), asked.second.as_deref());
    typed::check(&format!("goals of '{}' are", shown(name)), &parts.goal, "Goal", type_name)?;
    let goal = documents::parse(text.unwrap_or_default());
    // Alone, for complaints that name its fields only.
    let checked = goal.and_then(|goal| goal.to_stream(&parts.goal).map(|_| goal).map_err(|why| why.to_string()));
    let goal = checked.map_err(|why| Failure::Failed(format!("the goal is no {}: {why}", shown(&parts.goal.name()))))?;

    let (events, coming) = mpsc::channel();
    let _feedback = asked.feedback.then(|| subscribe(&node, name, &parts, events.clone())).transpose()?;
    let ghost = PublisherOptions { ghost: Ghost::Observer, ..Default::default() };
    let wishes = Arc::new(Publisher::new(&node, &part(name, "cancel"), &parts.cancel_topic, &actions::qos(512), ghost)?);
    let service = part(name, "goal");
    let client = Client::new(&node, &service, &parts.request.to_string(), &parts.response.to_string(), &Default::default())?;
    let id = GoalId::random()?;
    // A thread that outlives the node may not hold it.
    let (wishing, interrupts) = (Arc::downgrade(&wishes), events.clone());
    on_interrupt(move || {
        // Before the wish, which may soon be answered.
        let _ = interrupts.send(Event::Interrupt);
        // Here, since who prints may be held up by who reads that. A wish may come before its goal (A13).
        if let Some(Err(why)) = wishing.upgrade().map(|wishes| wishes.publish(&[&actions::wish(id)])) {
            let _ = interrupts.send(Event::Unwished(why));
        }
    })?;

    let request = request(id, goal).to_stream(&parts.request).map_err(Failure::of)?;
    let pending = Pending::new(name, client.start(request, None)?, || client.statistics().providers);
    say!("goal {id} is sent");
    Sent { cli, asked, id, parts: &parts, last_feedback: 0, printed: Ok(()), coming }.follow(pending, events)
}

fn part(action: &str, part: &str) -> String {
    format!("{action}/_action/{part}")
}

fn find(view: &View, name: &str) -> Done<Parts> {
    let action = actions::find(view, name)?;
    let nobody = || Failure::Negative(format!("nobody executes goals of '{}'", shown(name)));
    if action.servers(view).is_empty() {
        return Err(nobody());
    }
    let (Some(service), Some(feedback), Some(cancel), Some(_)) = (&action.goals, action.feedback, action.cancel, action.status) else {
        return Err(nobody());
    };
    actions::check(&action)?;
    let body = |topic| body_of(topic).ok_or_else(nobody);
    let [Some(goal), Some(feedback_type), Some(result)] = action.types() else { return Err(nobody()) };
    Ok(Parts {
        request: body(service.requests.ok_or_else(nobody)?)?,
        response: body(service.responses.ok_or_else(nobody)?)?,
        goal,
        feedback: feedback_type,
        result,
        feedback_topic: feedback.signature.clone(),
        cancel_topic: cancel.signature.clone(),
        servers: view.endpoints(feedback.id, true).count() as u64,
    })
}

fn request(id: GoalId, goal: Value) -> Value {
    let id = id.0.iter().map(|byte| Value::Integer((*byte).into())).collect();
    let fields = [("id", Value::List(id)), ("sent_at", Value::Integer(actions::now_ns().into())), ("goal", goal)];
    Value::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// To feedback from now on: connected before the goal is sent, so that its first is there, too.
fn subscribe(node: &Node, name: &str, parts: &Parts, events: Sender<Event>) -> Done<Subscriber> {
    let options = SubscriberOptions { ghost: Ghost::Observer, ..Default::default() };
    let told = move |frame| drop(events.send(Event::Feedback(frame)));
    let topic = part(name, "feedback");
    let subscriber = Subscriber::with_callback(node, &topic, &parts.feedback_topic, &actions::qos(64), options, told)?;
    let until = Instant::now() + Duration::from_secs(1);
    while subscriber.statistics().publishers < parts.servers && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(subscriber)
}

enum Event {
    Feedback(Frame),
    Answer,
    Interrupt,
    /// The wish to cancel the goal could not be published.
    Unwished(sinew::Error),
}

/// Says that there is an answer.
struct Answered(Sender<Event>);
impl Wake for Answered {
    fn wake(self: Arc<Answered>) {
        drop(self.0.send(Event::Answer));
    }
}

struct Sent<'a> {
    cli: &'a Cli,
    asked: &'a SendGoal,
    id: GoalId,
    parts: &'a Parts,
    /// The number of what was printed last.
    last_feedback: u64,
    /// Where nobody reads its feedback any more, the goal is followed to its end nevertheless.
    printed: Done,
    coming: Receiver<Event>,
}

impl Sent<'_> {
    /// Until its result is there.
    fn follow(mut self, mut pending: Pending<'_, Response>, events: Sender<Event>) -> Done {
        let waker = Arc::new(Answered(events)).into();
        loop {
            if let Some(ended) = pending.poll(&waker) {
                // What has come before it is told before it.
                while let Ok(event) = self.coming.try_recv() {
                    self.tell(event)?;
                }
                let frame = ended?;
                let ended = frame.reader().and_then(|reader| Ended::read(reader, &self.parts.result));
                let ended = ended.map_err(|why| Failure::Failed(format!("what the goal has ended with cannot be read: {why}")))?;
                if self.asked.feedback {
                    self.wait_for_feedback(&ended)?;
                }
                return self.end(ended);
            }
            if let Ok(event) = self.coming.recv_timeout(NOW_AND_THEN) {
                self.tell(event)?;
            }
        }
    }

    fn tell(&mut self, event: Event) -> Done {
        match event {
            Event::Feedback(frame) => return self.print_feedback(&frame),
            Event::Interrupt => say!("cancelling: waiting for the end of the goal"),
            Event::Unwished(why) => return Err(why.into()),
            Event::Answer => {}
        }
        Ok(())
    }

    /// What the server has published before the end, but not for longer than A11 says.
    fn wait_for_feedback(&mut self, ended: &Ended<'_>) -> Done {
        const PATIENCE: i64 = 500_000_000;
        let until = ended.ended_at.min(actions::now_ns()).saturating_add(PATIENCE);
        while self.last_feedback < ended.last_feedback {
            // What is here by then comes in any case.
            let left = u64::try_from(until.saturating_sub(actions::now_ns())).unwrap_or(0);
            match self.coming.recv_timeout(Duration::from_nanos(left)) {
                Ok(Event::Feedback(frame)) => self.print_feedback(&frame)?,
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn print_feedback(&mut self, frame: &Frame) -> Done {
        let mut text = Vec::new();
        let printed = frame.reader().map_err(Into::into).and_then(|mut reader| {
            let (id, number) = actions::feedback_head(&mut reader)?;
            if id == self.id {
                self.last_feedback = number;
                print(self.cli, "feedback", &self.parts.feedback, &mut reader, &mut text)?;
            }
            Ok::<(), PrintError>(())
        });
        printed.map_err(|why| Failure::Failed(format!("feedback of '{}' cannot be read: {why}", shown(&frame.info().publisher))))?;
        if !text.is_empty() {
            text.extend_from_slice(if self.cli.json { b"\n" } else { b"---\n" });
        }
        self.write(&text);
        Ok(())
    }

    fn write(&mut self, text: &[u8]) {
        if self.printed.is_ok() {
            let mut out = out();
            self.printed = out.write_all(text).and_then(|()| out.flush()).map_err(Into::into);
        }
    }

    fn end(mut self, mut ended: Ended<'_>) -> Done {
        let (mut text, state, has_result) = (Vec::new(), ended.state, ended.has_result());
        let printed = if self.cli.json {
            let why = serde_json::to_string(&ended.text)?;
            write!(text, "{{\"goal\":\"{}\",\"state\":\"{state}\",\"text\":{why},\"result\":", self.id)?;
            if has_result { print::json(&mut ended.result, &self.parts.result, &mut text) } else { Ok(write!(text, "null")?) }
        } else if has_result {
            writeln!(text, "state: {state}")?;
            print(self.cli, "result", &self.parts.result, &mut ended.result, &mut text)
        } else {
            Ok(())
        };
        printed.map_err(|why| Failure::Failed(format!("the result cannot be read: {why}")))?;
        if self.cli.json {
            text.extend_from_slice(b"}\n");
        }
        self.write(&text);
        let why = if ended.text.is_empty() { String::new() } else { format!(": {}", shown_lines(&ended.text)) };
        if state == State::Succeeded { self.printed } else { Err(Failure::Failed(format!("the goal was {state}{why}"))) }
    }
}

/// As the only field of a document.
fn print(cli: &Cli, name: &str, ty: &Type, reader: &mut Reader<'_>, to: &mut Vec<u8>) -> Result<(), PrintError> {
    let field = Field { name: name.to_owned(), ty: ty.clone() };
    let document = Type::Structure(Structure { name: String::new(), fields: vec![field] });
    if cli.json { print::json(reader, &document, to) } else { print::yaml(reader, &document, None, to) }
}
