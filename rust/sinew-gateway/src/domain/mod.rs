//! The domain that the gateway is in: what is wanted and had there.

mod followed;
mod local;

pub use followed::Followed;
pub use local::{Local, LocalChannel};
