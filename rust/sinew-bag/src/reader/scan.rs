//! Finding out what is in a file without a summary.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use mcap::records::{Record, SchemaHeader, op};

use super::part::Part;
use super::walk::{LONGEST, MessagePlace, Stop, Walk};
use super::{ChunkPlace, Contents, chunk};
use crate::records::HEAD;
use crate::writer::Topic;

/// A writer that is killed leaves no more than that of a record, but of those with messages and of attachments: others describe topics, or say where messages are.
pub const SHORT: u64 = 1 << 20;

/// Descriptions of types by their numbers, which topics refer to.
#[derive(Default)]
pub struct Schemas(BTreeMap<u16, (SchemaHeader, String)>);

impl Schemas {
    /// Whether there is what a channel refers to. Zero is none.
    pub fn has_that_of(&self, record: &Record<'_>) -> bool {
        !matches!(record, Record::Channel(channel) if channel.schema_id != 0 && !self.0.contains_key(&channel.schema_id))
    }
}

impl Contents {
    /// What a record describes.
    pub fn describe(&mut self, schemas: &mut Schemas, record: Record<'static>) {
        match record {
            Record::Schema { header, data } => {
                let text = String::from_utf8_lossy(&data).into_owned();
                schemas.0.entry(header.id).or_insert((header, text));
            }
            Record::Channel(channel) => {
                let (type_name, schema_encoding, schema) = match schemas.0.get(&channel.schema_id) {
                    Some((header, text)) => (header.name.clone(), header.encoding.clone(), text.clone()),
                    None => Default::default(),
                };
                self.topics.entry(channel.id).or_insert(Topic {
                    name: channel.topic,
                    message_encoding: channel.message_encoding,
                    type_name,
                    schema_encoding,
                    schema,
                    metadata: channel.metadata,
                });
            }
            _ => {}
        }
    }

    fn count(&mut self, message: &MessagePlace) {
        let (first, last) = self.times.unwrap_or((u64::MAX, 0));
        let time = message.header.log_time;
        self.times = Some((first.min(time), last.max(time)));
        *self.counts.entry(message.header.channel_id).or_default() += 1;
    }

    /// The file ends within the record that begins there: what to say of it. It is damage where a writer that is killed leaves no more than so many bytes of such a record.
    pub fn cut(&mut self, start: u64, size: u64, most: u64) -> String {
        let why = format!("it ends within a record, which begins {} bytes before, at byte {start}", size - start);
        if size - start > most {
            self.damage.get_or_insert_with(|| why.clone());
        }
        why
    }

    pub fn add_chunk(&mut self, schemas: &mut Schemas, start: u64, chunk: chunk::Chunk) {
        chunk.described.into_iter().for_each(|record| self.describe(schemas, record));
        chunk.messages.iter().for_each(|message| self.count(message));
        let times = chunk.messages.iter().map(|message| message.header.log_time);
        if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
            self.chunks.push(ChunkPlace { start, times: (first, last) });
        }
        let totals = self.compressions.entry(chunk.compression).or_default();
        totals.chunks += 1;
        totals.compressed += chunk.compressed;
        totals.uncompressed += chunk.uncompressed;
    }
}

/// Reads everything from that position on. The sentence says why that is not all, if it is not.
pub fn scan(file: &File, size: u64, begin: u64, contents: &mut Contents) -> Result<Option<String>, std::io::Error> {
    let mut schemas = Schemas::default();
    let mut walk = Walk::through(file, begin, size)?;
    let mut fault = None;
    loop {
        let stopped = match walk.next() {
            Ok(None) => return Ok(Some(fault.unwrap_or_else(|| "it has no end".to_owned()))),
            Ok(Some(place)) => match place.op {
                // What follows is a summary.
                op::DATA_END | op::FOOTER => return Ok(fault),
                op::SCHEMA | op::CHANNEL => walk.record().map(|record| contents.describe(&mut schemas, record)),
                op::METADATA => walk.record().map(|record| contents.add_metadata(record)),
                op::MESSAGE => walk.message().map(|message| {
                    contents.count(&message);
                    contents.loose.push(message);
                }),
                op::CHUNK => chunk::load(file, size, place.body - HEAD as u64).map(|chunk| {
                    if let Some(why) = &chunk.fault {
                        contents.damage.get_or_insert_with(|| why.clone());
                        fault.get_or_insert_with(|| why.clone());
                    }
                    contents.add_chunk(&mut schemas, place.body - HEAD as u64, chunk);
                }),
                _ => Ok(()),
            },
            Err(stop) => Err(stop),
        };
        match stopped {
            Ok(()) => {}
            Err(Stop::Unreadable(why)) => return Err(why),
            // A damaged chunk or description: others follow.
            Err(Stop::Nonsense(why)) if walk.is_at_record() => {
                contents.damage.get_or_insert_with(|| why.clone());
                fault.get_or_insert(why);
            }
            Err(Stop::Nonsense(why)) => {
                // A loss of power may leave zeros at the end, and no writer some before it.
                if !is_blank(file, walk.position() - HEAD as u64, size)? {
                    contents.damage.get_or_insert_with(|| why.clone());
                }
                return Ok(Some(fault.unwrap_or(why)));
            }
            Err(Stop::Cut(place)) => {
                let start = place.body - HEAD as u64;
                if place.op == op::CHUNK
                    && let Ok(chunk) = chunk::load(file, size, start)
                {
                    contents.add_chunk(&mut schemas, start, chunk);
                }
                let most = match place.op {
                    op::CHUNK => match chunk::ends(file, size, start) {
                        Ok((end, _)) if end <= size => {
                            let why = format!("the record at byte {start} says that it is longer than the chunk in it");
                            contents.damage.get_or_insert_with(|| why.clone());
                            fault.get_or_insert(why);
                            walk.seek(end)?;
                            continue;
                        }
                        Ok((end, by_record)) if end == by_record => u64::MAX,
                        _ => SHORT,
                    },
                    op::MESSAGE | op::ATTACHMENT => LONGEST,
                    _ => SHORT,
                };
                let why = contents.cut(start, size, most);
                return Ok(Some(fault.unwrap_or(why)));
            }
        }
    }
}

fn is_blank(file: &File, begin: u64, end: u64) -> std::io::Result<bool> {
    let mut rest = Part::new(file, begin, end - begin);
    let mut bytes = [0; 16 << 10];
    loop {
        match rest.read(&mut bytes)? {
            0 => return Ok(true),
            read if bytes[..read].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}
