//! Types as ROS 2 knows them: by a name, and by a hash of what they consist of (RIHS01, REP 2016).
//!
//! Messages of sinew are CDR as ROS 2 has it; whether both mean the same type these tell.
//!
//! ```
//! use sinew_msg::{Type, ros2};
//!
//! let string: Type = "std_msgs/msg/String{data:string;}".parse()?;
//! let interface = ros2::Interface::of(&string).expect("ROS 2 can say it");
//! assert_eq!(interface.name(), "std_msgs/msg/String");
//! assert_eq!(interface.hash(), "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod hash;
mod interface;
mod library;
mod names;

pub use interface::Interface;
pub use library::Library;
pub use names::{dds_name, ros_name};
