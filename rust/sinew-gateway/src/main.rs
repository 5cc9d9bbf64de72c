//! `sinew-gateway`: connects the domain of this machine with those of others.

fn main() {}
