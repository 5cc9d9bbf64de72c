//! The nodes of the domain, as tools of ROS 2 list them: rmw_dds_common/msg/ParticipantEntitiesInfo on `ros_discovery_info`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::back_end::{self, Listener, Participant, Writer};
use super::guid::Guid;
use super::qos::Qos;
use crate::bridge::{Key, Way};
use crate::domain::Local;

const TOPIC: &str = "ros_discovery_info";
const TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// Writers and readers that the bridge has, by what they are for. Shared between threads.
#[derive(Default)]
pub struct Graph(Mutex<Ends>);

#[derive(Default)]
struct Ends {
    all: BTreeMap<Key, Both>,
    has_changed: bool,
}

/// Those of one channel, or of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Both {
    readers: Vec<Guid>,
    writers: Vec<Guid>,
}

impl Graph {
    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is one more.
    pub fn opened(&self, key: &Key, writes: bool, guid: Guid) {
        let mut ends = self.ends();
        let both = ends.all.entry(key.clone()).or_default();
        if writes { &mut both.writers } else { &mut both.readers }.push(guid);
        ends.has_changed = true;
    }

    /// There is none any more.
    pub fn closed(&self, key: &Key) {
        let mut ends = self.ends();
        let had = ends.all.remove(key).is_some();
        ends.has_changed |= had;
    }
}

/// Tells who has what.
pub struct Told {
    writer: Writer,
    graph: Arc<Graph>,
    participant: Guid,
    last: Vec<u8>,
}

struct Nobody;
impl Listener for Nobody {}

impl Told {
    /// With nobody so far.
    pub fn open(participant: &Arc<Participant>, graph: &Arc<Graph>) -> Result<Told, String> {
        let qos = Qos { reliable: true, transient_local: true, depth: 1, ..Qos::default() };
        let writer = Writer::open(participant, &back_end::Place { topic: TOPIC, ty: TYPE, qos, user_data: "" }, Nobody)?;
        Ok(Told { writer, graph: Arc::clone(graph), participant: participant.guid(), last: Vec::new() })
    }

    /// Tells it, where it is not what was told.
    pub fn tell(&mut self, local: &Local) {
        let message = encode(self.participant, &nodes(local, &self.graph.ends().all));
        if message != self.last && self.writer.write(&[&message], None).is_some() {
            self.last = message;
        }
    }
}

/// By their names.
fn nodes(local: &Local, ends: &BTreeMap<Key, Both>) -> BTreeMap<String, Both> {
    let mut nodes: BTreeMap<String, Both> = local.nodes.iter().map(|name| (name.clone(), Both::default())).collect();
    for ((kind, name, way), both) in ends {
        let Some(channel) = local.channels.get(&(*kind, name.clone())) else { continue };
        // What goes out its publishers have, or its provider; what comes in its subscribers, or those who call.
        let of = if *way == Way::Out { &channel.havers } else { &channel.wanters };
        for node in of {
            let entities = nodes.entry(node.clone()).or_default();
            entities.readers.extend(&both.readers);
            entities.writers.extend(&both.writers);
        }
    }
    nodes
}

fn encode(participant: Guid, nodes: &BTreeMap<String, Both>) -> Vec<u8> {
    let mut message = vec![0, 1, 0, 0];
    message.extend(participant.0);
    put_number(&mut message, nodes.len());
    for (name, entities) in nodes {
        let (namespace, name) = name.rsplit_once('/').unwrap_or(("", name));
        put_text(&mut message, &format!("/{namespace}"));
        put_text(&mut message, name);
        for guids in [&entities.readers, &entities.writers] {
            put_number(&mut message, guids.len());
            message.extend(guids.iter().flat_map(|guid| guid.0));
        }
    }
    message
}

fn put_number(message: &mut Vec<u8>, number: usize) {
    // The encapsulation is of four bytes, so that places agree.
    message.resize(message.len().next_multiple_of(4), 0);
    message.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_text(message: &mut Vec<u8>, text: &str) {
    put_number(message, text.len() + 1);
    message.extend(text.as_bytes());
    message.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LocalChannel;
    use crate::protocol::Kind;

    fn guid(n: u8) -> Guid {
        Guid([n; 16])
    }

    #[test]
    fn a_node_has_what_goes_over_of_what_it_publishes_and_wants() {
        let graph = Graph::default();
        let (out, back) = ((Kind::Topic, "scan".to_owned(), Way::Out), (Kind::Topic, "scan".to_owned(), Way::In));
        graph.opened(&out, true, guid(1));
        graph.opened(&back, false, guid(2));
        let channel = LocalChannel { havers: vec!["lidar".to_owned()], wanters: vec!["arm/planner".to_owned()], ..LocalChannel::default() };
        let mut local = Local { nodes: vec!["lidar".to_owned(), "idle".to_owned()], ..Local::default() };
        local.channels.insert((Kind::Topic, "scan".to_owned()), channel);
        let told = nodes(&local, &graph.ends().all);
        assert_eq!(told["lidar"], Both { readers: vec![], writers: vec![guid(1)] });
        assert_eq!(told["arm/planner"], Both { readers: vec![guid(2)], writers: vec![] });
        assert_eq!(told["idle"], Both::default());
        graph.closed(&back);
        assert_eq!(nodes(&local, &graph.ends().all).get("arm/planner"), None);
    }

    #[test]
    fn it_is_encoded_as_rmw_dds_common_has_it() {
        let entities = Both { readers: vec![guid(2)], writers: vec![] };
        let message = encode(guid(9), &BTreeMap::from([("a/bc".to_owned(), entities)]));
        let expected = [
            &[0, 1, 0, 0][..],
            &[9; 16],
            &[1, 0, 0, 0],
            &[3, 0, 0, 0, b'/', b'a', 0, 0],
            &[3, 0, 0, 0, b'b', b'c', 0, 0],
            &[1, 0, 0, 0],
            &[2; 16],
            &[0, 0, 0, 0],
        ];
        assert_eq!(message, expected.concat());
    }
}
