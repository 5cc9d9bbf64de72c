//! `sinew bag`: what is in recordings.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use sinew_bag::Bag;

use crate::cli::Cli;
use crate::failure::{Done, Failure};
use crate::output::{BAD, Cell, NAME, TITLE, Table, WARN, counted, json, json_line, out, path_as_text, shown};
use crate::record::{FLIGHT, LOST, REASON};
use crate::recordings::open_all;
use crate::units::{bytes, three_digits};

/// Recordings.
#[derive(Subcommand, Debug)]
pub enum BagCommand {
    /// Show what is in a recording
    #[command(after_help = "\
Examples:
  sinew bag info drive.mcap
  sinew bag info --json drive.mcap | jq '.topics[] | select(.lost > 0)'

Of a file without a summary, as its recorder was killed, all of it is read, and what is whole is shown. What was lost is ? (null) where that does not stand in it.")]
    Info(Info),
}

/// A recording.
#[derive(Args, Debug)]
pub struct Info {
    /// An MCAP file, a bag of ROS 1, or a folder of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct OfBag<'a> {
    #[serde(serialize_with = "path_as_text")]
    file: &'a Path,
    bytes: u64,
    /// Why it is not whole.
    cut: Option<&'a str>,
    /// Why a flight recorder wrote it.
    reason: Option<&'a str>,
    begin_ns: Option<u64>,
    end_ns: Option<u64>,
    seconds: f64,
    messages: u64,
    /// None: it was cut before that stood in it.
    lost: Option<u64>,
    profile: &'a str,
    library: &'a str,
    chunks: Vec<OfChunks<'a>>,
    topics: Vec<OfTopic<'a>>,
}

#[derive(Serialize)]
struct OfChunks<'a> {
    compression: &'a str,
    chunks: u64,
    bytes: u64,
    uncompressed_bytes: u64,
}

#[derive(Serialize)]
struct OfTopic<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    messages: u64,
    hz: Option<f64>,
    lost: Option<u64>,
    encoding: &'a str,
    schema: &'a str,
}

/// Shows what is in each.
pub fn info(cli: &Cli, asked: &Info) -> Done {
    let mut count = 0;
    for path in &asked.files {
        count += sinew_bag::files(path).map_err(Failure::of)?.len();
    }
    let mut is_first = true;
    open_all(&asked.files, |bag| {
        let told = OfBag::new(&bag);
        match (cli.json, count) {
            (true, 1) => json(&told)?,
            (true, _) => json_line(&told)?,
            (false, _) => {
                if !std::mem::take(&mut is_first) {
                    writeln!(out())?;
                }
                told.print()?;
            }
        }
        Ok(())
    })
}

impl<'a> OfBag<'a> {
    fn new(bag: &'a Bag) -> OfBag<'a> {
        let (begin_ns, end_ns) = bag.times().unzip();
        let seconds = bag.times().map_or(0.0, |(begin, end)| end.saturating_sub(begin) as f64 / 1e9);
        let lost = bag.metadata(LOST);
        let is_known = lost.is_some() || bag.cut().is_none();
        let mut topics: Vec<_> = bag
            .topics()
            .map(|(id, topic)| {
                let messages = bag.count(id);
                OfTopic {
                    name: &topic.name,
                    type_name: &topic.type_name,
                    messages,
                    // Between the first and the last are as many periods as messages, but one.
                    hz: (messages > 1 && seconds > 0.0).then(|| (messages - 1) as f64 / seconds),
                    lost: is_known.then(|| lost.and_then(|lost| lost.get(&topic.name)?.parse().ok()).unwrap_or(0)),
                    encoding: &topic.message_encoding,
                    schema: &topic.schema_encoding,
                }
            })
            .collect();
        topics.sort_by_key(|topic| topic.name);
        OfBag {
            file: bag.path(),
            bytes: bag.size(),
            cut: bag.cut(),
            reason: bag.metadata(FLIGHT).and_then(|flight| flight.get(REASON)).map(String::as_str),
            begin_ns,
            end_ns,
            seconds,
            messages: topics.iter().fold(0, |sum: u64, topic| sum.saturating_add(topic.messages)),
            // Also of topics of which no message came.
            lost: is_known.then(|| lost.map_or(0, |lost| lost.values().filter_map(|lost| lost.parse().ok()).fold(0, u64::saturating_add))),
            profile: bag.profile(),
            library: bag.library(),
            chunks: bag
                .compressions()
                .map(|(compression, totals)| OfChunks {
                    compression: if compression.is_empty() { "none" } else { compression },
                    chunks: totals.chunks,
                    bytes: totals.compressed,
                    uncompressed_bytes: totals.uncompressed,
                })
                .collect(),
            topics,
        }
    }

    fn print(&self) -> Done {
        let mut out = out();
        let mut line = |title: &str, text: &str| writeln!(out, "{TITLE}{title:<9}{TITLE:#} {}", shown(text));
        line("file", &self.file.to_string_lossy())?;
        line("size", &bytes(self.bytes as f64))?;
        if let (Some(begin), Some(end)) = (self.begin_ns, self.end_ns) {
            line("begin", &calendar(begin))?;
            line("end", &calendar(end))?;
            line("duration", &format!("{:.3} s", self.seconds))?;
        }
        line("messages", &self.messages.to_string())?;
        for chunks in &self.chunks {
            line("chunks", &chunks.text())?;
        }
        let profile = if self.profile.is_empty() { String::new() } else { format!(" for {}", self.profile) };
        line("writer", &format!("{}{profile}", self.library))?;
        if let Some(reason) = self.reason {
            line("reason", reason)?;
        }
        if let Some(lost) = self.lost.filter(|lost| *lost > 0) {
            writeln!(out, "{TITLE}{:<9}{TITLE:#} {BAD}{} lost while it was recorded{BAD:#}", "lost", counted(lost, "message"))?;
        }
        if let Some(why) = self.cut {
            let text = format!("{}: what is whole is shown", shown(why));
            writeln!(out, "{TITLE}{:<9}{TITLE:#} {WARN}{text}{WARN:#}", "not whole")?;
        }
        drop(out);
        self.print_topics()
    }

    fn print_topics(&self) -> Done {
        let mut table = Table::new(&["topic", "type", "messages", "rate", "lost", "encoding", "schema"]);
        for topic in &self.topics {
            table.row([
                Cell::new(topic.name).styled(NAME),
                Cell::new(topic.type_name),
                Cell::number(topic.messages),
                Cell::number(topic.hz.map_or_else(|| "-".to_owned(), |hz| format!("{} Hz", three_digits(hz)))),
                Cell::number(topic.lost.map_or_else(|| "?".to_owned(), |lost| lost.to_string())),
                Cell::new(topic.encoding),
                Cell::new(topic.schema),
            ]);
        }
        if table.is_empty() {
            return Ok(());
        }
        writeln!(crate::output::out())?;
        table.print()
    }
}

impl OfChunks<'_> {
    fn text(&self) -> String {
        let (chunks, size) = (self.chunks, bytes(self.bytes as f64));
        if self.compression == "none" {
            return format!("{chunks}, not compressed, {size}");
        }
        let part = 100.0 * self.bytes as f64 / self.uncompressed_bytes.max(1) as f64;
        format!("{chunks}, {}, {size} of {} ({} %)", self.compression, bytes(self.uncompressed_bytes as f64), three_digits(part))
    }
}

/// A time since 1970, where this machine is.
fn calendar(time_ns: u64) -> String {
    match Timestamp::from_nanosecond(i128::from(time_ns)) {
        Ok(time) => time.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S.%3f %:z").to_string(),
        Err(_) => format!("{time_ns} ns"),
    }
}
