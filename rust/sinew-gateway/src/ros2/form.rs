//! How messages of a topic are told in ROS 2: as they are, but for those of actions.

use std::fmt::{Display, Formatter, Result as Formatted};
use std::sync::Arc;

use sinew::msg::Type;
use sinew::msg::encapsulation::normalize;
use sinew::msg::ros2::Interface;
use sinew::msg::stream::Reader;
use sinew::raw::{Loan, Publisher};

use super::action::{self, Clock, Feedbacks, MORE, OfActions, Part};
use super::types::{RosType, Types};
use crate::channels::is_held_back;
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

/// Why a message was not published.
#[derive(Debug)]
pub enum Unpublished {
    /// By the domain.
    Failed(sinew::Error),
    /// As half a sentence.
    Refused(String),
}

impl Unpublished {
    /// Whether it is tried again, as [`is_held_back`].
    pub fn is_held_back(&self, publisher: &Publisher, offer: &Offer, bytes: usize) -> bool {
        matches!(self, Unpublished::Failed(why) if is_held_back(publisher, offer, why, bytes as u64))
    }
}

impl From<String> for Unpublished {
    fn from(why: String) -> Unpublished {
        Unpublished::Refused(why)
    }
}

impl From<sinew::Error> for Unpublished {
    fn from(why: sinew::Error) -> Unpublished {
        Unpublished::Failed(why)
    }
}

impl Display for Unpublished {
    fn fmt(&self, to: &mut Formatter<'_>) -> Formatted {
        match self {
            Unpublished::Failed(why) => write!(to, "could not be published: {why}"),
            Unpublished::Refused(why) => to.write_str(why),
        }
    }
}

impl Form {
    /// Of a topic of the domain, with the type that it has there. Fails with half a sentence.
    pub fn of(types: &Types, actions: &OfActions, name: &str, signature: &str) -> Result<(Form, RosType), String> {
        match Part::of(name, signature) {
            Some((action, Part::Feedback)) => {
                let (ty, feedback) = action::feedback_types(types, signature)?;
                Ok((Form::Feedback(feedback, actions.of(action)), ty))
            }
            Some((_, Part::Status)) => {
                let ty = RosType::made(Interface::goal_status_array(), true).ok_or("action_msgs/msg/GoalStatusArray is not known")?;
                Ok((Form::Status, ty))
            }
            _ => Ok((Form::Same, types.of(signature)?)),
        }
    }

    /// Gives `write` the parts of a message that goes there, of what it is here, in parts. None: it is no message of the topic.
    pub fn write<'a, R>(&self, message: impl Iterator<Item = &'a [u8]>, ty: &RosType, write: impl FnOnce(&[&[u8]]) -> R) -> Option<R> {
        match self {
            Form::Same => {
                let mut parts: Vec<&[u8]> = message.collect();
                parts.push(ty.padding());
                Some(write(&parts))
            }
            Form::Feedback(feedback, _) => Some(write(&action::feedback_out(message, feedback))),
            Form::Status => {
                let parts: Vec<&[u8]> = message.collect();
                let message = action::status_out(Reader::new(&parts).ok()?, &Clock::now()).ok()?;
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

    /// Bytes that a message has more here, before what comes.
    pub fn before(&self) -> usize {
        if matches!(self, Form::Feedback(..)) { MORE } else { 0 }
    }

    /// Publishes what came, of so many bytes, which stand behind those [before](Form::before); not of [`Form::Status`]. How many there are now.
    pub fn publish(&self, mut loan: Loan<'_>, size: usize, ty: &RosType) -> Result<usize, Unpublished> {
        let no_message = || NO_MESSAGE.to_owned();
        let before = self.before();
        let came = loan.bytes().get_mut(before..before + size);
        let size = before + ty.size_here(came.and_then(normalize).ok_or_else(no_message)?.1);
        let goal = if let Form::Feedback(_, feedbacks) = self {
            let whole = loan.bytes().get_mut(..size).ok_or_else(no_message)?;
            let id = action::feedback_in(whole, feedbacks.server(), feedbacks.next_number()).ok_or_else(no_message)?;
            Some((feedbacks, id))
        } else {
            None
        };
        loan.publish(size)?;
        if let Some((feedbacks, id)) = goal {
            feedbacks.told_of(id);
        }
        Ok(size)
    }
}

/// Likewise, of [`Form::Status`].
pub fn publish_status(publisher: &Publisher, came: &mut [u8]) -> Result<usize, Unpublished> {
    let (_, size) = normalize(came).ok_or_else(|| NO_MESSAGE.to_owned())?;
    let message = action::status_in(&came[..size], &Clock::now()).map_err(|why| format!("cannot be read: {why}"))?;
    publisher.publish(&[&message])?;
    Ok(message.len())
}

const NO_MESSAGE: &str = "is encoded as no message of ROS 2 is";
