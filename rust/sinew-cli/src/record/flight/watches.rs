//! What makes a flight recorder write what it holds, besides being asked: messages, and nodes that die.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use globset::GlobMatcher;

use super::condition::{Condition, Watch};
use crate::domain::View;
use crate::output::{say, shown};
use crate::record::parting::PARTING;
use crate::record::source::Received;

/// Conditions, and for whom they hold.
pub struct Conditions {
    conditions: Vec<Condition>,
    /// By the numbers of topics, those that are about one.
    watches: HashMap<usize, Vec<Watched>>,
}

/// A condition for messages of a topic.
struct Watched {
    /// Of the condition.
    number: usize,
    watch: Watch,
    holds: Holding,
}

/// By the names of their nodes, publishers whose newest message is as a condition says, and since when they are not there. Of each by itself: one battery may be low all along beside another that is not.
#[derive(Default)]
struct Holding(HashMap<String, Option<Instant>>);

impl Holding {
    /// Whether it has come to be so for this one.
    fn begins(&mut self, publisher: &str, holds: bool) -> bool {
        if !holds {
            self.0.remove(publisher);
            return false;
        }
        self.0.insert(publisher.to_owned(), None).is_none()
    }

    /// Forgets who has been gone for long. Before, one that has lost its manager may come again.
    fn forget(&mut self, now: Instant, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|publisher, gone| {
            *gone = if is_there(publisher) { None } else { gone.or(Some(now)) };
            gone.is_none_or(|since| now - since < PARTING)
        });
    }
}

impl Conditions {
    pub fn new(conditions: &[Condition]) -> Conditions {
        Conditions { conditions: conditions.to_vec(), watches: HashMap::new() }
    }

    /// Looks at a message. Gives the conditions that hold for its publisher now and did not before.
    pub fn look(&mut self, message: &Received) -> Vec<String> {
        let source = &message.source;
        let watches = self.watches.entry(source.number).or_insert_with(|| {
            let about = self.conditions.iter().enumerate().filter(|(_, condition)| condition.is_about(&source.name));
            let watches = about.filter_map(|(n, condition)| match condition.watch(&source.name, &source.ty) {
                Ok(watch) => Some(Watched { number: n, watch, holds: Holding::default() }),
                Err(why) => {
                    say!("'{}' will never be so: {}", shown(condition.text()), shown(&why));
                    None
                }
            });
            watches.collect()
        });
        let mut begun = Vec::new();
        for Watched { number, watch, holds } in watches {
            let Ok(is_so) = message.frame.reader().and_then(|mut reader| watch.holds(&mut reader)) else { continue };
            if holds.begins(&message.frame.info().publisher, is_so) {
                begun.push(self.conditions[*number].text().to_owned());
            }
        }
        begun
    }

    /// Forgets publishers that have gone, also so that who comes again in a bad way is told of again.
    pub fn forget(&mut self, now: Instant, view: &View) {
        let is_there = |publisher: &str| view.state.nodes.values().any(|node| node.name == publisher);
        self.watches.values_mut().flatten().for_each(|watched| watched.holds.forget(now, is_there));
    }
}

/// Nodes that die.
pub struct Deaths {
    /// None: any but the command's own.
    of: Option<GlobMatcher>,
    /// Since when they are missed, by their names and processes.
    missed: BTreeMap<(String, i64), Instant>,
}

impl Deaths {
    /// So long a node may be away: one that has lost its manager comes again.
    const GRACE: Duration = Duration::from_millis(500);

    /// Who goes so shortly before this is told to end was told so, too: a signal goes to one process after the other.
    const SAME: Duration = Duration::from_millis(50);

    pub fn new(of: Option<GlobMatcher>) -> Deaths {
        Deaths { of, missed: BTreeMap::new() }
    }

    /// Notes who did not leave and is not there, and who is there again: that process, where it is known. Another one of the name is the next, as when it was started again.
    pub fn look(&mut self, view: &View, now: Instant) {
        let of = self.of.as_ref();
        let is_meant = |name: &str| of.map_or(!name.starts_with("sinew-"), |of| of.is_match(name));
        self.missed.extend(view.lost.iter().filter(|node| is_meant(&node.name)).map(|node| ((node.name.clone(), node.pid), now)));
        // 0 is a process that cannot be seen from here.
        let is_same = |one: i64, other: i64| one == other || one == 0 || other == 0;
        for node in view.nodes() {
            self.missed.retain(|(name, pid), _| *name != node.name || !is_same(*pid, node.pid));
        }
    }

    /// Those who are dead. Each is told of once.
    pub fn dead(&mut self, now: Instant) -> Vec<String> {
        let is_late = |since: &Instant| now.saturating_duration_since(*since) >= Self::GRACE;
        let dead: Vec<String> = self.missed.iter().filter(|(_, since)| is_late(since)).map(|((name, _), _)| name.clone()).collect();
        self.missed.retain(|_, since| !is_late(since));
        dead
    }

    /// Those who are missed when this is to end, dead or not: nobody will wait for them. But not those who were told to end by the same signal.
    pub fn missed(&mut self, now: Instant) -> Vec<String> {
        let missed = std::mem::take(&mut self.missed).into_iter();
        missed.filter(|(_, since)| now.saturating_duration_since(*since) >= Self::SAME).map(|((name, _), _)| name).collect()
    }

    /// When somebody may be dead.
    pub fn due(&self) -> Option<Instant> {
        self.missed.values().min().map(|since| *since + Self::GRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_begins_to_hold_for_each_publisher_by_itself_until_that_has_gone_for_long() {
        let (mut holds, now) = (Holding::default(), Instant::now());
        assert_eq!([("left", true), ("right", false), ("left", true)].map(|(name, is_so)| holds.begins(name, is_so)), [true, false, false]);
        assert_eq!([true, false, true].map(|is_so| holds.begins("right", is_so)), [true, false, true]);
        holds.forget(now, |_| false);
        assert!(!holds.begins("left", true), "it has come again");
        holds.forget(now + PARTING, |name| name == "left");
        assert_eq!(holds.0.into_keys().collect::<Vec<_>>(), ["left"]);
    }
}
