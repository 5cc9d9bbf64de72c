//! Who publishes, subscribes and provides, as Foxglove draws it.

use std::collections::{BTreeMap, BTreeSet};

use foxglove::websocket::ConnectionGraph;

use crate::domain::{View, is_of_service};
use crate::patterns::Topics;

/// Names of nodes.
type Nodes = BTreeSet<String>;

/// By the names of topics and services, as clients know them.
#[derive(Default, PartialEq)]
pub struct Graph {
    published: BTreeMap<String, Nodes>,
    subscribed: BTreeMap<String, Nodes>,
    provided: BTreeMap<String, Nodes>,
}

impl Graph {
    /// Of the topics that are served, and of services with such names. The gateway's own node is not in the view.
    pub fn of(view: &View, topics: &Topics) -> Graph {
        let mut graph = Graph::default();
        for topic in view.topics().into_iter().filter(|topic| !is_of_service(&topic.name) && topics.has(&topic.name)) {
            let nodes = |publish: bool| -> Nodes {
                view.endpoints(topic.id, publish).filter_map(|end| view.state.nodes.get(&end.node)).map(|node| node.name.clone()).collect()
            };
            let name = format!("/{}", topic.name);
            graph.published.insert(name.clone(), nodes(true));
            graph.subscribed.insert(name, nodes(false));
        }
        for service in view.services().into_iter().filter(|service| topics.has(service.name)) {
            graph.provided.insert(format!("/{}", service.name), view.publishing(service.responses).into_iter().collect());
        }
        graph
    }

    /// As the server takes it.
    pub fn told(&self) -> ConnectionGraph {
        let mut told = ConnectionGraph::new();
        self.published.iter().for_each(|(topic, nodes)| told.set_published_topic(topic, nodes));
        self.subscribed.iter().for_each(|(topic, nodes)| told.set_subscribed_topic(topic, nodes));
        self.provided.iter().for_each(|(service, nodes)| told.set_advertised_service(service, nodes));
        told
    }
}
