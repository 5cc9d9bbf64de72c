//! A topic of the domain that goes to ROS 1.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use sinew::raw::{Frame, MessageInfo};

use super::line::Room;
use super::names;
use super::network::Place;
use super::offered::Offered;
use super::types::Said;
use crate::bridge::{At, Channel, Counted, Due, Look, Source, note};
use crate::channels::{Reading, State, published};

/// Execution threads on which messages are made, so that a small one need not wait behind a large one of another topic.
const THREADS: u32 = 4;
/// The flow that all share who get what is published while they are there.
const SHARED: u64 = 0;

/// Offers the topic. The domain is read only while somebody there subscribes: once for all of them, or, where something is kept for those who come late, once for each, so that each gets that first.
pub struct Outlet {
    // First, so that nothing is pushed any more.
    flows: BTreeMap<u64, Source>,
    /// What flows before have missed.
    missed: u64,
    offered: Arc<Offered>,
    said: Said,
    refused: Option<String>,
    place: Place,
    name: String,
    topic: String,
    due: Due,
}

/// Where messages of a flow go.
type To = Box<dyn Fn(Bytes, Option<Instant>) + Send>;

impl Outlet {
    /// `look` is called when [`Outlet::look`] is to be.
    pub fn open(place: &Place, name: &str, due: &Due, look: Look) -> Result<Outlet, String> {
        let ty = place.types.of(&due.signature)?;
        let said = ty.said.clone()?;
        let topic = names::topic(name);
        let room = Room::of(&Reading::of(&due.offer, true, &due.traffic));
        let offered = Arc::new(Offered::new(topic.clone(), ty, due.offer.transient_local, room, look));
        place.ends.offer(&topic, Arc::clone(&offered));
        let (flows, missed, place, name, due) = (BTreeMap::new(), 0, place.clone(), name.to_owned(), due.clone());
        Ok(Outlet { flows, missed, offered, said, refused: None, place, name, topic, due })
    }

    fn flow(&self, to: To) -> sinew::Result<Source> {
        let (due, most) = (&self.due, self.place.max_message);
        let mut hasher = DefaultHasher::new();
        self.name.hash(&mut hasher);
        let at = At {
            node: self.place.node.clone(),
            name: self.name.clone(),
            signature: due.signature.clone(),
            max_rate: due.traffic.max_rate.unwrap_or_default(),
            execution_thread: (hasher.finish() % u64::from(THREADS)) as u32,
        };
        let reading = Reading::of(&due.offer, true, &due.traffic);
        let (said, counts, lifespan, mut seq) = (self.said.clone(), Arc::clone(self.offered.counts()), due.offer.lifespan, 0_u32);
        let take = move |frame: Frame, info: &MessageInfo| match message(&frame, &said, seq)
            .filter(|message| message.len() as u64 <= most + LENGTH as u64)
        {
            Some(message) => {
                seq = seq.wrapping_add(1);
                to(message, lifespan.map(|lifespan| published(info) + lifespan));
            }
            None => counts.lose(1),
        };
        Source::open(at, &reading.qos, take)
    }
}

impl Channel for Outlet {
    fn look(&mut self) {
        let lines = self.offered.lines();
        let wanted: BTreeSet<u64> =
            if self.due.offer.transient_local { lines.keys().copied().collect() } else { lines.keys().take(1).map(|_| SHARED).collect() };
        let gone: Vec<u64> = self.flows.keys().copied().filter(|number| !wanted.contains(number)).collect();
        for number in gone {
            self.missed += self.flows.remove(&number).map_or(0, Source::end);
        }
        let mut refused = None;
        for number in wanted {
            if self.flows.contains_key(&number) {
                continue;
            }
            let to: To = match lines.get(&number).cloned() {
                Some(line) => Box::new(move |message, expires| line.push(message, expires)),
                None => {
                    let offered = Arc::clone(&self.offered);
                    Box::new(move |message, expires| offered.push(&message, expires))
                }
            };
            match self.flow(to) {
                Ok(flow) => _ = self.flows.insert(number, flow),
                Err(why) => refused = Some(format!("'{}' cannot be opened in this domain: {why}", self.name)),
            }
        }
        note(&mut self.refused, refused);
    }

    fn has_gone(&self, since: Instant) -> bool {
        self.flows.values().all(|flow| flow.has_taken_all(since)) && self.offered.lines().values().all(|line| line.is_through())
    }

    fn give_up(&mut self) {
        self.flows.values().for_each(Source::give_up);
        self.offered.close();
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let state = match (self.flows.is_empty(), self.refused.clone().or_else(|| self.offered.refused())) {
            (false, None) => State::Open,
            (false, Some(why)) => State::OpenBut(why),
            (true, Some(why)) => State::Refused(why),
            (true, None) => return None,
        };
        Some((state, self.counted()))
    }

    fn counted(&self) -> Counted {
        let (messages, bytes, lost) = self.offered.counts().told();
        let missed: u64 = self.flows.values().map(Source::missed).sum();
        (messages, bytes, lost + self.missed + missed)
    }

    fn renew(&mut self, due: &Due) -> bool {
        if !self.due.differs_in_depth_alone(due) {
            return false;
        }
        if due.offer.depth <= self.due.offer.depth {
            return true;
        }
        self.due = due.clone();
        let reading = Reading::of(&due.offer, true, &due.traffic);
        self.offered.widen(Room::of(&reading));
        Source::renew(self.flows.values_mut(), &reading.qos).is_ok()
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.place.ends.withdraw(&self.topic);
        self.offered.close();
    }
}

/// Bytes of the length that stands before a message.
const LENGTH: usize = 4;
/// More than a message of ROS 1 has beyond one of sinew: almost always it is its header's number.
const MORE: usize = 64;

/// As it goes to ROS 1, with its length before it. None: it is none of its type.
fn message(frame: &Frame, said: &Said, seq: u32) -> Option<Bytes> {
    let mut message = Vec::<u8>::with_capacity(LENGTH + frame.size() + MORE);
    message.extend([0; LENGTH]);
    let written = frame.reader().and_then(|reader| said.plan.write_message(reader, seq, &mut message));
    if let Err(why) = written {
        log::debug!("a message of '{}' is none of its type: {why}", frame.info().publisher);
        return None;
    }
    let size = u32::try_from(message.len() - LENGTH).ok()?;
    message[..LENGTH].copy_from_slice(&size.to_le_bytes());
    Some(message.into())
}
