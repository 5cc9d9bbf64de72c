//! What is drawn, of what there is in a domain and what flowed between two moments.

use std::collections::{BTreeMap, HashMap};

use sinew::{DomainPair, DomainTopic, Id};

use super::model::{Graph, Node, Pair, Publisher, Subscriber, Topic};
use crate::actions::is_of_action;
use crate::domain::{Service, View, is_of_service};
use crate::flow::Moment;

struct Collector<'a> {
    view: &'a View,
    before: &'a Moment,
    now: &'a Moment,
    places: HashMap<Id, usize>,
}

/// Everything; services, and topics of actions, only where they are asked for.
pub fn collect(view: &View, before: &Moment, now: &Moment, services: bool) -> Graph {
    let nodes = view.nodes();
    let places = nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
    let from = Collector { view, before, now, places };
    let is_shown = |topic: &&&DomainTopic| !is_of_service(&topic.name) && (services || !is_of_action(&topic.name));
    let mut topics: Vec<Topic> = view.topics().iter().filter(is_shown).map(|topic| from.topic(topic)).collect();
    if services {
        topics.extend(view.services().iter().map(|service| from.service(service)));
    }
    let nodes = nodes.into_iter().map(|node| Node {
        name: node.name.clone(),
        pid: (node.pid != 0).then_some(node.pid),
        uid: node.uid,
        container: node.container.clone(),
    });
    Graph { nodes: nodes.collect(), topics, seconds: (now.at - before.at).as_secs_f64() }
}

impl Collector<'_> {
    fn topic(&self, topic: &DomainTopic) -> Topic {
        let mut subscribers = self.ends(topic.id, false);
        for pair in self.view.pairs(topic.id) {
            let (Some(from), Some(to)) = (self.place(pair.publisher), self.place(pair.subscriber)) else { continue };
            subscribers.entry(to).or_default().push(self.pair(from, pair));
        }
        Topic {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            is_service: false,
            publishers: self.publishers(topic.id),
            subscribers: in_order(subscribers),
        }
    }

    /// Requests go to the providers, which are those who publish responses. A pair is connected when both of its topics are.
    fn service(&self, service: &Service<'_>) -> Topic {
        let requests = service.requests.map(|topic| topic.id);
        let mut providers = service.responses.map(|topic| self.ends(topic.id, true)).unwrap_or_default();
        for pair in requests.into_iter().flat_map(|topic| self.view.pairs(topic)) {
            let (Some(from), Some(to)) = (self.place(pair.publisher), self.place(pair.subscriber)) else { continue };
            providers.entry(to).or_default().push(self.pair(from, pair));
        }
        for response in service.responses.into_iter().flat_map(|topic| self.view.pairs(topic.id)) {
            let (Some(provider), Some(client)) = (self.place(response.publisher), self.place(response.subscriber)) else { continue };
            let pairs = providers.entry(provider).or_default();
            if let Some(pair) = pairs.iter_mut().find(|pair| pair.from == client && response.delivery.is_none()) {
                (pair.delivery, pair.why) = (None, response.why.clone());
            }
        }
        Topic {
            name: service.name.to_owned(),
            type_name: service.requests.or(service.responses).map(|topic| topic.type_name.clone()).unwrap_or_default(),
            is_service: true,
            publishers: requests.map(|topic| self.publishers(topic)).unwrap_or_default(),
            subscribers: in_order(providers),
        }
    }

    /// Of an endpoint's node.
    fn place(&self, endpoint: Id) -> Option<usize> {
        self.view.state.endpoints.get(&endpoint).and_then(|endpoint| self.places.get(&endpoint.node)).copied()
    }

    fn ends(&self, topic: Id, publish: bool) -> BTreeMap<usize, Vec<Pair>> {
        self.view.endpoints(topic, publish).filter_map(|end| self.places.get(&end.node)).map(|place| (*place, Vec::new())).collect()
    }

    fn publishers(&self, topic: Id) -> Vec<Publisher> {
        let mut publishers: BTreeMap<usize, Publisher> = BTreeMap::new();
        for end in self.view.endpoints(topic, true) {
            let Some(node) = self.places.get(&end.node).copied() else { continue };
            let flow = self.now.publisher(end.id, self.before);
            let publisher = publishers.entry(node).or_insert(Publisher { node, ..Publisher::default() });
            publisher.hz += flow.hz;
            publisher.bytes_per_second += flow.bytes_per_second;
        }
        publishers.into_values().collect()
    }

    fn pair(&self, from: usize, pair: &DomainPair) -> Pair {
        let flow = self.now.pair((pair.publisher, pair.subscriber), self.before);
        Pair {
            from,
            delivery: pair.delivery,
            why: pair.why.clone(),
            hz: flow.hz,
            lost: flow.lost,
            held: flow.held,
            p50_ns: flow.latency.quantile_ns(0.5),
            p99_ns: flow.latency.quantile_ns(0.99),
        }
    }
}

fn in_order(subscribers: BTreeMap<usize, Vec<Pair>>) -> Vec<Subscriber> {
    let with_order = |(node, mut pairs): (usize, Vec<Pair>)| {
        pairs.sort_by_key(|pair| pair.from);
        Subscriber { node, pairs }
    };
    subscribers.into_iter().map(with_order).collect()
}
