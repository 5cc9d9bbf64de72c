//! The files of a recording: one, or one after the other.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew_bag::{BagError, Compression, Result, Stamp, TopicId, Writer};

use super::source::{Received, Source};
use crate::output::{WARN, path_as_text, say, shown};

/// Under which name losses stand in files.
pub const LOST: &str = "sinew.lost";
/// Under which name it stands why a flight recorder wrote a file.
pub const FLIGHT: &str = "sinew.flight";
/// What that is called there.
pub const REASON: &str = "reason";

/// How often it is looked whether a file is still there, and written what was lost: who is killed leaves that, too.
const OFTEN: Duration = Duration::from_secs(1);

/// Messages that were lost so far, by topics.
pub type Lost = Arc<Mutex<BTreeMap<String, u64>>>;

/// Where files are, and when the next one begins.
#[derive(Clone, Debug)]
pub struct Plan {
    pub path: PathBuf,
    /// Nobody has named the file: where there is one of that name, it takes another.
    pub is_unnamed: bool,
    pub compression: Compression,
    pub split_size: Option<u64>,
    pub split_time: Option<Duration>,
}

/// A file that is finished.
#[derive(Clone, Debug, Serialize)]
pub struct Recorded {
    #[serde(serialize_with = "path_as_text")]
    pub path: PathBuf,
    pub bytes: u64,
    pub messages: u64,
    /// It was not where it was created any more.
    pub gone: bool,
    /// How many of each topic.
    #[serde(skip)]
    pub topics: BTreeMap<String, u64>,
}

/// Writes one file after the other.
pub struct Files {
    plan: Plan,
    lost: Lost,
    current: Current,
    finished: Vec<Recorded>,
    /// When it is to be looked again whether the current one is still there, and what was lost.
    look_at: Instant,
}

struct Current {
    number: usize,
    writer: Writer,
    /// It is not where it was, which was told.
    is_gone: bool,
    /// By the numbers of sources.
    topics: HashMap<usize, TopicId>,
    messages: u64,
    first: Option<u64>,
    lost_before: BTreeMap<String, u64>,
    begun: Instant,
    /// When what was lost is told in it again: less and less often, for each time it is another record.
    tell_at: Instant,
    /// What stands in it of losses; none: nothing does, not even that there are none.
    told: Option<BTreeMap<String, String>>,
}

impl Plan {
    fn is_split(&self) -> bool {
        self.split_size.is_some() || self.split_time.is_some()
    }

    /// Of the n-th file, or the n-th that is tried.
    fn path(&self, n: usize) -> PathBuf {
        match n {
            _ if self.is_split() => with_stem_end(&self.path, &format!("_{n}")),
            0 => self.path.clone(),
            _ => with_stem_end(&self.path, &format!("_{}", n + 1)),
        }
    }
}

/// The same with this before the extension. Names of files need not be text.
pub fn with_stem_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(end);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

impl Current {
    fn new(plan: &Plan, number: usize, lost: &Lost) -> Result<Current> {
        let writer = Writer::create(&plan.path(number), plan.compression)?;
        Ok(Current {
            number,
            writer,
            is_gone: false,
            topics: HashMap::new(),
            messages: 0,
            first: None,
            lost_before: lost.lock().expect("nobody panics with it").clone(),
            begun: Instant::now(),
            tell_at: Instant::now(),
            told: None,
        })
    }

    /// The first of many from this number on that is not taken. Somebody else may have one, or the recorder that ran before, and it is recorded nevertheless.
    fn free(plan: &Plan, mut number: usize, lost: &Lost) -> Result<Current> {
        loop {
            match Current::new(plan, number, lost) {
                Err(_) if plan.path(number).symlink_metadata().is_ok() => number += 1,
                created => return created,
            }
        }
    }

    /// Tells once when somebody has deleted the file, or put another one in its place.
    fn look(&mut self) {
        if !self.is_gone && !self.writer.is_in_place() {
            self.is_gone = true;
            let path = self.writer.path().to_string_lossy();
            say!(
                "{WARN}warning:{WARN:#} {} is not there any more: it was deleted, renamed or replaced, and is still recorded into",
                shown(&path)
            );
        }
    }

    /// Writes what was lost since it was begun, unless that stands in it. Of several such records readers take the last.
    fn tell_lost(&mut self, lost: &Lost) -> Result<()> {
        let lost = lost.lock().expect("nobody panics with it").clone();
        let before = |topic: &str| self.lost_before.get(topic).copied().unwrap_or(0);
        let meanwhile = lost.iter().map(|(topic, lost)| (format!("/{topic}"), lost.saturating_sub(before(topic))));
        let meanwhile: BTreeMap<_, _> = meanwhile.filter(|(_, lost)| *lost > 0).map(|(topic, lost)| (topic, lost.to_string())).collect();
        if self.told.as_ref() != Some(&meanwhile) {
            self.writer.write_metadata(LOST, meanwhile.clone())?;
            self.told = Some(meanwhile);
        }
        Ok(())
    }

    /// Writes what was lost meanwhile, and the summary.
    fn finish(mut self, lost: &Lost) -> (Recorded, Result<()>) {
        self.look();
        // First: without the messages that could not be written, there may be room for the rest.
        let flushed = self.writer.flush();
        let told = self.tell_lost(lost);
        let mut topics = BTreeMap::<String, u64>::new();
        for (topic, count) in self.writer.written() {
            // As often as its type was another one.
            *topics.entry(topic.strip_prefix('/').unwrap_or(topic).to_owned()).or_default() += count;
        }
        let (path, messages) = (self.writer.path().to_owned(), topics.values().sum());
        let recorded = Recorded { path, bytes: self.writer.size(), messages, gone: self.is_gone, topics };
        match self.writer.finish() {
            Ok(written) => (Recorded { bytes: written.bytes, ..recorded }, flushed.and(told)),
            Err(why) => (recorded, flushed.and(Err(why))),
        }
    }
}

impl Files {
    /// Creates the first one.
    pub fn new(plan: Plan, lost: Lost) -> Result<Files> {
        let current = if plan.is_split() || plan.is_unnamed { Current::free(&plan, 0, &lost)? } else { Current::new(&plan, 0, &lost)? };
        Ok(Files { plan, lost, current, finished: Vec::new(), look_at: Instant::now() + OFTEN })
    }

    /// The one that is written.
    pub fn path(&self) -> PathBuf {
        self.current.writer.path().to_owned()
    }

    /// Adds a message.
    pub fn write(&mut self, message: &Received, stamp: &Stamp) -> Result<()> {
        if self.is_due(stamp.log_time) {
            let next = Current::free(&self.plan, self.current.number + 1, &self.lost)?;
            let (recorded, finished) = std::mem::replace(&mut self.current, next).finish(&self.lost);
            self.finished.push(recorded);
            finished?;
        }
        let current = &mut self.current;
        let topic = current.topic(&message.source)?;
        let mut parts: Vec<&[u8]> = message.frame.extents().collect();
        parts.push(message.source.padding);
        current.writer.write(topic, stamp, &parts)?;
        current.messages += 1;
        current.first.get_or_insert(stamp.log_time);
        Ok(())
    }

    /// Says why the file is written.
    pub fn write_reason(&mut self, reason: String) -> Result<()> {
        self.current.writer.write_metadata(FLIGHT, [(REASON.to_owned(), reason)].into())
    }

    /// When [`tend`](Files::tend) is to be called.
    pub fn tend_at(&self) -> Instant {
        self.current.writer.flush_at().map_or(self.look_at, |at| at.min(self.look_at))
    }

    /// Writes what is pending for long enough, and what was lost, and looks whether the file is still there.
    pub fn tend(&mut self) -> Result<()> {
        let now = Instant::now();
        if now >= self.look_at {
            self.look_at = now + OFTEN;
            self.current.look();
            if now >= self.current.tell_at {
                self.current.tell_lost(&self.lost)?;
                self.current.tell_at = now + OFTEN.max(self.current.begun.elapsed() / 50);
            }
        }
        if self.current.writer.flush_at().is_some_and(|at| now >= at) { self.current.writer.flush() } else { Ok(()) }
    }

    /// Bytes of all of them, and messages.
    pub fn totals(&self) -> (u64, u64) {
        let finished = self.finished.iter().fold((0, 0), |(bytes, messages), file| (bytes + file.bytes, messages + file.messages));
        (finished.0 + self.current.writer.size(), finished.1 + self.current.messages)
    }

    /// All that were written; and why the last one is not whole, if it is not.
    pub fn finish(mut self) -> (Vec<Recorded>, Option<BagError>) {
        let (recorded, finished) = self.current.finish(&self.lost);
        self.finished.push(recorded);
        (self.finished, finished.err())
    }

    /// Whether a message of that time belongs into another file.
    fn is_due(&self, time: u64) -> bool {
        let Some(first) = self.current.first else { return false };
        let is_big = self.plan.split_size.is_some_and(|size| self.current.writer.size() >= size);
        let longest = self.plan.split_time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        is_big || longest.is_some_and(|longest| time.saturating_sub(first) >= longest)
    }
}

impl Current {
    fn topic(&mut self, source: &Source) -> Result<TopicId> {
        if let Some(topic) = self.topics.get(&source.number) {
            return Ok(*topic);
        }
        let topic = self.writer.add_topic(&source.described)?;
        self.topics.insert(source.number, topic);
        Ok(topic)
    }
}
