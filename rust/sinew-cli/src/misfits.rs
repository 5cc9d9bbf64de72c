//! Subscribers that are there and get nothing, since they ask for more than is offered.

use std::collections::BTreeSet;

use sinew::{Id, Node};

use crate::domain::{Followed, View};
use crate::failure::Done;
use crate::output::shown;

/// Those of the topic on which a node publishes, each of which is told of once, also where it goes and comes again.
pub struct Misfits {
    followed: Followed,
    /// By what is said: with the next manager ids are others'.
    told: BTreeSet<String>,
}

impl Misfits {
    /// From now on, and those that are there already.
    pub fn of(node: &Node) -> Done<Misfits> {
        Ok(Misfits { followed: Followed::new(node)?, told: BTreeSet::new() })
    }

    /// Who has come, with what would fit.
    pub fn new_ones(&mut self) -> Vec<String> {
        let Some(view) = self.followed.changed() else { return Vec::new() };
        untold(&view, &mut self.told)
    }
}

/// What is to be said now, and is told from now on.
fn untold(view: &View, told: &mut BTreeSet<String>) -> Vec<String> {
    let pairs = view.state.pairs.values().filter(|pair| pair.delivery.is_none() && is_own(view, pair.publisher));
    pairs.filter_map(|pair| said(view, pair.subscriber, &pair.why)).filter(|text| told.insert(text.clone())).collect()
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

#[cfg(test)]
mod tests {
    use sinew::{DomainEndpoint, DomainNode, DomainPair, DomainState};

    use super::*;
    use crate::domain::end_on;

    const DEADLINE: &str = "deadline: the publisher offers none, the subscriber asks for 1 ms";

    /// Of a publisher, with subscribers of these ids, of nodes of these names, and why they get nothing.
    fn view(subscribers: &[(Id, &str, &str)]) -> View {
        let mut state = DomainState::default();
        let (topic, publisher) = (1, 2);
        state.endpoints.insert(publisher, DomainEndpoint { node: 99, ..end_on(topic, publisher, true) });
        for &(subscriber, name, why) in subscribers {
            let (node, name) = (subscriber + 100, name.to_owned());
            state.nodes.insert(node, DomainNode { id: node, name, container: String::new(), pid: 0, uid: 0, gid: 0 });
            state.endpoints.insert(subscriber, DomainEndpoint { node, ..end_on(topic, subscriber, false) });
            state.pairs.insert((publisher, subscriber), DomainPair { publisher, subscriber, delivery: None, why: why.to_owned() });
        }
        View::new(state, "pub")
    }

    #[test]
    fn each_misfit_is_told_of_once_also_when_the_next_manager_gives_its_id_to_another() {
        let (mut told, said) = (BTreeSet::new(), |name: &str| format!("{name} is there, but does not fit: {DEADLINE}"));
        assert_eq!(untold(&view(&[(7, "hasty", DEADLINE), (8, "viewer", "")]), &mut told), [said("hasty")]);
        assert!(untold(&view(&[(7, "viewer", ""), (8, "hasty", DEADLINE)]), &mut told).is_empty(), "it is the same");
        assert_eq!(untold(&view(&[(7, "keen", DEADLINE), (8, "hasty", DEADLINE)]), &mut told), [said("keen")]);
    }
}
