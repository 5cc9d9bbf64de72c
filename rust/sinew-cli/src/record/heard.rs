//! What has come of a topic: for a while two subscribers may hear the same publisher, and each message is to come once.

use std::collections::{HashMap, VecDeque};

use sinew::raw::MessageInfo;

/// Of each publisher so many are remembered, the newest: as many as its ring has entries, so that of two who hear it none is further behind, and it keeps no more for those who come late.
const MOST: usize = 1024;

/// Messages, by the names of their publishers' nodes, and of each in the order of its publication.
#[derive(Default)]
pub struct Heard(HashMap<String, VecDeque<Message>>);

struct Message {
    /// When it was published, and the publisher's count. A node may have two publishers, and the next one of its name counts from 1, too.
    key: (i64, u64),
    /// The subscriber by which it came.
    by: u64,
}

impl Heard {
    /// Whether it has not come by another subscriber. From now on it has come by this one.
    pub fn is_new(&mut self, info: MessageInfo, by: u64) -> bool {
        let messages = self.0.entry(info.publisher).or_default();
        let key = (info.source_time_ns, info.sequence);
        let at = messages.partition_point(|message| message.key < key);
        if messages.get(at).is_some_and(|message| message.key == key && message.by != by) {
            return false;
        }
        messages.insert(at, Message { key, by });
        if messages.len() > MOST {
            messages.pop_front();
        }
        true
    }

    /// Forgets publishers that have gone, but for those that have published since then: they may come again, and bring what they keep.
    pub fn forget(&mut self, since_ns: i64, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|publisher, messages| is_there(publisher) || messages.back().is_some_and(|newest| newest.key.0 >= since_ns));
    }
}

#[cfg(test)]
mod tests {
    use sinew::raw::Delivery;

    use super::*;

    fn message(publisher: &str, time: i64, sequence: u64) -> MessageInfo {
        MessageInfo {
            publisher: publisher.to_owned(),
            sequence,
            source_time_ns: time,
            receive_time_ns: time,
            missed: 0,
            delivery: Delivery::View,
        }
    }

    #[test]
    fn a_message_is_new_by_one_of_two_subscribers_whichever_is_behind() {
        let mut heard = Heard::default();
        assert!((1..=3).all(|n| heard.is_new(message("a", n, n as u64), 0)));
        assert!(!heard.is_new(message("a", 3, 3), 1) && heard.is_new(message("a", 5, 5), 1));
        assert!(heard.is_new(message("a", 4, 4), 0) && !heard.is_new(message("a", 5, 5), 0));
        assert!(!heard.is_new(message("a", 1, 1), 1), "it was kept");
        assert!(heard.is_new(message("a", 6, 1), 1), "of another publisher, after the first");
        assert!(heard.is_new(message("b", 1, 1), 1));
    }

    #[test]
    fn two_publishers_of_a_node_may_publish_at_once() {
        let mut heard = Heard::default();
        assert!(heard.is_new(message("a", 1, 1), 0) && heard.is_new(message("a", 1, 1), 0));
    }

    #[test]
    fn as_many_are_remembered_as_are_needed_and_of_those_that_have_gone_none() {
        let mut heard = Heard::default();
        let all = MOST as i64 + 10;
        assert!((1..=all).all(|n| heard.is_new(message("a", n, n as u64), 0)));
        assert!((11..=all).all(|n| !heard.is_new(message("a", n, n as u64), 1)));
        assert_eq!(heard.0["a"].len(), MOST);
        heard.is_new(message("b", all, 1), 0);
        heard.is_new(message("c", 1, 1), 0);
        heard.forget(all + 1, |publisher| publisher == "b");
        assert_eq!(heard.0.keys().collect::<Vec<_>>(), ["b"]);
    }
}
