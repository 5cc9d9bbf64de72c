//! Types and messages of sinew without generated code.
//!
//! A [`Type`] is read from the signature that a topic tells, [`stream::Reader`] reads a message of it where it lies. [`mod@print`] makes text of a message, and [`path`] finds a part of it. The feature `value` makes messages of text; programs that have no use for that are built without readers of JSON and YAML. The features `ros1` and `ros2` know types as ROS 1 and ROS 2 do. Nothing here needs the library, or a domain.
//!
//! ```
//! use sinew_msg::{Type, stream::Reader};
//!
//! let image: Type = "robot/Image{width:uint32;data:uint8[];}".parse()?;
//! assert_eq!(image.name(), "robot/Image");
//!
//! let stream = [0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 7, 8, 9];
//! let mut reader = Reader::new(&[&stream])?;
//! assert_eq!(reader.number::<u32>()?, 2);
//! assert_eq!(&*reader.slice::<u8>()?, [7, 8, 9]);
//! reader.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod difference;
pub mod encapsulation;
mod hash;
mod names;
pub mod path;
pub mod print;
#[cfg(feature = "ros1")]
pub mod ros1;
#[cfg(feature = "ros2")]
pub mod ros2;
pub mod schema;
mod signature;
pub mod stream;
pub mod transcode;
mod types;
#[cfg(feature = "value")]
pub mod value;

pub use difference::difference;
pub use names::nearest;
pub use signature::SignatureError;
pub use types::{Field, MAX_DEPTH, MAX_MEMBERS, Number, Structure, Type};
