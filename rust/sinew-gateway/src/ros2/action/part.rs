//! What belongs to an action, by its name. Pure.

/// Behind the name of an action, before what belongs to it.
const BEHIND: &str = "/_action/";

/// What a topic or a service of the domain is of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The service that goals are sent to.
    Goals,
    /// The topic with feedback.
    Feedback,
    /// The topic with how goals stand.
    Status,
    /// The topic with wishes to cancel.
    Cancel,
}

impl Part {
    /// With the name of the action. None: it is of none.
    pub fn of<'a>(name: &'a str, signature: &str) -> Option<(&'a str, Part)> {
        let (action, part) = name.rsplit_once(BEHIND)?;
        let (part, ty) = match part {
            "goal" => (Part::Goals, "sinew/ActionGoal<"),
            "feedback" => (Part::Feedback, "sinew/ActionFeedback<"),
            "status" => (Part::Status, "sinew/ActionStatus{"),
            "cancel" => (Part::Cancel, "sinew/ActionCancel{"),
            _ => return None,
        };
        signature.starts_with(ty).then_some((action, part))
    }
}

/// Of the services that an action has in ROS 2.
const SERVICES: [&str; 3] = ["send_goal", "get_result", "cancel_goal"];

/// Those that its goals are sent to, results are asked of, and goals are cancelled by.
pub fn services_of(action: &str) -> [String; 3] {
    SERVICES.map(|service| part_of(action, service))
}

/// The service that the goals of an action are sent to in the domain, of one of the services that the action has in ROS 2. None: it is none of those.
pub fn goals_of(service: &str) -> Option<String> {
    let (action, part) = service.rsplit_once(BEHIND)?;
    SERVICES.contains(&part).then(|| format!("{action}{BEHIND}goal"))
}

/// A part of an action, in the domain or in ROS 2.
pub fn part_of(action: &str, part: &str) -> String {
    format!("{action}{BEHIND}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_an_action_is_known_by_name_and_type() {
        let status = "sinew/ActionStatus{goals:sinew/GoalStatus{id:uint8[16];accepted_at:int64;state:sinew/GoalState(uint8);}[];}";
        assert_eq!(Part::of("arm/go/_action/status", status), Some(("arm/go", Part::Status)));
        assert_eq!(Part::of("arm/go/_action/goal", "sinew/ActionGoal<a/B>{id:uint8[16];}"), Some(("arm/go", Part::Goals)));
        for (name, signature) in [("arm/go/_action/status", "a/B{x:uint8;}"), ("arm/status", status), ("arm/go/_action/other", status)] {
            assert_eq!(Part::of(name, signature), None, "{name}");
        }
        assert_eq!(goals_of("arm/go/_action/get_result").as_deref(), Some("arm/go/_action/goal"));
        assert_eq!((goals_of("arm/go/_action/goal"), goals_of("get_result")), (None, None));
    }
}
