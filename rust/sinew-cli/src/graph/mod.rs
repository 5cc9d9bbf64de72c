//! `sinew graph`: nodes and topics as a picture.

mod collect;
mod dot;
mod layout;
mod model;
mod svg;
mod text;
mod told;

pub use collect::collect;
pub use dot::dot;
pub use svg::svg;
pub use text::write;
pub use told::Told;
