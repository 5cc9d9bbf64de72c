//! Fields, one behind the other.

use super::{Decoded, GatewayId, violation};

/// Fields to be read. What was read of them is gone.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Decoded<&'a [u8]> {
        match self.0.split_at_checked(count) {
            Some((taken, rest)) => {
                self.0 = rest;
                Ok(taken)
            }
            None => violation(format!("a message ends {} bytes before its last field does", count - self.0.len())),
        }
    }

    fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("as many were taken"))
    }

    /// A number.
    pub fn u8(&mut self) -> Decoded<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Likewise.
    pub fn u16(&mut self) -> Decoded<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Likewise.
    pub fn u32(&mut self) -> Decoded<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Likewise.
    pub fn u64(&mut self) -> Decoded<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Eight, signed.
    pub fn i64(&mut self) -> Decoded<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    /// Sixteen bytes.
    pub fn id(&mut self) -> Decoded<GatewayId> {
        self.array()
    }

    /// One byte.
    pub fn bool(&mut self) -> Decoded<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => violation(format!("a bool that is {other}")),
        }
    }

    /// Of at most so many bytes.
    pub fn string(&mut self, most: usize) -> Decoded<String> {
        let size = self.u32()? as usize;
        if size > most {
            return violation(format!("a text of {size} bytes, where {most} are the most"));
        }
        match std::str::from_utf8(self.take(size)?) {
            Ok(text) if !text.contains('\0') => Ok(text.to_owned()),
            Ok(_) => violation("a text with a NUL in it"),
            Err(_) => violation("a text that is not UTF-8"),
        }
    }

    /// Nothing is left.
    pub fn end(self) -> Decoded<()> {
        match self.0.len() {
            0 => Ok(()),
            more => violation(format!("{more} bytes behind the last field of a message")),
        }
    }
}

/// A text, as [`Fields::string`] reads it.
pub fn put_string(into: &mut Vec<u8>, text: &str) {
    into.extend((text.len() as u32).to_le_bytes());
    into.extend(text.as_bytes());
}

/// How the bytes of a message are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// As they are.
    #[default]
    None,
    /// By zstd.
    Zstd,
    /// By LZ4.
    Lz4,
}

impl Packing {
    /// The bit of `Hello.compression`; of `None` none.
    pub fn bit(self) -> u8 {
        self as u8
    }

    pub(super) fn decode(flags: u8) -> Decoded<Packing> {
        match flags {
            0 => Ok(Packing::None),
            1 => Ok(Packing::Zstd),
            2 => Ok(Packing::Lz4),
            other => violation(format!("a message that is packed in the unknown way {other}")),
        }
    }
}

/// How large a message is, and how it is packed: `flags`, `size` and `unpacked` of (G19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub packing: Packing,
    pub size: u32,
    pub unpacked: u32,
}

impl Extent {
    pub const SIZE: usize = 9;

    pub fn decode(fields: &mut Fields<'_>, most: u64) -> Decoded<Extent> {
        let packing = Packing::decode(fields.u8()?)?;
        let extent = Extent { packing, size: fields.u32()?, unpacked: fields.u32()? };
        if packing == Packing::None && extent.size != extent.unpacked {
            return violation(format!("a message that is not packed, and of {} bytes, is to have {}", extent.size, extent.unpacked));
        }
        if u64::from(extent.size.max(extent.unpacked)) > most {
            return violation(format!("a message of {} bytes, where {most} are the most", extent.size.max(extent.unpacked)));
        }
        Ok(extent)
    }

    pub fn encode(&self, into: &mut Vec<u8>) {
        into.push(self.packing.bit());
        into.extend(self.size.to_le_bytes());
        into.extend(self.unpacked.to_le_bytes());
    }
}
