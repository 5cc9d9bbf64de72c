//! `sinew play`: messages of files into a domain.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use globset::Glob;

use crate::cli::{Cli, duration};
use crate::failure::Done;
use crate::patterns::{Patterns, pattern};
use crate::play;

/// For `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew play drive.mcap
  sinew play --rate 0.5 --start 30s --duration 10s drive.mcap
  sinew play --topics 'camera/**' --remap camera/image:=replay/image --loop drive.mcap
  sinew play left.mcap right.mcap

Files are MCAP, of sinew, of ROS 2 and of ROS 1, bags of ROS 1, or folders of them; they are played as one. Topics that are no sinew topics, or are there with another type, are named, and others are played; what services sent is left out.
Publishers offer the quality of service that the recorded ones offered. It begins when all subscribers that are there are connected.

Keys on a terminal, in its foreground: space pauses, s plays the next message and pauses, up and down change the rate, q ends.

Exit status: 0 when all that can be played was published, or until it was interrupted, also where topics are named that are not played; 1 when none can be, when a message could not be published, or a file, or a damaged part of one, could not be read; 3 when there is nothing to play.
Files of a folder that are no recordings, as empty ones, are left out with a warning, and a file whose recorder was killed is played as far as it is whole: neither is a failure.";

/// What to play, and how.
#[derive(Args, Debug)]
pub struct Play {
    /// MCAP files and bags of ROS 1, or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// So many times as fast
    #[arg(long, short, default_value_t = 1.0, value_parser = rate)]
    pub rate: f64,
    /// From the begin again at the end; a round is 0.1 s of it at least
    #[arg(long = "loop", short = 'l')]
    pub repeat: bool,
    /// Begin so far behind the first message
    #[arg(long, short, value_name = "TIME", value_parser = duration, default_value = "0s")]
    pub start: Duration,
    /// Play so much of it
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Wait for the space key before the first message
    #[arg(long, short)]
    pub paused: bool,
    /// Only these topics: names or patterns, as camera/* or **/image
    #[arg(long, short, value_name = "TOPIC", value_parser = pattern)]
    pub topics: Vec<Glob>,
    /// Without these
    #[arg(long, short = 'x', value_name = "TOPIC", value_parser = pattern)]
    pub exclude: Vec<Glob>,
    /// Publish a topic under another name
    #[arg(long, short = 'm', value_name = "OLD:=NEW", value_parser = remapped)]
    pub remap: Vec<(String, String)>,
}

impl Play {
    /// Those to be played.
    pub fn patterns(&self) -> Patterns {
        Patterns { topics: self.topics.clone(), exclude: self.exclude.clone() }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (play::SLOWEST..=play::FASTEST).contains(&rate) => Ok(rate),
        _ => Err(format!("'{text}' is no rate: {} to {} are", play::SLOWEST, play::FASTEST)),
    }
}

fn remapped(text: &str) -> Result<(String, String), String> {
    let names = text.split_once(":=").filter(|(old, new)| !old.is_empty() && !new.is_empty());
    names
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .ok_or_else(|| format!("'{text}' says no new name: camera/image:=replay/image does"))
}

/// Plays it.
pub fn play(cli: &Cli, asked: &Play) -> Done {
    play::run(cli, asked)
}
