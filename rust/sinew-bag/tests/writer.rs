//! What is written is what others read: here, the mcap crate.

mod common;

use common::{Given, some, topic, write};
use mcap::sans_io::{IndexedReadEvent, IndexedReader};
use sinew_bag::{Compression, Stamp, Writer};

const ALL: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd];

fn given_of(message: &mcap::Message<'_>) -> Given {
    let stamp = Stamp { sequence: message.sequence, log_time: message.log_time, publish_time: message.publish_time };
    Given { topic: message.channel.topic.clone(), stamp, bytes: message.data.to_vec() }
}

#[test]
fn every_message_is_read_equal_from_begin_to_end() {
    let folder = tempfile::tempdir().unwrap();
    for compression in ALL {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        write(&path, compression, &some());
        let bytes = std::fs::read(&path).unwrap();
        let options = mcap::read::Options::ValidateChunkCrcs.into();
        let read: Vec<_> =
            mcap::MessageStream::new_with_options(&bytes, options).unwrap().map(|message| given_of(&message.unwrap())).collect();
        assert!(read == some(), "{compression:?}");
    }
}

#[test]
fn every_message_is_found_by_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    for compression in ALL {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        write(&path, compression, &some());
        let bytes = std::fs::read(&path).unwrap();
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        let statistics = summary.stats.as_ref().unwrap();
        assert_eq!((statistics.message_count, statistics.schema_count, statistics.channel_count), (40, 1, 2));
        assert_eq!(statistics.message_end_time - statistics.message_start_time, 39_000_000);
        assert_eq!(statistics.channel_message_counts.values().copied().collect::<Vec<_>>(), [36, 4]);
        assert_eq!(summary.channels[&1].metadata["sinew.signature"], "test/Bytes{data:uint8[];}");
        assert_eq!(summary.metadata_indexes.iter().map(|index| index.name.as_str()).collect::<Vec<_>>(), ["rosbag2", "sinew.lost"]);
        for chunk in &summary.chunk_indexes {
            for (entries, messages) in [(summary.read_message_indexes(&bytes, chunk).unwrap(), chunk)] {
                for (channel, entries) in entries {
                    for entry in entries {
                        let message = summary.seek_message(&bytes, messages, &entry).unwrap();
                        assert_eq!((message.channel.id, message.log_time), (channel.id, entry.log_time));
                    }
                }
            }
        }
        let (mut reader, mut count) = (IndexedReader::new(&summary).unwrap(), 0);
        while let Some(event) = reader.next_event() {
            match event.unwrap() {
                IndexedReadEvent::ReadChunkRequest { offset, length } => {
                    let begin = offset as usize;
                    reader.insert_chunk_record_data(offset, &bytes[begin..begin + length]).unwrap();
                }
                IndexedReadEvent::Message { data, .. } => {
                    assert!(data == some()[count].bytes);
                    count += 1;
                }
            }
        }
        assert_eq!(count, 40);
    }
}

#[test]
fn small_messages_are_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let messages: Vec<_> = (0..2000).map(|n| common::given("/same", 0, 500 + (n % 2) as usize)).collect();
    let sizes = ALL.map(|compression| {
        let path = folder.path().join(format!("{compression:?}.mcap"));
        write(&path, compression, &messages);
        path.metadata().unwrap().len()
    });
    assert!(sizes[1] * 4 < sizes[0] && sizes[2] * 4 < sizes[0], "{sizes:?}");
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    std::fs::write(&path, "dear").unwrap();
    let complaint = Writer::create(&path, Compression::None).unwrap_err().to_string();
    assert!(complaint.ends_with("a.mcap cannot be created: File exists (os error 17)"), "{complaint}");
    assert_eq!(std::fs::read(&path).unwrap(), b"dear");
}

#[test]
fn types_are_described_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let mut writer = Writer::create(&path, Compression::None).unwrap();
    for name in ["/a", "/b"] {
        writer.add_topic(&topic(name)).unwrap();
    }
    writer.add_topic(&sinew_bag::Topic { schema: "uint8[] other".into(), ..topic("/c") }).unwrap();
    writer.finish().unwrap();
    let summary = mcap::Summary::read(&std::fs::read(&path).unwrap()).unwrap().unwrap();
    assert_eq!((summary.schemas.len(), summary.channels.len()), (2, 3));
}
