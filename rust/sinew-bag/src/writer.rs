//! Writing one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcap::records::{
    Channel, DataEnd, Footer, Header, MessageHeader, Metadata, MetadataIndex, SchemaHeader, Statistics, SummaryOffset, op,
};

use crate::chunk::Chunk;
use crate::compression::Compression;
use crate::error::{BagError, Result};
use crate::records::{append, schema, write_body};

/// Messages of so many bytes are written from where they lie: less than a copy costs what else is written for them.
const BIG: usize = 64 << 10;
/// Smaller ones are gathered until there are so many bytes of them,
const CHUNK: usize = 1 << 20;
/// or so long, of which a crash makes nothing.
const LONGEST: Duration = Duration::from_secs(1);

/// What rosbag2 wants to know before it reads quality of service: that it is written down as in its fifth version, by numbers. The rest it takes from the summary.
const ROSBAG2: &str = "\
version: 5
storage_identifier: mcap
duration: {nanoseconds: 0}
starting_time: {nanoseconds_since_epoch: 0}
message_count: 0
topics_with_message_count: []
compression_format: ''
compression_mode: ''
relative_file_paths: []
files: []
";

/// A topic as files describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    /// "/camera/image": those of ROS begin with a slash.
    pub name: String,
    /// How messages are encoded: "cdr".
    pub message_encoding: String,
    /// "sensor_msgs/msg/Image".
    pub type_name: String,
    /// In which language the type is described: "ros2msg".
    pub schema_encoding: String,
    /// That description.
    pub schema: String,
    /// What else is to be known of it: "offered_qos_profiles", for one.
    pub metadata: BTreeMap<String, String>,
}

/// The number of a topic within a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicId(pub(crate) u16);

/// Of a message. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The publisher's count.
    pub sequence: u32,
    /// When it was received.
    pub log_time: u64,
    /// When it was published.
    pub publish_time: u64,
}

/// What is in a file that was finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Of it.
    pub bytes: u64,
    /// In it.
    pub messages: u64,
    /// Of the first and the last of them; none: there are none.
    pub times: Option<(u64, u64)>,
}

/// Writes a file. What was written is whole at any time: who is killed leaves all but the messages of the last second.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    compression: Compression,
    /// Up to which the file is whole.
    position: u64,
    /// Of the pending messages.
    chunk: Chunk,
    schemas: Vec<(SchemaHeader, String)>,
    channels: Vec<Channel>,
    counts: BTreeMap<u16, u64>,
    times: Option<(u64, u64)>,
    /// Records for the summary.
    chunk_indexes: Records,
    metadata_indexes: Records,
}

#[derive(Debug, Default)]
struct Records {
    bytes: Vec<u8>,
    count: u32,
}

impl Writer {
    /// Creates a file that is not there; when it cannot be written, none is left.
    pub fn create(path: &Path, compression: Compression) -> Result<Writer> {
        let file = File::create_new(path).map_err(|why| BagError::cannot("created", path, &why))?;
        let mut writer = Writer {
            path: path.to_owned(),
            file,
            compression,
            position: 0,
            chunk: Chunk::default(),
            schemas: Vec::new(),
            channels: Vec::new(),
            counts: BTreeMap::new(),
            times: None,
            chunk_indexes: Records::default(),
            metadata_indexes: Records::default(),
        };
        if let Err(why) = writer.begin() {
            // Nobody is to take it for one that somebody needs.
            let _ = std::fs::remove_file(path);
            return Err(why);
        }
        Ok(writer)
    }

    fn begin(&mut self) -> Result<()> {
        let mut begin = mcap::MAGIC.to_vec();
        append(&mut begin, op::HEADER, &Header { profile: "ros2".into(), library: concat!("sinew ", env!("CARGO_PKG_VERSION")).into() });
        self.put(&[&begin])?;
        self.write_metadata("rosbag2", [("serialized_metadata".to_owned(), ROSBAG2.to_owned())].into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is where it was created: somebody may have deleted it since, or put another one there.
    pub fn is_in_place(&self) -> bool {
        match (self.file.metadata(), self.path.metadata()) {
            (Ok(own), Ok(there)) => (own.dev(), own.ino()) == (there.dev(), there.ino()),
            (_, Err(why)) => why.kind() != io::ErrorKind::NotFound,
            (Err(_), _) => true, // it cannot be told
        }
    }

    /// Adds a topic.
    pub fn add_topic(&mut self, topic: &Topic) -> Result<TopicId> {
        let most = usize::from(u16::MAX);
        if self.channels.len() == most {
            return Err(BagError::new(format!("{}: a file has {most} topics at most", self.path.display())));
        }
        let mut records = Vec::new();
        let known = self
            .schemas
            .iter()
            .find(|(header, text)| header.name == topic.type_name && header.encoding == topic.schema_encoding && *text == topic.schema);
        let new =
            SchemaHeader { id: self.schemas.len() as u16 + 1, name: topic.type_name.clone(), encoding: topic.schema_encoding.clone() };
        let schema_id = known.map_or(new.id, |(header, _)| header.id);
        let is_new = known.is_none();
        if is_new {
            schema(&mut records, &new, &topic.schema);
        }
        let channel = Channel {
            id: self.channels.len() as u16 + 1,
            schema_id,
            topic: topic.name.clone(),
            message_encoding: topic.message_encoding.clone(),
            metadata: topic.metadata.clone(),
        };
        append(&mut records, op::CHANNEL, &channel);
        self.put(&[&records])?;
        if is_new {
            self.schemas.push((new, topic.schema.clone()));
        }
        let id = TopicId(channel.id);
        self.channels.push(channel);
        Ok(id)
    }

    /// Adds a message of one of its topics, which the parts, joined, are.
    pub fn write(&mut self, topic: TopicId, stamp: &Stamp, parts: &[&[u8]]) -> Result<()> {
        let Stamp { sequence, log_time, publish_time } = *stamp;
        let size: usize = parts.iter().map(|part| part.len()).sum();
        self.chunk.begin_message(&MessageHeader { channel_id: topic.0, sequence, log_time, publish_time }, size as u64);
        if size >= BIG && self.compression == Compression::None {
            return self.write_chunk(parts);
        }
        parts.iter().for_each(|part| self.chunk.append(part));
        if self.chunk.size() >= CHUNK { self.write_chunk(&[]) } else { Ok(()) }
    }

    /// When [`flush`](Writer::flush) is to be called; none: nothing is pending.
    pub fn flush_at(&self) -> Option<Instant> {
        self.chunk.begun().map(|begun| begun + LONGEST)
    }

    /// Writes what is pending.
    pub fn flush(&mut self) -> Result<()> {
        if self.chunk.begun().is_some() { self.write_chunk(&[]) } else { Ok(()) }
    }

    /// Bytes of the file, with those that are pending.
    pub fn size(&self) -> u64 {
        self.position + self.chunk.size() as u64
    }

    /// How many messages of each topic are in the file, without those that are pending.
    pub fn written(&self) -> impl Iterator<Item = (&str, u64)> {
        self.channels.iter().map(|channel| (channel.topic.as_str(), self.counts.get(&channel.id).copied().unwrap_or(0)))
    }

    /// Writes texts by their names, under a name. Of several under one name readers take the last.
    pub fn write_metadata(&mut self, name: &str, metadata: BTreeMap<String, String>) -> Result<()> {
        let mut record = Vec::new();
        append(&mut record, op::METADATA, &Metadata { name: name.to_owned(), metadata });
        let offset = self.position;
        self.put(&[&record])?;
        let index = MetadataIndex { offset, length: record.len() as u64, name: name.to_owned() };
        append(&mut self.metadata_indexes.bytes, op::METADATA_INDEX, &index);
        self.metadata_indexes.count += 1;
        Ok(())
    }

    /// Writes what is pending, and the summary, by which readers find everything.
    pub fn finish(mut self) -> Result<Written> {
        let flushed = self.flush();
        // Without the messages that could not be written, there may be room for it.
        self.write_summary()?;
        flushed?;
        Ok(Written { bytes: self.position, messages: self.counts.values().sum(), times: self.times })
    }

    /// With the last message's bytes, if they were not appended to it.
    fn write_chunk(&mut self, tail: &[&[u8]]) -> Result<()> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let written = self.put_chunk(&chunk, tail);
        if let (Ok(()), Some(((first, last), counts))) = (&written, chunk.contents()) {
            let (earliest, latest) = self.times.unwrap_or((u64::MAX, 0));
            self.times = Some((earliest.min(first), latest.max(last)));
            counts.for_each(|(channel, count)| *self.counts.entry(channel).or_default() += count);
        }
        chunk.clear();
        self.chunk = chunk;
        written
    }

    fn put_chunk(&mut self, chunk: &Chunk, tail: &[&[u8]]) -> Result<()> {
        let size = tail.iter().map(|part| part.len() as u64).sum();
        let encoded = chunk
            .encode(self.compression, self.position, size)
            .map_err(|why| BagError::new(format!("{}: messages cannot be compressed: {why}", self.path.display())))?;
        let mut parts = vec![&encoded.head[..], encoded.records.bytes()];
        parts.extend_from_slice(tail);
        parts.push(&encoded.indexes);
        self.put(&parts)?;
        append(&mut self.chunk_indexes.bytes, op::CHUNK_INDEX, &encoded.index);
        self.chunk_indexes.count += 1;
        Ok(())
    }

    fn write_summary(&mut self) -> Result<()> {
        let mut end = Vec::new();
        append(&mut end, op::DATA_END, &DataEnd { data_section_crc: 0 });
        let summary_start = self.position + end.len() as u64;
        let mut summary = Vec::new();
        let mut offsets = Vec::new();
        let mut group = |summary: &mut Vec<u8>, op: u8, write: &dyn Fn(&mut Vec<u8>)| {
            let begin = summary.len() as u64;
            write(summary);
            let group_length = summary.len() as u64 - begin;
            if group_length > 0 {
                let offset = SummaryOffset { group_opcode: op, group_start: summary_start + begin, group_length };
                append(&mut offsets, self::op::SUMMARY_OFFSET, &offset);
            }
        };
        group(&mut summary, op::SCHEMA, &|to| self.schemas.iter().for_each(|(header, text)| schema(to, header, text)));
        group(&mut summary, op::CHANNEL, &|to| self.channels.iter().for_each(|channel| append(to, op::CHANNEL, channel)));
        group(&mut summary, op::STATISTICS, &|to| append(to, op::STATISTICS, &self.statistics()));
        group(&mut summary, op::CHUNK_INDEX, &|to| to.extend_from_slice(&self.chunk_indexes.bytes));
        group(&mut summary, op::METADATA_INDEX, &|to| to.extend_from_slice(&self.metadata_indexes.bytes));
        let summary_offset_start = summary_start + summary.len() as u64;
        summary.append(&mut offsets);
        // Its sum is of the summary, and of the footer up to the sum.
        append(&mut summary, op::FOOTER, &Footer { summary_start, summary_offset_start, summary_crc: 0 });
        summary.truncate(summary.len() - size_of::<u32>());
        let sum = crc32fast::hash(&summary);
        write_body(&mut summary, &sum);
        self.put(&[&end, &summary, mcap::MAGIC])
    }

    fn statistics(&self) -> Statistics {
        let (message_start_time, message_end_time) = self.times.unwrap_or((0, 0));
        Statistics {
            message_count: self.counts.values().sum(),
            schema_count: self.schemas.len() as u16,
            channel_count: self.channels.len() as u32,
            attachment_count: 0,
            metadata_count: self.metadata_indexes.count,
            chunk_count: self.chunk_indexes.count,
            message_start_time,
            message_end_time,
            channel_message_counts: self.counts.clone(),
        }
    }

    /// Appends all of it, or nothing: what was written in part is taken back, so that what there is can be read.
    fn put(&mut self, parts: &[&[u8]]) -> Result<()> {
        let size: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if let Err(why) = write_all(&mut self.file, parts) {
            let _ = self.file.set_len(self.position);
            let _ = io::Seek::seek(&mut self.file, io::SeekFrom::Start(self.position));
            return Err(BagError::cannot("written", &self.path, &why));
        }
        self.position += size;
        Ok(())
    }
}

/// Waits until a file that is finished is on the disk, and its name in the folder, so that both outlast a loss of power. Blocks as long as the disk takes.
pub fn settle(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let settled = File::open(path).and_then(|file| file.sync_all());
    let settled = settled.and_then(|()| match File::open(folder).and_then(|folder| folder.sync_all()) {
        // There are file systems that do that by themselves, or not at all.
        Err(why) if why.kind() == io::ErrorKind::InvalidInput => Ok(()),
        settled => settled,
    });
    settled.map_err(|why| BagError::cannot("brought to the disk", path, &why))
}

fn write_all(file: &mut File, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = parts.iter().filter(|part| !part.is_empty()).map(|part| IoSlice::new(part)).collect();
    let mut left = &mut slices[..];
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}
