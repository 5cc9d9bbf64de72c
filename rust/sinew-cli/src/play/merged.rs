//! Messages of several files, in the order of their times.

use std::collections::BTreeSet;

use sinew_bag::{Bag, Message, Messages, Selection, TopicId};

use crate::output::{say, shown};

/// What is to be played of a file.
pub struct Part {
    pub bag: Bag,
    pub topics: BTreeSet<TopicId>,
}

/// Gives the messages of all files, each with the number of its file.
pub struct Merged {
    files: Vec<(Messages, Option<Message>)>,
}

impl Merged {
    /// From a time on, to another one.
    pub fn new(parts: &[Part], from: u64, until: Option<u64>) -> Merged {
        let files = parts.iter().map(|part| {
            let selection = Selection { topics: Some(part.topics.clone()), from, until };
            let mut messages = part.bag.messages(selection);
            let first = next(&mut messages);
            (messages, first)
        });
        Merged { files: files.collect() }
    }
}

impl Iterator for Merged {
    type Item = (usize, Message);

    fn next(&mut self) -> Option<(usize, Message)> {
        let times =
            self.files.iter().enumerate().filter_map(|(n, (_, message))| message.as_ref().map(|message| (message.stamp.log_time, n)));
        let (_, earliest) = times.min()?;
        let (messages, first) = &mut self.files[earliest];
        let message = std::mem::replace(first, next(messages))?;
        Some((earliest, message))
    }
}

/// What cannot be read is told of, and left out.
fn next(messages: &mut Messages) -> Option<Message> {
    loop {
        match messages.next()? {
            Ok(message) => return Some(message),
            Err(why) => say!("messages are left out: {}", shown(&why.to_string())),
        }
    }
}
