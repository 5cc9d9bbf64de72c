//! Bags of ROS 1: records with a header of named fields, messages in chunks, and behind them what is in each chunk.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use mcap::records::{Channel, MessageHeader, Record, SchemaHeader};

use super::chunk::Chunk;
use super::part::{Part, SMALL};
use super::scan::{SHORT, Schemas};
use super::walk::{LONGEST, MessagePlace, Place, Stop};
use super::{ChunkPlace, Contents};

/// How a bag begins.
pub const MAGIC: &[u8] = b"#ROSBAG V2.0\n";

const MESSAGE: u8 = 2;
const BAG: u8 = 3;
const CHUNK: u8 = 5;
const CHUNK_INFO: u8 = 6;
const CONNECTION: u8 = 7;
/// Headers are no longer than that,
const LONGEST_HEADER: u32 = 1 << 20;
/// and no definition of a message is longer than that.
const LONGEST_DEFINITION: u64 = 4 << 20;

/// Fields by their names: each is its length, its name, an equals sign and its value.
struct Fields(Vec<u8>);

impl Fields {
    fn get(&self, name: &str) -> Option<&[u8]> {
        let mut rest = &self.0[..];
        while let Some((size, after)) = rest.split_at_checked(4) {
            let size = u32::from_le_bytes(size.try_into().ok()?) as usize;
            let (field, after) = after.split_at_checked(size)?;
            let equals = field.iter().position(|byte| *byte == b'=')?;
            if &field[..equals] == name.as_bytes() {
                return Some(&field[equals + 1..]);
            }
            rest = after;
        }
        None
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    fn byte(&self, name: &str) -> Option<u8> {
        self.get(name)?.first().copied()
    }

    fn number32(&self, name: &str) -> Option<u32> {
        Some(u32::from_le_bytes(self.get(name)?.try_into().ok()?))
    }

    fn number64(&self, name: &str) -> Option<u64> {
        Some(u64::from_le_bytes(self.get(name)?.try_into().ok()?))
    }

    /// Seconds and nanoseconds.
    fn time(&self, name: &str) -> Option<u64> {
        let both = self.number64(name)?;
        Some((both & 0xffff_ffff) * 1_000_000_000 + (both >> 32))
    }
}

/// Goes from record to record.
struct Walk<R> {
    source: BufReader<R>,
    position: u64,
    end: u64,
    next: u64,
}

/// A record: its header, and where its data is.
struct Found {
    start: u64,
    fields: Fields,
    data: u64,
    size: u64,
}

impl<R: Read + Seek> Walk<R> {
    fn through(source: R, begin: u64, end: u64) -> io::Result<Walk<R>> {
        let mut source = BufReader::new(source);
        source.seek(SeekFrom::Start(begin))?;
        Ok(Walk { source, position: begin, end, next: begin })
    }

    fn next(&mut self) -> Result<Option<Found>, Stop> {
        self.source.seek_relative(self.next.wrapping_sub(self.position) as i64)?;
        self.position = self.next;
        let start = self.position;
        if start >= self.end {
            return Ok(None);
        }
        let cut = |data, size| Stop::Cut(Place { op: 0, body: data, size });
        let header = self.size(LONGEST_HEADER)?.ok_or_else(|| cut(start, 0))?;
        let mut fields = vec![0; header as usize];
        self.source.read_exact(&mut fields)?;
        self.position += header;
        let size = self.length()?.ok_or_else(|| cut(start, 0))?;
        let found = Found { start, fields: Fields(fields), data: self.position, size };
        if found.size > self.end - self.position {
            return Err(Stop::Cut(Place { op: found.fields.byte("op").unwrap_or(0), body: start, size: found.size }));
        }
        self.next = found.data + found.size;
        Ok(Some(found))
    }

    /// Of a record that was found.
    fn data(&mut self, found: &Found, most: u64) -> Result<Vec<u8>, Stop> {
        if found.size > most {
            return Err(Stop::Nonsense(format!("the record at byte {} takes {} bytes", found.start, found.size)));
        }
        let mut data = vec![0; found.size as usize];
        self.source.read_exact(&mut data)?;
        self.position += found.size;
        Ok(data)
    }

    /// Nothing: it is not there.
    fn length(&mut self) -> Result<Option<u64>, Stop> {
        let mut size = [0; 4];
        if self.end - self.position < size.len() as u64 {
            return Ok(None);
        }
        self.source.read_exact(&mut size)?;
        self.position += size.len() as u64;
        Ok(Some(u32::from_le_bytes(size).into()))
    }

    /// Of so many bytes at most, which are there.
    fn size(&mut self, most: u32) -> Result<Option<u64>, Stop> {
        let Some(size) = self.length()? else { return Ok(None) };
        if size > u64::from(most) {
            return Err(Stop::Nonsense(format!("no record begins at byte {}", self.position - 4)));
        }
        Ok((size <= self.end - self.position).then_some(size))
    }
}

/// What there is in a bag, and why that is not all, if it is not.
pub fn open(file: &File, size: u64) -> io::Result<(Contents, Option<String>)> {
    if let Some(contents) = by_index(file, size) {
        return Ok((contents, None));
    }
    let mut contents = of_ros1();
    let cut = scan(file, size, &mut contents)?;
    Ok((contents, cut))
}

fn of_ros1() -> Contents {
    Contents { profile: "ros1".to_owned(), library: "rosbag".to_owned(), ..Default::default() }
}

/// None: it has no index that tells of everything.
fn by_index(file: &File, size: u64) -> Option<Contents> {
    let mut contents = of_ros1();
    let mut schemas = Schemas::default();
    let bag = Walk::through(file, MAGIC.len() as u64, size).ok()?.next().ok()??;
    if bag.fields.byte("op") != Some(BAG) {
        return None;
    }
    let index = bag.fields.number64("index_pos").filter(|index| *index > bag.data && *index <= size)?;
    let mut walk = Walk::through(file, index, size).ok()?;
    while let Some(found) = walk.next().ok()? {
        match found.fields.byte("op")? {
            CONNECTION => {
                let data = walk.data(&found, LONGEST_DEFINITION).ok()?;
                let described = connection(&found.fields, data)?;
                described.into_iter().for_each(|record| contents.describe(&mut schemas, record));
            }
            CHUNK_INFO => {
                let start = found.fields.number64("chunk_pos").filter(|start| *start < index)?;
                let times = (found.fields.time("start_time")?, found.fields.time("end_time")?);
                let counts = walk.data(&found, LONGEST_DEFINITION).ok()?;
                add_chunk(file, size, start, times, &counts, &mut contents)?;
            }
            _ => {}
        }
    }
    // Else it was cut between two of them.
    let count = bag.fields.number32("chunk_count")?;
    (contents.chunks.len() as u64 == u64::from(count)).then_some(contents)
}

/// What an index tells of a chunk.
fn add_chunk(file: &File, size: u64, start: u64, times: (u64, u64), counts: &[u8], contents: &mut Contents) -> Option<()> {
    for count in counts.chunks_exact(8) {
        let (connection, count) = count.split_at(4);
        let [connection, count] = [connection, count].map(|bytes| bytes.try_into().map(u32::from_le_bytes));
        let total = contents.counts.entry(u16::try_from(connection.ok()?).ok()?).or_default();
        *total = total.saturating_add(count.ok()?.into());
    }
    let (first, last) = contents.times.unwrap_or((u64::MAX, 0));
    contents.times = Some((first.min(times.0), last.max(times.1)));
    contents.chunks.push(ChunkPlace { start, times });
    let chunk = Walk::through(file, start, size).ok()?.next().ok()??;
    let totals = contents.compressions.entry(compression(&chunk.fields)?).or_default();
    totals.chunks += 1;
    totals.compressed += chunk.size;
    totals.uncompressed += u64::from(chunk.fields.number32("size")?);
    Some(())
}

/// Reads everything.
fn scan(file: &File, size: u64, contents: &mut Contents) -> io::Result<Option<String>> {
    let mut schemas = Schemas::default();
    let mut walk = Walk::through(file, MAGIC.len() as u64, size)?;
    let mut fault = Some("it has no index".to_owned());
    // A writer that was killed has left anything in its last chunk, whose length it had still to write.
    let mut is_finished = true;
    loop {
        let (start, is_last) = match walk.next() {
            Ok(None) => return Ok(fault),
            Ok(Some(found)) if found.fields.byte("op") == Some(CHUNK) => {
                is_finished = found.size > 0;
                (found.start, false)
            }
            Ok(Some(_)) => continue,
            Err(Stop::Unreadable(why)) => return Err(why),
            Err(Stop::Nonsense(why)) => {
                if is_finished {
                    contents.damage.get_or_insert_with(|| why.clone());
                }
                return Ok(Some(why));
            }
            Err(Stop::Cut(place)) if place.op == CHUNK => (place.body, true),
            Err(Stop::Cut(place)) => return Ok(Some(contents.cut(place.body, size, if is_finished { SHORT } else { u64::MAX }))),
        };
        match load(file, size, start) {
            Ok(chunk) => {
                if !is_last && is_finished && contents.damage.is_none() {
                    contents.damage.clone_from(&chunk.fault);
                }
                fault = chunk.fault.clone().or(fault);
                contents.add_chunk(&mut schemas, start, chunk);
            }
            Err(Stop::Unreadable(why)) => return Err(why),
            Err(Stop::Nonsense(why)) => {
                contents.damage.get_or_insert_with(|| why.clone());
                fault = Some(why);
            }
            Err(Stop::Cut(_)) => {}
        }
        if is_last {
            return Ok(Some(contents.cut(start, size, LONGEST)));
        }
    }
}

/// Reads what there is of the chunk that begins at `start` of a file of so many bytes.
pub fn load(file: &File, size: u64, start: u64) -> Result<Chunk, Stop> {
    let nonsense = || Stop::Nonsense(format!("at byte {start} is no chunk"));
    let mut walk = Walk::through(file, start, size)?;
    let found = match walk.next() {
        Ok(Some(found)) => found,
        // Its data is there in part.
        Err(Stop::Cut(place)) if place.op == CHUNK => {
            let mut whole = Walk::through(file, start, u64::MAX)?;
            whole.next()?.ok_or_else(nonsense)?
        }
        Ok(None) => return Err(nonsense()),
        Err(stop) => return Err(stop),
    };
    let (true, Some(compression)) = (found.fields.byte("op") == Some(CHUNK), compression(&found.fields)) else { return Err(nonsense()) };
    // How long it is its writer says when it is full: one that was killed has not.
    let is_finished = found.size > 0;
    let rest = size.saturating_sub(found.data);
    let there = if is_finished || !compression.is_empty() { found.size.min(rest) } else { rest };
    let mut chunk = Chunk {
        messages: Vec::new(),
        described: Vec::new(),
        memory: None,
        compression,
        compressed: there,
        uncompressed: there,
        fault: match is_finished {
            true => (there < found.size).then(|| format!("the chunk at byte {start} ends too early")),
            false => Some(format!("the chunk at byte {start} was not finished")),
        },
    };
    if chunk.compression.is_empty() && there > SMALL {
        read_records(file, found.data, found.data + there, is_finished, &mut chunk)?;
        return Ok(chunk);
    }
    let part = Part::new(file, found.data, there);
    let (bytes, fault) = match chunk.compression.as_str() {
        "" => part.all()?,
        "lz4" => part.decompressed_by(lz4::Decoder::new)?,
        _ => part.decompressed_by(|part| Ok(bzip2::read::BzDecoder::new(part)))?,
    };
    if let Some(why) = fault {
        chunk.fault.get_or_insert_with(|| format!("the chunk at byte {start} {why}"));
    }
    chunk.uncompressed = bytes.len() as u64;
    read_records(Cursor::new(&bytes[..]), 0, bytes.len() as u64, is_finished, &mut chunk)?;
    chunk.memory = Some(Arc::new(bytes));
    Ok(chunk)
}

/// As it is called in other files. None: it is not known.
fn compression(chunk: &Fields) -> Option<String> {
    match chunk.get("compression")? {
        b"none" => Some(String::new()),
        b"lz4" => Some("lz4".to_owned()),
        b"bz2" => Some("bz2".to_owned()),
        _ => None,
    }
}

fn read_records(source: impl Read + Seek, begin: u64, end: u64, is_finished: bool, to: &mut Chunk) -> Result<(), Stop> {
    let mut walk = Walk::through(source, begin, end)?;
    loop {
        let found = match walk.next() {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => found,
            Err(stop) => return to.end(stop),
        };
        let is_read = match found.fields.byte("op") {
            Some(MESSAGE) => message(&found).map(|message| to.messages.push(message)),
            Some(CONNECTION) => {
                let data = walk.data(&found, LONGEST_DEFINITION);
                data.ok().and_then(|data| connection(&found.fields, data)).map(|described| to.described.extend(described))
            }
            // What stands behind the chunk.
            _ if !is_finished => return Ok(()),
            _ => Some(()),
        };
        if is_read.is_none() {
            to.fault.get_or_insert_with(|| format!("the record at byte {} of a chunk has not all that is in one", found.start));
        }
    }
}

fn message(found: &Found) -> Option<MessagePlace> {
    let channel_id = u16::try_from(found.fields.number32("conn")?).ok()?;
    let time = found.fields.time("time")?;
    let header = MessageHeader { channel_id, sequence: 0, log_time: time, publish_time: time };
    Some(MessagePlace { header, begin: found.data, size: found.size })
}

/// What a connection says of its messages, as other files do: a type, and a topic. Several may be of one topic.
fn connection(fields: &Fields, data: Vec<u8>) -> Option<[Record<'static>; 2]> {
    let said = Fields(data);
    let id = u16::try_from(fields.number32("conn")?).ok()?;
    let header = SchemaHeader { id, name: said.text("type")?, encoding: "ros1msg".to_owned() };
    let is_kept = said.get("latching") == Some(b"1");
    // A publisher that latches keeps its newest message for those who come late.
    let qos = sinew::Qos { reliable: true, transient_local: is_kept, depth: u32::from(is_kept), ..Default::default() };
    let metadata = [(crate::qos::OFFERED_QOS.to_owned(), crate::qos::to_yaml(&[qos]).ok()?)].into();
    let topic = fields.text("topic").or_else(|| said.text("topic"))?;
    let channel = Channel { id, schema_id: id, topic, message_encoding: "ros1".to_owned(), metadata };
    Some([Record::Schema { header, data: said.get("message_definition")?.to_vec().into() }, Record::Channel(channel)])
}
