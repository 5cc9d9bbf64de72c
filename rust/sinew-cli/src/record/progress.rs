//! What is told while it is recorded, and at the end.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::counts::{Counts, NotRecorded};
use super::files::Recorded;
use crate::cli::Cli;
use crate::domain::service_of;
use crate::failure::{Done, Failure};
use crate::output::{BAD, NAME, WARN, counted, out, say, show, shown};
use crate::units::{bytes, clock_time};

/// What the one who writes tells meanwhile.
#[derive(Default)]
pub struct Told {
    // relaxed: only told.
    pub messages: AtomicU64,
    pub bytes: AtomicU64,
}

/// What was recorded.
#[derive(Serialize)]
pub struct Recording {
    pub files: Vec<Recorded>,
    pub messages: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub lost: u64,
    pub topics: Vec<OfTopic>,
    pub not_recorded: Vec<NotRecorded>,
}

#[derive(Serialize)]
pub struct OfTopic {
    pub name: String,
    pub received: u64,
    pub lost: u64,
}

/// What is shown meanwhile: on a terminal, a line that changes.
pub struct Line {
    is_told: bool,
    is_shown: bool,
    /// When it is to be printed again.
    pub due: Instant,
    before: (Instant, u64),
}

impl Line {
    const EVERY: Duration = Duration::from_millis(500);

    pub fn new(cli: &Cli, path: &Path) -> Line {
        let is_shown = std::io::stderr().is_terminal() && !cli.json;
        if !cli.json {
            say!("recording to {NAME}{}{NAME:#}; Ctrl-C ends it", shown(&path.to_string_lossy()));
        }
        let now = Instant::now();
        Line { is_told: !cli.json, is_shown, due: now + Self::EVERY, before: (now, 0) }
    }

    pub fn print(&mut self, time: Duration, told: &Told, counts: &BTreeMap<String, Counts>, is_empty: bool) {
        let now = Instant::now();
        self.due = now + Self::EVERY;
        if !self.is_shown {
            return;
        }
        let (written, messages) = (told.bytes.load(Ordering::Relaxed), told.messages.load(Ordering::Relaxed));
        let rate = written.saturating_sub(self.before.1) as f64 / (now - self.before.0).as_secs_f64();
        self.before = (now, written);
        let lost: u64 = counts.values().map(|counts| counts.lost).sum();
        let topics = if is_empty { "no topic yet".to_owned() } else { counted(counts.len() as u64, "topic") };
        let style = if lost > 0 { BAD } else { anstyle::Style::new() };
        show!(
            "{}  {}  {}  {}/s  {topics}  {style}{lost} lost{style:#}",
            clock_time(time),
            counted(messages, "message"),
            bytes(written as f64),
            bytes(rate)
        );
    }

    /// So many bytes are still to be written, though it is to end.
    pub fn tell_waiting(&self, waiting: u64) {
        if self.is_told && waiting > 0 {
            self.clear();
            say!("writing what waits: {}", bytes(waiting as f64));
        }
    }

    pub fn clear(&self) {
        if self.is_shown {
            show!("");
        }
    }
}

impl Recording {
    pub fn print(&self) -> Done {
        let mut out = out();
        for file in &self.files {
            let path = file.path.to_string_lossy();
            writeln!(out, "{NAME}{}{NAME:#}: {}, {}", shown(&path), counted(file.messages, "message"), bytes(file.bytes as f64))?;
        }
        let lost = if self.lost == 0 { "none" } else { &self.lost.to_string() };
        let style = if self.lost == 0 { anstyle::Style::new() } else { BAD };
        writeln!(
            out,
            "{} of {} in {:.1} s, {style}{lost} lost{style:#}",
            counted(self.messages, "message"),
            counted(self.topics.len() as u64, "topic"),
            self.seconds
        )?;
        for topic in self.topics.iter().filter(|topic| topic.lost > 0) {
            writeln!(out, "  {NAME}{}{NAME:#}: {} of {} lost", shown(&topic.name), topic.lost, topic.received + topic.lost)?;
        }
        Ok(())
    }

    /// Fails when files are not where they were created.
    pub fn refuse_gone(&self) -> Done {
        let gone: Vec<String> = self.files.iter().filter(|file| file.gone).map(|file| shown(&file.path.to_string_lossy())).collect();
        if gone.is_empty() {
            return Ok(());
        }
        Err(Failure::Failed(format!("deleted, renamed or replaced while it was recorded: {}", gone.join(", "))))
    }
}

/// As it is told.
pub fn by_topics(counts: BTreeMap<String, Counts>) -> Vec<OfTopic> {
    counts.into_iter().map(|(name, Counts { received, lost, .. })| OfTopic { name, received, lost }).collect()
}

/// Fails when messages were there that it could not have.
pub fn refuse_not_recorded(not_recorded: &[NotRecorded]) -> Done {
    let told: Vec<String> = not_recorded.iter().map(|each| format!("'{}' ({})", shown(&each.name), shown(&each.why))).collect();
    if told.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("not recorded, or not all of it: {}", told.join(", "))))
}

/// Says which of the topics that were named gave nothing. Fails when there was nothing to record at all: then a name is wrong, more likely than not.
pub fn tell_of_empty<'a>(named: impl Iterator<Item = &'a str>, topics: &[OfTopic]) -> Done {
    let is_of = |topic: &str, name: &str| topic == name || service_of(topic) == Some(name);
    let mut gave = topics.iter().filter(|topic| topic.received > 0);
    let empty: Vec<String> =
        named.filter(|name| !gave.clone().any(|topic| is_of(&topic.name, name))).map(|name| format!("'{}'", shown(name))).collect();
    if empty.is_empty() {
        return Ok(());
    }
    let told = format!("no message came on {}", empty.join(", "));
    if gave.next().is_none() {
        return Err(Failure::Negative(format!("nothing was recorded: {told}")));
    }
    say!("{WARN}warning:{WARN:#} {told}");
    Ok(())
}
