//! A topic as a channel of the server, with a subscriber while somebody looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foxglove::{ChannelId, Context, PartialMetadata, RawChannel, Schema};
use sinew::msg::{Type, schema};
use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{ErrorKind, Ghost, Id, Node, Qos};

use super::flow::Flow;
use super::offer::Offer;
use super::wishes::Wishes;
use crate::output::shown;

/// No client has use for messages that are larger, and their copies would take the robot's memory.
const LARGEST: usize = 64 << 20;
/// Where frames are copied: not on the thread on which the domain is followed.
const FRAME_THREAD: u32 = 1;

/// A channel. Closed when it is dropped.
pub struct Channel {
    topic: String,
    signature: String,
    raw: Arc<RawChannel>,
    /// Behind each message.
    padding: &'static [u8],
    here: Option<Id>,
    /// Only other machines had it when somebody began to look at it: that goes on when it comes to be here, too.
    is_meant_far: bool,
    keeps: bool,
    /// What the subscriber is for.
    wish: Option<Wish>,
    subscriber: Option<Subscriber>,
    /// Nothing that the subscriber gets is for clients any more.
    is_over: Arc<AtomicBool>,
    flow: Arc<Flow>,
}

/// What a subscriber is to be like. Where one of another kind is wanted, another is made.
#[derive(Clone, Debug, PartialEq)]
struct Wish {
    max_rate: f64,
    keeps: bool,
    /// Where messages are kept, each client is to get them that subscribes: 0 where they are not.
    subscriptions: u64,
    source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// The topic of this id, at which it only looks.
    Here(Id),
    /// Another machine. For that to send it, somebody here has to want it: a ghost does not.
    Brought,
}

impl Channel {
    /// Clients are told of it.
    pub fn new(context: &Arc<Context>, topic: &str, ty: &Type, offer: &Offer<'_>, flow: &Arc<Flow>) -> Result<Channel, String> {
        let channel = context.channel_builder(format!("/{topic}")).message_encoding("cdr").schema(schema_of(ty));
        Ok(Channel {
            topic: topic.to_owned(),
            signature: offer.signature.to_owned(),
            raw: channel.build_raw().map_err(|why| why.to_string())?,
            padding: schema::padding(ty),
            here: offer.here,
            is_meant_far: false,
            keeps: offer.keeps,
            wish: None,
            subscriber: None,
            is_over: Arc::default(),
            flow: Arc::clone(flow),
        })
    }

    /// As the server calls it.
    pub fn id(&self) -> ChannelId {
        self.raw.id()
    }

    /// Of the topic.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// Somebody looks at it.
    pub fn subscriber(&self) -> Option<&Subscriber> {
        self.subscriber.as_ref()
    }

    /// It comes here for a client.
    pub fn is_brought(&self) -> bool {
        self.wish.as_ref().is_some_and(|wish| wish.source == Source::Brought)
    }

    /// Where it is now, and how.
    pub fn follow(&mut self, offer: &Offer<'_>) {
        (self.here, self.keeps) = (offer.here, offer.keeps);
    }

    /// Subscribes to it as clients want it, and no more when they do not. Where that fails, it is not tried again before something else is wanted.
    pub fn subscribe(&mut self, node: &Node, wishes: &Wishes) {
        if self.wish.is_none() {
            self.is_meant_far = self.here.is_none();
        }
        let wish = self.raw.has_sinks().then(|| Wish {
            max_rate: wishes.with_rates(|rates| rates.of(&self.topic)),
            keeps: self.keeps,
            subscriptions: if self.keeps { wishes.subscriptions(self.raw.id()) } else { 0 },
            source: self.here.filter(|_| !self.is_meant_far).map_or(Source::Brought, Source::Here),
        });
        if wish == self.wish {
            return;
        }
        self.is_over.store(true, Ordering::Relaxed);
        // It goes when the next one is there, so that a gateway does not end what is wanted on.
        let before = self.subscriber.take();
        if let Some(wish) = &wish {
            self.is_over = Arc::default();
            self.subscriber = self.subscriber_for(wish, node);
        }
        self.wish = wish;
        self.count(before);
    }

    fn subscriber_for(&self, wish: &Wish, node: &Node) -> Option<Subscriber> {
        let qos = Qos { transient_local: wish.keeps, ..Qos::default() };
        let ghost = if wish.source == Source::Brought { Ghost::No } else { Ghost::Observer };
        let options = SubscriberOptions { max_rate: wish.max_rate, ghost, execution_thread: FRAME_THREAD, ..SubscriberOptions::default() };
        let mut forward = forward(Arc::clone(&self.raw), self.padding, Arc::clone(&self.flow));
        let is_over = Arc::clone(&self.is_over);
        let on_frame = move |frame| {
            if !is_over.load(Ordering::Relaxed) {
                forward(frame);
            }
        };
        match Subscriber::with_callback(node, &self.topic, &self.signature, &qos, options, on_frame) {
            Ok(subscriber) => Some(subscriber),
            // It is gone, as the domain says soon.
            Err(error) if error.kind() == ErrorKind::Unavailable => None,
            Err(error) => {
                log::warn!("topic '{}' cannot be subscribed to: {error}", shown(&self.topic));
                None
            }
        }
    }

    fn count(&self, subscriber: Option<Subscriber>) {
        if let Some(subscriber) = subscriber {
            self.flow.lose(subscriber.statistics().missed);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let subscriber = self.subscriber.take();
        self.count(subscriber);
        self.raw.close();
    }
}

/// As Foxglove wants it.
pub fn schema_of(ty: &Type) -> Schema {
    let schema = schema::of(ty);
    Schema::new(schema.name, schema.encoding, schema.text.into_bytes())
}

/// Gives frames to the clients of a channel, which never wait: what the queue of a slow one has no room for pushes the oldest out of it.
fn forward(channel: Arc<RawChannel>, padding: &'static [u8], flow: Arc<Flow>) -> impl FnMut(Frame) + Send + 'static {
    let (mut joined, mut is_told) = (Vec::new(), false);
    move |frame| {
        let size = frame.size();
        if size > LARGEST {
            flow.lose(1);
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
        flow.count(size);
    }
}
