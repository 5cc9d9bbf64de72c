//! A chunk: messages that are written together.

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use mcap::records::{ChunkHeader, ChunkIndex, MessageHeader, MessageIndex, MessageIndexEntry, op};

use crate::compression::Compression;
use crate::records::{HEAD, append, head, message_head, write_body};

/// What was added since the last one was written.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Records of messages.
    records: Vec<u8>,
    index: BTreeMap<u16, Vec<MessageIndexEntry>>,
    times: Option<(u64, u64)>,
    begun: Option<Instant>,
}

/// A chunk as it stands in a file: `head`, `records`, what the tail was, and `indexes`.
pub struct Encoded<'a> {
    pub head: Vec<u8>,
    pub records: Records<'a>,
    pub indexes: Vec<u8>,
    /// For the summary.
    pub index: ChunkIndex,
}

/// The records of a chunk, but its tail.
pub enum Records<'a> {
    Plain(&'a [u8]),
    Compressed(Vec<u8>),
}

impl Records<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Records::Plain(bytes) => bytes,
            Records::Compressed(bytes) => bytes,
        }
    }
}

impl Chunk {
    /// Adds a message but its bytes, of which there are so many and which are to follow.
    pub fn begin_message(&mut self, header: &MessageHeader, size: u64) {
        let entry = MessageIndexEntry { log_time: header.log_time, offset: self.records.len() as u64 };
        self.index.entry(header.channel_id).or_default().push(entry);
        let (first, last) = self.times.unwrap_or((u64::MAX, 0));
        self.times = Some((first.min(header.log_time), last.max(header.log_time)));
        self.begun.get_or_insert_with(Instant::now);
        message_head(&mut self.records, header, size);
    }

    /// Adds bytes of the message that was begun.
    pub fn append(&mut self, bytes: &[u8]) {
        self.records.extend_from_slice(bytes);
    }

    /// Bytes that it takes uncompressed.
    pub fn size(&self) -> usize {
        self.records.len()
    }

    /// When its first message was added; none: there is none.
    pub fn begun(&self) -> Option<Instant> {
        self.begun
    }

    /// Times of its messages, and how many there are of each channel.
    pub fn contents(&self) -> Option<((u64, u64), impl Iterator<Item = (u16, u64)>)> {
        let counts = self.index.iter().map(|(channel, entries)| (*channel, entries.len() as u64));
        self.times.map(|times| (times, counts))
    }

    /// As it stands in the file from that position on, with so many bytes of its last message behind its own. A tail is not compressed, and nobody sums it up: it is to be read once, by the kernel.
    pub fn encode(&self, compression: Compression, position: u64, tail: u64) -> io::Result<Encoded<'_>> {
        let (first, last) = self.times.unwrap_or((0, 0));
        let compressed = if tail == 0 { compression.compress(&self.records)? } else { None };
        let compression = if tail == 0 { compression } else { Compression::None };
        let records = compressed.map_or(Records::Plain(&self.records), Records::Compressed);
        let header = ChunkHeader {
            message_start_time: first,
            message_end_time: last,
            uncompressed_size: self.records.len() as u64 + tail,
            uncompressed_crc: if tail == 0 { crc32fast::hash(&self.records) } else { 0 },
            compression: compression.name().to_owned(),
            compressed_size: records.bytes().len() as u64 + tail,
        };
        let mut encoded = Vec::with_capacity(HEAD + 64);
        head(&mut encoded, op::CHUNK, 0);
        write_body(&mut encoded, &header);
        let chunk_length = encoded.len() as u64 + header.compressed_size;
        encoded[1..HEAD].copy_from_slice(&(chunk_length - HEAD as u64).to_le_bytes());

        let (mut indexes, mut offsets) = (Vec::new(), BTreeMap::new());
        for (channel, entries) in &self.index {
            offsets.insert(*channel, position + chunk_length + indexes.len() as u64);
            append(&mut indexes, op::MESSAGE_INDEX, &MessageIndex { channel_id: *channel, records: entries.clone() });
        }
        let index = ChunkIndex {
            message_start_time: first,
            message_end_time: last,
            chunk_start_offset: position,
            chunk_length,
            message_index_offsets: offsets,
            message_index_length: indexes.len() as u64,
            compression: header.compression,
            compressed_size: header.compressed_size,
            uncompressed_size: header.uncompressed_size,
        };
        Ok(Encoded { head: encoded, records, indexes, index })
    }

    /// Forgets everything, but keeps its memory for the next one.
    pub fn clear(&mut self) {
        self.records.clear();
        self.index.clear();
        self.times = None;
        self.begun = None;
    }
}
