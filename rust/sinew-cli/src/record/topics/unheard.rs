//! Publishers that are there and not heard.

use std::collections::BTreeMap;
use std::time::Instant;

use sinew::Id;

use super::MEETING;
use crate::domain::View;

/// By their topics, nodes and ids. Ids alone are others' with the next manager; they tell apart publishers of one node on one topic.
#[derive(Default)]
pub struct Unheard(BTreeMap<(String, String, Id), Silence>);

/// Of a publisher.
struct Silence {
    why: String,
    since: Instant,
}

impl Unheard {
    /// Looks for them on these topics. Who was one of them before is so since then.
    pub fn look<'a>(&mut self, view: &View, topics: impl IntoIterator<Item = &'a str>, now: Instant) {
        let before = std::mem::take(&mut self.0);
        // The view leaves out the node that looks.
        let is_own = |end: Id| view.state.endpoints.get(&end).is_some_and(|end| !view.state.nodes.contains_key(&end.node));
        for topic in topics.into_iter().filter_map(|name| view.state.topic(name)) {
            for publisher in view.endpoints(topic.id, true) {
                // One of those who part may hear it, or not.
                let pairs = || view.pairs(topic.id).filter(|pair| pair.publisher == publisher.id && is_own(pair.subscriber));
                if pairs().any(|pair| pair.delivery.is_some()) {
                    continue;
                }
                let key = (topic.name.clone(), view.name_of(publisher.node).to_owned(), publisher.id);
                let noted = before.get(&key);
                // Who is introduced once more is not heard until it says so, and gives no reason meanwhile.
                let why = pairs().map(|pair| pair.why.clone()).find(|why| !why.is_empty());
                let Some(why) = why.or_else(|| noted.map(|noted| noted.why.clone())) else { continue };
                let since = noted.map_or(now, |noted| noted.since);
                self.0.insert(key, Silence { why, since });
            }
        }
    }

    /// Topics and nodes of those who should have met by now, and why they have not.
    pub fn late(&self, now: Instant) -> Vec<(String, String, String)> {
        let late = self.0.iter().filter(|(_, silence)| now.saturating_duration_since(silence.since) >= MEETING);
        late.map(|((topic, node, _), silence)| (topic.clone(), node.clone(), silence.why.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use sinew::{DomainEndpoint, DomainNode, DomainPair, DomainState, DomainTopic};

    use super::*;
    use crate::domain::end_on;

    const MISFIT: &str = "reliability: the publisher offers best_effort, the subscriber asks for reliable";

    /// Of a recorder that hears none of these: their ids and topics, and why not. The node `robot` publishes on `a`, and `camera` on `b`.
    fn view(publishers: &[(Id, &str, &str)]) -> View {
        let mut state = DomainState::default();
        for (topic, node, subscriber, name, owner) in [(1, 3, 5, "a", "robot"), (2, 4, 6, "b", "camera")] {
            let (type_name, signature, container) = (String::new(), String::new(), String::new());
            state.topics.insert(topic, DomainTopic { id: topic, name: name.to_owned(), type_name, signature, hash: [0; 16] });
            state.nodes.insert(node, DomainNode { id: node, name: owner.to_owned(), container, pid: 0, uid: 0, gid: 0 });
            state.endpoints.insert(subscriber, DomainEndpoint { node: 99, ..end_on(topic, subscriber, false) });
            for &(publisher, _, why) in publishers.iter().filter(|(_, on, _)| *on == name) {
                state.endpoints.insert(publisher, DomainEndpoint { node, ..end_on(topic, publisher, true) });
                state.pairs.insert((publisher, subscriber), DomainPair { publisher, subscriber, delivery: None, why: why.to_owned() });
            }
        }
        View::new(state, "recorder")
    }

    fn late(unheard: &Unheard, now: Instant) -> Vec<String> {
        unheard.late(now).into_iter().map(|(topic, node, why)| format!("{node} on {topic}: {why}")).collect()
    }

    #[test]
    fn who_gets_the_id_of_one_that_does_not_fit_from_the_next_manager_is_not_unheard() {
        let (mut unheard, start) = (Unheard::default(), Instant::now());
        let expected = [format!("robot on a: {MISFIT}")];
        unheard.look(&view(&[(7, "a", MISFIT), (8, "b", "")]), ["a", "b"], start);
        let again = start + 60 * MEETING;
        assert_eq!(late(&unheard, again), expected);
        unheard.look(&view(&[(7, "b", ""), (8, "a", MISFIT)]), ["a", "b"], again);
        assert!(late(&unheard, again).is_empty(), "with the next manager they meet anew");
        assert_eq!(late(&unheard, again + MEETING), expected);
    }

    #[test]
    fn each_of_two_publishers_of_a_node_on_one_topic_has_its_own_time() {
        let (mut unheard, start) = (Unheard::default(), Instant::now());
        let soon = start + MEETING / 2;
        unheard.look(&view(&[(7, "a", MISFIT)]), ["a"], start);
        unheard.look(&view(&[(7, "a", ""), (8, "a", MISFIT)]), ["a"], soon);
        assert_eq!(late(&unheard, start + MEETING), [format!("robot on a: {MISFIT}")], "the first, which gives no reason meanwhile");
        unheard.look(&view(&[(8, "a", MISFIT)]), ["a"], start + MEETING);
        assert!(late(&unheard, start + MEETING).is_empty(), "the other one came later");
        assert_eq!(late(&unheard, soon + MEETING).len(), 1);
    }
}
