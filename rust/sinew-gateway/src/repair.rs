//! Repair symbols: with them a message that has lost some of its last packets is put together as soon as enough has arrived, where it would wait a round trip and more for what is sent again. Pure.
//!
//! What is lost earlier is sent again while the rest is still being sent, so only the end of a message is covered. Any so many symbols make up for as many that are missing (a Reed-Solomon code).

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

use crate::protocol::{Decoded, RepairHead, violation};

/// (G31) Bytes of a symbol.
pub const SYMBOL: usize = 512;
/// Symbols in a stream: with what is around them they fit into a packet.
pub const IN_STREAM: usize = 2;
/// Of the end of a message so much is covered at most: encoding it is to take no longer than a few milliseconds.
const MOST_COVERED: usize = 4 << 20;
/// (G31) More symbols than these help nobody: such a link needs another remedy.
const MOST: usize = 512;
/// Packets that are lost are rarely more than on average, and this many standard deviations.
const DEVIATIONS: f64 = 1.7;
/// A link that loses more is taken for one that loses so much.
const MOST_LOSS: f64 = 0.3;

/// The end of a message, from a byte on, and how many symbols there are for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Bytes of the message.
    pub size: usize,
    /// The first byte that is covered.
    pub first: usize,
    /// Symbols.
    pub repairs: usize,
}

impl Cover {
    /// For a link that has `window` bytes under way at a time, in packets of so many bytes, and loses this part of them. None: too small to need it.
    pub fn of(size: usize, window: usize, packet: usize, loss: f64) -> Option<Cover> {
        let loss = loss.min(MOST_LOSS);
        // What is lost of one window is known only when the message has ended; and some of what is sent again of the window before is lost, too.
        let expected = window.min(size).div_ceil(packet.max(1)) as f64 * loss;
        let covered = size.min(2 * window).min(MOST_COVERED);
        let first = (size - covered) / SYMBOL * SYMBOL;
        let sources = (size - first).div_ceil(SYMBOL);
        // A packet begins and ends within symbols; one with symbols for repair is lost as all others are, and two may share one.
        let in_packet = 1.0 + (packet - 1) as f64 / SYMBOL as f64;
        let repairs = ((expected + DEVIATIONS * expected.sqrt()) * in_packet / (1.0 - 2.0 * loss)).ceil() as usize;
        let repairs = repairs.min(MOST).min(sources);
        (repairs > 0).then_some(Cover { size, first, repairs })
    }

    /// As a peer says it. There are never more symbols than what they are for has.
    pub fn told(head: &RepairHead) -> Decoded<Cover> {
        let cover = Cover { size: head.size as usize, first: head.first as usize, repairs: head.repairs as usize };
        if cover.first >= cover.size
            || cover.size - cover.first > MOST_COVERED
            || cover.repairs > cover.sources().min(MOST)
            || head.index >= head.repairs
        {
            return violation("symbols for the repair of a message that cannot be");
        }
        Ok(cover)
    }

    /// Symbols that are covered, of which the last may be a part of one.
    fn sources(&self) -> usize {
        (self.size - self.first).div_ceil(SYMBOL)
    }

    /// Where a symbol lies in the message.
    fn range(&self, source: usize) -> Range<usize> {
        let begin = self.first + source * SYMBOL;
        begin..(begin + SYMBOL).min(self.size)
    }

    /// The symbols, one behind the other. `parts` are the message, one behind the other.
    pub fn encode(&self, parts: &[Bytes]) -> Option<Vec<u8>> {
        let mut encoder = ReedSolomonEncoder::new(self.sources(), self.repairs, SYMBOL).ok()?;
        let mut symbol = Vec::with_capacity(SYMBOL);
        let mut skipped = self.first;
        for part in parts {
            let mut rest = &part[skipped.min(part.len())..];
            skipped = skipped.saturating_sub(part.len());
            while !rest.is_empty() {
                let (some, more) = rest.split_at(rest.len().min(SYMBOL - symbol.len()));
                symbol.extend_from_slice(some);
                rest = more;
                if symbol.len() == SYMBOL {
                    encoder.add_original_shard(&symbol).ok()?;
                    symbol.clear();
                }
            }
        }
        if !symbol.is_empty() {
            symbol.resize(SYMBOL, 0);
            encoder.add_original_shard(&symbol).ok()?;
        }
        let encoded = encoder.encode().ok()?;
        Some(encoded.recovery_iter().flatten().copied().collect())
    }
}

/// Which bytes of a message are still missing.
#[derive(Debug)]
pub struct Missing(BTreeMap<usize, usize>);

impl Missing {
    /// All of so many.
    pub fn all(size: usize) -> Missing {
        Missing((size > 0).then_some((0, size)).into_iter().collect())
    }

    /// None are.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// These have arrived.
    pub fn arrived(&mut self, range: Range<usize>) {
        // What begins before the end of the range, from the last on, and ends behind its begin.
        while let Some((&begin, &end)) = self.0.range(..range.end).next_back().filter(|(_, end)| **end > range.start) {
            self.0.remove(&begin);
            if end > range.end {
                self.0.insert(range.end, end);
            }
            if begin < range.start {
                self.0.insert(begin, range.start);
                break;
            }
        }
    }

    /// The symbols of which something is missing. None: something before them is, or they are more than `most`.
    fn symbols(&self, cover: &Cover, most: usize) -> Option<Vec<usize>> {
        let mut symbols: Vec<usize> = Vec::new();
        for (&begin, &end) in &self.0 {
            let first = begin.checked_sub(cover.first)? / SYMBOL;
            let last = (end - 1 - cover.first) / SYMBOL;
            let next = symbols.last().map_or(first, |last| first.max(last + 1));
            if symbols.len() + (last + 1).saturating_sub(next) > most {
                return None;
            }
            symbols.extend(next..=last);
        }
        Some(symbols)
    }

    /// Puts the message together, if the symbols that have arrived, by their indices, are enough. Then nothing is missing any more.
    pub fn repair(&mut self, message: &mut [u8], cover: &Cover, symbols: &BTreeMap<u16, Bytes>) -> bool {
        if message.len() != cover.size {
            return false;
        }
        let Some(missing) = self.symbols(cover, symbols.len()) else { return false };
        let restored = repaired(message, cover, symbols, &missing);
        if restored.is_some() {
            self.0.clear();
        }
        restored.is_some()
    }
}

fn repaired(message: &mut [u8], cover: &Cover, symbols: &BTreeMap<u16, Bytes>, missing: &[usize]) -> Option<()> {
    let mut decoder = ReedSolomonDecoder::new(cover.sources(), cover.repairs, SYMBOL).ok()?;
    let mut last = [0; SYMBOL];
    for source in (0..cover.sources()).filter(|source| missing.binary_search(source).is_err()) {
        let bytes = &message[cover.range(source)];
        if bytes.len() == SYMBOL {
            decoder.add_original_shard(source, bytes).ok()?;
        } else {
            last[..bytes.len()].copy_from_slice(bytes);
            decoder.add_original_shard(source, last).ok()?;
        }
    }
    for (index, symbol) in symbols.iter().take(missing.len()) {
        decoder.add_recovery_shard(usize::from(*index), symbol).ok()?;
    }
    let decoded = decoder.decode().ok()?;
    for (source, symbol) in decoded.restored_original_iter() {
        let range = cover.range(source);
        message[range.clone()].copy_from_slice(&symbol[..range.len()]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(size: usize) -> Vec<u8> {
        (0..size).map(|at| ((at * 7919) >> 3) as u8).collect()
    }

    fn symbols_of(cover: &Cover, message: &[u8]) -> BTreeMap<u16, Bytes> {
        // In parts that have nothing to do with symbols.
        let parts: Vec<Bytes> = message.chunks(1_237).map(Bytes::copy_from_slice).collect();
        let encoded = cover.encode(&parts).expect("it can be encoded");
        assert_eq!(encoded.len(), cover.repairs * SYMBOL);
        encoded.chunks(SYMBOL).map(Bytes::copy_from_slice).enumerate().map(|(index, symbol)| (index as u16, symbol)).collect()
    }

    /// What arrives of it without these bytes.
    fn without(message: &[u8], lost: &[Range<usize>]) -> (Vec<u8>, Missing) {
        let (mut arrived, mut missing) = (message.to_vec(), Missing(BTreeMap::new()));
        for range in lost {
            arrived[range.clone()].fill(0xee);
            missing.0.insert(range.start, range.end);
        }
        (arrived, missing)
    }

    #[test]
    fn what_is_missing_is_restored_from_as_many_symbols_whichever_these_are() {
        for size in [1, 511, 512, 513, 100_000, 1_000_001] {
            let whole = message(size);
            let mut cover = Cover { size, first: size / 2 / SYMBOL * SYMBOL, repairs: 0 };
            cover.repairs = cover.sources().min(8);
            let all = symbols_of(&cover, &whole);
            let lost = size - size.min(700)..size;
            let needed = cover.sources() - (lost.start.max(cover.first) - cover.first) / SYMBOL;
            let (mut arrived, mut missing) = without(&whole, &[lost]);
            let few = all.iter().rev().take(needed - 1).map(|(index, symbol)| (*index, symbol.clone())).collect();
            assert!(!missing.repair(&mut arrived, &cover, &few), "{size}");
            let enough = all.iter().rev().take(needed).map(|(index, symbol)| (*index, symbol.clone())).collect();
            assert!(missing.repair(&mut arrived, &cover, &enough), "{size}");
            assert!(arrived == whole && missing.is_none(), "{size}");
        }
    }

    #[test]
    fn what_is_missing_before_the_covered_end_is_waited_for() {
        let whole = message(10_000);
        let cover = Cover { size: 10_000, first: 5_120, repairs: 9 };
        let all = symbols_of(&cover, &whole);
        let (mut arrived, mut missing) = without(&whole, &[5_119..5_121, 8_000..8_001]);
        assert!(!missing.repair(&mut arrived, &cover, &all));
        missing.arrived(5_000..5_120);
        assert!(missing.repair(&mut arrived, &cover, &all));
        assert_eq!(arrived[5_120..], whole[5_120..]);
    }

    #[test]
    fn bytes_may_arrive_in_any_order_and_more_than_once() {
        let mut missing = Missing::all(100);
        for range in [10..20, 15..30, 0..5, 50..60, 40..45, 10..20, 44..51] {
            missing.arrived(range);
        }
        assert_eq!(missing.0.into_iter().collect::<Vec<_>>(), [(5, 10), (30, 40), (60, 100)]);
        let mut missing = Missing::all(100);
        missing.arrived(20..30);
        missing.arrived(50..60);
        missing.arrived(0..100);
        assert!(missing.is_none());
        assert!(Missing::all(0).is_none());
    }

    #[test]
    fn a_link_that_loses_nothing_costs_nothing_and_one_that_loses_more_costs_more() {
        assert_eq!(Cover::of(1_000_000, 250_000, 1_400, 0.0), None);
        let repairs = |loss| Cover::of(1_000_000, 250_000, 1_400, loss).map_or(0, |cover| cover.repairs);
        assert!(repairs(0.01) < repairs(0.05) && repairs(0.05) < repairs(0.2), "{} {} {}", repairs(0.01), repairs(0.05), repairs(0.2));
        // 3 % of a message of 1 MB.
        assert!((40..80).contains(&repairs(0.05)), "{}", repairs(0.05));
        let cover = Cover::of(1_000_000, 250_000, 1_400, 0.05).expect("it is needed");
        assert_eq!(cover.first, 500_000 / SYMBOL * SYMBOL);
    }

    #[test]
    fn of_a_link_that_loses_one_packet_in_twenty_nine_messages_in_ten_are_restored() {
        let (whole, mut restored) = (message(250_000), 0);
        let cover = Cover::of(whole.len(), whole.len(), 1_400, 0.05).expect("it is needed");
        let all = symbols_of(&cover, &whole);
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100 {
            let packets = (0..whole.len()).step_by(1_400).map(|begin| begin..(begin + 1_400).min(whole.len()));
            let lost: Vec<Range<usize>> = packets.filter(|_| random.f64() < 0.05).collect();
            let (mut arrived, _) = without(&whole, &lost);
            let mut missing = Missing::all(whole.len());
            let mut at = 0;
            for range in lost.iter().chain([&(whole.len()..whole.len())]) {
                missing.arrived(at..range.start);
                at = range.end;
            }
            let symbols = all.iter().filter(|_| random.f64() >= 0.09).map(|(index, symbol)| (*index, symbol.clone())).collect();
            if missing.repair(&mut arrived, &cover, &symbols) {
                assert!(arrived == whole);
                restored += 1;
            }
        }
        assert!(restored >= 90, "{restored} of 100");
    }

    #[test]
    fn what_cannot_be_is_a_violation() {
        let told = |size, first, repairs, index| Cover::told(&RepairHead { channel: 1, sequence: 1, size, first, repairs, index });
        assert!(told(1_000, 0, 2, 1).is_ok());
        for (size, first, repairs, index) in [
            (1_000_000, 0, 513, 0),
            (1_000, 1_000, 1, 0),
            (0, 0, 1, 0),
            (1_000, 0, 3, 0),
            (1_000, 0, 2, 2),
            (1_000, 0, 0, 0),
            (5 << 20, 0, 1, 0),
        ] {
            assert!(told(size, first, repairs, index).is_err(), "{size} {first} {repairs} {index}");
        }
    }
}
