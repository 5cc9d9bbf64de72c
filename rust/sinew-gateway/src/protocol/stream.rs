//! What streams of messages and calls begin with.

use super::bytes::{Extent, Fields};
use super::{Decoded, Packing, violation};

/// (G18) The first byte of a stream with messages of a topic.
pub const TOPIC_STREAM: u8 = 1;
/// (G24) The first byte of a stream with a call.
pub const CALL_STREAM: u8 = 2;
/// (G30) The first byte of a stream with symbols for the repair of a message.
pub const REPAIR_STREAM: u8 = 3;

/// (G18) What follows the first byte of a stream with messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicHead {
    /// The want's.
    pub channel: u32,
    /// Of the channel's streams since it was opened.
    pub index: u64,
}

impl TopicHead {
    /// Bytes.
    pub const SIZE: usize = 12;

    /// From so many bytes.
    pub fn decode(bytes: &[u8; TopicHead::SIZE]) -> TopicHead {
        let (channel, index) = bytes.split_at(4);
        TopicHead {
            channel: u32::from_le_bytes(channel.try_into().expect("four")),
            index: u64::from_le_bytes(index.try_into().expect("eight")),
        }
    }

    /// With the first byte of the stream.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![TOPIC_STREAM];
        out.extend(self.channel.to_le_bytes());
        out.extend(self.index.to_le_bytes());
        out
    }
}

/// (G19) What stands before the bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// (G20)
    pub sequence: u64,
    /// (G20)
    pub origin: u64,
    /// (G20)
    pub age_ns: u64,
    /// Of the bytes that follow.
    pub packing: Packing,
    /// How many follow.
    pub size: u32,
    /// How many they are, unpacked.
    pub unpacked: u32,
}

impl RecordHead {
    /// Bytes.
    pub const SIZE: usize = 24 + Extent::SIZE;

    /// Of a message that has no more than `most` bytes, packed or not.
    pub fn decode(bytes: &[u8; RecordHead::SIZE], most: u64) -> Decoded<RecordHead> {
        let mut fields = Fields(bytes);
        let (sequence, origin, age_ns) = (fields.u64()?, fields.u64()?, fields.u64()?);
        if sequence == 0 {
            return violation("a message with the number 0");
        }
        let Extent { packing, size, unpacked } = Extent::decode(&mut fields, most)?;
        Ok(RecordHead { sequence, origin, age_ns, packing, size, unpacked })
    }

    /// As it is sent.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(RecordHead::SIZE);
        out.extend(self.sequence.to_le_bytes());
        out.extend(self.origin.to_le_bytes());
        out.extend(self.age_ns.to_le_bytes());
        Extent { packing: self.packing, size: self.size, unpacked: self.unpacked }.encode(&mut out);
        out
    }
}

/// (G30) What follows the first byte of a stream with symbols for the repair of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairHead {
    /// The want's.
    pub channel: u32,
    /// Of the message.
    pub sequence: u64,
    /// Bytes of the message, packed.
    pub size: u32,
    /// The first of them that is covered.
    pub first: u32,
    /// Symbols that there are.
    pub repairs: u16,
    /// The first symbol of this stream.
    pub index: u16,
}

impl RepairHead {
    /// Bytes.
    pub const SIZE: usize = 24;

    /// From so many bytes.
    pub fn decode(bytes: &[u8; RepairHead::SIZE]) -> Decoded<RepairHead> {
        let mut fields = Fields(bytes);
        Ok(RepairHead {
            channel: fields.u32()?,
            sequence: fields.u64()?,
            size: fields.u32()?,
            first: fields.u32()?,
            repairs: fields.u16()?,
            index: fields.u16()?,
        })
    }

    /// With the first byte of the stream.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![REPAIR_STREAM];
        out.extend(self.channel.to_le_bytes());
        out.extend(self.sequence.to_le_bytes());
        out.extend(self.size.to_le_bytes());
        out.extend(self.first.to_le_bytes());
        out.extend(self.repairs.to_le_bytes());
        out.extend(self.index.to_le_bytes());
        out
    }
}

/// (G24) What follows the first byte of a stream with a call, before the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHead {
    /// The want's.
    pub channel: u32,
    /// The caller's number.
    pub call: u64,
    /// Of the request.
    pub packing: Packing,
    /// Of the request, packed.
    pub size: u32,
    /// Of the request, unpacked.
    pub unpacked: u32,
}

impl CallHead {
    /// Bytes.
    pub const SIZE: usize = 12 + Extent::SIZE;

    /// Of a request that has no more than `most` bytes, packed or not.
    pub fn decode(bytes: &[u8; CallHead::SIZE], most: u64) -> Decoded<CallHead> {
        let mut fields = Fields(bytes);
        let (channel, call) = (fields.u32()?, fields.u64()?);
        let Extent { packing, size, unpacked } = Extent::decode(&mut fields, most)?;
        Ok(CallHead { channel, call, packing, size, unpacked })
    }

    /// With the first byte of the stream.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![CALL_STREAM];
        out.extend(self.channel.to_le_bytes());
        out.extend(self.call.to_le_bytes());
        Extent { packing: self.packing, size: self.size, unpacked: self.unpacked }.encode(&mut out);
        out
    }
}

/// (G25) What stands before the bytes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What they are.
    pub status: Status,
    /// Of the bytes that follow.
    pub packing: Packing,
    /// How many follow.
    pub size: u32,
    /// How many they are, unpacked.
    pub unpacked: u32,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The response.
    Executed,
    /// The text with which the provider has failed.
    Failed,
    /// There is no provider any more.
    Gone,
    /// The gateway cannot take the call now.
    Full,
}

impl Answer {
    /// Bytes.
    pub const SIZE: usize = 1 + Extent::SIZE;

    /// Of a response that has no more than `most` bytes, packed or not.
    pub fn decode(bytes: &[u8; Answer::SIZE], most: u64) -> Decoded<Answer> {
        let mut fields = Fields(bytes);
        let status = match fields.u8()? {
            0 => Status::Executed,
            1 => Status::Failed,
            2 => Status::Gone,
            3 => Status::Full,
            other => return violation(format!("an answer with the unknown status {other}")),
        };
        let Extent { packing, size, unpacked } = Extent::decode(&mut fields, most)?;
        Ok(Answer { status, packing, size, unpacked })
    }

    /// As it is sent.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.status as u8];
        Extent { packing: self.packing, size: self.size, unpacked: self.unpacked }.encode(&mut out);
        out
    }
}
