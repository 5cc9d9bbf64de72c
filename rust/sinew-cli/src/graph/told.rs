//! The graph for programs.

use serde::Serialize;

use super::model::{Graph, Node, Topic};

/// As JSON has it.
#[derive(Serialize)]
pub struct Told<'a> {
    seconds: f64,
    nodes: &'a [Node],
    topics: Vec<ToldTopic<'a>>,
    edges: Vec<Edge<'a>>,
}

#[derive(Serialize)]
struct ToldTopic<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    service: bool,
    hz: f64,
    bytes_per_second: f64,
    publishers: Vec<&'a str>,
    subscribers: Vec<&'a str>,
}

/// A publisher of a topic and a subscriber.
#[derive(Serialize)]
struct Edge<'a> {
    publisher: &'a str,
    topic: &'a str,
    subscriber: &'a str,
    delivery: Option<String>,
    why: &'a str,
    hz: f64,
    lost: u64,
    held: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
}

impl<'a> Told<'a> {
    /// Of all of it.
    pub fn of(graph: &'a Graph) -> Told<'a> {
        let name = |node: usize| graph.nodes[node].name.as_str();
        let topic = |topic: &'a Topic| ToldTopic {
            name: &topic.name,
            type_name: &topic.type_name,
            service: topic.is_service,
            hz: topic.hz(),
            bytes_per_second: topic.bytes_per_second(),
            publishers: topic.publishers.iter().map(|publisher| name(publisher.node)).collect(),
            subscribers: topic.subscribers.iter().map(|subscriber| name(subscriber.node)).collect(),
        };
        let mut edges = Vec::new();
        for topic in &graph.topics {
            for subscriber in &topic.subscribers {
                edges.extend(subscriber.pairs.iter().map(|pair| Edge {
                    publisher: name(pair.from),
                    topic: &topic.name,
                    subscriber: name(subscriber.node),
                    delivery: pair.delivery.map(|delivery| delivery.to_string()),
                    why: &pair.why,
                    hz: pair.hz,
                    lost: pair.lost,
                    held: pair.held,
                    p50_ns: pair.p50_ns,
                    p99_ns: pair.p99_ns,
                }));
            }
        }
        Told { seconds: graph.seconds, nodes: &graph.nodes, topics: graph.topics.iter().map(topic).collect(), edges }
    }
}
