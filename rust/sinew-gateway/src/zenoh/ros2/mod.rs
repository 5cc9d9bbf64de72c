//! Zenoh as rmw_zenoh speaks it: topics, services and actions of the domain as those of ROS 2. The network as a whole is one peer, whose tag is `zenoh`.
//!
//! | file | what is there |
//! | --- | --- |
//! | `names`, `token`, `attachment`, `stamps` | key expressions, liveliness tokens, and what stands beside payloads; pure |
//! | `strangers` | who else is there; pure |
//! | `network` | the session, in which a [`Bridge`] opens and closes what is to go over |
//! | `graph` | nodes of the domain, and what they have, as tools of ROS 2 list them |
//! | `outlet`, `inlet`, `delivery` | topics that go there, and come from there |
//! | `served`, `provided` | services that are called from there, and here |
//! | `replier`, `requester` | the two sides of a service there |
//! | `carrier` | the same, for [actions](crate::ros2::action) |

mod attachment;
mod carrier;
mod delivery;
mod graph;
mod inlet;
mod names;
mod network;
mod outlet;
mod provided;
mod replier;
mod requester;
mod served;
mod stamps;
mod strangers;
mod token;

use network::{Asked, Joined};
use zenoh::Config;

use crate::bridge::Bridge;
use crate::config::{RmwZenoh, Settings};
use crate::gateway::CannotStart;

/// Joins the domain, and the network as soon as that lets it. See [`Bridge::start`].
pub fn start(settings: &Settings, asked: &RmwZenoh, config: Config) -> Result<Bridge, CannotStart> {
    Bridge::start(settings, |node, ear| Ok(Joined::join(Asked::new(settings, asked, config)?, node, ear)))
}

/// Nanoseconds since 1970, so long ago.
fn time_ns(age: std::time::Duration) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(age).as_nanos()).unwrap_or(i64::MAX)
}
