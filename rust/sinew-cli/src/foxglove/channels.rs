//! The topics that clients are offered, as channels of the server.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use foxglove::{ChannelId, Context};
use sinew::Node;
use sinew::msg::Type;

use super::channel::Channel;
use super::flow::Flow;
use super::offer::{Offer, offers};
use super::wishes::Wishes;
use crate::beyond::Beyond;
use crate::domain::View;
use crate::output::shown;
use crate::patterns::Topics;

/// So many channels come or go at once: a client whose queue fills with the news of that would be sent away.
const AT_ONCE: usize = 8;

/// The topics that are served.
pub struct Channels {
    node: Node,
    context: Arc<Context>,
    wishes: Arc<Wishes>,
    topics: Topics,
    flow: Arc<Flow>,
    /// By the names of topics: one that comes here from another machine, or is there again when it is not here any more, is the same to clients.
    channels: BTreeMap<String, Channel>,
    /// Topics whose type nobody understands, and their signatures.
    skipped: BTreeSet<(String, String)>,
}

impl Channels {
    /// None yet.
    pub fn new(node: &Node, context: &Arc<Context>, wishes: &Arc<Wishes>, topics: Topics) -> Channels {
        Channels {
            node: node.clone(),
            context: Arc::clone(context),
            wishes: Arc::clone(wishes),
            topics,
            flow: Arc::default(),
            channels: BTreeMap::new(),
            skipped: BTreeSet::new(),
        }
    }

    /// What flowed so far.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Messages that were lost before they got here, or are too large.
    pub fn lost(&self) -> u64 {
        let now = self.channels.values().filter_map(Channel::subscriber).map(|subscriber| subscriber.statistics().missed);
        self.flow.lost() + now.sum::<u64>()
    }

    /// How many there are, and how many of them somebody looks at.
    pub fn count(&self) -> (usize, usize) {
        (self.channels.len(), self.channels.values().filter_map(Channel::subscriber).count())
    }

    /// Brings some of them up to date with what there is here and beyond. False: there is more to do.
    pub fn follow(&mut self, view: &View, beyond: &Beyond) -> bool {
        let mut left = AT_ONCE;
        let offers = offers(&self.topics, view, beyond);
        let is_gone = |(name, channel): &(&String, &Channel)| match offers.get(name.as_str()) {
            Some(offer) => offer.signature != channel.signature(),
            // While a link is down nobody tells of it, and who looks at it gets it when the link is there again.
            None => !channel.is_brought(),
        };
        let gone: Vec<String> = self.channels.iter().filter(is_gone).take(left).map(|(name, _)| name.clone()).collect();
        left -= gone.len();
        for name in &gone {
            self.channels.remove(name);
            self.wishes.with_rates(|rates| rates.remove(name));
        }
        if !gone.is_empty() {
            let there: HashSet<ChannelId> = self.channels.values().map(Channel::id).collect();
            self.wishes.retain(|channel| there.contains(&channel));
        }
        self.skipped.retain(|(name, signature)| offers.get(name.as_str()).is_some_and(|offer| offer.signature == signature));
        for (name, offer) in &offers {
            if let Some(channel) = self.channels.get_mut(*name) {
                // Else it is yet to go.
                if channel.signature() == offer.signature {
                    channel.follow(offer);
                }
            } else if left > 0 && !self.skipped.contains(&((*name).to_owned(), offer.signature.to_owned())) {
                left -= 1;
                self.open(name, offer, beyond);
            }
        }
        left > 0
    }

    fn open(&mut self, name: &str, offer: &Offer<'_>, beyond: &Beyond) {
        let opened = type_of(name, offer, beyond).and_then(|ty| Channel::new(&self.context, name, &ty, offer, &self.flow));
        match opened {
            Ok(channel) => {
                self.wishes.with_rates(|rates| rates.add(name));
                self.channels.insert(name.to_owned(), channel);
            }
            Err(why) => {
                log::warn!("topic '{}' is left out: {why}", shown(name));
                self.skipped.insert((name.to_owned(), offer.signature.to_owned()));
            }
        }
    }

    /// Subscribes to what clients look at, and to nothing else.
    pub fn subscribe(&mut self) {
        self.channels.values_mut().for_each(|channel| channel.subscribe(&self.node, &self.wishes));
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        self.wishes.with_rates(|rates| self.channels.keys().for_each(|name| rates.remove(name)));
    }
}

/// Fails with a sentence about the topic.
fn type_of(name: &str, offer: &Offer<'_>, beyond: &Beyond) -> Result<Type, String> {
    match beyond.topics.get(name).filter(|_| offer.here.is_none()) {
        Some(far) => far.ty(),
        None => offer.signature.parse().map_err(|why| format!("it has a signature that is none: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use sinew::{DomainTopic, NodeOptions, Qos};

    use super::super::rates::Rates;
    use super::*;
    use crate::beyond::Far;

    #[test]
    fn a_topic_whose_type_nobody_understands_is_left_out_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let domain = folder.path().join("domain").to_str().unwrap().to_owned();
        let node = Node::with_options("node", &NodeOptions { domain, by_caller: false }).unwrap();
        let wishes = Wishes::new(Rates::new(0.0));
        let topic = |id, name: &str, signature: &str| DomainTopic {
            id,
            name: name.to_owned(),
            type_name: String::new(),
            signature: signature.to_owned(),
            hash: [0; 16],
        };
        let (bad, good) = (topic(1, "bad", "robot/Image{width:"), topic(2, "good", "uint8"));
        let context = Context::new();
        let mut view = View::default();
        view.state.topics.extend([bad, good].map(|topic| (topic.id, topic)));
        let topics = crate::patterns::Patterns { topics: Vec::new(), exclude: Vec::new() }.topics().unwrap();
        let mut channels = Channels::new(&node, &context, &wishes, topics);
        let far =
            |signature: &str| Far { signature: signature.to_owned(), response: String::new(), offered: Qos::default(), at: Vec::new() };
        let mut beyond = Beyond::default();
        beyond.topics.extend([("far", far("uint8")), ("unknown", far("robot/Image"))].map(|(name, far)| (name.to_owned(), far)));
        assert!(channels.follow(&view, &beyond), "that is all");
        assert_eq!(channels.count(), (2, 0));
        let is_there = |topic: &str| context.get_channel_by_topic(topic).is_some();
        assert_eq!(["/good", "/bad", "/far", "/unknown"].map(is_there), [true, false, true, false]);
        assert_eq!(wishes.with_rates(|rates| rates.parameters(&[])).len(), 2);
    }
}
