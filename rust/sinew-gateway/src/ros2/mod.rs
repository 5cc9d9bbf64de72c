//! What ROS 2 calls things, and what it offers, whatever carries it there: what [`dds`](crate::dds) and Zenoh as rmw_zenoh speaks it have in common.
//!
//! | file | what is there |
//! | --- | --- |
//! | `types` | types of the domain, as ROS 2 knows them |
//! | `qos` | quality of service, here and there; pure |
//! | `calls` | calls of services that are under way |
//! | `action/` | goals of actions that come from there, and go there |
//! | `form` | how messages of a topic are told there |
//! | `catalogue` | what others have, for those who look for it |

pub mod action;
pub(crate) mod calls;
pub mod catalogue;
pub(crate) mod form;
pub mod qos;
pub mod types;
