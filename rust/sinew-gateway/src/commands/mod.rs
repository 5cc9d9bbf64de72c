//! What `sinew-gateway` can be asked for.

pub mod certs;
pub mod check;
pub mod ros1;
pub mod ros2;
pub mod run;
