//! What has come of a topic: for a while two subscribers may hear the same publisher, and each message is to come once.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use sinew::raw::MessageInfo;

/// Of each publisher so many are remembered, the newest: as many as its ring has entries, so that of two who hear it none is further behind, and it keeps no more for those who come late.
const MOST: usize = 1024;

/// By the names of publishers' nodes.
#[derive(Default)]
pub struct Heard(HashMap<String, Publisher>);

#[derive(Default)]
struct Publisher {
    /// In the order of publication.
    messages: VecDeque<Message>,
    /// Since when it is not there.
    gone: Option<Instant>,
}

struct Message {
    /// When it was published, and the publisher's count. A node may have two publishers, and the next one of its name counts from 1, too.
    key: (i64, u64),
    /// The subscriber by which it came.
    by: u64,
}

impl Heard {
    /// Whether it has not come by another subscriber. From now on it has come by this one.
    pub fn is_new(&mut self, info: MessageInfo, by: u64) -> bool {
        let messages = &mut self.0.entry(info.publisher).or_default().messages;
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

    /// Forgets publishers that have been gone for so long. Before, they may come again, and bring what they keep, however old that is.
    pub fn forget(&mut self, now: Instant, parting: Duration, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|name, publisher| {
            publisher.gone = if is_there(name) { None } else { publisher.gone.or(Some(now)) };
            publisher.gone.is_none_or(|since| now - since < parting)
        });
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
    fn as_many_are_remembered_as_are_needed() {
        let mut heard = Heard::default();
        let all = MOST as i64 + 10;
        assert!((1..=all).all(|n| heard.is_new(message("a", n, n as u64), 0)));
        assert!((11..=all).all(|n| !heard.is_new(message("a", n, n as u64), 1)));
        assert_eq!(heard.0["a"].messages.len(), MOST);
    }

    #[test]
    fn who_has_gone_is_remembered_for_a_time_from_then_on_however_old_its_newest_message_is() {
        let (mut heard, second) = (Heard::default(), Duration::from_secs(1));
        heard.is_new(message("a", 1, 1), 0);
        let now = Instant::now();
        let mut forget = |after: u32, is_there: bool| {
            heard.forget(now + after * second, 5 * second, |_| is_there);
            heard.0.len()
        };
        assert_eq!((forget(100, false), forget(104, false), forget(104, true)), (1, 1, 1));
        assert_eq!((forget(108, false), forget(112, false), forget(113, false)), (1, 1, 0));
    }
}
