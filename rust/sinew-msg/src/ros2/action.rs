//! What ROS 2 makes of an action: the messages around its goals, results and feedback.

use std::collections::BTreeMap;

use super::interface::{Base, Field, Interface};
use crate::schema::Row;
use crate::types::Number;

const UUID: &str = "unique_identifier_msgs/msg/UUID";
const STAMP: &str = "builtin_interfaces/msg/Time";
const GOAL_INFO: &str = "=====\nMSG: action_msgs/GoalInfo\nunique_identifier_msgs/UUID goal_id\nbuiltin_interfaces/Time stamp\n=====\nMSG: unique_identifier_msgs/UUID\nuint8[16] uuid\n";

impl Interface {
    /// The service that the goals of an action are sent to, by its request and response: of this one, `example_interfaces/action/Fibonacci_Goal`. None: it has the name of no goal.
    pub fn send_goal(&self) -> Option<[Interface; 2]> {
        let (action, goal) = self.part("_Goal")?;
        let request = self.around(format!("{action}_SendGoal_Request"), &goal, vec![goal_id(), nested("goal", &goal)]);
        let response = alone(format!("{action}_SendGoal_Response"), vec![number("accepted", Number::Bool), nested("stamp", STAMP)]);
        Some([request?, response?])
    }

    /// Likewise, that its results are asked of: of `example_interfaces/action/Fibonacci_Result`.
    pub fn get_result(&self) -> Option<[Interface; 2]> {
        let (action, result) = self.part("_Result")?;
        let request = alone(format!("{action}_GetResult_Request"), vec![goal_id()]);
        let response =
            self.around(format!("{action}_GetResult_Response"), &result, vec![number("status", Number::Int8), nested("result", &result)]);
        Some([request?, response?])
    }

    /// Likewise, what feedback is told in: `example_interfaces/action/Fibonacci_Feedback`.
    pub fn feedback_message(&self) -> Option<Interface> {
        let (action, feedback) = self.part("_Feedback")?;
        self.around(format!("{action}_FeedbackMessage"), &feedback, vec![goal_id(), nested("feedback", &feedback)])
    }

    /// The service that goals of any action are cancelled by.
    pub fn cancel_goal() -> Option<[Interface; 2]> {
        let request = format!("action_msgs/GoalInfo goal_info\n{GOAL_INFO}");
        let response = format!("int8 return_code\naction_msgs/GoalInfo[] goals_canceling\n{GOAL_INFO}");
        let read = |part: &str, text: &str| Interface::read(&format!("action_msgs/srv/CancelGoal_{part}"), text).ok();
        Some([read("Request", &request)?, read("Response", &response)?])
    }

    /// What servers of any action tell about their goals in.
    pub fn goal_status_array() -> Option<Interface> {
        let goal = "=====\nMSG: action_msgs/GoalStatus\naction_msgs/GoalInfo goal_info\nint8 status\n";
        Interface::read("action_msgs/msg/GoalStatusArray", &format!("action_msgs/GoalStatus[] status_list\n{goal}{GOAL_INFO}")).ok()
    }

    /// The action that this is a part of, and what ROS 2 calls the part. A type of sinew may stand in `robot/msg`, or elsewhere in `robot`.
    fn part(&self, end: &str) -> Option<(String, String)> {
        let whole = self.name().strip_suffix(end)?;
        let (package, name) = (whole.split_once('/')?.0, whole.rsplit_once('/')?.1);
        let action = format!("{package}/action/{name}");
        let part = format!("{action}{end}");
        (!name.is_empty()).then_some((action, part))
    }

    /// A structure that has this one, under the name that it is to have there.
    fn around(&self, name: String, own: &str, fields: Vec<Field>) -> Option<Interface> {
        let mut structures = self.structures().clone();
        let inside = structures.remove(self.name())?;
        structures.insert(own.to_owned(), inside);
        with_fields(name, fields, structures)
    }
}

fn alone(name: String, fields: Vec<Field>) -> Option<Interface> {
    with_fields(name, fields, BTreeMap::new())
}

fn with_fields(name: String, fields: Vec<Field>, mut structures: BTreeMap<String, Vec<Field>>) -> Option<Interface> {
    if fields.iter().any(|field| field.base == Base::Nested(UUID.to_owned())) {
        structures.insert(UUID.to_owned(), vec![Field { row: Row::Exactly(16), ..number("uuid", Number::Uint8) }]);
    }
    structures.insert(name.clone(), fields);
    Interface::complete(&name, structures).ok()
}

fn goal_id() -> Field {
    nested("goal_id", UUID)
}

fn nested(name: &str, ty: &str) -> Field {
    Field { name: name.to_owned(), base: Base::Nested(ty.to_owned()), row: Row::One }
}

fn number(name: &str, number: Number) -> Field {
    Field { name: name.to_owned(), base: Base::Number(number), row: Row::One }
}
