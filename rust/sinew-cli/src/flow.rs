//! What flows: counts of one moment and of a later one.

use std::collections::HashMap;
use std::time::Instant;

use sinew::{DomainCounters, Id, Latency, PairCounts, PublisherCounts};

use crate::domain::{View, looks_on};
use crate::failure::Done;

/// Counts of one moment.
pub struct Moment {
    /// When.
    pub at: Instant,
    publishers: HashMap<Id, PublisherCounts>,
    pairs: HashMap<(Id, Id), PairCounts>,
}

/// What flowed on a topic between two moments, and what is held.
#[derive(Clone, Debug, Default)]
pub struct TopicFlow {
    /// That are there, without those that only look on.
    pub publishers: usize,
    /// Likewise.
    pub subscribers: usize,
    /// Messages a second.
    pub hz: f64,
    /// Of messages that were written into shared memory.
    pub bytes_per_second: f64,
    /// Of these; none: nothing was written.
    pub mean_bytes: Option<f64>,
    /// Of all its pairs.
    pub latency: Latency,
    /// Messages that subscribers keep, now.
    pub held: u64,
    /// Messages that were lost to subscribers, or not published.
    pub lost: u64,
    /// The same since the publishers and subscribers came.
    pub lost_ever: u64,
}

/// What a publisher published.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublisherFlow {
    /// Messages a second.
    pub hz: f64,
    /// Of messages that were written into shared memory.
    pub bytes_per_second: f64,
}

/// What flowed between a publisher and a subscriber.
#[derive(Clone, Debug, Default)]
pub struct PairFlow {
    /// Messages a second.
    pub hz: f64,
    /// Messages that were lost.
    pub lost: u64,
    /// Messages that the subscriber keeps, now.
    pub held: u64,
    /// How long they took.
    pub latency: Latency,
}

impl Moment {
    /// Now.
    pub fn of(counters: &DomainCounters) -> Done<Moment> {
        let counts = counters.read()?;
        Ok(Moment {
            at: Instant::now(),
            publishers: counts.publishers.into_iter().map(|counts| (counts.publisher, counts)).collect(),
            pairs: counts.pairs.into_iter().map(|counts| ((counts.publisher, counts.subscriber), counts)).collect(),
        })
    }

    /// What flowed on a topic since then. Of what was not there then, all that it has counted.
    pub fn topic(&self, view: &View, topic: Id, before: &Moment) -> TopicFlow {
        let seconds = (self.at - before.at).as_secs_f64();
        let (mut flow, mut messages, mut bytes) = (TopicFlow::default(), 0, 0);
        for end in view.endpoints(topic, true) {
            flow.publishers += usize::from(!looks_on(end));
            let Some(now) = self.publishers.get(&end.id) else { continue };
            let then = before.publishers.get(&end.id);
            messages += since(now.messages, then.map(|then| then.messages));
            bytes += since(now.bytes, then.map(|then| then.bytes));
            flow.lost += since(now.refused, then.map(|then| then.refused));
            flow.lost_ever += now.refused;
        }
        flow.subscribers = view.counted(topic, false);
        for pair in view.pairs(topic) {
            let key = (pair.publisher, pair.subscriber);
            let Some(now) = self.pairs.get(&key) else { continue };
            let of_pair = self.pair(key, before);
            flow.lost += of_pair.lost;
            flow.lost_ever += now.missed;
            flow.held += of_pair.held;
            flow.latency += &of_pair.latency;
        }
        flow.hz = messages as f64 / seconds;
        flow.bytes_per_second = bytes as f64 / seconds;
        flow.mean_bytes = (bytes > 0 && messages > 0).then(|| bytes as f64 / messages as f64);
        flow
    }

    /// What a publisher has published since then.
    pub fn publisher(&self, id: Id, before: &Moment) -> PublisherFlow {
        let Some(now) = self.publishers.get(&id) else { return PublisherFlow::default() };
        let (then, seconds) = (before.publishers.get(&id), (self.at - before.at).as_secs_f64());
        PublisherFlow {
            hz: since(now.messages, then.map(|then| then.messages)) as f64 / seconds,
            bytes_per_second: since(now.bytes, then.map(|then| then.bytes)) as f64 / seconds,
        }
    }

    /// What flowed between two since then.
    pub fn pair(&self, key: (Id, Id), before: &Moment) -> PairFlow {
        let Some(now) = self.pairs.get(&key) else { return PairFlow::default() };
        let then = before.pairs.get(&key);
        let messages = since(now.messages, then.map(|then| then.messages));
        PairFlow {
            hz: messages as f64 / (self.at - before.at).as_secs_f64(),
            lost: since(now.missed, then.map(|then| then.missed)),
            held: now.held,
            latency: then.map_or_else(|| now.latency.clone(), |then| now.latency.since(&then.latency)),
        }
    }
}

fn since(now: u64, then: Option<u64>) -> u64 {
    now.saturating_sub(then.unwrap_or(0))
}
