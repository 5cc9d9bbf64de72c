//! Types of an action, as ROS 2 knows them.

use sinew::msg::Type;
use sinew::msg::ros2::Interface;

use super::carrier::Named;
use crate::ros2::types::{RosService, RosType, Types};

/// Of the services of one action.
pub struct ActionTypes {
    pub send_goal: RosService,
    pub get_result: RosService,
    pub cancel_goal: RosService,
    /// Of a goal, in the domain.
    pub goal: Type,
    /// Of a result, in the domain.
    pub result: Type,
    /// Of what the domain answers to a goal.
    pub response: Type,
}

const GOAL: &[(&str, &str)] = &[("id", "uint8[16]"), ("sent_at", "int64")];
const RESULT: &[(&str, &str)] = &[("state", "uint8"), ("server", "uint64"), ("last_feedback", "uint64"), ("ended_at", "int64")];
const FEEDBACK: &[(&str, &str)] = &[("id", "uint8[16]"), ("server", "uint64"), ("number", "uint64")];

impl ActionTypes {
    /// Of an action whose goals are sent to a service with such requests and responses. Fails with half a sentence.
    pub fn of(types: &Types, request: &str, response: &str) -> Result<ActionTypes, String> {
        let (goal, result) = (held(request, GOAL, "goal")?, held(response, RESULT, "result")?);
        let (of_goal, of_result) = (part(types, &goal)?, part(types, &result)?);
        let send_goal = RosService::made(of_goal.interface().send_goal(), of_goal.is_defined());
        let get_result = RosService::made(of_result.interface().get_result(), of_result.is_defined());
        Ok(ActionTypes {
            send_goal: send_goal.ok_or_else(|| no_part(&goal, "Goal"))?,
            get_result: get_result.ok_or_else(|| no_part(&result, "Result"))?,
            cancel_goal: RosService::made(Interface::cancel_goal(), true).ok_or("action_msgs/srv/CancelGoal is not known")?,
            goal,
            result,
            response: response.parse().map_err(|why| format!("its type cannot be read: {why}"))?,
        })
    }

    /// By these names: those that goals are sent to, results are asked of, and goals are cancelled by.
    pub fn services<'a>(&'a self, [goal, result, cancel]: &'a [String; 3]) -> [Named<'a>; 3] {
        [(goal, &self.send_goal), (result, &self.get_result), (cancel, &self.cancel_goal)]
    }
}

/// What feedback is told in, and its own type in the domain, of a topic of this type. Fails likewise.
pub fn feedback_types(types: &Types, signature: &str) -> Result<(RosType, Type), String> {
    let feedback = held(signature, FEEDBACK, "feedback")?;
    let known = part(types, &feedback)?;
    let made = RosType::made(known.interface().feedback_message(), known.is_defined());
    Ok((made.ok_or_else(|| no_part(&feedback, "Feedback"))?, feedback))
}

fn no_part(ty: &Type, end: &str) -> String {
    format!("an action of ROS 2 has a type like robot/action/Go_{end}, and {} is none", ty.name())
}

/// A goal, result or feedback. Wherever it stands in its package here, ROS 2 has it with its actions.
fn part(types: &Types, ty: &Type) -> Result<RosType, String> {
    let mut ty = ty.clone();
    if let (Some(said), Type::Structure(structure)) = (Interface::of(&ty), &mut ty)
        && let (Some((package, _)), Some((_, name))) = (said.name().split_once('/'), said.name().rsplit_once('/'))
    {
        structure.name = format!("{package}/action/{name}");
    }
    types.known(ty)
}

/// The type of a field that stands behind these in a structure. A message of it is taken apart by where they are.
fn held(signature: &str, before: &[(&str, &str)], field: &str) -> Result<Type, String> {
    let ty: Type = signature.parse().map_err(|why| format!("its type cannot be read: {why}"))?;
    let Type::Structure(structure) = &ty else { return Err(format!("{} is of no action", ty.name())) };
    let is = |ty: &Type, expected: &str| match ty {
        Type::Enumeration { number, .. } => number.name() == expected,
        other => other.to_string() == expected,
    };
    let is_before = |(at, (name, expected)): (usize, &(&str, &str))| {
        structure.fields.get(at).is_some_and(|field| field.name == *name && is(&field.ty, expected))
    };
    let found = structure.fields.get(before.len()).filter(|found| found.name == field && before.iter().enumerate().all(is_before));
    found.map(|found| found.ty.clone()).ok_or_else(|| format!("{} is of no action", ty.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: &str = "sinew/ActionGoal<robot/Go_Goal>{id:uint8[16];sent_at:int64;goal:robot/Go_Goal{x:float64;};}";
    const RESULT: &str = "sinew/GoalResult<robot/Go_Result>{state:sinew/GoalState(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:robot/Go_Result{at:float32;};text:string;}";
    const FEEDBACK: &str = "sinew/ActionFeedback<robot/At>{id:uint8[16];server:uint64;number:uint64;feedback:robot/At{x:float64;};}";

    #[test]
    fn types_of_an_action_are_named_as_ros_2_names_them() {
        let types = ActionTypes::of(&Types::default(), GOAL, RESULT).unwrap_or_else(|why| panic!("{why}"));
        let names = |service: &RosService| service.pair().map(|ty| ty.dds.clone());
        assert_eq!(names(&types.send_goal), ["robot::action::dds_::Go_SendGoal_Request_", "robot::action::dds_::Go_SendGoal_Response_"]);
        assert_eq!(names(&types.get_result), ["robot::action::dds_::Go_GetResult_Request_", "robot::action::dds_::Go_GetResult_Response_"]);
        assert_eq!(names(&types.cancel_goal)[0], "action_msgs::srv::dds_::CancelGoal_Request_");
        assert!(!types.send_goal.request.is_defined(), "nothing is known of it but what it says");
    }

    #[test]
    fn what_ros_2_could_not_name_is_told() {
        let why = feedback_types(&Types::default(), FEEDBACK).expect_err("it is no feedback of ROS 2");
        assert_eq!(why, "an action of ROS 2 has a type like robot/action/Go_Feedback, and robot/At is none");
        let why = feedback_types(&Types::default(), GOAL).expect_err("it is no feedback");
        assert_eq!(why, "sinew/ActionGoal<robot/Go_Goal> is of no action");
    }
}
