//! Messages in the order of their times.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::walk::{MessagePlace, Stop};
use super::{ChunkPlace, Contents, Kind, chunk, ros1};
use crate::error::{BagError, Result};
use crate::writer::{Stamp, TopicId};

/// Chunks that lie over each other in time are in memory together, but no more than so many bytes of them.
const MOST: u64 = 2 << 30;

/// Which messages.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Of these topics; none: of all.
    pub topics: Option<BTreeSet<TopicId>>,
    /// Not before this time.
    pub from: u64,
    /// Before this time; none: to the end.
    pub until: Option<u64>,
}

impl Selection {
    fn covers(&self, (first, last): (u64, u64)) -> bool {
        last >= self.from && self.until.is_none_or(|until| first < until)
    }

    fn has(&self, message: &MessagePlace) -> bool {
        let topic = TopicId(message.header.channel_id);
        let time = message.header.log_time;
        self.covers((time, time)) && self.topics.as_ref().is_none_or(|topics| topics.contains(&topic))
    }
}

/// A message that can be read.
#[derive(Debug)]
pub struct Message {
    /// Of which topic.
    pub topic: TopicId,
    /// When.
    pub stamp: Stamp,
    /// Bytes of it.
    pub size: u64,
    begin: u64,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    File(Arc<File>),
    Memory(Arc<Loaded>),
}

/// What a chunk was read into, and what is read in all.
#[derive(Debug)]
struct Loaded {
    bytes: Arc<Vec<u8>>,
    total: Arc<AtomicU64>,
}

impl Loaded {
    fn new(bytes: Arc<Vec<u8>>, total: &Arc<AtomicU64>) -> Loaded {
        // relaxed: a count that only these two lines change.
        total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Loaded { bytes, total: Arc::clone(total) }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

impl Message {
    /// Reads it to where it is to be, which has its size.
    pub fn read(&self, into: &mut [u8]) -> Result<()> {
        match &self.source {
            Source::File(file) => {
                file.read_exact_at(into, self.begin).map_err(|why| BagError::new(format!("a message cannot be read: {why}")))
            }
            Source::Memory(loaded) => {
                let begin = self.begin as usize;
                let bytes = begin.checked_add(into.len()).and_then(|end| loaded.bytes.get(begin..end));
                into.copy_from_slice(bytes.ok_or_else(|| BagError::new("a message is longer than its chunk"))?);
                Ok(())
            }
        }
    }

    /// The same into memory of its own.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.size as usize]; // no more than there are
        self.read(&mut bytes)?;
        Ok(bytes)
    }
}

/// Gives messages in the order of the times at which they were received; those of one time, as they are in the file. What cannot be read is an error, and others follow it.
#[derive(Debug)]
pub struct Messages {
    file: Arc<File>,
    size: u64,
    kind: Kind,
    selection: Selection,
    /// The earliest first.
    chunks: VecDeque<ChunkPlace>,
    loose: VecDeque<MessagePlace>,
    open: BinaryHeap<Reverse<Waiting>>,
    total: Arc<AtomicU64>,
}

/// A message of a chunk that was read, ordered by when it is due.
#[derive(Debug)]
struct Waiting {
    due: (u64, u64, u64),
    place: MessagePlace,
    source: Source,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.due == other.due
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

impl Messages {
    pub(super) fn new(file: Arc<File>, size: u64, kind: Kind, contents: &Contents, selection: Selection) -> Messages {
        let mut chunks: Vec<_> = contents.chunks.iter().filter(|chunk| selection.covers(chunk.times)).copied().collect();
        chunks.sort_by_key(|chunk| (chunk.times.0, chunk.start));
        let mut loose: Vec<_> = contents.loose.iter().filter(|message| selection.has(message)).copied().collect();
        loose.sort_by_key(|message| (message.header.log_time, message.begin));
        Messages { file, size, kind, selection, chunks: chunks.into(), loose: loose.into(), open: BinaryHeap::new(), total: Arc::default() }
    }

    /// When the next message of those that were read is due.
    fn next_due(&self) -> Option<u64> {
        let open = self.open.peek().map(|Reverse(waiting)| waiting.due.0);
        let loose = self.loose.front().map(|message| message.header.log_time);
        open.into_iter().chain(loose).min()
    }

    fn open_chunk(&mut self, place: ChunkPlace) -> Result<()> {
        if self.total.load(Ordering::Relaxed) > MOST {
            return Err(BagError::new(format!("more than {MOST} bytes of chunks lie over each other in time: one is left out")));
        }
        let load = match self.kind {
            Kind::Mcap => chunk::load,
            Kind::Ros1 => ros1::load,
        };
        let chunk = load(&self.file, self.size, place.start).map_err(|stop| match stop {
            Stop::Nonsense(why) => BagError::new(why),
            Stop::Cut(_) => BagError::new(format!("the chunk at byte {} is cut off", place.start)),
            Stop::Unreadable(why) => BagError::new(format!("the chunk at byte {} cannot be read: {why}", place.start)),
        })?;
        let source = match chunk.memory {
            Some(bytes) => Source::Memory(Arc::new(Loaded::new(bytes, &self.total))),
            None => Source::File(Arc::clone(&self.file)),
        };
        for message in chunk.messages.into_iter().filter(|message| self.selection.has(message)) {
            let due = (message.header.log_time, place.start, message.begin);
            self.open.push(Reverse(Waiting { due, place: message, source: source.clone() }));
        }
        chunk.fault.map_or(Ok(()), |why| Err(BagError::new(why)))
    }
}

impl Iterator for Messages {
    type Item = Result<Message>;

    fn next(&mut self) -> Option<Result<Message>> {
        while let Some(chunk) = self.chunks.front().copied()
            && self.next_due().is_none_or(|due| chunk.times.0 <= due)
        {
            self.chunks.pop_front();
            if let Err(why) = self.open_chunk(chunk) {
                return Some(Err(why));
            }
        }
        let due = self.next_due()?;
        let (place, source) = match self.loose.front() {
            Some(message) if message.header.log_time == due => (self.loose.pop_front()?, Source::File(Arc::clone(&self.file))),
            _ => self.open.pop().map(|Reverse(waiting)| (waiting.place, waiting.source))?,
        };
        let header = place.header;
        let stamp = Stamp { sequence: header.sequence, log_time: header.log_time, publish_time: header.publish_time };
        Some(Ok(Message { topic: TopicId(header.channel_id), stamp, size: place.size, begin: place.begin, source }))
    }
}
