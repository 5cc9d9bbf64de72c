//! The gateway of sinew, as a library for its program, tests and fuzzers.
//!
//! [`protocol`] is what two gateways say to each other, as bytes (spec/gateway.md).

pub mod protocol;
