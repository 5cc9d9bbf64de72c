//! What makes a flight recorder write what it holds, besides being asked: messages, and nodes that go away.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use globset::GlobMatcher;

use super::condition::{Condition, Watch};
use crate::domain::View;
use crate::output::shown;
use crate::record::source::Received;

/// Conditions, and whether they hold.
pub struct Conditions {
    conditions: Vec<Condition>,
    /// By the numbers of topics, those that are about one.
    watches: HashMap<usize, Vec<(usize, Watch)>>,
    holds: Vec<bool>,
}

impl Conditions {
    pub fn new(conditions: &[Condition]) -> Conditions {
        Conditions { conditions: conditions.to_vec(), watches: HashMap::new(), holds: vec![false; conditions.len()] }
    }

    /// Looks at a message. Gives the conditions that hold now and did not before.
    pub fn look(&mut self, message: &Received) -> Vec<String> {
        let source = &message.source;
        let watches = self.watches.entry(source.number).or_insert_with(|| {
            let about = self.conditions.iter().enumerate().filter(|(_, condition)| condition.is_about(&source.name));
            let watches = about.filter_map(|(n, condition)| match condition.watch(&source.name, &source.ty) {
                Ok(watch) => Some((n, watch)),
                Err(why) => {
                    anstream::eprintln!("'{}' will never be so: {}", shown(condition.text()), shown(&why));
                    None
                }
            });
            watches.collect()
        });
        let mut begun = Vec::new();
        for (n, watch) in watches {
            let Ok(holds) = message.frame.reader().and_then(|mut reader| watch.holds(&mut reader)) else { continue };
            if holds && !self.holds[*n] {
                begun.push(self.conditions[*n].text().to_owned());
            }
            self.holds[*n] = holds;
        }
        begun
    }
}

/// Nodes that go away.
pub struct Departures {
    /// None: any but the command's own.
    of: Option<GlobMatcher>,
    there: BTreeSet<String>,
    /// Since when they are missed.
    missed: BTreeMap<String, Instant>,
}

impl Departures {
    /// So long a node may be away: where another manager takes over, all nodes come to it, one after the other.
    const GRACE: Duration = Duration::from_millis(500);

    pub fn new(of: Option<GlobMatcher>) -> Departures {
        Departures { of, there: BTreeSet::new(), missed: BTreeMap::new() }
    }

    /// Notes who is there now, and who is not any more.
    pub fn look(&mut self, view: &View, now: Instant) {
        let is_meant = |name: &&str| match &self.of {
            Some(pattern) => pattern.is_match(name),
            None => !name.starts_with("sinew-"),
        };
        let there: BTreeSet<String> = view.nodes().iter().map(|node| node.name.as_str()).filter(is_meant).map(str::to_owned).collect();
        self.missed.retain(|name, _| !there.contains(name));
        for gone in self.there.difference(&there) {
            self.missed.entry(gone.clone()).or_insert(now);
        }
        self.there = there;
    }

    /// Those who are gone for good. Each is told of once.
    pub fn gone(&mut self, now: Instant) -> Vec<String> {
        let is_late = |since: &Instant| now.saturating_duration_since(*since) >= Self::GRACE;
        let gone: Vec<String> = self.missed.iter().filter(|(_, since)| is_late(since)).map(|(name, _)| name.clone()).collect();
        self.missed.retain(|_, since| !is_late(since));
        gone
    }

    /// When somebody may be gone for good.
    pub fn due(&self) -> Option<Instant> {
        self.missed.values().min().map(|since| *since + Self::GRACE)
    }
}
