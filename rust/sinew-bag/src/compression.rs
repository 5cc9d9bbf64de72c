//! Compressed chunks.

use std::io::{self, Write};

/// How chunks are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all: big messages are written from where they lie.
    #[default]
    None,
    /// Fast.
    Lz4,
    /// Small.
    Zstd,
}

impl Compression {
    /// As files call it: "", "lz4", "zstd".
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        }
    }

    /// The bytes compressed. None of [`Compression::None`].
    pub(crate) fn compress(self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        const FASTEST: i32 = 1;
        match self {
            Compression::None => Ok(None),
            Compression::Zstd => zstd::bulk::compress(bytes, FASTEST).map(Some),
            Compression::Lz4 => {
                // As the mcap crate does: other readers take the sums of blocks for errors, and the chunk has one of its own.
                let no_sum = lz4::liblz4::BlockChecksum::NoBlockChecksum;
                let mut encoder = lz4::EncoderBuilder::new().block_checksum(no_sum).build(Vec::new())?;
                encoder.write_all(bytes)?;
                let (compressed, ended) = encoder.finish();
                ended.map(|()| Some(compressed))
            }
        }
    }
}
