//! Whether subscribers have taken what was published: who ends before may take it away with it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sinew::raw::Publisher;
use sinew::{DomainCounters, Node, PairCounts};

use crate::failure::{Done, Failure};
use crate::interrupt::Interrupt;
use crate::output::{say, shown};

/// Who takes nothing for so long may never do it.
const AT_MOST: Duration = Duration::from_secs(10);
/// Within this time it is known who counts where.
const SOON: Duration = Duration::from_secs(1);
const NOW_AND_THEN: Duration = Duration::from_millis(5);

/// The subscribers of the node's only publisher that are connected, by what stays of them when the manager dies.
pub fn connected(node: &Node, publisher: &Publisher) -> BTreeSet<u64> {
    let subscribers = || publisher.statistics().subscribers as usize;
    if subscribers() == 0 {
        return BTreeSet::new();
    }
    let Some((counters, own)) = counted(node) else {
        return BTreeSet::new(); // nobody is there who could tell
    };
    let begin = Instant::now();
    loop {
        let ids: BTreeSet<u64> = pairs(&counters, own).unwrap_or_default().iter().map(|pair| pair.subscriber_identity).collect();
        // Where a node counts that has just come, the manager tells a little later.
        if ids.len() >= subscribers() || begin.elapsed() > SOON {
            return ids;
        }
        std::thread::sleep(NOW_AND_THEN);
    }
}

/// Waits until those of these subscribers that are still there have taken all that the node's only publisher has published: those that were connected before the first message, as others do not get all. Fails when it is interrupted, or has waited for long.
pub fn wait(node: &Node, publisher: &Publisher, topic: &str, first: &BTreeSet<u64>, interrupt: &Interrupt) -> Done {
    let Some((counters, own)) = counted(node) else { return Ok(()) };
    let begin = Instant::now();
    let mut is_told = false;
    let decided = |pair: &PairCounts| pair.messages + pair.missed + pair.expired + pair.skipped;
    let (mut first, mut seen) = (first.clone(), BTreeMap::new());
    loop {
        let Some(pairs) = pairs(&counters, own) else { return Ok(()) };
        for pair in &pairs {
            // Who is connected anew counts from nothing, and is one of those that came later.
            if seen.insert(pair.subscriber_identity, decided(pair)).is_some_and(|before| decided(pair) < before) {
                first.remove(&pair.subscriber_identity);
            }
        }
        let told = publisher.statistics();
        let (of_first, later): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|pair| first.contains(&pair.subscriber_identity));
        let has_all = |pair: &&PairCounts| decided(pair) >= told.published;
        let there = first.len().min((told.subscribers as usize).saturating_sub(later.len()));
        let left = there.saturating_sub(of_first.iter().filter(has_all).count());
        if left == 0 {
            return Ok(());
        }
        let who = match told.subscribers {
            1 => format!("the subscriber of '{}' has", shown(topic)),
            all => format!("{left} of {all} subscribers of '{}' have", shown(topic)),
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

/// Of the publisher, with what each subscriber has decided about. None: it cannot be read.
fn pairs(counters: &DomainCounters, publisher: u64) -> Option<Vec<PairCounts>> {
    let mut pairs = counters.read().ok()?.pairs;
    pairs.retain(|pair| pair.publisher_identity == publisher);
    Some(pairs)
}
