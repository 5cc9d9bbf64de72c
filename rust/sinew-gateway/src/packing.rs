//! Messages made smaller, for links that are slower than compressing is.

use bytes::Bytes;

use crate::protocol::{Decoded, Packing, violation};

/// The level of zstd: the fastest of those that pack well.
const LEVEL: i32 = 1;

/// What a gateway can unpack.
pub const ALL: u8 = 3;

/// The joined parts, packed. None: that makes them no smaller, or the peer cannot unpack it.
pub fn pack(packing: Packing, peer: u8, parts: &[Bytes]) -> Option<Bytes> {
    if packing == Packing::None || peer & packing.bit() == 0 {
        return None;
    }
    let whole = parts.concat();
    let packed = match packing {
        Packing::None => return None,
        Packing::Zstd => zstd::bulk::compress(&whole, LEVEL).ok()?,
        Packing::Lz4 => lz4::block::compress(&whole, None, false).ok()?,
    };
    (packed.len() < whole.len()).then(|| Bytes::from(packed))
}

/// Into a place that is exactly as large as it is unpacked.
pub fn unpack(packing: Packing, packed: &[u8], into: &mut [u8]) -> Decoded<()> {
    let size = match packing {
        Packing::None => return violation("a message that is not packed"),
        Packing::Zstd => zstd::bulk::decompress_to_buffer(packed, into).ok(),
        Packing::Lz4 => i32::try_from(into.len()).ok().and_then(|size| lz4::block::decompress_to_buffer(packed, Some(size), into).ok()),
    };
    if size != Some(into.len()) {
        return violation("a message that cannot be unpacked");
    }
    Ok(())
}
