//! Parts of a file, and what is compressed in them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// A part that is not compressed and has no more bytes is read at once. Of others, messages are read one by one where they lie.
pub const SMALL: u64 = 4 << 20;
/// A compressed part with more than that in it is none that anybody writes, but one that is to fill the memory.
pub const MOST: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };

/// Is read without moving others who read the file.
pub struct Part<'a> {
    file: &'a File,
    position: u64,
    end: u64,
}

/// What was read, and why it is not all, as the rest of a sentence about it.
pub type Found = (Vec<u8>, Option<String>);

impl<'a> Part<'a> {
    /// So many bytes, which are there.
    pub fn new(file: &'a File, begin: u64, size: u64) -> Part<'a> {
        Part { file, position: begin, end: begin + size }
    }

    /// All of its bytes, of which there are few.
    pub fn all(self) -> io::Result<Found> {
        let mut bytes = vec![0; (self.end - self.position) as usize];
        self.file.read_exact_at(&mut bytes, self.position)?;
        Ok((bytes, None))
    }

    /// All that can be decompressed.
    pub fn decompressed_by<D: Read>(self, decoder: impl FnOnce(Part<'a>) -> io::Result<D>) -> io::Result<Found> {
        let mut bytes = Vec::new();
        let read = decoder(self)?.take(MOST + 1).read_to_end(&mut bytes);
        if let Err(why) = read {
            return Ok((bytes, Some(format!("cannot be decompressed to its end: {why}"))));
        }
        if bytes.len() as u64 <= MOST {
            return Ok((bytes, None));
        }
        bytes.truncate(MOST as usize);
        Ok((bytes, Some(format!("has more than {MOST} bytes in it, which are not read"))))
    }
}

impl Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min((self.end - self.position) as usize);
        let read = self.file.read_at(&mut into[..most], self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}
