//! Actions: a service and three topics each (spec/actions.md).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use sinew::msg::stream::{Malformed, Reader};
use sinew::msg::{Number, Type};
use sinew::raw::Frame;
use sinew::{DomainTopic, Qos};

use crate::domain::{Service, View, body_of, canonical, not_there, type_of};
use crate::failure::{Done, Failure};
use crate::output::shown;

/// Behind the name of an action, before what belongs to it.
const PART: &str = "/_action/";

/// Nanoseconds of CLOCK_MONOTONIC, as all times of an action.
pub fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The action that a service or a topic belongs to, and which part of it that is.
fn part_of(name: &str) -> Option<(&str, &str)> {
    let (action, part) = name.rsplit_once(PART)?;
    ["goal", "goal@request", "goal@response", "feedback", "status", "cancel"].contains(&part).then_some((action, part))
}

/// Whether a service or a topic belongs to an action.
pub fn is_of_action(name: &str) -> bool {
    part_of(name).is_some()
}

/// What is there of an action.
#[derive(Default)]
pub struct Action<'a> {
    /// Of it.
    pub name: &'a str,
    /// Which its goals are sent to.
    pub goals: Option<Service<'a>>,
    /// Which servers publish how they get on.
    pub feedback: Option<&'a DomainTopic>,
    /// Which servers publish their goals on.
    pub status: Option<&'a DomainTopic>,
    /// Which anybody publishes wishes to cancel on.
    pub cancel: Option<&'a DomainTopic>,
}

impl<'a> Action<'a> {
    /// Names of the nodes that execute goals.
    pub fn servers(&self, view: &View) -> Vec<String> {
        view.publishing(self.goals.as_ref().and_then(|service| service.responses))
    }

    /// Names of the nodes that send goals.
    pub fn clients(&self, view: &View) -> Vec<String> {
        view.publishing(self.goals.as_ref().and_then(|service| service.requests))
    }

    /// The types of goals, feedback and results, where they are known.
    pub fn types(&self) -> [Option<Type>; 3] {
        let of = |whole: Option<Type>, field: &str| match whole? {
            Type::Structure(structure) => structure.field(field).map(|field| field.ty.clone()),
            _ => None,
        };
        let goals = self.goals.as_ref();
        [
            of(goals.and_then(|service| body_of(service.requests?)), "goal"),
            of(self.feedback.and_then(|topic| type_of(topic).ok()), "feedback"),
            of(goals.and_then(|service| body_of(service.responses?)), "result"),
        ]
    }
}

/// By their names.
pub fn of(view: &View) -> Vec<Action<'_>> {
    let mut actions: BTreeMap<&str, Action<'_>> = BTreeMap::new();
    for topic in view.state.topics.values() {
        let Some((name, part)) = part_of(&topic.name) else { continue };
        let action = actions.entry(name).or_insert_with(|| Action { name, ..Action::default() });
        match part {
            "feedback" => action.feedback = Some(topic),
            "status" => action.status = Some(topic),
            "cancel" => action.cancel = Some(topic),
            _ => {}
        }
    }
    for service in view.services() {
        let Some((name, _)) = part_of(service.name) else { continue };
        actions.entry(name).or_insert_with(|| Action { name, ..Action::default() }).goals = Some(service);
    }
    actions.into_values().collect()
}

/// That of this name.
pub fn find<'a>(view: &'a View, name: &str) -> Done<Action<'a>> {
    let (mut actions, name) = (of(view), canonical(name));
    match actions.iter().position(|action| action.name == name) {
        Some(at) => Ok(actions.swap_remove(at)),
        None => Err(not_there("action", name, actions.iter().map(|action| action.name))),
    }
}

/// Of the topics of actions (A4), which keep so many messages.
pub fn qos(depth: u32) -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(depth) }
}

// --- what goes over them -----------------------------------------------------------------------------------------------------------------

/// Drawn by lot by who has sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoalId(pub [u8; 16]);

impl GoalId {
    /// In a message about cancelling: all goals.
    pub const ALL: GoalId = GoalId([0; 16]);

    /// A new one.
    pub fn random() -> Done<GoalId> {
        let mut id = [0; 16];
        let filled = rustix::rand::getrandom(&mut id, rustix::rand::GetRandomFlags::empty());
        filled.map_err(|why| Failure::Failed(format!("no number can be drawn by lot: {why}")))?;
        Ok(GoalId(id))
    }

    fn read(reader: &mut Reader<'_>) -> Result<GoalId, Malformed> {
        let mut id = GoalId::ALL;
        id.0.copy_from_slice(&reader.elements::<u8>(16)?);
        Ok(id)
    }
}

impl fmt::Display for GoalId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(to, "{byte:02x}"))
    }
}

impl Serialize for GoalId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// What has become of a goal (A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Executing,
    Cancelling,
    Succeeded,
    Cancelled,
    Aborted,
    Rejected,
    Unknown,
}

impl State {
    fn of(number: u8) -> State {
        match number {
            2 => State::Executing,
            3 => State::Cancelling,
            4 => State::Succeeded,
            5 => State::Cancelled,
            6 => State::Aborted,
            7 => State::Rejected,
            _ => State::Unknown,
        }
    }

    /// It is executed.
    pub fn runs(self) -> bool {
        matches!(self, State::Executing | State::Cancelling)
    }
}

impl fmt::Display for State {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            State::Executing => "executing",
            State::Cancelling => "cancelling",
            State::Succeeded => "succeeded",
            State::Cancelled => "cancelled",
            State::Aborted => "aborted",
            State::Rejected => "rejected",
            State::Unknown => "unknown",
        })
    }
}

/// A goal, as its server tells of it.
#[derive(Clone, Debug, Serialize)]
pub struct GoalStatus {
    pub id: GoalId,
    pub state: State,
    #[serde(rename = "accepted_at_ns")]
    pub accepted_at: i64,
}

/// What a server has published about its goals.
pub fn statuses(frame: &Frame) -> Result<Vec<GoalStatus>, Malformed> {
    let mut reader = frame.reader()?;
    let goal: Type = Type::Array(Box::new(Type::Number(Number::Uint8)), 25); // as many bytes as one has at least
    let count = reader.count(&goal)?;
    (0..count)
        .map(|_| {
            let id = GoalId::read(&mut reader)?;
            let accepted_at = reader.number()?;
            Ok(GoalStatus { id, accepted_at, state: State::of(reader.number()?) })
        })
        .collect()
}

/// Whose feedback a message has, and its number. The reader is at the feedback then.
pub fn feedback_head(reader: &mut Reader<'_>) -> Result<(GoalId, u64), Malformed> {
    let id = GoalId::read(reader)?;
    let _server: u64 = reader.number()?;
    Ok((id, reader.number()?))
}

/// What a goal has ended with.
pub struct Ended<'a> {
    /// What has become of it.
    pub state: State,
    /// The number of its last feedback; 0: it had none.
    pub last_feedback: u64,
    /// When.
    pub ended_at: i64,
    /// At the result, which is there for some states.
    pub result: Reader<'a>,
    /// Why there is none.
    pub text: String,
}

impl<'a> Ended<'a> {
    /// Of a response whose result is of this type.
    pub fn read(mut reader: Reader<'a>, result: &Type) -> Result<Ended<'a>, Malformed> {
        let state = State::of(reader.number()?);
        let _server: u64 = reader.number()?;
        let (last_feedback, ended_at) = (reader.number()?, reader.number()?);
        let at_result = reader.clone();
        reader.skip_value(result)?;
        let text = reader.text()?;
        Ok(Ended { state, last_feedback, ended_at, result: at_result, text })
    }

    /// Whether the result means something (A9).
    pub fn has_result(&self) -> bool {
        self.state == State::Succeeded || self.state == State::Cancelled && self.text.is_empty()
    }
}

/// A message about cancelling.
pub fn wish(id: GoalId) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &id.0, &now_ns().to_le_bytes()].concat()
}

/// What strangers have called an action is read only where it is one (A1).
pub fn check(action: &Action<'_>) -> Done {
    let goals = action.goals.as_ref();
    let parts = [
        (goals.and_then(|service| body_of(service.requests?)), "{id:uint8[16];sent_at:int64;goal:"),
        (
            goals.and_then(|service| body_of(service.responses?)),
            "{state:E(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:",
        ),
        (action.feedback.and_then(|topic| type_of(topic).ok()), "{id:uint8[16];server:uint64;number:uint64;feedback:"),
        (action.status.and_then(|topic| type_of(topic).ok()), "{goals:S{id:uint8[16];accepted_at:int64;state:E(uint8);}[];}"),
        (action.cancel.and_then(|topic| type_of(topic).ok()), "{id:uint8[16];sent_at:int64;}"),
    ];
    let fits = parts.iter().all(|(ty, begin)| ty.as_ref().is_some_and(|ty| shape(ty).starts_with(begin)));
    if fits {
        Ok(())
    } else {
        Err(Failure::Failed(format!("'{}' is no action: its topics carry what those of no action carry", shown(action.name))))
    }
}

/// The signature of a structure without its name, with other names in place of those of what it consists of.
fn shape(ty: &Type) -> String {
    fn anonymous(ty: &Type) -> Type {
        match ty {
            Type::Structure(structure) => {
                let mut structure = structure.clone();
                structure.name = "S".to_owned();
                for field in &mut structure.fields {
                    field.ty = anonymous(&field.ty);
                }
                Type::Structure(structure)
            }
            Type::Enumeration { number, .. } => Type::Enumeration { name: "E".to_owned(), number: *number },
            Type::Vector(element) => Type::Vector(Box::new(anonymous(element))),
            other => other.clone(),
        }
    }
    anonymous(ty).to_string().split_off(1)
}
