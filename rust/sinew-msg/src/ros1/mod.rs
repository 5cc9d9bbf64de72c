//! Types as ROS 1 knows them: by a definition, and by its MD5 sum, in which constants count and comments do not.
//!
//! Messages of ROS 1 have no gaps, other words for times, and a number in their headers; a [`Plan`] takes them from one form into the other, whichever type of sinew has the same fields.
//!
//! ```
//! use sinew_msg::{Type, ros1::{Definition, Plan}, stream::Reader};
//!
//! let string: Type = "std_msgs/msg/String{data:string;}".parse()?;
//! let definition = Definition::read("std_msgs/String", "string data  # all there is")?;
//! assert_eq!(definition.md5sum(), "992ce8a1687cec8c8bd883ec73ca41d1");
//!
//! let plan = Plan::new(&string, &definition)?;
//! let mut stream = vec![0; plan.size_of_stream(b"\x02\0\0\0hi")?];
//! plan.write_stream(b"\x02\0\0\0hi", &mut stream)?;
//! assert_eq!(stream, b"\0\x01\0\0\x03\0\0\0hi\0");
//!
//! let mut message = Vec::new();
//! plan.write_message(Reader::new(&[&stream])?, 0, &mut message)?;
//! assert_eq!(message, b"\x02\0\0\0hi");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod definition;
mod inward;
mod library;
mod natural;
mod outward;
mod part;
mod plan;

pub use definition::Definition;
pub use library::Library;
pub use plan::Plan;
