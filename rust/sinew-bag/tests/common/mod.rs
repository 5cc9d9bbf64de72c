//! What tests of files have in common: messages that look like no others.
#![allow(dead_code)] // by each test file, another part

use std::path::Path;

use sinew_bag::{Bag, Compression, Stamp, Topic, TopicId, Writer};

/// A topic of that name.
pub fn topic(name: &str) -> Topic {
    Topic {
        name: name.into(),
        message_encoding: "cdr".into(),
        type_name: "test/msg/Bytes".into(),
        schema_encoding: "ros2msg".into(),
        schema: "uint8[] data".into(),
        metadata: [("sinew.signature".to_owned(), "test/Bytes{data:uint8[];}".to_owned())].into(),
    }
}

/// A message: the n-th of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub topic: String,
    pub stamp: Stamp,
    pub bytes: Vec<u8>,
}

/// The n-th message, of so many bytes.
pub fn given(topic: &str, n: u32, size: usize) -> Given {
    let time = 1_700_000_000_000_000_000 + u64::from(n) * 1_000_000;
    let bytes = (0..size).map(|at| (at as u32).wrapping_mul(n.wrapping_add(1)).wrapping_add(at as u32 >> 8) as u8).collect();
    Given { topic: topic.into(), stamp: Stamp { sequence: n, log_time: time, publish_time: time - 5 }, bytes }
}

/// Small and big messages of two topics.
pub fn some() -> Vec<Given> {
    (0..40).map(|n| if n % 10 == 9 { given("/big", n, 300_000) } else { given("/small", n, 10 + n as usize) }).collect()
}

/// Writes a file of these messages, each in several parts.
pub fn write(path: &Path, compression: Compression, messages: &[Given]) {
    let mut writer = Writer::create(path, compression).unwrap();
    let mut topics: Vec<(String, TopicId)> = Vec::new();
    for message in messages {
        let known = topics.iter().find(|(name, _)| *name == message.topic).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let id = writer.add_topic(&topic(&message.topic)).unwrap();
            topics.push((message.topic.clone(), id));
            id
        });
        let (begin, rest) = message.bytes.split_at(4.min(message.bytes.len()));
        let (middle, end) = rest.split_at(rest.len() / 2);
        writer.write(id, &message.stamp, &[begin, middle, &[], end]).unwrap();
        if message.stamp.sequence % 7 == 6 {
            writer.flush().unwrap();
        }
    }
    writer.write_metadata("sinew.lost", [("/big".to_owned(), "3".to_owned())].into()).unwrap();
    let written = writer.finish().unwrap();
    assert_eq!(written.messages, messages.len() as u64);
    assert_eq!(written.bytes, path.metadata().unwrap().len());
}

/// All messages that can be read of a file, and complaints about others.
pub fn read(bag: &Bag) -> (Vec<Given>, Vec<String>) {
    let (mut read, mut complaints) = (Vec::new(), Vec::new());
    for message in bag.messages(Default::default()) {
        match message.and_then(|message| message.to_vec().map(|bytes| (message, bytes))) {
            Ok((message, bytes)) => {
                let topic = bag.topic(message.topic).map_or("?", |topic| topic.name.as_str()).to_owned();
                read.push(Given { topic, stamp: message.stamp, bytes });
            }
            Err(why) => complaints.push(why.to_string()),
        }
    }
    (read, complaints)
}
