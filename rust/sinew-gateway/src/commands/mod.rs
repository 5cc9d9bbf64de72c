//! What `sinew-gateway` can be asked for.

pub mod certs;
pub mod check;
