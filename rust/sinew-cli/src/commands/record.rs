//! `sinew record`: messages into files.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use globset::Glob;
use sinew_bag::Compression;

use crate::cli::{Cli, duration};
use crate::failure::Done;
use crate::patterns::{Patterns, pattern};
use crate::record::flight::Condition;
use crate::record::{self, USUAL_NAME};

/// For `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew record
  sinew record -o drive.mcap 'camera/*' lidar/points --exclude '**/debug'
  sinew record --split-size 4GB --compression zstd
  sinew record --max-duration 10s --json imu | jq .messages
  sinew record --last 30s --budget 2GB --on-death --when 'battery.percentage < 0.1'

It ends by Ctrl-C, with status 3 when topics are named and nothing came on any, and with 1 when it could not have what was there. What only another machine has comes here when it is named, or a condition looks at it. Files are MCAP, as Foxglove, PlotJuggler and rosbag2 open them; what is in them is whole at any time, also when this is killed, as by another Ctrl-C a second later or more.
A flight recorder (--last) holds messages where their publishers wrote them, and writes them when `sinew trigger` says so, when a condition becomes true or when a node dies: with what that published last.
Then it goes on. What it was triggered for when it is ended is written at once.";

/// What to record, and into what.
#[derive(Args, Debug)]
pub struct Record {
    /// Topics.
    #[command(flatten)]
    pub topics: Patterns,
    /// All topics, which is so where none is named
    #[arg(long, short, conflicts_with = "topics")]
    pub all: bool,
    /// What services send, too
    #[arg(long)]
    pub services: bool,
    /// The file, which must not be there, or a folder, which is made where / stands at its end; else here. Where no file is named it is sinew_ and the time. Split files have _0, _1 and so on behind the name, those of a flight recorder, which are called flight where no file is named, the time
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How messages are compressed
    #[arg(long, short = 'z', value_enum, default_value_t = Compress::None, value_name = "HOW")]
    pub compression: Compress,
    /// Begin another file when one has so many bytes, as 4GB; 1MB at least. Numbers that are taken are left out
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub split_size: Option<ByteSize>,
    /// Begin another file after so long a time, as 10min
    #[arg(long, value_name = "TIME", value_parser = split_time)]
    pub split_time: Option<Duration>,
    /// End after so long a time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_duration: Option<Duration>,
    /// A flight recorder: hold the messages of so long a time, and write them only when it is triggered
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with_all = ["split_size", "split_time"])]
    pub last: Option<Duration>,
    /// Hold no more bytes than that, and twice as many while a file is written
    #[arg(long, value_name = "SIZE", value_parser = held, default_value = "1GB", requires = "last")]
    pub budget: ByteSize,
    /// Trigger it when this becomes so: TOPIC.FIELD, <, <=, ==, !=, >= or >, and a value
    #[arg(long, value_name = "CONDITION", requires = "last")]
    pub when: Vec<Condition>,
    /// Trigger it when a node dies, which does not leave then: any, or those that a pattern names
    #[arg(long, value_name = "NODE", requires = "last", num_args = 0..=1, require_equals = true, value_parser = pattern)]
    #[allow(clippy::option_option)] // absent, any, and some: as clap has it
    pub on_death: Option<Option<Glob>>,
    /// Go on for so long a time after a trigger
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s", requires = "last")]
    pub after: Duration,
    /// What `sinew trigger` calls it
    #[arg(long, value_name = "NAME", default_value = USUAL_NAME, requires = "last")]
    pub name: String,
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

/// No file would have more than one message.
fn split_time(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| if time.is_zero() { Err("a file is to be of some time, as 10min".to_owned()) } else { Ok(time) })
}

/// "4GB", "500MiB", of a file.
fn size(text: &str) -> Result<ByteSize, String> {
    size_from(text, ByteSize::mb(1))
}

/// The same of what is held in memory.
fn held(text: &str) -> Result<ByteSize, String> {
    size_from(text, ByteSize::kb(1))
}

/// What is smaller was not meant: "4 GB" comes here as a 4, and as a topic GB.
fn size_from(text: &str, least: ByteSize) -> Result<ByteSize, String> {
    let size: ByteSize = text.parse().map_err(|_| format!("'{text}' is no size: 500MB, 4GB or 2GiB are"))?;
    let too_small = || format!("{size} is less than {}: the unit stands right behind the number, as in 4GB", least.display().si());
    (size >= least).then_some(size).ok_or_else(too_small)
}

/// Records until it is interrupted.
pub fn record(cli: &Cli, asked: &Record) -> Done {
    record::run(cli, asked)
}
