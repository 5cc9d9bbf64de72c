//! What is drawn: nodes, topics, and who publishes what to whom.

use serde::Serialize;
use sinew::raw::Delivery;

/// Nodes and topics by their names, so that what is the same is drawn the same.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// By their names.
    pub nodes: Vec<Node>,
    /// By their names; of services, those of the services.
    pub topics: Vec<Topic>,
    /// Over so long a time rates were counted.
    pub seconds: f64,
}

/// A node.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its process, where the manager can see it.
    pub pid: Option<i64>,
    /// Its user.
    pub uid: u32,
    /// Its container, if any.
    pub container: String,
}

/// A topic, or a service.
#[derive(Clone, Debug, Default)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// That of its type; of a service, that of its requests.
    pub type_name: String,
    /// It is a service: clients publish, providers subscribe.
    pub is_service: bool,
    /// In the order of nodes.
    pub publishers: Vec<Publisher>,
    /// In the order of nodes.
    pub subscribers: Vec<Subscriber>,
}

/// What a node publishes on a topic.
#[derive(Clone, Debug, Default)]
pub struct Publisher {
    /// The node.
    pub node: usize,
    /// Messages a second.
    pub hz: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
}

/// What a node receives on a topic.
#[derive(Clone, Debug, Default)]
pub struct Subscriber {
    /// The node.
    pub node: usize,
    /// With each publisher there is.
    pub pairs: Vec<Pair>,
}

/// A publisher of a topic and its subscriber.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// The publisher's node.
    pub from: usize,
    /// How messages come; none: it is not connected.
    pub delivery: Option<Delivery>,
    /// Why so.
    pub why: String,
    /// Messages a second.
    pub hz: f64,
    /// Messages that were lost meanwhile.
    pub lost: u64,
    /// Messages that the subscriber keeps.
    pub held: u64,
    /// Half came within so many nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99 % came within so many.
    pub p99_ns: Option<u64>,
}

/// What a connection costs, from nothing to not being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// There is no publisher.
    Alone,
    /// Read in place.
    Free,
    /// Arrays are read in place, the rest is decoded.
    View,
    /// Copied.
    Copied,
    /// Not connected.
    Broken,
}

impl Way {
    /// Of a pair.
    pub fn of(delivery: Option<Delivery>) -> Way {
        match delivery {
            None => Way::Broken,
            Some(Delivery::Native | Delivery::Pointer) => Way::Free,
            Some(Delivery::View) => Way::View,
            Some(_) => Way::Copied,
        }
    }
}

impl Subscriber {
    /// The worst of its pairs'.
    pub fn way(&self) -> Way {
        self.pairs.iter().map(|pair| Way::of(pair.delivery)).max().unwrap_or(Way::Alone)
    }

    /// With all publishers together.
    pub fn lost(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.lost).sum()
    }
}

impl Topic {
    /// Messages a second, of all publishers.
    pub fn hz(&self) -> f64 {
        self.publishers.iter().fold(0.0, |sum, publisher| sum + publisher.hz)
    }

    /// Bytes a second, of all publishers.
    pub fn bytes_per_second(&self) -> f64 {
        self.publishers.iter().fold(0.0, |sum, publisher| sum + publisher.bytes_per_second)
    }

    fn nodes(&self) -> impl Iterator<Item = usize> {
        let subscribers = self.subscribers.iter().map(|subscriber| subscriber.node);
        self.publishers.iter().map(|publisher| publisher.node).chain(subscribers)
    }
}

impl Graph {
    /// As numbers, for what goes by connections alone: nodes come first, then topics.
    pub fn links(&self) -> Vec<(usize, usize)> {
        let first = self.nodes.len();
        let of_topic = |(place, topic): (usize, &Topic)| {
            let into = topic.publishers.iter().map(move |publisher| (publisher.node, first + place));
            let out = topic.subscribers.iter().map(move |subscriber| (first + place, subscriber.node));
            into.chain(out).collect::<Vec<_>>()
        };
        self.topics.iter().enumerate().flat_map(of_topic).collect()
    }

    /// What has this in its name or its type's, and who and what is next to it.
    pub fn filtered(self, text: &str) -> Graph {
        if text.is_empty() {
            return self;
        }
        let has = |name: &str| name.contains(text);
        let named: Vec<bool> = self.nodes.iter().map(|node| has(&node.name)).collect();
        let is_kept = |topic: &Topic| has(&topic.name) || has(&topic.type_name) || topic.nodes().any(|node| named[node]);
        let mut topics: Vec<Topic> = self.topics.into_iter().filter(is_kept).collect();
        let mut kept = named.clone();
        topics.iter().flat_map(Topic::nodes).for_each(|node| kept[node] = true);
        let before = |count: &mut usize, kept: &bool| Some(std::mem::replace(count, *count + usize::from(*kept)));
        let places: Vec<usize> = kept.iter().scan(0, before).collect();
        for topic in &mut topics {
            topic.publishers.iter_mut().for_each(|publisher| publisher.node = places[publisher.node]);
            for subscriber in &mut topic.subscribers {
                subscriber.node = places[subscriber.node];
                subscriber.pairs.iter_mut().for_each(|pair| pair.from = places[pair.from]);
            }
        }
        let nodes = self.nodes.into_iter().zip(kept).filter_map(|(node, kept)| kept.then_some(node)).collect();
        Graph { nodes, topics, seconds: self.seconds }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Of lines such as "camera > camera/image > viewer logger"; a "!" before a subscriber: not connected.
    pub fn graph(lines: &[&str]) -> Graph {
        let parts: Vec<Vec<&str>> = lines.iter().map(|line| line.split('>').map(str::trim).collect()).collect();
        let mut names: Vec<&str> = parts
            .iter()
            .flat_map(|parts| parts[0].split(' ').chain(parts[2].split(' ')))
            .map(|name| name.trim_start_matches('!'))
            .collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        let index = |name: &str| names.iter().position(|other| *other == name).unwrap();
        let topics = parts.iter().map(|parts| {
            let publishers: Vec<usize> = parts[0].split(' ').filter(|name| !name.is_empty()).map(index).collect();
            let subscribers = parts[2].split(' ').filter(|name| !name.is_empty()).map(|name| {
                let delivery = (!name.starts_with('!')).then_some(Delivery::View);
                let why = if delivery.is_some() { "" } else { "reliability: the publisher offers <best_effort>" };
                let pair = |from: &usize| Pair { from: *from, delivery, why: why.to_owned(), hz: 30.0, ..Pair::default() };
                Subscriber { node: index(name.trim_start_matches('!')), pairs: publishers.iter().map(pair).collect() }
            });
            let publisher = |node: &usize| Publisher { node: *node, hz: 30.0, bytes_per_second: 3e7 };
            Topic {
                name: parts[1].to_owned(),
                type_name: "robot/Image".to_owned(),
                is_service: false,
                publishers: publishers.iter().map(publisher).collect(),
                subscribers: subscribers.collect(),
            }
        });
        let topics = topics.collect();
        Graph { nodes: names.iter().map(|name| Node { name: (*name).to_owned(), ..Node::default() }).collect(), topics, seconds: 1.0 }
    }

    fn names(graph: &Graph) -> (Vec<&str>, Vec<&str>) {
        (graph.nodes.iter().map(|node| node.name.as_str()).collect(), graph.topics.iter().map(|topic| topic.name.as_str()).collect())
    }

    #[test]
    fn what_is_filtered_keeps_whom_it_is_connected_to() {
        let all = graph(&["camera > image > detector", "detector > boxes > fusion", "lidar > points > fusion"]);
        let of_node = all.clone().filtered("detector");
        assert_eq!(names(&of_node), (vec!["camera", "detector", "fusion"], vec!["image", "boxes"]));
        assert_eq!(of_node.nodes[of_node.topics[1].subscribers[0].pairs[0].from].name, "detector");
        assert_eq!(names(&all.clone().filtered("points")), (vec!["fusion", "lidar"], vec!["points"]));
        assert_eq!(names(&all.clone().filtered("Image")), names(&all));
        assert_eq!(names(&all.filtered("nothing")), (vec![], vec![]));
    }

    #[test]
    fn the_worst_pair_decides_how_a_subscriber_is_drawn() {
        let pair = |delivery| Pair { delivery, ..Pair::default() };
        let way = |pairs| Subscriber { node: 0, pairs }.way();
        assert_eq!(way(vec![]), Way::Alone);
        assert_eq!(way(vec![pair(Some(Delivery::Native)), pair(Some(Delivery::Copy))]), Way::Copied);
        assert_eq!(way(vec![pair(None), pair(Some(Delivery::Copy))]), Way::Broken);
    }
}
