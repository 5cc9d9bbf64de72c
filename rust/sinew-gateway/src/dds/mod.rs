//! ROS 2 over DDS in place of peers: topics and services of the domain as those of ROS 2, without generated code. The network as a whole is one peer, whose tag is `ros2`.
//!
//! | file | what is there |
//! | --- | --- |
//! | `names`, `convention`, `user_data` | what ROS 2 calls things over DDS, and how its calls are told apart; pure. Types, quality of service and actions are in [`ros2`](crate::ros2) |
//! | `guid`, `strangers` | who else is there; pure |
//! | `back_end`, `sys` | an implementation of DDS, which is loaded (bridges/raw_dds.h) |
//! | `network` | the DDS domain, in which a [`Bridge`] opens and closes what is to go over |
//! | `graph` | nodes of the domain, as tools of ROS 2 list them |
//! | `outlet`, `inlet` | topics that go there, and come from there: what a reader hears (`heard`), and where it is put (`landing`) |
//! | `served`, `provided` | services that are called from there, and here |
//! | `replier`, `requester` | the two sides of a service in DDS |
//! | `carrier` | the same, for actions |
//! | `matched`, `numbers` | who is connected, and what did not arrive of whom; the latter pure |

mod back_end;
mod carrier;
mod convention;
mod graph;
mod guid;
mod heard;
mod inlet;
mod landing;
mod matched;
mod names;
mod network;
mod numbers;
mod outlet;
mod provided;
mod replier;
mod requester;
mod served;
mod strangers;
mod sys;
mod user_data;

use network::Joined;
use tokio::runtime::Handle;

use crate::bridge::Bridge;
use crate::config::{Ros2, Settings};
use crate::gateway::CannotStart;
use crate::ros2::{qos, types};

/// Joins both domains. See [`Bridge::start`].
pub fn start(settings: &Settings, ros2: &Ros2) -> Result<Bridge, CannotStart> {
    let runtime = Handle::current();
    Bridge::start(settings, |node, ear| Joined::join(settings, ros2, (node, ear), runtime).map(std::future::ready))
}
