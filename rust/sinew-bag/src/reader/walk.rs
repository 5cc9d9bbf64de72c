//! From record to record, through a file or through the bytes of a chunk. Whoever wrote them may be a stranger, or may have been killed.

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

use mcap::records::{MessageHeader, Record, op};

use crate::records::{HEAD, MESSAGE_HEADER};

/// Records that are read as a whole are no longer than that: all but messages, chunks and attachments.
pub const LONGEST: u64 = 64 << 20;

/// A record: what it is, where its body begins and how long that is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub op: u8,
    pub body: u64,
    pub size: u64,
}

/// A message: of what, when, where its bytes begin and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct MessagePlace {
    pub header: MessageHeader,
    pub begin: u64,
    pub size: u64,
}

/// Goes from record to record.
pub struct Walk<R> {
    source: R,
    position: u64,
    end: u64,
    /// The one that the walk is at.
    place: Option<Place>,
}

/// Why a walk ends before the end.
#[derive(Debug)]
pub enum Stop {
    /// What is there is no record, as a sentence.
    Nonsense(String),
    /// The record that begins there does not end.
    Cut(Place),
    /// It cannot be read.
    Unreadable(io::Error),
}

impl From<io::Error> for Stop {
    fn from(why: io::Error) -> Stop {
        Stop::Unreadable(why)
    }
}

impl<R: Read + Seek> Walk<BufReader<R>> {
    /// From here to there.
    pub fn through(source: R, begin: u64, end: u64) -> io::Result<Self> {
        let mut source = BufReader::new(source);
        source.seek(SeekFrom::Start(begin))?;
        Ok(Walk { source, position: begin, end, place: None })
    }

    /// To the next record. None: it was the last.
    pub fn next(&mut self) -> Result<Option<Place>, Stop> {
        if let Some(place) = self.place.take() {
            self.seek(place.body + place.size)?;
        }
        let left = self.end.saturating_sub(self.position);
        if left == 0 {
            return Ok(None);
        }
        if left < HEAD as u64 {
            return Err(Stop::Cut(Place { op: 0, body: self.position + HEAD as u64, size: 0 }));
        }
        let mut head = [0; HEAD];
        self.source.read_exact(&mut head)?;
        self.position += HEAD as u64;
        let [op, size @ ..] = head;
        let place = Place { op, body: self.position, size: u64::from_le_bytes(size) };
        if op == 0 {
            return Err(Stop::Nonsense(format!("no record begins at byte {}", place.body - HEAD as u64)));
        }
        if place.size > self.end - self.position {
            return Err(Stop::Cut(place));
        }
        self.place = Some(place);
        Ok(Some(place))
    }

    /// What the record that the walk is at says. Not of chunks and attachments, which may be long, nor of messages.
    pub fn record(&mut self) -> Result<Record<'static>, Stop> {
        let place = self.place.ok_or_else(|| Stop::Nonsense("there is no record".to_owned()))?;
        let complaint = |why: &dyn std::fmt::Display| Stop::Nonsense(format!("the record at byte {}: {why}", place.body - HEAD as u64));
        if place.size > LONGEST {
            return Err(complaint(&format!("it takes {} bytes", place.size)));
        }
        // The crate takes the end of an attachment for granted.
        if place.op == op::ATTACHMENT {
            return Err(complaint(&"an attachment is not read"));
        }
        let mut body = vec![0; place.size as usize];
        self.source.read_exact(&mut body)?;
        self.position += place.size;
        mcap::parse_record(place.op, &body).map(Record::into_owned).map_err(|why| complaint(&why))
    }

    /// The message that the walk is at, but its bytes.
    pub fn message(&mut self) -> Result<MessagePlace, Stop> {
        let place = self.place.filter(|place| place.size >= MESSAGE_HEADER as u64);
        let place = place.ok_or_else(|| Stop::Nonsense(format!("the message before byte {} is too short", self.position)))?;
        let mut header = [0; MESSAGE_HEADER];
        self.source.read_exact(&mut header)?;
        self.position += MESSAGE_HEADER as u64;
        let header = binrw::BinReaderExt::read_le(&mut Cursor::new(header)).map_err(|why| Stop::Nonsense(why.to_string()))?;
        Ok(MessagePlace { header, begin: self.position, size: place.size - MESSAGE_HEADER as u64 })
    }

    /// Whether others may follow what is nonsense: it has a length.
    pub fn is_at_record(&self) -> bool {
        self.place.is_some()
    }

    /// Where it is in the source.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes on with the record that begins there.
    pub fn seek(&mut self, to: u64) -> io::Result<()> {
        // Within what is buffered, without a system call.
        self.source.seek_relative(to.wrapping_sub(self.position) as i64)?;
        self.position = to;
        Ok(())
    }
}
