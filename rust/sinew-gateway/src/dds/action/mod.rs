//! Actions: those of the domain are a service and three topics (spec/actions.md), those of ROS 2 three services and two topics.
//!
//! | in the domain | in ROS 2 | |
//! | --- | --- | --- |
//! | `NAME/_action/goal` | `send_goal`, `get_result` | [`Executed`] where goals come from there, [`Sent`] where they go there |
//! | `NAME/_action/cancel` | `cancel_goal` | likewise |
//! | `NAME/_action/feedback`, `status` | `feedback`, `status` | topics as others, told in another [`Form`](super::form::Form) |
//!
//! | file | what is there |
//! | --- | --- |
//! | `part`, `types` | what belongs to an action; pure |
//! | `messages`, `clock` | what is told about goals, here and there |
//! | `goals` | goals from there, as long as somebody may ask for their results; pure |
//! | `feedbacks` | the feedback that was given here to goals that go there |
//! | `executed`, `sent` | goals on their way |

mod clock;
mod executed;
mod feedbacks;
mod goals;
mod messages;
mod part;
mod sent;
mod types;

pub use clock::Clock;
pub use executed::Executed;
pub use feedbacks::{Feedbacks, OfActions};
pub use messages::{MORE, feedback_in, feedback_out, status_in, status_out};
pub use part::{Part, goals_of, part_of};
pub use sent::Sent;
pub use types::feedback_types;

use crate::bridge::Channel;
use crate::channels::State;

/// A topic that the goals of its action take along.
pub struct TakenAlong;

impl Channel for TakenAlong {
    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        None
    }
}
