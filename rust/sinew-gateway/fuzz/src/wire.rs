//! Any bytes as what a peer says: the first one chooses as what.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use sinew_gateway::channels::{Act, Ledger};
use sinew_gateway::config::Settings;
use sinew_gateway::domain::{Local, LocalChannel};
use sinew_gateway::packing::unpack;
use sinew_gateway::protocol::{Answer, CallHead, Control, End, Had, Kind, Offer, Packing, RecordHead, RepairHead};
use sinew_gateway::repair::{Cover, Missing, SYMBOL};
use sinew_gateway::rules::Rules;

const MOST: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 6 {
        0 => control(bytes),
        1 => heads(bytes),
        2 => packed(bytes),
        3 => repair(bytes),
        4 => catalogue(bytes),
        _ => conversation(bytes),
    }
});

fn control(bytes: &[u8]) {
    if let Ok(Some(control)) = Control::decode(bytes) {
        assert_eq!(&control.encode()[4..], bytes, "NOT TRUE: what is decoded is encoded as it was");
    }
}

fn catalogue(bytes: &[u8]) {
    if let Ok(had) = Had::decode_all(bytes) {
        assert_eq!(Had::encode_all(&had), bytes, "NOT TRUE: what is decoded is encoded as it was");
    }
}

fn heads(bytes: &[u8]) {
    if let Some(head) = bytes.first_chunk() {
        let _ = RecordHead::decode(head, MOST);
    }
    if let Some(head) = bytes.first_chunk() {
        let _ = CallHead::decode(head, MOST);
    }
    if let Some(head) = bytes.first_chunk() {
        let _ = Answer::decode(head, MOST);
    }
    if let Some(head) = bytes.first_chunk()
        && let Ok(head) = RepairHead::decode(head)
    {
        assert_eq!(&head.encode()[1..], &bytes[..RepairHead::SIZE], "NOT TRUE: a head is encoded as it was");
        let _ = Cover::told(&head);
    }
}

fn packed(bytes: &[u8]) {
    let Some((packing, bytes)) = bytes.split_first() else { return };
    let mut into = vec![0; 10_000];
    let _ = unpack(if packing & 1 == 0 { Packing::Zstd } else { Packing::Lz4 }, bytes, &mut into);
}

/// A message of which pieces arrive in any order, and symbols for its repair: it is whole as it was, or not yet.
fn repair(bytes: &[u8]) {
    let Some((head, pieces)) = bytes.split_first_chunk::<4>() else { return };
    let size = usize::from(u16::from_le_bytes([head[0], head[1]])) + 1;
    let told = RepairHead {
        channel: 1,
        sequence: 1,
        size: size as u32,
        first: (size / 2 / SYMBOL * SYMBOL) as u32,
        repairs: u16::from(head[2]),
        index: 0,
    };
    let Ok(cover) = Cover::told(&told) else { return };
    let whole: Vec<u8> = (0..size).map(|at| (at * 31) as u8).collect();
    let symbols = cover.encode(&[Bytes::copy_from_slice(&whole)]).expect("NOT TRUE: what may be said can be made");
    let come = symbols.chunks(SYMBOL).enumerate().filter(|(at, _)| head[3] >> (at % 8) & 1 == 1);
    let come: BTreeMap<u16, Bytes> = come.map(|(at, symbol)| (at as u16, Bytes::copy_from_slice(symbol))).collect();
    let (mut arrived, mut missing) = (vec![0; size], Missing::all(size));
    for piece in pieces.chunks_exact(4) {
        let begin = usize::from(u16::from_le_bytes([piece[0], piece[1]])).min(size);
        let end = (begin + usize::from(u16::from_le_bytes([piece[2], piece[3]]))).min(size);
        if begin < end {
            arrived[begin..end].copy_from_slice(&whole[begin..end]);
            missing.arrived(begin..end);
        }
        if missing.is_none() || missing.repair(&mut arrived, &cover, &come) {
            assert!(arrived == whole, "NOT TRUE: a message that is whole is as it was");
            return;
        }
    }
}

/// Control messages, one after the other, by a peer who has introduced itself.
fn conversation(bytes: &[u8]) {
    static BOTH: LazyLock<Rules> = LazyLock::new(|| {
        let text = r#"{ "security": "ad-hoc", "rules": [{ "topics": { "base_rule": "both" }, "services": { "base_rule": "both" } }] }"#;
        Settings::parse(Path::new("both.json"), text).expect("it is one").rules
    });
    let channel = |topic| LocalChannel {
        signature: "a/B{c:uint8;}".to_owned(),
        response: String::new(),
        topic,
        wanted: Some(Offer::default()),
        wanted_kept: None,
        had: Some(Offer::default()),
        brought: Some(Offer::default()),
        wanters: Vec::new(),
        havers: Vec::new(),
    };
    let local = |topic| Local { channels: [((Kind::Topic, "t".to_owned()), channel(topic))].into(), nodes: Vec::new() };
    let mut ledger = Ledger::new("peer");
    ledger.follow(&local(1), &BOTH);
    let mut rest = bytes;
    for topic in 1.. {
        let Some((size, more)) = rest.split_first() else { return };
        let Some((message, more)) = more.split_at_checked(usize::from(*size)) else { return };
        rest = more;
        let mut acts = match Control::decode(message) {
            Ok(Some(control)) => match ledger.hear(control, &local(topic), &BOTH) {
                Ok(acts) => acts,
                Err(_) => return,
            },
            _ => Vec::new(),
        };
        acts.extend(ledger.follow(&local(topic), &BOTH));
        for act in acts {
            match act {
                Act::EndIn { channel, .. } if topic % 2 == 0 => _ = ledger.ended_in(channel, &local(topic), &BOTH),
                Act::EndOut { channel, .. } if topic % 2 == 0 => _ = ledger.ended_out(channel, End::default()),
                _ => {}
            }
        }
    }
}
