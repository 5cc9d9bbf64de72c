//! Opening a file: by its summary, or by reading all of it.

use std::fs::File;
use std::io::Cursor;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use binrw::BinReaderExt;
use mcap::records::{Footer, Record, Statistics, op};

use super::scan::{Schemas, scan};
use super::walk::{Stop, Walk};
use super::{Bag, ChunkPlace, Contents, Kind, ros1};
use crate::error::{BagError, Result};
use crate::records::HEAD;

/// The footer's record, and the magic bytes behind it.
const FOOTER: usize = HEAD + 20 + mcap::MAGIC.len();

/// The files that are meant by a path: itself, or those in a folder, in the order of their numbers.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |why: std::io::Error| BagError::cannot("read", path, &why);
    if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries: Vec<PathBuf> =
        std::fs::read_dir(path).map_err(unreadable)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>().map_err(unreadable)?;
    let has = |path: &PathBuf, extension: &str| path.extension().is_some_and(|is| is == extension);
    let mut files: Vec<PathBuf> = entries.iter().filter(|path| has(path, "mcap") || has(path, "bag")).cloned().collect();
    // 2 before 10.
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    if files.is_empty() {
        let is_database = entries.iter().any(|path| has(path, "db3"));
        let why = if is_database { format!("but a database of rosbag2: {}", convert(path)) } else { "to be read".to_owned() };
        return Err(BagError::new(format!("{} has no file {why}", path.display())));
    }
    Ok(files)
}

pub fn open(path: &Path) -> Result<Bag> {
    let unreadable = |why: std::io::Error| BagError::cannot("read", path, &why);
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    let mut begin = [0; 16];
    let there = size.min(begin.len() as u64) as usize;
    file.read_exact_at(&mut begin[..there], 0).map_err(unreadable)?;
    let (kind, opened) = if begin.starts_with(mcap::MAGIC) {
        (Kind::Mcap, open_mcap(&file, size))
    } else if begin.starts_with(ros1::MAGIC) {
        (Kind::Ros1, ros1::open(&file, size))
    } else {
        return Err(BagError::new(stranger(path, &begin[..there])));
    };
    let (contents, cut) = opened.map_err(unreadable)?;
    Ok(Bag { path: path.to_owned(), file: Arc::new(file), size, kind, contents, cut })
}

fn open_mcap(file: &File, size: u64) -> std::io::Result<(Contents, Option<String>)> {
    if let Some(contents) = summary(file, size) {
        return Ok((contents, None));
    }
    let mut contents = header(file, size);
    let cut = scan(file, size, mcap::MAGIC.len() as u64, &mut contents)?;
    Ok((contents, cut))
}

/// What a file is that is none, and how it becomes one.
fn stranger(path: &Path, begin: &[u8]) -> String {
    let path = path.display();
    let convert = format!(
        "`pip install rosbags`, then `rosbags-convert --src {path} --dst FOLDER --dst-storage mcap` makes a folder of it that can be played"
    );
    if begin.is_empty() {
        format!("{path} is empty: whoever recorded it was stopped before the first message")
    } else if begin.starts_with(b"#ROSBAG V") {
        format!("{path} is a bag of ROS 1 before version 2.0, which is not read")
    } else if begin.starts_with(b"SQLite format 3") {
        format!("{path} is a database of rosbag2: {convert}; it may want the folder that the file is in")
    } else if begin.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        format!("{path} is compressed as a whole: `zstd -d {path}` makes a file that can be read")
    } else {
        format!("{path} is neither an MCAP file nor a bag: it does not begin as one")
    }
}

fn convert(path: &Path) -> String {
    let path = path.display();
    format!(
        "`pip install rosbags`, then `rosbags-convert --src {path} --dst FOLDER --dst-storage mcap` makes a folder of it that can be played"
    )
}

fn header(file: &File, size: u64) -> Contents {
    let header = Walk::through(file, mcap::MAGIC.len() as u64, size).map_err(Stop::from).and_then(|mut walk| {
        walk.next()?;
        walk.record()
    });
    match header {
        Ok(Record::Header(header)) => Contents { profile: header.profile, library: header.library, ..Default::default() },
        _ => Contents::default(),
    }
}

/// None: there is none that tells of all messages.
fn summary(file: &File, size: u64) -> Option<Contents> {
    let footer_start = size.checked_sub(FOOTER as u64)?;
    let mut footer = [0; FOOTER];
    file.read_exact_at(&mut footer, footer_start).ok()?;
    if footer[0] != op::FOOTER || !footer.ends_with(mcap::MAGIC) {
        return None;
    }
    let summary_start = Cursor::new(&footer[HEAD..]).read_le::<Footer>().ok()?.summary_start;
    if summary_start < mcap::MAGIC.len() as u64 || summary_start > footer_start {
        return None;
    }
    let mut contents = header(file, size);
    let (statistics, is_described) = records(file, summary_start, footer_start, &mut contents).ok()?;
    let statistics = statistics?;
    if !is_described || !is_complete(&contents, &statistics) {
        return None;
    }
    contents.times = (statistics.message_count > 0).then_some((statistics.message_start_time, statistics.message_end_time));
    contents.counts = statistics.channel_message_counts;
    Some(contents)
}

/// Whether a summary tells of all that its statistics count. A writer may leave any of it out.
fn is_complete(contents: &Contents, statistics: &Statistics) -> bool {
    let counts = &statistics.channel_message_counts;
    contents.chunks.len() >= statistics.chunk_count as usize
        && contents.topics.len() >= statistics.channel_count as usize
        && counts.keys().all(|channel| contents.topics.contains_key(channel))
        && (statistics.message_count == 0 || !contents.chunks.is_empty() && !counts.is_empty())
}

/// The statistics, and whether each channel's type is described.
fn records(file: &File, begin: u64, end: u64, contents: &mut Contents) -> std::result::Result<(Option<Statistics>, bool), Stop> {
    let mut walk = Walk::through(file, begin, end)?;
    let (mut schemas, mut statistics, mut is_described) = (Schemas::default(), None, true);
    while let Some(place) = walk.next()? {
        if ![op::SCHEMA, op::CHANNEL, op::STATISTICS, op::CHUNK_INDEX, op::METADATA_INDEX].contains(&place.op) {
            continue;
        }
        match walk.record()? {
            Record::Statistics(all) => statistics = Some(all),
            Record::ChunkIndex(chunk) => {
                let times = (chunk.message_start_time, chunk.message_end_time);
                contents.chunks.push(ChunkPlace { start: chunk.chunk_start_offset, times });
                let totals = contents.compressions.entry(chunk.compression).or_default();
                totals.chunks += 1;
                totals.compressed = totals.compressed.saturating_add(chunk.compressed_size);
                totals.uncompressed = totals.uncompressed.saturating_add(chunk.uncompressed_size);
            }
            Record::MetadataIndex(index) if index.offset < begin => {
                let mut at = Walk::through(file, index.offset, begin)?;
                if let Some(place) = at.next()?
                    && place.op == op::METADATA
                {
                    contents.add_metadata(at.record()?);
                }
            }
            record => {
                is_described &= schemas.has_that_of(&record);
                contents.describe(&mut schemas, record);
            }
        }
    }
    Ok((statistics, is_described))
}

impl Contents {
    pub(super) fn add_metadata(&mut self, record: Record<'static>) {
        if let Record::Metadata(metadata) = record {
            self.metadata.insert(metadata.name, metadata.metadata);
        }
    }
}
