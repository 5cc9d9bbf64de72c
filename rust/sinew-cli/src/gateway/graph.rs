//! Who publishes, subscribes and provides, as Foxglove draws it.

use std::collections::BTreeSet;

use foxglove::websocket::ConnectionGraph;

use crate::domain::{View, is_of_service};
use crate::patterns::Topics;

/// Of the topics that are served, and of services with such names.
pub fn of(view: &View, topics: &Topics) -> ConnectionGraph {
    let mut graph = ConnectionGraph::new();
    for topic in view.topics().into_iter().filter(|topic| !is_of_service(&topic.name) && topics.has(&topic.name)) {
        // Of all that are told of: the gateway's own node is none of them.
        let nodes = |publish: bool| -> BTreeSet<&str> {
            view.endpoints(topic.id, publish).filter_map(|end| view.state.nodes.get(&end.node)).map(|node| node.name.as_str()).collect()
        };
        let name = format!("/{}", topic.name);
        graph.set_published_topic(name.clone(), nodes(true));
        graph.set_subscribed_topic(name, nodes(false));
    }
    for service in view.services().into_iter().filter(|service| topics.has(service.name)) {
        graph.set_advertised_service(format!("/{}", service.name), view.publishing(service.responses));
    }
    graph
}
