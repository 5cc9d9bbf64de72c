//! What has come of a topic: for a while two subscribers may hear the same publisher, and each message is to come once.

use std::collections::{HashMap, HashSet, VecDeque};
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
    /// What was lost, by subscriber: of one that parts, since then.
    lost: HashMap<u64, u64>,
    /// By these two the same has come: they hear the same publisher, and not one that was started again under its name.
    both: HashSet<(u64, u64)>,
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
        let Publisher { messages, lost, both, .. } = self.0.entry(info.publisher).or_default();
        *lost.entry(by).or_default() += info.missed;
        let key = (info.source_time_ns, info.sequence);
        let at = messages.partition_point(|message| message.key < key);
        if let Some(same) = messages.get(at).filter(|message| message.key == key && message.by != by) {
            both.insert((same.by.min(by), same.by.max(by)));
            return false;
        }
        messages.insert(at, Message { key, by });
        if messages.len() > MOST {
            messages.pop_front();
        }
        true
    }

    /// What this one loses from now on others may lose, too.
    pub fn parts(&mut self, by: u64) {
        for publisher in self.0.values_mut() {
            publisher.lost.remove(&by);
        }
    }

    /// So much at most of what one that parts has lost since then the one in its place has lost, too, or has had.
    pub fn lost_by_both(&self, parting: u64, next: u64) -> u64 {
        let hear_both = self.0.values().filter(|publisher| publisher.both.contains(&(parting, next)));
        hear_both.filter_map(|publisher| publisher.lost.get(&parting).min(publisher.lost.get(&next))).sum()
    }

    /// It has ended.
    pub fn ends(&mut self, by: u64) {
        for publisher in self.0.values_mut() {
            publisher.lost.remove(&by);
            publisher.both.retain(|both| both.0 != by && both.1 != by);
        }
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
    fn what_two_lose_of_one_publisher_is_lost_once_and_what_they_lose_of_two_of_its_name_is_not() {
        let mut heard = Heard::default();
        let mut take = |publisher, n: i64, missed, by| {
            let is_new = heard.is_new(MessageInfo { missed, ..message(publisher, n, n as u64) }, by);
            if n == 1 {
                heard.parts(0);
            }
            (is_new, heard.lost_by_both(0, 1))
        };
        assert_eq!((take("dies", 1, 7, 0), take("dies", 9, 7, 0)), ((true, 0), (true, 0)));
        assert_eq!(take("dies", 20, 7, 1), (true, 0), "the next one of that name");
        assert_eq!((take("lives", 1, 5, 0), take("lives", 10, 8, 0), take("lives", 10, 6, 1)), ((true, 0), (true, 0), (false, 6)));
        heard.ends(0);
        assert_eq!((heard.lost_by_both(0, 1), heard.0["lives"].lost.len()), (0, 1));
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
