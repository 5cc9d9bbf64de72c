//! Calls of services between two domains (G24 to G27): a call goes on when the connection is lost, and is executed once.

mod counts;
mod memory;
mod provided;
mod served;

pub use counts::Counts;
pub use memory::Memory;
pub use provided::Provided;
pub use served::Served;
