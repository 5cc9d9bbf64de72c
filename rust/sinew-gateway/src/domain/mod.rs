//! The domain that the gateway is in: what is wanted and had there.

mod local;

pub use local::{Local, LocalChannel};
