//! The messages of a chunk, as many of them as there are.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use binrw::BinReaderExt;
use mcap::records::{ChunkHeader, Record, op};

use super::part::{Part, SMALL};
use super::walk::{MessagePlace, Stop, Walk};
use crate::records::HEAD;

/// What is in a chunk.
pub struct Chunk {
    pub messages: Vec<MessagePlace>,
    /// Topics and types that are described in it.
    pub described: Vec<Record<'static>>,
    /// Where the messages are; none: in the file.
    pub memory: Option<Arc<Vec<u8>>>,
    pub compression: String,
    /// Bytes in the file, and in it.
    pub compressed: u64,
    pub uncompressed: u64,
    /// Why these are not all of them, as a sentence.
    pub fault: Option<String>,
}

impl Chunk {
    /// Its records have come to an end before they should, which is no failure unless they cannot be read: those before it are there.
    pub fn end(&mut self, stop: Stop) -> Result<(), Stop> {
        let why = match stop {
            Stop::Unreadable(why) => return Err(Stop::Unreadable(why)),
            Stop::Nonsense(why) => why,
            Stop::Cut(_) => "a chunk ends within a record".to_owned(),
        };
        self.fault.get_or_insert(why);
        Ok(())
    }
}

/// The length of a chunk's header, without the name of the compression.
const HEADER: usize = 40;
/// Names of compressions are shorter.
const LONGEST_NAME: usize = 64;

/// Reads what there is of the chunk that begins at `start` of a file of so many bytes.
pub fn load(file: &File, size: u64, start: u64) -> Result<Chunk, Stop> {
    let (header, length, data) = header_at(file, size, start)?;
    // What is said, but no more than there is.
    let body = data - start - HEAD as u64;
    let there = header.compressed_size.min(length.saturating_sub(body)).min(size - data);
    let mut chunk = Chunk {
        messages: Vec::new(),
        described: Vec::new(),
        memory: None,
        compression: header.compression,
        compressed: there,
        uncompressed: there,
        fault: (there < header.compressed_size).then(|| format!("the chunk at byte {start} ends too early")),
    };
    if chunk.compression.is_empty() && there > SMALL {
        read_records(file, data, data + there, &mut chunk)?;
        return Ok(chunk);
    }
    let part = Part::new(file, data, there);
    let (bytes, fault) = match chunk.compression.as_str() {
        "" => part.all()?,
        "zstd" => part.decompressed_by(zstd::stream::read::Decoder::new)?,
        "lz4" => part.decompressed_by(lz4::Decoder::new)?,
        other => {
            let name = other.escape_debug();
            return Err(Stop::Nonsense(format!("the chunk at byte {start} is compressed by '{name}', which is not known here")));
        }
    };
    if let Some(why) = fault {
        chunk.fault.get_or_insert_with(|| format!("the chunk at byte {start} {why}"));
    }
    if chunk.fault.is_none() && header.uncompressed_crc != 0 && crc32fast::hash(&bytes) != header.uncompressed_crc {
        return Err(Stop::Nonsense(format!("the chunk at byte {start} is damaged: its sum is wrong")));
    }
    chunk.uncompressed = bytes.len() as u64;
    if chunk.uncompressed != header.uncompressed_size {
        chunk.fault.get_or_insert_with(|| format!("the chunk at byte {start} has less in it than it says"));
    }
    read_records(Cursor::new(&bytes[..]), 0, bytes.len() as u64, &mut chunk)?;
    chunk.memory = Some(Arc::new(bytes));
    Ok(chunk)
}

/// Where the chunk that begins at `start` ends: by what it says itself, and by the length of its record. They are one for all who write both before what is in it, and for those
/// who write the greatest number there until it is full.
pub fn ends(file: &File, size: u64, start: u64) -> Result<(u64, u64), Stop> {
    let (header, length, data) = header_at(file, size, start)?;
    Ok((data.saturating_add(header.compressed_size), (start + HEAD as u64).saturating_add(length)))
}

/// The header, the length of the record, and where the header ends.
fn header_at(file: &File, size: u64, start: u64) -> Result<(ChunkHeader, u64, u64), Stop> {
    let nonsense = || Stop::Nonsense(format!("at byte {start} is no chunk"));
    let left = size.checked_sub(start).ok_or_else(nonsense)?;
    let mut bytes = [0; HEAD + HEADER + LONGEST_NAME];
    let there = left.min(bytes.len() as u64) as usize;
    let bytes = &mut bytes[..there];
    file.read_exact_at(bytes, start)?;
    let (head, body) = bytes.split_at_checked(HEAD).ok_or_else(nonsense)?;
    let name = body.get(HEADER - 12..HEADER - 8).and_then(|name| name.try_into().ok()).map(u32::from_le_bytes).ok_or_else(nonsense)?;
    if head[0] != op::CHUNK || name as usize > LONGEST_NAME {
        return Err(nonsense());
    }
    let length = u64::from_le_bytes(head[1..].try_into().map_err(|_| nonsense())?);
    let mut cursor = Cursor::new(body);
    let header: ChunkHeader = cursor.read_le().map_err(|_| nonsense())?;
    Ok((header, length, start + HEAD as u64 + cursor.position()))
}

fn read_records(source: impl Read + Seek, begin: u64, end: u64, to: &mut Chunk) -> Result<(), Stop> {
    let mut walk = Walk::through(source, begin, end)?;
    loop {
        let stopped = match walk.next() {
            Ok(None) => return Ok(()),
            Ok(Some(place)) => match place.op {
                op::MESSAGE => walk.message().map(|message| to.messages.push(message)),
                op::SCHEMA | op::CHANNEL => walk.record().map(|record| to.described.push(record)),
                _ => Ok(()),
            },
            Err(stop) => Err(stop),
        };
        match stopped {
            Ok(()) => {}
            Err(stop) => return to.end(stop),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::reader::part::MOST;
    use crate::{Bag, Compression, Stamp, Topic, Writer};

    #[test]
    fn a_chunk_that_is_to_fill_the_memory_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        for compression in [Compression::Lz4, Compression::Zstd] {
            let path = folder.path().join(compression.name());
            let mut writer = Writer::create(&path, compression).unwrap();
            let id = writer.add_topic(&Topic::default()).unwrap();
            let stamp = Stamp { sequence: 1, log_time: 1, publish_time: 1 };
            writer.write(id, &stamp, &[&vec![0; MOST as usize + 1]]).unwrap();
            writer.finish().unwrap();
            let mut messages = Bag::open(&path).unwrap().messages(Default::default());
            let complaint = messages.next().unwrap().unwrap_err().to_string();
            assert!(complaint.contains("which are not read") && messages.next().is_none(), "{complaint}");
        }
    }
}
