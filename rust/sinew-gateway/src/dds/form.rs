//! How messages of a topic are told in DDS: as they are, but for those of actions.

use std::sync::Arc;

use sinew::msg::Type;
use sinew::msg::ros2::Interface;
use sinew::raw::Frame;

use super::action::{self, Clock, Feedbacks, Part};
use super::network::Place;
use super::types::RosType;
use crate::protocol::Offer;

/// Of one topic.
#[derive(Clone)]
pub enum Form {
    /// As in the domain.
    Same,
    /// Feedback of an action, which in the domain is of this type.
    Feedback(Type, Arc<Feedbacks>),
    /// How goals of an action stand.
    Status,
}

impl Form {
    /// Of a topic of the domain, with the type that it has there. Fails with half a sentence.
    pub fn of(place: &Place, name: &str, signature: &str) -> Result<(Form, RosType), String> {
        match Part::of(name, signature) {
            Some((action, Part::Feedback)) => {
                let (ty, feedback) = action::feedback_types(&place.types, signature)?;
                Ok((Form::Feedback(feedback, place.actions.of(action)), ty))
            }
            Some((_, Part::Status)) => {
                let ty = RosType::made(Interface::goal_status_array(), true).ok_or("action_msgs/msg/GoalStatusArray is not known")?;
                Ok((Form::Status, ty))
            }
            _ => Ok((Form::Same, place.types.of(signature)?)),
        }
    }

    /// Gives `write` the parts of a message that goes there. None: it is no message of the topic.
    pub fn write<R>(&self, frame: &Frame, ty: &RosType, write: impl FnOnce(&[&[u8]]) -> R) -> Option<R> {
        match self {
            Form::Same => {
                let mut parts: Vec<&[u8]> = frame.extents().collect();
                parts.push(ty.padding());
                Some(write(&parts))
            }
            Form::Feedback(feedback, _) => Some(write(&action::feedback_out(frame.extents(), feedback))),
            Form::Status => {
                let message = action::status_out(frame.reader().ok()?, &Clock::now()).ok()?;
                Some(write(&[&message]))
            }
        }
    }

    /// What a writer there offers, and keeps for readers, of what publishers in the domain offer.
    pub fn offer_there(&self, here: &Offer) -> Offer {
        match self {
            // As deep as clients here receive it (A4).
            Form::Feedback(..) => Offer { depth: 64, ..here.clone() },
            _ => here.clone(),
        }
    }

    /// What a ghost offers in the domain of what publishers there offer: topics of actions are here as those of any server (A4), whatever they are there.
    pub fn offer(&self, there: Offer) -> Offer {
        let depth = match self {
            Form::Same => return there,
            Form::Feedback(..) => 8,
            Form::Status => 1,
        };
        Offer { depth, reliable: true, transient_local: true, ..Offer::default() }
    }
}
