//! What `sinew-gateway` can be asked for.

pub mod certs;
pub mod check;
pub mod run;
