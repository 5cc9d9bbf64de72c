//! The gateway of sinew, as a library for its program, tests and fuzzers.
//!
//! [`protocol`] is what two gateways say to each other, as bytes (spec/gateway.md). [`config`] reads what a gateway is to do, and [`rules`] decide what goes where. [`commands`] are the verbs of the
//! program.

pub mod commands;
pub mod config;
pub mod protocol;
pub mod rules;
