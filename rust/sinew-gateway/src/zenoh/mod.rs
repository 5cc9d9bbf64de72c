//! A Zenoh network in place of peers: topics and services of the domain as key expressions. The network as a whole is one peer, whose tag is `zenoh`.
//!
//! | file | what is there |
//! | --- | --- |
//! | `key`, `attached`, `qos` | names as key expressions, what stands beside payloads, priorities; pure |
//! | `network` | the session, in which a [`Bridge`] opens and closes what is to go over |
//! | `outlet`, `flow`, `kept` | topics that go to the network, and what was kept of them, for those who ask |
//! | `inlet`, `delivery`, `waiting`, `asking` | topics that come from it, and what others have kept of them |
//! | `served`, `provided` | services that are called from there, and here |
//! | `ros2/` | all of this as rmw_zenoh has it: topics, services and actions of ROS 2 |

mod asking;
mod attached;
mod delivery;
mod flow;
mod inlet;
mod kept;
mod key;
mod network;
mod outlet;
mod provided;
mod qos;
mod ros2;
mod served;
mod waiting;

use network::{Joined, Place};
use tokio::runtime::Handle;
use zenoh::bytes::ZBytes;

use crate::bridge::Bridge;
use crate::config::{Settings, Zenoh};
use crate::gateway::CannotStart;

/// Joins the domain, and the network as soon as that lets it. See [`Bridge::start`].
pub fn start(settings: &Settings, zenoh: &Zenoh) -> Result<Bridge, CannotStart> {
    let config = network::config(zenoh).map_err(CannotStart)?;
    if let Some(asked) = &zenoh.ros2 {
        return ros2::start(settings, asked, config);
    }
    let (runtime, prefix, max_message) = (Handle::current(), zenoh.prefix.clone(), settings.max_message);
    Bridge::start(settings, |node, _| {
        Ok(async move {
            let session = network::join(config).await;
            Joined(Place { node, runtime, session, prefix, max_message })
        })
    })
}

/// What Zenoh says of an error, without the places in its source.
fn said(why: &zenoh::Error) -> String {
    let text = why.to_string();
    let mut parts = text.split(" at ");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(".rs:") {
            Some((_, behind)) => said += behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'),
            None => said.extend([" at ", part]),
        }
    }
    said.trim().to_owned()
}

/// The parts, joined, without a copy.
fn joined(parts: Vec<bytes::Bytes>) -> ZBytes {
    let mut writer = ZBytes::writer();
    for part in parts {
        writer.append(part.into());
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_error_of_zenoh_the_places_in_its_source_are_not_told() {
        let why: zenoh::Error = "No link [refused at /a/tcp.rs:105.] to tcp/a:1 at all at b.rs:7.".into();
        assert_eq!(said(&why), "No link [refused] to tcp/a:1 at all");
    }
}
