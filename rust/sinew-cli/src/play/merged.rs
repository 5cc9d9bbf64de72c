//! Messages of several files, in the order of their times.

use std::collections::BTreeSet;

use sinew_bag::{Bag, Message, Messages, Selection, TopicId};

use crate::output::{say, shown};

/// What is to be played of a file.
pub struct Part {
    pub bag: Bag,
    pub topics: BTreeSet<TopicId>,
}

/// What was said to be left out, of which files: who plays them again does not say it again.
pub type Said = BTreeSet<(usize, String)>;

/// Gives the messages of all files, each with the number of its file.
pub struct Merged<'a> {
    files: Vec<(Messages, Option<Message>)>,
    said: &'a mut Said,
}

impl Merged<'_> {
    /// From a time on, to another one.
    pub fn new<'a>(parts: &[Part], from: u64, until: Option<u64>, said: &'a mut Said) -> Merged<'a> {
        let files = parts.iter().enumerate().map(|(n, part)| {
            let selection = Selection { topics: Some(part.topics.clone()), from, until };
            let mut messages = part.bag.messages(selection);
            let first = next(n, &mut messages, said);
            (messages, first)
        });
        Merged { files: files.collect(), said }
    }
}

impl Iterator for Merged<'_> {
    type Item = (usize, Message);

    fn next(&mut self) -> Option<(usize, Message)> {
        let times =
            self.files.iter().enumerate().filter_map(|(n, (_, message))| message.as_ref().map(|message| (message.stamp.log_time, n)));
        let (_, earliest) = times.min()?;
        let (messages, first) = &mut self.files[earliest];
        let message = std::mem::replace(first, next(earliest, messages, self.said))?;
        Some((earliest, message))
    }
}

/// What cannot be read is told of, and left out.
fn next(file: usize, messages: &mut Messages, said: &mut Said) -> Option<Message> {
    loop {
        match messages.next()? {
            Ok(message) => return Some(message),
            Err(why) => {
                let why = why.to_string();
                if said.insert((file, why.clone())) {
                    say!("messages are left out: {}", shown(&why));
                }
            }
        }
    }
}
