//! What the kernel has, and what the machine is like.

pub mod addresses;
pub mod clock;
pub mod kernel;
pub mod memory;
pub mod overcommit;
pub mod processor;
pub mod real_time;
pub mod shared_memory;
pub mod watching;
