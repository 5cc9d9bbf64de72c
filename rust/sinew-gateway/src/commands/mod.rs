//! What `sinew-gateway` can be asked for.

pub mod check;
