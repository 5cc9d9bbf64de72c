//! Actions: those of the domain are a service and three topics (spec/actions.md), those of ROS 2 three services and two topics.
//!
//! | in the domain | in ROS 2 | |
//! | --- | --- | --- |
//! | `NAME/_action/goal` | `send_goal`, `get_result` | `Executed` where goals come from there, `Sent` where they go there |
//! | `NAME/_action/cancel` | `cancel_goal` | likewise |
//! | `NAME/_action/feedback`, `status` | `feedback`, `status` | topics as others, told in another form |
//!
//! | file | what is there |
//! | --- | --- |
//! | `part`, `types` | what belongs to an action; pure |
//! | `carrier` | what is needed of that which carries the services there: DDS, or Zenoh |
//! | `messages`, `clock` | what is told about goals, here and there |
//! | `goals` | goals from there, as long as somebody may ask for their results; pure |
//! | `feedbacks` | the feedback that was given here to goals that go there |
//! | `executed`, `sent` | goals on their way |

mod carrier;
mod clock;
mod executed;
mod feedbacks;
mod goals;
mod messages;
mod part;
mod sent;
mod types;

use std::sync::Arc;

pub use carrier::{Carrier, Named, Requester};
pub use clock::Clock;
pub use feedbacks::{Feedbacks, OfActions};
pub use messages::{MORE, feedback_in, feedback_out, status_in, status_out};
pub use part::{Part, goals_of, part_of};
pub use types::feedback_types;

use executed::Executed;
use sent::Sent;

use crate::bridge::{Channel, Due, Ear, Key, Look, Way};
use crate::channels::State;
use crate::protocol::Kind;

/// Opens what goes over of an action and is no topic or service of ROS 2 by itself. None: it is something else.
pub fn open(carrier: &impl Carrier, ear: &Ear, key: &Key, due: &Due, look: &Look) -> Option<Result<Box<dyn Channel>, String>> {
    let (kind, name, way) = key;
    let (action, part) = Part::of(name, &due.signature)?;
    let look = Arc::clone(look);
    match (kind, way, part) {
        (Kind::Service, Way::Out, Part::Goals) => Some(Executed::open(carrier, key, due, look).map(boxed)),
        (Kind::Service, Way::In, Part::Goals) => Some(Sent::open(carrier, key, due, look).map(boxed)),
        (Kind::Topic, _, Part::Cancel) => {
            // Goals that go there listen to it, and may have been open before it was there.
            ear.look((Kind::Service, part_of(action, "goal"), Way::In));
            Some(Ok(boxed(TakenAlong)))
        }
        _ => None,
    }
}

fn boxed(channel: impl Channel + 'static) -> Box<dyn Channel> {
    Box::new(channel)
}

/// A topic that the goals of its action take along.
struct TakenAlong;

impl Channel for TakenAlong {
    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        None
    }
}
