//! ROS 1 over TCPROS in place of peers: topics of the domain as those of ROS 1, without generated code. The network as a whole is one peer, whose tag is `ros1`.
//!
//! | file | what is there |
//! | --- | --- |
//! | `uri`, `names`, `xml`, `header` | where somebody is, what ROS 1 calls things, and what it says: calls, and what stands before messages; pure |
//! | `http`, `calls`, `master` | asking others, above all the master |
//! | `registrations` | keeping the master informed, whatever becomes of it |
//! | `server`, `node` | being asked: two ports, and what is answered there |
//! | `types` | which types fit, by the definitions that are here or told |
//! | `catalogue` | what others have, for those who look for it |
//! | `network` | the ROS 1 around a master, in which a [`Bridge`] opens and closes what is to go over |
//! | `ends` | what is open |
//! | `outlet`, `offered`, `line` | topics that go there, who takes them, and what waits for each of those |
//! | `inlet`, `followed`, `publisher` | topics that come from there, who publishes them, and the connection with each of those |

mod calls;
mod catalogue;
mod ends;
mod followed;
pub mod header;
mod http;
mod inlet;
mod line;
mod master;
mod names;
mod network;
mod node;
mod offered;
mod outlet;
mod publisher;
mod registrations;
mod server;
mod types;
mod uri;
pub mod xml;

use tokio::runtime::Handle;

use crate::bridge::Bridge;
use crate::config::{Ros1, Settings};
use crate::gateway::CannotStart;
use network::Joined;
pub use uri::{NoUri, Uri, is_host};

/// Joins the domain, and ROS 1 as soon as there is a master. See [`Bridge::start`].
pub fn start(settings: &Settings, ros1: &Ros1) -> Result<Bridge, CannotStart> {
    let runtime = Handle::current();
    Bridge::start(settings, |node, _| Joined::join(settings, ros1, node, runtime).map(std::future::ready))
}
