//! Whether subscribers have taken what was published: who ends before may take it away with it.
//!
//! Waited for are those that have been connected since before the first message, as others do not get all. No pair says for which of the connections of its subscriber it counts, so this relies on what holds of one that
//! stands: what it has decided about becomes no less, no other pair of the same subscriber comes beside it, and it is among the subscribers of which the publisher tells. Who was cut off is introduced again a second later, and
//! may count then what it has missed; but until then the publisher tells of one subscriber less, and is looked at more often than that.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sinew::raw::{Publisher, PublisherStatistics};
use sinew::{DomainCounters, Node};

use crate::failure::{Done, Failure};
use crate::interrupt::Interrupt;
use crate::output::{say, shown};

/// Who takes nothing for so long may never do it.
const AT_MOST: Duration = Duration::from_secs(10);
/// Within this time it is known who counts where, and who is gone.
const SOON: Duration = Duration::from_secs(1);
const NOW_AND_THEN: Duration = Duration::from_millis(5);
/// How often to look while messages are published, which costs the more the more there are in the domain.
pub const OFTEN: Duration = Duration::from_millis(100);

/// What the subscribers of a node's only publisher have taken, told by counters that were there before the first message: these go on when the manager dies.
#[derive(Default)]
pub struct Taken {
    /// Who counts, and what stays of the publisher when the manager dies. None: there is nobody to wait for, or nobody who could tell.
    counted: Option<(DomainCounters, u64)>,
    first: First,
    looked: Option<Instant>,
}

impl Taken {
    /// Before the first message.
    pub fn new(node: &Node, publisher: &Publisher) -> Taken {
        let subscribers = || publisher.statistics().subscribers as usize;
        if subscribers() == 0 {
            return Taken::default();
        }
        let Some((counters, own)) = counted(node) else { return Taken::default() };
        let begin = Instant::now();
        loop {
            let pairs = pairs(&counters, own).unwrap_or_default();
            // Where a node counts that has just come, the manager tells a little later.
            if pairs.len() >= subscribers() || begin.elapsed() > SOON {
                return Taken { counted: Some((counters, own)), first: First(pairs), looked: Some(Instant::now()) };
            }
            std::thread::sleep(NOW_AND_THEN);
        }
    }

    /// Notes who has gone or was connected anew, unless it has done so just now: to be called again and again while messages are published, and between them.
    pub fn look(&mut self, publisher: &Publisher) {
        if self.looked.is_none_or(|at| at.elapsed() >= OFTEN) {
            self.note(publisher);
        }
    }

    /// Waits until those that have been connected since before the first message have taken all that was published. Fails when it is interrupted, or has waited for long.
    pub fn wait(mut self, publisher: &Publisher, topic: &str, interrupt: &Interrupt) -> Done {
        let begin = Instant::now();
        let (mut is_told, mut sure) = (false, begin);
        loop {
            let Some((pairs, told)) = self.note(publisher) else { return Ok(()) };
            let (left, there) = self.first.left(&pairs, told.subscribers as usize, told.published);
            if there > 0 {
                sure = Instant::now();
            }
            // Who has gone counts until the manager tells of it, and longer where there is none.
            if left == 0 || sure.elapsed() > SOON {
                return Ok(());
            }
            let who = match told.subscribers {
                1 => format!("the subscriber of '{}' has", shown(topic)),
                all => format!("{} of {all} subscribers of '{}' have", all.min(left as u64), shown(topic)),
            };
            if begin.elapsed() > AT_MOST || interrupt.wait(NOW_AND_THEN) {
                return Err(Failure::Failed(format!("{who} not taken all that was published, and may never get it")));
            }
            if !is_told && begin.elapsed() > Duration::from_secs(1) {
                say!("{who} not taken all that was published yet: waiting");
                is_told = true;
            }
        }
    }

    /// What there is now. None: nobody can tell.
    fn note(&mut self, publisher: &Publisher) -> Option<(Pairs, PublisherStatistics)> {
        let (counters, own) = self.counted.as_ref()?;
        let pairs = pairs(counters, *own)?;
        let told = publisher.statistics();
        self.first.note(&pairs, told.subscribers as usize);
        self.looked = Some(Instant::now());
        Some((pairs, told))
    }
}

/// The pairs of a publisher and a subscriber: more than one while messages of a connection before this one are held.
#[derive(Clone, Copy, Default)]
struct Seen {
    pairs: usize,
    /// How many messages they have decided about.
    decided: u64,
}

/// Of a publisher, by what stays of its subscribers when the manager dies.
type Pairs = BTreeMap<u64, Seen>;

/// Those that have been connected since before the first message, as they were seen last.
#[derive(Default)]
struct First(Pairs);

impl First {
    /// These pairs were there, and then so many subscribers connected.
    fn note(&mut self, pairs: &Pairs, subscribers: usize) {
        self.0.retain(|identity, seen| {
            let Some(now) = pairs.get(identity) else {
                return subscribers > pairs.len(); // it may stand: a manager that has just come tells of one after the other
            };
            let stands = subscribers > 0 && now.pairs <= seen.pairs && now.decided >= seen.decided;
            *seen = *now;
            stands
        });
    }

    /// How many have yet to take some of so many messages, as was noted last; and how many of these can be connected.
    fn left(&self, pairs: &Pairs, subscribers: usize, published: u64) -> (usize, usize) {
        let left = self.0.values().filter(|seen| seen.decided < published).count();
        let later = pairs.keys().filter(|identity| !self.0.contains_key(*identity)).count();
        let others = later + self.0.len() - left;
        (left, left.min(subscribers.saturating_sub(others)))
    }
}

/// Who counts, and what stays of the node's only publisher when the manager dies.
fn counted(node: &Node) -> Option<(DomainCounters, u64)> {
    let (counters, state, name) = (node.domain_counters().ok()?, node.domain_state().ok()?, node.name());
    let own = state.nodes.values().find(|node| node.name == name)?.id;
    let publisher = state.endpoints.values().find(|endpoint| endpoint.node == own && endpoint.publishes)?.id;
    let begin = Instant::now();
    loop {
        let counts = counters.read().ok()?;
        let publishers = counts.publishers.iter().map(|each| (each.publisher, each.identity));
        let pairs = counts.pairs.iter().map(|each| (each.publisher, each.publisher_identity)); // where its own count is not told
        if let Some((_, identity)) = publishers.chain(pairs).find(|(id, _)| *id == publisher) {
            return Some((counters, identity));
        }
        if begin.elapsed() > SOON {
            return None;
        }
        std::thread::sleep(NOW_AND_THEN);
    }
}

/// What there is of a publisher. None: it cannot be read.
fn pairs(counters: &DomainCounters, publisher: u64) -> Option<Pairs> {
    let counts = counters.read().ok()?;
    let of_publisher = counts.pairs.iter().filter(|pair| pair.publisher_identity == publisher);
    let decided = of_publisher.map(|pair| (pair.subscriber_identity, pair.messages + pair.missed + pair.expired + pair.skipped));
    Some(by_subscriber(decided))
}

/// Of each pair the subscriber, and what it has decided about.
fn by_subscriber(decided: impl IntoIterator<Item = (u64, u64)>) -> Pairs {
    let mut pairs = Pairs::new();
    for (subscriber, decided) in decided {
        let seen = pairs.entry(subscriber).or_default();
        seen.pairs += 1;
        seen.decided += decided;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u64 = 7;
    const B: u64 = 8;
    const LATER: u64 = 9;

    fn first(subscribers: &[u64]) -> First {
        First(by_subscriber(subscribers.iter().map(|subscriber| (*subscriber, 0))))
    }

    /// How many are left, and can be connected, where each pair has decided about so many messages, and so many subscribers are connected.
    fn left(first: &mut First, decided: &[(u64, u64)], subscribers: usize, published: u64) -> (usize, usize) {
        let pairs = by_subscriber(decided.iter().copied());
        first.note(&pairs, subscribers);
        first.left(&pairs, subscribers, published)
    }

    #[test]
    fn each_is_waited_for_until_it_has_decided_about_all() {
        let mut first = first(&[A, B]);
        assert_eq!(left(&mut first, &[(A, 0), (B, 2)], 2, 5), (2, 2));
        assert_eq!(left(&mut first, &[(A, 3), (B, 5), (LATER, 1)], 3, 5), (1, 1));
        assert_eq!(left(&mut first, &[(A, 5), (B, 5), (LATER, 1)], 3, 5), (0, 0), "who came later does not get all");
    }

    #[test]
    fn who_was_connected_anew_while_messages_were_published_is_not_waited_for() {
        let mut counts_less = first(&[A]);
        assert_eq!(left(&mut counts_less, &[(A, 3)], 1, 4), (1, 1));
        assert_eq!(left(&mut counts_less, &[(A, 2)], 1, 6), (0, 0));
        assert_eq!(left(&mut counts_less, &[(A, 4)], 1, 8), (0, 0), "nor when it counts more than it did");
        let mut was_away = first(&[A]);
        assert_eq!(left(&mut was_away, &[], 0, 4), (0, 0));
        assert_eq!(left(&mut was_away, &[(A, 8)], 1, 9), (0, 0), "it counts what it missed");
        let mut was_cut_off = first(&[A]);
        assert_eq!(left(&mut was_cut_off, &[(A, 1)], 0, 4), (0, 0), "what it counted before is there yet");
        assert_eq!(left(&mut was_cut_off, &[(A, 8)], 1, 9), (0, 0));
        let mut beside_another = first(&[A, B]);
        assert_eq!(left(&mut beside_another, &[(B, 1)], 1, 4), (1, 1));
        assert_eq!(left(&mut beside_another, &[(A, 8), (B, 8)], 2, 9), (1, 1));
        assert_eq!(left(&mut beside_another, &[(A, 8), (B, 9)], 2, 9), (0, 0));
    }

    #[test]
    fn who_was_connected_anew_counts_once_while_messages_of_the_connection_before_are_held() {
        let mut first = first(&[A, B]);
        assert_eq!(left(&mut first, &[(A, 3), (B, 4)], 2, 5), (2, 2));
        assert_eq!(left(&mut first, &[(A, 3), (B, 5), (B, 2)], 2, 8), (1, 1));
        assert_eq!(left(&mut first, &[(A, 3), (B, 6)], 2, 8), (1, 1));
        assert_eq!(left(&mut first, &[(A, 8), (B, 6)], 2, 8), (0, 0));
    }

    #[test]
    fn who_is_connected_anew_at_the_end_is_not_waited_for_any_longer() {
        let mut first = first(&[A, B]);
        assert_eq!(left(&mut first, &[(A, 6), (B, 7)], 2, 8), (2, 2));
        assert_eq!(left(&mut first, &[(A, 6), (B, 0)], 2, 8), (1, 1));
        assert_eq!(left(&mut first, &[(A, 0)], 1, 8), (0, 0));
    }

    #[test]
    fn who_has_gone_with_all_stands_for_no_other_when_the_manager_has_told_of_it() {
        let mut first = first(&[A, B]);
        assert_eq!(left(&mut first, &[(A, 8), (B, 6)], 1, 8), (1, 0), "it may be either that has gone");
        assert_eq!(left(&mut first, &[(B, 6)], 1, 8), (1, 1));
    }

    #[test]
    fn those_stand_whom_a_manager_that_has_just_come_does_not_know_yet() {
        let mut first = first(&[A, B]);
        assert_eq!(left(&mut first, &[(A, 8), (B, 6)], 2, 8), (1, 1));
        assert_eq!(left(&mut first, &[], 2, 8), (1, 1));
        assert_eq!(left(&mut first, &[(A, 8)], 2, 8), (1, 1));
        assert_eq!(left(&mut first, &[(A, 8), (B, 8)], 2, 8), (0, 0));
    }
}
