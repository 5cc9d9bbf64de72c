//! What can be read is read, of files that are whole, cut or of strangers.

mod common;

use std::fs;
use std::path::Path;

use common::{Given, given, read, some, write};
use mcap::records::MessageHeader;
use sinew_bag::{Bag, Compression, Selection, Writer};

const ALL: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd];

/// Where in a file of the writer its summary begins.
fn end_of_data(bytes: &[u8]) -> usize {
    let footer = bytes.len() - 8 - 20;
    u64::from_le_bytes(bytes[footer..footer + 8].try_into().unwrap()) as usize - 13
}

#[test]
fn a_whole_file_is_read_by_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    for compression in ALL {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        write(&path, compression, &some());
        let bag = Bag::open(&path).unwrap();
        assert_eq!(bag.cut(), None);
        assert_eq!((bag.profile(), bag.library()), ("ros2", concat!("sinew ", env!("CARGO_PKG_VERSION"))));
        assert_eq!(bag.topics().map(|(id, topic)| (topic.name.as_str(), bag.count(id))).collect::<Vec<_>>(), [("/small", 36), ("/big", 4)]);
        assert_eq!(bag.times(), Some((given("", 0, 0).stamp.log_time, given("", 39, 0).stamp.log_time)));
        assert_eq!(bag.metadata("sinew.lost").unwrap()["/big"], "3");
        assert_eq!(bag.compressions().map(|(name, _)| name).collect::<Vec<_>>(), [compression.name()]);
        assert!(read(&bag) == (some(), vec![]), "{compression:?}");
    }
}

#[test]
fn of_metadata_under_one_name_the_last_is_taken_with_and_without_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let mut writer = Writer::create(&path, Compression::None).unwrap();
    for lost in ["3", "5"] {
        writer.write_metadata("sinew.lost", [("/big".to_owned(), lost.to_owned())].into()).unwrap();
    }
    let lost = || Bag::open(&path).unwrap().metadata("sinew.lost").unwrap()["/big"].clone();
    assert_eq!(lost(), "5");
    writer.finish().unwrap();
    assert_eq!(lost(), "5");
}

#[test]
fn a_part_of_the_topics_and_of_the_time_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    write(&path, Compression::None, &some());
    let bag = Bag::open(&path).unwrap();
    let big = bag.topics().find(|(_, topic)| topic.name == "/big").unwrap().0;
    let time = |n: u32| given("", n, 0).stamp.log_time;
    let selection = Selection { topics: Some([big].into()), from: time(19), until: Some(time(39)) };
    let sequences: Vec<_> = bag.messages(selection).map(|message| message.unwrap().stamp.sequence).collect();
    assert_eq!(sequences, [19, 29]);
}

#[test]
fn of_a_file_that_is_cut_anywhere_every_message_that_is_there_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for compression in ALL {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        let messages: Vec<_> =
            (0..12).map(|n| given(if n % 4 == 3 { "/big" } else { "/small" }, n, if n % 4 == 3 { 70_000 } else { 90 })).collect();
        write(&path, compression, &messages);
        let bytes = fs::read(&path).unwrap();
        let cut = folder.path().join("cut.mcap");
        let mut before = 0;
        // Where there is more than the middle of a big message, most bytes.
        let ends = (8..bytes.len()).filter(|end| end % 1999 == 0 || *end < 1200 || *end > end_of_data(&bytes) && end % 5 == 0);
        for end in ends {
            fs::write(&cut, &bytes[..end]).unwrap();
            let bag = Bag::open(&cut).unwrap();
            let (found, _) = read(&bag);
            assert_eq!(bag.cut().is_some(), end < end_of_data(&bytes) + 13, "{compression:?} {end}: {:?}", bag.cut());
            assert!(found == messages[..found.len()], "{compression:?} {end}");
            assert!(found.len() >= before, "{compression:?} {end}");
            assert_eq!(bag.damage(), None, "{compression:?} {end}: a recorder that is killed leaves such a one");
            let counted: u64 = bag.topics().map(|(id, _)| bag.count(id)).sum();
            assert_eq!(counted, found.len() as u64);
            before = found.len();
        }
        assert_eq!(before, messages.len());
    }
}

/// Not of compressed ones, whose messages come in blocks.
#[test]
fn a_message_is_found_as_soon_as_its_last_byte_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let messages = [given("/small", 0, 20), given("/small", 1, 20), given("/big", 2, 70_000)];
    write(&path, Compression::None, &messages);
    let bytes = fs::read(&path).unwrap();
    for (n, message) in messages.iter().enumerate() {
        let begin = bytes.windows(message.bytes.len()).position(|window| window == message.bytes).unwrap();
        for (end, count) in [(begin + message.bytes.len() - 1, n), (begin + message.bytes.len(), n + 1)] {
            let cut = folder.path().join("cut.mcap");
            fs::write(&cut, &bytes[..end]).unwrap();
            assert_eq!(read(&Bag::open(&cut).unwrap()).0.len(), count);
        }
    }
}

#[test]
fn a_damaged_chunk_is_told_of_and_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for compression in [Compression::Lz4, Compression::Zstd] {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        let messages: Vec<_> = (0..21).map(|n| given("/small", n, 2000)).collect();
        write(&path, compression, &messages);
        let mut bytes = fs::read(&path).unwrap();
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        let chunk = &summary.chunk_indexes[1];
        let middle = (chunk.compressed_data_offset().unwrap() + chunk.compressed_size / 2) as usize;
        bytes[middle] ^= 0x55;
        bytes[middle + 1] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        let (found, complaints) = read(&Bag::open(&path).unwrap());
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains(&format!("the chunk at byte {}", chunk.chunk_start_offset)), "{complaints:?}");
        let is_there = |n: usize| found.contains(&messages[n]);
        assert!((0..7).all(is_there) && (14..21).all(is_there), "{compression:?}");
    }
}

/// A file of these messages without a summary, and where its chunks begin.
fn without_summary(path: &Path, compression: Compression, messages: &[Given]) -> (Vec<u8>, Vec<usize>) {
    write(path, compression, messages);
    let mut bytes = fs::read(path).unwrap();
    let mut chunks: Vec<_> =
        mcap::Summary::read(&bytes).unwrap().unwrap().chunk_indexes.iter().map(|chunk| chunk.chunk_start_offset as usize).collect();
    chunks.sort_unstable();
    bytes.truncate(end_of_data(&bytes));
    (bytes, chunks)
}

/// Where the record behind this one begins.
fn behind(bytes: &[u8], start: usize) -> usize {
    start + 9 + u64::from_le_bytes(bytes[start + 1..start + 9].try_into().unwrap()) as usize
}

#[test]
fn what_follows_a_chunk_whose_record_has_a_length_beyond_the_end_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for compression in ALL {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        let (mut bytes, chunks) = without_summary(&path, compression, &some());
        bytes[chunks[1] + 8] = 1;
        fs::write(&path, bytes).unwrap();
        let bag = Bag::open(&path).unwrap();
        assert!(read(&bag) == (some(), vec![]), "{compression:?}");
        let why = format!("the record at byte {} says that it is longer than the chunk in it", chunks[1]);
        assert_eq!((bag.cut(), bag.damage()), (Some(why.as_str()), Some(why.as_str())));
    }
}

#[test]
fn a_record_that_does_not_end_is_told_of_and_damage_where_more_follows_than_a_recorder_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let messages: Vec<_> = (0..10).map(|n| given("/big", n, 300_000)).collect();
    let (whole, chunks) = without_summary(&path, Compression::None, &messages);
    for (chunk, is_damaged) in [(1, true), (9, false)] {
        let mut bytes = whole.clone();
        let index = behind(&bytes, chunks[chunk]);
        bytes[index + 8] = 1;
        fs::write(&path, &bytes).unwrap();
        let bag = Bag::open(&path).unwrap();
        let why = format!("it ends within a record, which begins {} bytes before, at byte {index}", bytes.len() - index);
        assert_eq!((bag.cut(), bag.damage()), (Some(why.as_str()), is_damaged.then_some(why.as_str())));
        assert!(read(&bag) == (messages[..=chunk].to_vec(), vec![]));
    }
}

#[test]
fn zeros_in_the_middle_are_damage_and_at_the_end_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let (whole, chunks) = without_summary(&path, Compression::None, &some());
    let mut bytes = whole.clone();
    bytes[chunks[3]..chunks[3] + 9].fill(0);
    fs::write(&path, bytes).unwrap();
    let bag = Bag::open(&path).unwrap();
    let why = format!("no record begins at byte {}", chunks[3]);
    assert_eq!((bag.cut(), bag.damage()), (Some(why.as_str()), Some(why.as_str())));
    fs::write(&path, [&whole[..], &[0; 100_000]].concat()).unwrap();
    let bag = Bag::open(&path).unwrap();
    assert!(bag.cut().is_some() && read(&bag) == (some(), vec![]));
    assert_eq!(bag.damage(), None);
}

#[test]
fn a_chunk_that_another_recorder_that_was_killed_has_not_filled_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let options = mcap::WriteOptions::new().compression(None).chunk_size(None);
    let mut writer = options.create(fs::File::create(&path).unwrap()).unwrap();
    let schema = writer.add_schema("test/msg/Bytes", "ros2msg", b"uint8[] data").unwrap();
    let channel_id = writer.add_channel(schema, "/big", "cdr", &Default::default()).unwrap();
    for n in 0..4 {
        let header = MessageHeader { channel_id, sequence: n, log_time: 1, publish_time: 1 };
        writer.write_to_known_channel(&header, &vec![7; 1 << 20]).unwrap();
    }
    let bag = Bag::open(&path).unwrap();
    assert_eq!((read(&bag).0.len(), bag.cut().is_some(), bag.damage()), (4, true, None));
}

/// As the mcap crate writes with these options.
fn by_the_crate(path: &Path, options: mcap::WriteOptions, messages: &[Given]) {
    let mut writer = options.create(fs::File::create(path).unwrap()).unwrap();
    let schema = writer.add_schema("test/msg/Bytes", "ros2msg", b"uint8[] data").unwrap();
    for message in messages {
        let channel_id = writer.add_channel(schema, &message.topic, "cdr", &Default::default()).unwrap();
        let header = MessageHeader {
            channel_id,
            sequence: message.stamp.sequence,
            log_time: message.stamp.log_time,
            publish_time: message.stamp.publish_time,
        };
        writer.write_to_known_channel(&header, &message.bytes).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn files_of_others_are_read_with_and_without_chunks_and_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let compressions = [None, Some(mcap::Compression::Lz4), Some(mcap::Compression::Zstd)];
    let chunked = compressions.map(|compression| mcap::WriteOptions::new().compression(compression).chunk_size(Some(50_000)));
    let all = chunked.into_iter().chain([
        mcap::WriteOptions::new().use_chunks(false),
        mcap::WriteOptions::new().emit_summary_records(false).emit_summary_offsets(false),
    ]);
    for options in all {
        by_the_crate(&path, options.clone(), &some());
        let bag = Bag::open(&path).unwrap();
        assert!(read(&bag) == (some(), vec![]), "{options:?}");
        assert_eq!(bag.cut(), None, "{options:?}");
    }
}

#[test]
fn what_a_summary_leaves_out_is_found_in_the_rest_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let plain = mcap::WriteOptions::new().compression(None);
    for options in [
        plain.clone().repeat_channels(false),
        plain.clone().repeat_schemas(false),
        plain.clone().repeat_channels(false).repeat_schemas(false),
        plain.clone().emit_chunk_indexes(false),
        plain.emit_statistics(false),
    ] {
        by_the_crate(&path, options.clone(), &some());
        let bag = Bag::open(&path).unwrap();
        assert!(read(&bag) == (some(), vec![]), "{options:?}");
        let described = bag.topics().map(|(id, topic)| (topic.name.as_str(), topic.schema.as_str(), bag.count(id)));
        assert_eq!(described.collect::<Vec<_>>(), [("/small", "uint8[] data", 36), ("/big", "uint8[] data", 4)], "{options:?}");
        assert_eq!(bag.cut(), None, "{options:?}");
    }
}

#[test]
fn messages_come_in_the_order_of_their_times_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let order = [5, 3, 9, 0, 1, 8, 2, 7, 6, 4];
    let messages: Vec<_> = order.iter().map(|n| given("/a", *n, 100)).collect();
    for options in [mcap::WriteOptions::new().chunk_size(Some(150)), mcap::WriteOptions::new().use_chunks(false)] {
        by_the_crate(&path, options, &messages);
        let (found, _) = read(&Bag::open(&path).unwrap());
        assert_eq!(found.iter().map(|message| message.stamp.sequence).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_no_mcap_file_is_called_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    for (bytes, expected) in [
        (&b""[..], "is empty"),
        (b"hello", "is neither an MCAP file nor a bag"),
        (b"#ROSBAG V1.2\n....", "is a bag of ROS 1 before version 2.0, which is not read"),
        (b"SQLite format 3\0....", "is a database of rosbag2"),
        (b"\x28\xb5\x2f\xfd....", "`zstd -d"),
    ] {
        fs::write(&path, bytes).unwrap();
        let complaint = Bag::open(&path).unwrap_err().to_string();
        assert!(complaint.contains(expected), "{complaint}");
    }
    assert!(Bag::open(&folder.path().join("none")).unwrap_err().to_string().contains("cannot be read: No such file"));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bytes_that_are_changed_anywhere_are_read_without_a_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), kind in 0..3_usize, cut in any::<Option<prop::sample::Index>>()
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.mcap");
            let messages: Vec<_> = (0..6).map(|n| given("/a", n, if n == 3 { 70_000 } else { 40 })).collect();
            write(&path, ALL[kind], &messages);
            let mut bytes = fs::read(&path).unwrap();
            // Not in the middle of the big message, where it makes no difference.
            let places: Vec<_> = (8..bytes.len()).filter(|at| !(2000..bytes.len().saturating_sub(2500)).contains(at)).collect();
            for (at, value) in &changes {
                bytes[*at.get(&places)] = *value;
            }
            if let Some(cut) = cut {
                bytes.truncate(8 + cut.index(bytes.len() - 8));
            }
            fs::write(&path, &bytes).unwrap();
            if let Ok(bag) = Bag::open(&path) {
                let (found, _) = read(&bag);
                prop_assert!(found.len() < 100);
            }
        }
    }
}
