//! Subscribers that are there and get nothing, since they ask for more than is offered.

use std::collections::BTreeSet;

use sinew::{Id, Node};

use crate::domain::{Followed, View};
use crate::failure::Done;
use crate::output::shown;

/// Those of the topic on which a node publishes, each of which is told of once.
pub struct Misfits {
    followed: Followed,
    told: BTreeSet<Id>,
}

impl Misfits {
    /// From now on, and those that are there already.
    pub fn of(node: &Node) -> Done<Misfits> {
        Ok(Misfits { followed: Followed::new(node)?, told: BTreeSet::new() })
    }

    /// Who has come, with what would fit.
    pub fn new_ones(&mut self) -> Vec<String> {
        let Some(view) = self.followed.changed() else { return Vec::new() };
        let pairs = view.state.pairs.values().filter(|pair| pair.delivery.is_none() && is_own(&view, pair.publisher));
        let said: Vec<(Id, String)> = pairs.filter_map(|pair| Some((pair.subscriber, said(&view, pair.subscriber, &pair.why)?))).collect();
        said.into_iter().filter(|(id, _)| self.told.insert(*id)).map(|(_, text)| text).collect()
    }
}

/// The view leaves out the node that looks.
fn is_own(view: &View, publisher: Id) -> bool {
    view.state.endpoints.get(&publisher).is_some_and(|publisher| !view.state.nodes.contains_key(&publisher.node))
}

/// None: they have not met yet.
fn said(view: &View, subscriber: Id, why: &str) -> Option<String> {
    let name = shown(view.owner_of(subscriber));
    if why.contains("durability: ") {
        return Some(format!("{name} is there, but asks for transient local: --transient-local"));
    }
    why.contains("the publisher offers").then(|| format!("{name} is there, but does not fit: {}", shown(why)))
}
