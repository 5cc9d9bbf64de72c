//! Topics as channels of the server, with a subscriber each while somebody looks.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use foxglove::{ChannelId, Context, PartialMetadata, RawChannel, Schema};
use sinew::msg::{Type, schema};
use sinew::raw::{Frame, MessageInfo, Subscriber, SubscriberOptions};
use sinew::{DomainTopic, ErrorKind, Ghost, Id, Node, Qos};

use super::wishes::Wishes;
use crate::clock::Clock;
use crate::domain::{View, is_of_service};
use crate::output::shown;
use crate::patterns::Topics;

/// So many channels come or go at once: a client whose queue fills with the news of that would be sent away.
const AT_ONCE: usize = 8;
/// No client has use for messages that are larger, and their copies would take the robot's memory.
const LARGEST: usize = 64 << 20;
/// Where frames are copied: not on the thread on which the domain is followed.
const FRAME_THREAD: u32 = 1;

/// The topics that are served.
pub struct Channels {
    node: Node,
    context: Arc<Context>,
    wishes: Arc<Wishes>,
    topics: Topics,
    flow: Arc<Flow>,
    channels: BTreeMap<Id, Channel>,
    /// Topics whose type nobody understands.
    skipped: BTreeSet<Id>,
}

struct Channel {
    topic: String,
    signature: String,
    raw: Arc<RawChannel>,
    /// Behind each message.
    padding: &'static [u8],
    /// All publishers keep messages for who comes late.
    keeps: bool,
    /// What the subscriber is for.
    wish: Option<Wish>,
    subscriber: Option<Subscriber>,
}

/// What a subscriber is to be like. Where one of another kind is wanted, another is made.
#[derive(Clone, Debug, PartialEq)]
struct Wish {
    max_rate: f64,
    keeps: bool,
    /// Where messages are kept, each client is to get them that subscribes: 0 where they are not.
    subscriptions: u64,
}

/// What flowed to clients.
#[derive(Default)]
pub struct Flow {
    /// Messages.
    pub messages: AtomicU64,
    /// Of them.
    pub bytes: AtomicU64,
    /// Messages that were lost before they got here, of subscribers that are gone, and those that are too large.
    lost: AtomicU64,
    /// One for all messages, so that a clock that is set does not order them anew.
    clock: OnceLock<Clock>,
}

impl Flow {
    /// When a message was published, in nanoseconds since 1970.
    fn log_time(&self, info: &MessageInfo) -> u64 {
        self.clock.get_or_init(Clock::new).since_1970(info.source_time_ns)
    }
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
        let now = self.channels.values().filter_map(|channel| channel.subscriber.as_ref()).map(|subscriber| subscriber.statistics().missed);
        self.flow.lost.load(Ordering::Relaxed) + now.sum::<u64>()
    }

    /// How many there are, and how many of them somebody looks at.
    pub fn count(&self) -> (usize, usize) {
        (self.channels.len(), self.channels.values().filter(|channel| channel.subscriber.is_some()).count())
    }

    /// Brings some of them up to date with what there is. False: there is more to do.
    pub fn follow(&mut self, view: &View) -> bool {
        let mut left = AT_ONCE;
        let is_gone = |id: &&Id| !view.state.topics.contains_key(id);
        let gone: Vec<Id> = self.channels.keys().filter(is_gone).take(left).copied().collect();
        left -= gone.len();
        for id in &gone {
            if let Some(channel) = self.channels.remove(id) {
                self.close(channel);
            }
        }
        if !gone.is_empty() {
            let there: HashSet<ChannelId> = self.channels.values().map(|channel| channel.raw.id()).collect();
            self.wishes.retain(|channel| there.contains(&channel));
        }
        self.skipped.retain(|id| view.state.topics.contains_key(id));
        for topic in view.topics() {
            if let Some(channel) = self.channels.get_mut(&topic.id) {
                channel.keeps = view.keeps(topic.id);
            } else if left > 0 && self.is_new(topic) {
                left -= 1;
                self.open(topic, view.keeps(topic.id));
            }
        }
        left > 0
    }

    fn is_new(&self, topic: &DomainTopic) -> bool {
        !is_of_service(&topic.name) && self.topics.has(&topic.name) && !self.skipped.contains(&topic.id)
    }

    fn open(&mut self, topic: &DomainTopic, keeps: bool) {
        match Channel::new(&self.context, topic, keeps) {
            Ok(channel) => {
                self.wishes.with_rates(|rates| rates.add(&topic.name));
                self.channels.insert(topic.id, channel);
            }
            Err(why) => {
                log::warn!("topic '{}' is left out: {why}", shown(&topic.name));
                self.skipped.insert(topic.id);
            }
        }
    }

    fn close(&self, mut channel: Channel) {
        channel.unsubscribe(&self.flow);
        channel.raw.close();
        self.wishes.with_rates(|rates| rates.remove(&channel.topic));
    }

    /// Subscribes to what clients look at, and to nothing else.
    pub fn subscribe(&mut self) {
        for channel in self.channels.values_mut() {
            let wish = channel.raw.has_sinks().then(|| Wish {
                max_rate: self.wishes.with_rates(|rates| rates.of(&channel.topic)),
                keeps: channel.keeps,
                subscriptions: if channel.keeps { self.wishes.subscriptions(channel.raw.id()) } else { 0 },
            });
            if wish != channel.wish {
                channel.unsubscribe(&self.flow);
                if let Some(wish) = &wish {
                    channel.subscribe(&self.node, wish, &self.flow);
                }
                channel.wish = wish;
            }
        }
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        while let Some((_, channel)) = self.channels.pop_first() {
            self.close(channel);
        }
    }
}

/// As Foxglove wants it.
pub fn schema_of(ty: &Type) -> Schema {
    let schema = schema::of(ty);
    Schema::new(schema.name, schema.encoding, schema.text.into_bytes())
}

impl Channel {
    fn new(context: &Arc<Context>, topic: &DomainTopic, keeps: bool) -> Result<Channel, String> {
        let ty: Type = topic.signature.parse().map_err(|why| format!("it has a signature that is none: {why}"))?;
        let channel = context.channel_builder(format!("/{}", topic.name)).message_encoding("cdr").schema(schema_of(&ty));
        let raw = channel.build_raw().map_err(|why| why.to_string())?;
        let (topic, signature) = (topic.name.clone(), topic.signature.clone());
        Ok(Channel { topic, signature, raw, padding: schema::padding(&ty), keeps, wish: None, subscriber: None })
    }

    /// Where that fails, it is not tried again before something else is wanted.
    fn subscribe(&mut self, node: &Node, wish: &Wish, flow: &Arc<Flow>) {
        let qos = Qos { transient_local: wish.keeps, ..Qos::default() };
        let options = SubscriberOptions {
            max_rate: wish.max_rate,
            ghost: Ghost::Observer,
            execution_thread: FRAME_THREAD,
            ..SubscriberOptions::default()
        };
        let forward = forward(Arc::clone(&self.raw), self.padding, Arc::clone(flow));
        match Subscriber::with_callback(node, &self.topic, &self.signature, &qos, options, forward) {
            Ok(subscriber) => self.subscriber = Some(subscriber),
            // Its channel goes as soon as the domain says so.
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            Err(error) => log::warn!("topic '{}' cannot be subscribed to: {error}", shown(&self.topic)),
        }
    }

    fn unsubscribe(&mut self, flow: &Flow) {
        if let Some(subscriber) = self.subscriber.take() {
            flow.lost.fetch_add(subscriber.statistics().missed, Ordering::Relaxed);
        }
        self.wish = None;
    }
}

/// Gives frames to the clients of a channel, which never wait: what the queue of a slow one has no room for pushes the oldest out of it.
fn forward(channel: Arc<RawChannel>, padding: &'static [u8], flow: Arc<Flow>) -> impl FnMut(Frame) + Send + 'static {
    let (mut joined, mut is_told) = (Vec::new(), false);
    move |frame| {
        let size = frame.size();
        if size > LARGEST {
            flow.lost.fetch_add(1, Ordering::Relaxed);
            if !std::mem::replace(&mut is_told, true) {
                log::warn!("messages of {} are left out that have more than {LARGEST} bytes: one has {size}", shown(channel.topic()));
            }
            return;
        }
        let mut parts = frame.extents();
        let stream = match (parts.len(), padding) {
            (1, []) => parts.next().unwrap_or_default(),
            _ => {
                joined.clear();
                parts.chain([padding]).for_each(|part| joined.extend_from_slice(part));
                &joined[..]
            }
        };
        channel.log_with_meta(stream, PartialMetadata { log_time: Some(flow.log_time(&frame.info())) });
        flow.messages.fetch_add(1, Ordering::Relaxed);
        flow.bytes.fetch_add(size as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use sinew::NodeOptions;

    use super::super::rates::Rates;
    use super::*;

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
        let Err(complaint) = Channel::new(&context, &bad, false) else { panic!("it has none") };
        assert!(complaint.starts_with("it has a signature that is none: "), "{complaint}");

        let mut view = View::default();
        view.state.topics.extend([bad, good].map(|topic| (topic.id, topic)));
        let topics = crate::patterns::Patterns { topics: Vec::new(), exclude: Vec::new() }.topics().unwrap();
        let mut channels = Channels::new(&node, &context, &wishes, topics);
        assert!(channels.follow(&view), "that is all");
        assert_eq!(channels.count(), (1, 0));
        assert!(context.get_channel_by_topic("/good").is_some() && context.get_channel_by_topic("/bad").is_none());
        assert_eq!(wishes.with_rates(|rates| rates.parameters(&[])).len(), 1);
    }
}
