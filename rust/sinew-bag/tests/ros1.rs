//! Bags of ROS 1 are read, whole, cut or of strangers. Here is what writes them, after their description in the wiki of ROS.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use common::read;
use sinew_bag::{Bag, qos};

/// A record: fields of a header, and data.
fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let sized = |bytes: Vec<u8>| [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat();
    let header: Vec<u8> = fields.iter().flat_map(|(name, value)| sized([name.as_bytes(), b"=", value].concat())).collect();
    [sized(header), sized(data.to_vec())].concat()
}

fn time(n: u32) -> [u8; 8] {
    let both = [1_600_000_000_u32.to_le_bytes(), n.to_le_bytes()].concat();
    both.try_into().unwrap()
}

fn connection(id: u32, topic: &str, latching: &[u8]) -> Vec<u8> {
    let said = [
        ("topic", topic.as_bytes()),
        ("type", b"test/Bytes"),
        ("md5sum", b"*"),
        ("message_definition", b"uint8[] data"),
        ("latching", latching),
    ];
    let said = record(&said, &[]);
    let header_size = u32::from_le_bytes(said[..4].try_into().unwrap()) as usize;
    record(&[("op", &[7]), ("conn", &id.to_le_bytes()), ("topic", topic.as_bytes())], &said[4..4 + header_size])
}

fn message(id: u32, n: u32) -> Vec<u8> {
    record(&[("op", &[2]), ("conn", &id.to_le_bytes()), ("time", &time(n))], &vec![n as u8; 10 + n as usize])
}

fn compress(how: &str, bytes: &[u8]) -> Vec<u8> {
    match how {
        "lz4" => {
            let mut encoder = lz4::EncoderBuilder::new().build(Vec::new()).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().0
        }
        "bz2" => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => bytes.to_vec(),
    }
}

const PER_CHUNK: u32 = 4;
const CHUNKS: u32 = 3;

/// Twelve messages of two topics in three chunks, and the index.
fn bag(how: &str) -> Vec<u8> {
    let head = |index: u64| {
        let counts = [2_u32.to_le_bytes(), CHUNKS.to_le_bytes()];
        let record = record(
            &[("op", &[3]), ("index_pos", &index.to_le_bytes()), ("conn_count", &counts[0]), ("chunk_count", &counts[1])],
            &[b' '; 100],
        );
        [b"#ROSBAG V2.0\n", &record[..]].concat()
    };
    let mut bytes = head(0);
    let mut infos = Vec::new();
    for chunk in 0..CHUNKS {
        let mut content = if chunk == 0 { [connection(0, "/a", b"0"), connection(1, "/map", b"1")].concat() } else { Vec::new() };
        (0..PER_CHUNK).for_each(|n| content.extend(message(u32::from(n == 3), chunk * PER_CHUNK + n)));
        let start = bytes.len() as u64;
        let size = (content.len() as u32).to_le_bytes();
        bytes.extend(record(&[("op", &[5]), ("compression", how.as_bytes()), ("size", &size)], &compress(how, &content)));
        bytes.extend(record(&[("op", &[4]), ("ver", &1_u32.to_le_bytes()), ("conn", &[0; 4]), ("count", &[0; 4])], &[]));
        let counts = [0, 3, 1, 1_u32].map(u32::to_le_bytes).concat();
        let (first, last) = (time(chunk * PER_CHUNK), time(chunk * PER_CHUNK + 3));
        let fields = [
            ("op", &[6][..]),
            ("ver", &[1, 0, 0, 0]),
            ("chunk_pos", &start.to_le_bytes()),
            ("start_time", &first),
            ("end_time", &last),
            ("count", &[2, 0, 0, 0]),
        ];
        infos.extend(record(&fields, &counts));
    }
    let index = bytes.len() as u64;
    let head = head(index);
    bytes[..head.len()].copy_from_slice(&head);
    [bytes, connection(0, "/a", b"0"), connection(1, "/map", b"1"), infos].concat()
}

fn is_message(given: &common::Given, n: u32) -> bool {
    let topic = if n % PER_CHUNK == 3 { "/map" } else { "/a" };
    given.topic == topic
        && given.stamp.log_time == 1_600_000_000_000_000_000 + u64::from(n)
        && given.bytes == vec![n as u8; 10 + n as usize]
}

fn open(path: &Path, bytes: &[u8]) -> Bag {
    fs::write(path, bytes).unwrap();
    Bag::open(path).unwrap()
}

#[test]
fn a_whole_bag_is_read_by_its_index() {
    let folder = tempfile::tempdir().unwrap();
    for how in ["none", "lz4", "bz2"] {
        let bag = open(&folder.path().join(how), &bag(how));
        assert_eq!((bag.cut(), bag.profile()), (None, "ros1"));
        let topics: Vec<_> = bag.topics().collect();
        let told = topics.iter().map(|(id, topic)| (topic.name.as_str(), topic.type_name.as_str(), bag.count(*id))).collect::<Vec<_>>();
        assert_eq!(told, [("/a", "test/Bytes", 9), ("/map", "test/Bytes", 3)]);
        assert_eq!((topics[0].1.message_encoding.as_str(), topics[0].1.schema_encoding.as_str()), ("ros1", "ros1msg"));
        let keeps = |n: usize| qos::from_yaml(&topics[n].1.metadata[qos::OFFERED_QOS]).unwrap().transient_local;
        assert_eq!((keeps(0), keeps(1)), (false, true), "who latches keeps its newest message");
        let (found, complaints) = read(&bag);
        assert!(complaints.is_empty() && found.len() == 12, "{how} {complaints:?}");
        assert!(found.iter().zip(0..).all(|(given, n)| is_message(given, n)), "{how}");
        let (name, totals) = bag.compressions().next().unwrap();
        assert_eq!((name, totals.chunks), (if how == "none" { "" } else { how }, 3));
    }
}

#[test]
fn of_a_bag_that_is_cut_anywhere_every_message_that_is_there_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bag");
    for how in ["none", "lz4", "bz2"] {
        let bytes = bag(how);
        let mut before = 0;
        for end in (13..bytes.len()).step_by(3) {
            let bag = open(&path, &bytes[..end]);
            let (found, _) = read(&bag);
            assert!(bag.cut().is_some() && bag.damage().is_none(), "{how} {end}: {:?}", bag.damage());
            assert!(found.len() >= before && found.iter().zip(0..).all(|(given, n)| is_message(given, n)), "{how} {end}");
            before = found.len();
        }
        assert_eq!(before, 12, "{how}");
    }
}

#[test]
fn of_a_bag_whose_writer_was_killed_the_chunk_that_it_wrote_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bag.active");
    let whole = bag("none");
    let (first, last) = (message(0, 8), message(1, 11));
    let place = |of: &[u8]| whole.windows(of.len()).position(|bytes| bytes == of).unwrap();
    let (begin, end) = (place(&first), place(&last) + last.len());
    let mut bytes = whole[..end].to_vec();
    bytes[begin - 4..begin].fill(0); // its length, which is written when it is full
    let bag = open(&path, &bytes);
    let (found, _) = read(&bag);
    assert!(found.len() == 12 && found.iter().zip(0..).all(|(given, n)| is_message(given, n)), "{}", found.len());
    assert!(bag.cut().is_some_and(|why| why.ends_with("was not finished")), "{:?}", bag.cut());
    assert_eq!(bag.damage(), None);
    assert_eq!(read(&open(&path, &bytes[..end - 1])).0.len(), 11, "cut within the last message");
    bytes.extend(record(&[("op", &[4]), ("ver", &[1, 0, 0, 0]), ("conn", &[0; 4]), ("count", &[0; 4])], &[]));
    assert_eq!(read(&open(&path, &bytes)).0.len(), 12, "what stands behind it is no message");
}

#[test]
fn what_is_no_record_in_the_middle_of_a_bag_without_an_index_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let whole = bag("none");
    let second = message(0, 4);
    let start = whole.windows(second.len()).position(|bytes| bytes == second).unwrap();
    // Before the data of a chunk is its length, and before that its header, whose length comes first.
    let header = record(&[("op", &[5]), ("compression", b"none"), ("size", &[0; 4])], &[]).len();
    let mut bytes = whole[..whole.len() - 1].to_vec();
    bytes[start - header..start - header + 4].fill(0xff);
    let bag = open(&folder.path().join("a.bag"), &bytes);
    let why = format!("no record begins at byte {}", start - header);
    assert_eq!((bag.cut(), bag.damage()), (Some(why.as_str()), Some(why.as_str())));
    assert_eq!(read(&bag).0.len(), 4);
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bytes_that_are_changed_anywhere_are_read_without_a_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), how in 0..3_usize
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.bag");
            let mut bytes = bag(["none", "lz4", "bz2"][how]);
            for (at, value) in &changes {
                let at = 13 + at.index(bytes.len() - 13);
                bytes[at] = *value;
            }
            fs::write(&path, &bytes).unwrap();
            if let Ok(bag) = Bag::open(&path) {
                prop_assert!(read(&bag).0.len() < 100);
            }
        }
    }
}
