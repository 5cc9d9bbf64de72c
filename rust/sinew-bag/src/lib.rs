//! Recordings: MCAP files as Foxglove, PlotJuggler and rosbag2 open them.
//!
//! A [`Bag`] is read whatever became of its writer, also one of ROS 1. A [`Writer`] writes messages from where they lie, in one piece or in many, without a copy of big ones; what it has written is whole at any time, so a crash loses the last second at most.
//!
//! ```
//! use sinew_bag::{Compression, Stamp, Topic, Writer};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("drive.mcap");
//! let mut writer = Writer::create(&path, Compression::None)?;
//! let speed = writer.add_topic(&Topic {
//!     name: "/speed".into(),
//!     message_encoding: "cdr".into(),
//!     type_name: "robot/msg/Speed".into(),
//!     schema_encoding: "ros2msg".into(),
//!     schema: "float64 value".into(),
//!     metadata: Default::default(),
//! })?;
//! let stamp = Stamp { sequence: 1, log_time: 1_700_000_000_000_000_000, publish_time: 1_700_000_000_000_000_000 };
//! writer.write(speed, &stamp, &[&[0, 1, 0, 0], &2.5_f64.to_le_bytes()])?;
//! let written = writer.finish()?;
//! assert_eq!(written.messages, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod chunk;
mod compression;
mod error;
pub mod qos;
mod reader;
mod records;
mod writer;

pub use compression::Compression;
pub use error::{BagError, Result};
pub use reader::{Bag, Compressed, Message, Messages, Selection, files};
pub use writer::{Stamp, Topic, TopicId, Writer, Written, settle};
