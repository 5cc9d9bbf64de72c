//! What the streams of a lane have beside the bytes of its messages.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;

use super::flow::Link;
use super::queue::Numbered;
use crate::protocol::{RecordHead, RepairHead};
use crate::repair::{Cover, IN_STREAM, SYMBOL};

/// Bytes of it in a stream.
pub(super) fn on_the_way(next: &Numbered) -> u64 {
    (next.size + RecordHead::SIZE) as u64
}

/// The streams for the repair of a message (G30).
pub(super) fn repairs(channel: u32, message: &Numbered, link: Link) -> VecDeque<Bytes> {
    let cover = Cover::of(message.size, link.window, link.packet, link.loss);
    let Some((cover, symbols)) = cover.and_then(|cover| Some((cover, cover.encode(&message.message.parts)?))) else {
        return VecDeque::new();
    };
    let head = RepairHead {
        channel,
        sequence: message.sequence,
        size: cover.size as u32,
        first: cover.first as u32,
        repairs: cover.repairs as u16,
        index: 0,
    };
    let streams = symbols.chunks(IN_STREAM * SYMBOL).enumerate();
    streams.map(|(at, symbols)| [&RepairHead { index: (at * IN_STREAM) as u16, ..head }.encode(), symbols].concat().into()).collect()
}

pub(super) fn record_head(next: &Numbered, now: Instant) -> RecordHead {
    RecordHead {
        sequence: next.sequence,
        origin: next.message.origin,
        age_ns: u64::try_from(now.saturating_duration_since(next.message.published).as_nanos()).unwrap_or(u64::MAX),
        packing: next.message.packing,
        size: next.size as u32,
        unpacked: next.message.unpacked,
    }
}
