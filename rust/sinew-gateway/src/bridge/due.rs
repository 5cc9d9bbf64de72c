//! What is to be open between the domain and a network. Pure.

use std::collections::BTreeMap;

use sinew::Id;

use crate::domain::{Local, deeper};
use crate::protocol::{Kind, Offer};
use crate::rules::{Rules, Traffic};

/// Which way messages of a topic, or answers of a service, go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From the domain to the network.
    Out,
    /// From the network to the domain.
    In,
}

/// A channel, by what it is, its name, and its way.
pub type Key = (Kind, String, Way);

/// What it is like, and what must change for it to be closed and opened anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// As in [`LocalChannel`](crate::domain::LocalChannel).
    pub topic: Id,
    /// Of the topic, or of requests.
    pub signature: String,
    /// Of responses; of a topic empty.
    pub response: String,
    /// What is had, or wanted, in the domain.
    pub offer: Offer,
    /// How many of the messages that were kept are wanted in the domain; 0: all of them. None: none, or it goes out.
    pub kept: Option<u32>,
    /// How the rules want it done.
    pub traffic: Traffic,
}

impl Due {
    /// The same, whatever number the topic has.
    pub fn on(&self, topic: Id) -> Due {
        Due { topic, ..self.clone() }
    }

    /// Whether the same is due now, but for the number of the topic, and for how many messages are kept. All of them are neither before nor now.
    pub fn differs_in_depth_alone(&self, now: &Due) -> bool {
        let depth = now.offer.depth;
        let same = Due { offer: Offer { depth, ..self.offer.clone() }, ..self.on(now.topic) };
        same == *now && depth > 0 && self.offer.depth > 0
    }

    /// Of what is wanted, so much that it does for what is wanted now, too; and whether that takes more than it did so far. None: something else is due.
    pub fn doing_for(&self, now: &Due) -> Option<(Due, bool)> {
        if (Due { offer: now.offer.clone(), kept: now.kept, ..self.on(now.topic) }) != *now {
            return None;
        }
        let (before, offer) = (&self.offer, &now.offer);
        let depth = deeper(before.depth, offer.depth);
        let transient_local = before.transient_local || offer.transient_local;
        let kept = match (self.kept, now.kept) {
            (Some(before), Some(now)) => Some(deeper(before, now)),
            (before, now) => before.or(now),
        };
        // What comes is taken at once, so that a depth matters for what was kept, and where all is to be kept.
        let is_more = depth == 0 && before.depth > 0 || now.kept.is_some() && kept != self.kept;
        Some((Due { offer: Offer { depth, transient_local, ..offer.clone() }, kept, ..self.clone() }, is_more))
    }
}

/// All that the domain and the rules together give. The network as a whole is one peer, with this tag.
pub fn due(local: &Local, rules: &Rules, tag: &str) -> BTreeMap<Key, Due> {
    let mut all = BTreeMap::new();
    for ((kind, name), channel) in &local.channels {
        let decision = rules.decide(*kind, name, tag);
        let had = channel.had.as_ref().filter(|_| decision.symbol.lets_out()).map(|offer| (Way::Out, offer));
        let wanted = channel.wanted.as_ref().filter(|_| decision.symbol.lets_in()).map(|offer| (Way::In, offer));
        for (way, offer) in had.into_iter().chain(wanted) {
            let due = Due {
                topic: channel.topic,
                signature: channel.signature.clone(),
                response: channel.response.clone(),
                offer: offer.clone(),
                kept: if way == Way::In { channel.wanted_kept } else { None },
                traffic: decision.traffic.clone(),
            };
            all.insert((*kind, name.clone(), way), due);
        }
    }
    all
}
