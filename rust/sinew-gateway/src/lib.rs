//! The gateway of sinew, as a library for its program, tests and fuzzers.
//!
//! | module | what is there |
//! | --- | --- |
//! | [`protocol`], [`packing`], [`repair`] | what two gateways say to each other, as bytes (spec/gateway.md) |
//! | [`config`], [`rules`] | what a gateway is to do, and what may go where |
//! | [`security`], [`name`] | who may be a peer; what peers call it |
//! | [`discovery`] | who is on the local link |
//! | [`link`] | how messages leave over one connection |
//! | [`peers`] | who the gateway is connected with |
//! | [`domain`] | what is wanted and had in its domain |
//! | [`channels`] | what goes over between the domain and one peer |
//! | [`exchange`] | the one who joins them |
//! | `nodes`, [`gateway`] | what the gateway is in its domain; a whole one |
//! | [`bridge`] | a network of others in place of peers: the one who joins it with the domain |
//! | [`status`], [`catalogue`] | telling the domain how it stands, and what peers have |
//! | [`lines`] | what the log says of others |
//! | [`point`] | places where tests kill it |
//! | `zenoh` | a Zenoh network in place of peers |
//! | [`ros2`] | what ROS 2 calls things, whatever carries it |
//! | [`dds`] | ROS 2 over DDS in place of peers |
//! | [`ros1`] | ROS 1 over TCPROS in place of peers |
//! | [`commands`] | the verbs of the program |

pub mod bridge;
pub mod catalogue;
pub mod channels;
pub mod commands;
pub mod config;
pub mod dds;
pub mod discovery;
pub mod domain;
pub mod exchange;
pub mod gateway;
pub mod lines;
pub mod link;
pub mod name;
mod nodes;
pub mod packing;
pub mod peers;
pub mod point;
pub mod protocol;
pub mod repair;
pub mod ros1;
pub mod ros2;
pub mod rules;
pub mod security;
pub mod status;
#[cfg(test)]
mod testing;
#[cfg(feature = "zenoh")]
pub mod zenoh;
