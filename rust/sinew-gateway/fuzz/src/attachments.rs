//! Any bytes as what comes beside messages and calls of a Zenoh network, and as tokens of nodes of rmw_zenoh: the first one chooses as what.
//!
//! The modules are those of the gateway, by their files: with all of Zenoh around them, this would take longer to build than all other fuzzers together.
#![no_main]
#![allow(dead_code)] // what only the gateway uses

use std::collections::{BTreeMap, BTreeSet};

use libfuzzer_sys::fuzz_target;
// What the modules know as parts of their own crate.
use sinew_gateway::{bridge, protocol, ros2};

use attached::Attached;
use attachment::Attachment;
use strangers::Strangers;
use token::{Author, End, Kind};

#[path = "../../src/zenoh/attached.rs"]
mod attached;
#[path = "../../src/zenoh/ros2/attachment.rs"]
mod attachment;
#[path = "../../src/zenoh/ros2/names.rs"]
mod names;
#[path = "../../src/zenoh/ros2/strangers.rs"]
mod strangers;
#[path = "../../src/zenoh/ros2/token.rs"]
mod token;

/// Bytes of a token that is remembered.
const LONGEST: usize = 2048;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 3 {
        0 => {
            if let Ok(Some(attached)) = Attached::decode(bytes) {
                assert_eq!(attached.encode(), bytes, "NOT TRUE: what is decoded is encoded as it was");
            }
        }
        1 => {
            if let Some(attachment) = Attachment::decode(bytes) {
                assert_eq!(attachment.encode(), bytes, "NOT TRUE: what is decoded is encoded as it was");
            }
        }
        _ => tokens(&String::from_utf8_lossy(bytes)),
    }
});

/// Lines, each a token that has come, or with a '-' before it one that has gone.
fn tokens(lines: &str) {
    let (zid, enclave) = ("1", token::enclave("here"));
    let mut strangers = Strangers::new(zid.to_owned(), enclave.clone());
    let mut there: BTreeMap<(Kind, String), BTreeSet<String>> = BTreeMap::new();
    for line in lines.lines() {
        let (text, is_gone) = line.strip_prefix('-').map_or((line, false), |text| (text, true));
        let told = token::parse(text);
        if let Some(end) = told.as_ref().and_then(|told| told.end.as_ref()) {
            told_again(end);
        }
        let is_stranger = told.as_ref().is_some_and(|told| told.zid != zid && told.enclave != enclave) && text.len() <= LONGEST;
        let end = told.and_then(|told| told.end).filter(|_| is_stranger);
        let keys = if is_gone { strangers.went(text) } else { strangers.came(text) };
        let Some(end) = end else {
            assert!(keys.is_empty(), "NOT TRUE: what is no stranger's is nothing to look at");
            continue;
        };
        let tokens = there.entry((end.kind, end.name)).or_default();
        let is_news = if is_gone { tokens.remove(text) } else { tokens.insert(text.to_owned()) || !keys.is_empty() };
        assert_eq!(is_news, !keys.is_empty(), "NOT TRUE: who has come or gone is looked at");
    }
    for ((kind, name), tokens) in &there {
        let found: Vec<&str> = strangers.on(*kind, name).map(|(token, _)| token).collect();
        let expected: Vec<&str> = tokens.iter().map(String::as_str).collect();
        assert_eq!(found, expected, "NOT TRUE: who has a topic is known from when his token comes until it goes");
    }
}

/// By a bridge that has the same.
fn told_again(end: &End) {
    let author = Author { domain_id: 7, zid: "2".to_owned(), enclave: "%".to_owned() };
    let again = token::parse(&author.token(("front/node", 1), Some((2, end))));
    assert_eq!(again.and_then(|told| told.end).as_ref(), Some(end), "NOT TRUE: what is told again is understood as it was");
}
