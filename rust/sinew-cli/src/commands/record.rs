//! `sinew record`: messages into files.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use sinew_bag::Compression;

use crate::cli::{Cli, duration};
use crate::failure::Done;
use crate::patterns::Patterns;
use crate::record;

/// For `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew record
  sinew record -o drive.mcap camera/* lidar/points --exclude **/debug
  sinew record --split-size 4GB --compression zstd
  sinew record --max-duration 10s --json imu | jq .messages

It ends by Ctrl-C. Files are MCAP, as Foxglove, PlotJuggler and rosbag2 open them; what is in them is whole at any time, also when this is killed.";

/// What to record, and into what.
#[derive(Args, Debug)]
pub struct Record {
    /// Topics.
    #[command(flatten)]
    pub topics: Patterns,
    /// All topics, which is so where none is named
    #[arg(long, short, conflicts_with = "topics")]
    pub all: bool,
    /// The file, which must not be there; else sinew_ and the time, here
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How messages are compressed
    #[arg(long, short = 'z', value_enum, default_value_t = Compress::None, value_name = "HOW")]
    pub compression: Compress,
    /// Begin another file when one has so many bytes, as 4GB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub split_size: Option<ByteSize>,
    /// Begin another file after so long a time, as 10min
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub split_time: Option<Duration>,
    /// End after so long a time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_duration: Option<Duration>,
}

/// How messages are compressed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Compress {
    /// Not: as fast as files can be written
    None,
    /// Fast
    Lz4,
    /// Small
    Zstd,
}

impl From<Compress> for Compression {
    fn from(how: Compress) -> Compression {
        match how {
            Compress::None => Compression::None,
            Compress::Lz4 => Compression::Lz4,
            Compress::Zstd => Compression::Zstd,
        }
    }
}

/// "4GB", "500MiB".
fn size(text: &str) -> Result<ByteSize, String> {
    text.parse().map_err(|_| format!("'{text}' is no size: 500MB, 4GB or 2GiB are"))
}

/// Records until it is interrupted.
pub fn record(cli: &Cli, asked: &Record) -> Done {
    record::run(cli, asked)
}
