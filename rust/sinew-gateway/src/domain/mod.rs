//! The domain that the gateway is in: what is wanted and had there.

mod followed;
mod local;
mod onward;

pub use followed::Followed;
pub use local::{Local, LocalChannel, Looking, deeper};
pub use onward::{may_go_onward, passes_on, second};
