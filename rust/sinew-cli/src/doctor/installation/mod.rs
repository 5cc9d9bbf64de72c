//! The library, the manager's program, and what the environment says to them.

pub mod configuration;
pub mod environment;
pub mod library;
pub mod manager_program;
pub mod trial;
