//! Topics that are recorded, and their messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sinew::msg::{Type, schema};
use sinew::raw::Frame;
use sinew::{DomainTopic, Qos};
use sinew_bag::{Stamp, Topic, qos};

use crate::clock::Clock;
use crate::domain::View;

/// A topic of the domain, as files describe it.
#[derive(Debug)]
pub struct Source {
    /// Another one of each.
    pub number: usize,
    /// As the domain calls it.
    pub name: String,
    pub ty: Type,
    // relaxed: nothing else goes by it.
    keeps: AtomicUsize,
    /// As files call it.
    pub described: Topic,
    /// To be written behind each message.
    pub padding: &'static [u8],
}

/// A message that is to be written.
pub struct Received {
    pub source: Arc<Source>,
    pub frame: Frame,
}

impl Source {
    /// With the quality of service that its publishers offer now.
    pub fn new(number: usize, name: &str, signature: &str, offered: &[Qos]) -> Result<Source, String> {
        let ty: Type = signature.parse().map_err(|why| format!("its signature is none: {why}"))?;
        let schema = schema::of(&ty);
        let described = Topic {
            name: format!("/{name}"),
            message_encoding: "cdr".to_owned(),
            type_name: schema.name,
            schema_encoding: schema.encoding.to_owned(),
            schema: schema.text,
            metadata: [(qos::OFFERED_QOS.to_owned(), qos::to_yaml(offered).map_err(|why| why.to_string())?)].into(),
        };
        let keeps = AtomicUsize::new(most_kept(offered));
        Ok(Source { number, name: name.to_owned(), keeps, padding: schema::padding(&ty), ty, described })
    }

    /// Of those that it has now, one may keep more than the ones before.
    pub fn offer(&self, offered: &[Qos]) {
        self.keeps.fetch_max(most_kept(offered), Ordering::Relaxed);
    }

    /// So many messages its publishers keep for those who come late.
    pub fn keeps(&self) -> usize {
        self.keeps.load(Ordering::Relaxed)
    }
}

fn most_kept(offered: &[Qos]) -> usize {
    const DEEPEST: u32 = 512;
    let depth = |qos: &Qos| if qos.keep_all { DEEPEST } else { qos.depth };
    offered.iter().filter(|qos| qos.transient_local).map(depth).max().unwrap_or(0) as usize
}

/// By the publishers of a topic.
pub fn offered(view: &View, topic: &DomainTopic) -> Vec<Qos> {
    let publishers = view.endpoints(topic.id, true);
    let offered = publishers.map(|publisher| Qos {
        depth: publisher.depth,
        keep_all: publisher.depth == 0,
        reliable: publisher.reliable,
        transient_local: publisher.transient_local,
        manual_by_topic: publisher.manual_by_topic,
        deadline: publisher.deadline,
        lifespan: publisher.lifespan,
        lease: publisher.lease,
    });
    offered.collect()
}

impl Received {
    /// As files have it.
    pub fn stamp(&self, clock: &Clock) -> Stamp {
        let info = self.frame.info();
        Stamp {
            // Files have 32 bits for it.
            sequence: info.sequence as u32,
            log_time: clock.since_1970(info.receive_time_ns),
            publish_time: clock.since_1970(info.source_time_ns),
        }
    }
}
