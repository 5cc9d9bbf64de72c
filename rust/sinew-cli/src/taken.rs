//! Whether subscribers have taken what was published: who ends before may take it away with it.

use std::time::{Duration, Instant};

use sinew::raw::Publisher;
use sinew::{DomainCounters, Id, Node};

use crate::failure::{Done, Failure};
use crate::interrupt::Interrupt;
use crate::output::{say, shown};

/// Who takes nothing for so long may never do it.
const AT_MOST: Duration = Duration::from_secs(10);
const NOW_AND_THEN: Duration = Duration::from_millis(5);

/// Waits until so many subscribers as were connected before the first message have taken all that the node's only publisher has published, or are gone. Fails when it is interrupted, or has waited for long.
pub fn wait(node: &Node, publisher: &Publisher, topic: &str, first: u64, interrupt: &Interrupt) -> Done {
    let (Ok(counters), Some(own)) = (node.domain_counters(), id_of_publisher(node)) else {
        return Ok(()); // nobody is there who could tell
    };
    let begin = Instant::now();
    let mut is_told = false;
    loop {
        let told = publisher.statistics();
        let left = first.min(told.subscribers).saturating_sub(caught_up(&counters, own, told.published));
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

fn id_of_publisher(node: &Node) -> Option<Id> {
    let state = node.domain_state().ok()?;
    let name = node.name();
    let own = state.nodes.values().find(|node| node.name == name)?.id;
    state.endpoints.values().find(|endpoint| endpoint.node == own && endpoint.publishes).map(|publisher| publisher.id)
}

/// Subscribers that have decided about so many messages.
fn caught_up(counters: &DomainCounters, publisher: Id, published: u64) -> u64 {
    let Ok(counts) = counters.read() else { return u64::MAX };
    let of_publisher = counts.pairs.iter().filter(|pair| pair.publisher == publisher);
    of_publisher.filter(|pair| pair.messages + pair.missed + pair.expired + pair.skipped >= published).count() as u64
}
