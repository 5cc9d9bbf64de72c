//! Reading files, also those whose writer did not come to their end.

mod chunk;
mod messages;
mod open;
mod part;
mod ros1;
mod scan;
mod walk;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use messages::{Message, Messages, Selection};
pub use open::files;

use crate::error::Result;
use crate::writer::{Topic, TopicId};

/// A file, and what is in it.
#[derive(Debug)]
pub struct Bag {
    path: PathBuf,
    file: Arc<File>,
    size: u64,
    kind: Kind,
    contents: Contents,
    cut: Option<String>,
}

/// Who thought of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Mcap,
    Ros1,
}

/// What a summary tells, or a scan has found.
#[derive(Debug, Default)]
struct Contents {
    profile: String,
    library: String,
    topics: BTreeMap<u16, Topic>,
    counts: BTreeMap<u16, u64>,
    times: Option<(u64, u64)>,
    chunks: Vec<ChunkPlace>,
    /// Messages that are in no chunk.
    loose: Vec<walk::MessagePlace>,
    compressions: BTreeMap<String, Compressed>,
    metadata: BTreeMap<String, BTreeMap<String, String>>,
    /// Of a scan.
    damage: Option<String>,
}

/// Where a chunk begins, and the times of its first and last message.
#[derive(Clone, Copy, Debug)]
struct ChunkPlace {
    start: u64,
    times: (u64, u64),
}

/// Chunks of one kind of compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compressed {
    /// How many.
    pub chunks: u64,
    /// Bytes that they take.
    pub compressed: u64,
    /// Bytes that are in them.
    pub uncompressed: u64,
}

impl Bag {
    /// Opens a file: MCAP, or a bag of ROS 1. Where it has no summary, as its writer was killed, all of it is read to see what is there.
    pub fn open(path: &Path) -> Result<Bag> {
        open::open(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of it.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Why it is not whole, as a sentence; none: it is. What can be read of it can be read nevertheless.
    pub fn cut(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// Of one that is not whole: what is damaged before its end, as a sentence, of several the first.
    pub fn damage(&self) -> Option<&str> {
        self.contents.damage.as_deref()
    }

    /// For whom it was written: "ros2", "ros1".
    pub fn profile(&self) -> &str {
        &self.contents.profile
    }

    /// Who wrote it.
    pub fn library(&self) -> &str {
        &self.contents.library
    }

    /// What there is messages of. Those of one name may be several.
    pub fn topics(&self) -> impl Iterator<Item = (TopicId, &Topic)> {
        self.contents.topics.iter().map(|(id, topic)| (TopicId(*id), topic))
    }

    /// That topic.
    pub fn topic(&self, id: TopicId) -> Option<&Topic> {
        self.contents.topics.get(&id.0)
    }

    /// Messages of a topic.
    pub fn count(&self, topic: TopicId) -> u64 {
        self.contents.counts.get(&topic.0).copied().unwrap_or(0)
    }

    /// Times of the first and the last message; none: there is no message.
    pub fn times(&self) -> Option<(u64, u64)> {
        self.contents.times
    }

    /// How chunks are compressed; "": not at all.
    pub fn compressions(&self) -> impl Iterator<Item = (&str, Compressed)> {
        self.contents.compressions.iter().map(|(name, totals)| (name.as_str(), *totals))
    }

    /// What [`Writer::write_metadata`](crate::Writer::write_metadata) wrote under that name.
    pub fn metadata(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        self.contents.metadata.get(name)
    }

    /// Messages in the order of the times at which they were received.
    pub fn messages(&self, selection: Selection) -> Messages {
        Messages::new(Arc::clone(&self.file), self.size, self.kind, &self.contents, selection)
    }
}
