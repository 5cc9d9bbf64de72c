//! A topic of the domain that goes to the Zenoh network.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sinew::msg::Type;
use sinew::raw::{Subscriber, SubscriberOptions};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::matching::MatchingListener;
use zenoh::pubsub::Publisher;
use zenoh::query::Queryable;
use zenoh::sample::Locality;

use super::attached::{Attached, Message, TypeTag};
use super::network::Place;
use super::{joined, kept, key, qos, said};
use crate::bridge::{Channel, Due, Look};
use crate::channels::{Reading, State, Taken, outgoing};
use crate::link::{Outgoing, Queue};
use crate::protocol::Packing;

/// Announces the topic. The domain is read only while somebody there subscribes.
pub struct Outlet {
    // In the order in which they go.
    flow: Option<Flow>,
    _kept: Option<Queryable<()>>,
    _listener: MatchingListener<()>,
    publisher: Arc<Publisher<'static>>,
    is_wanted: Arc<AtomicBool>,
    refused: Option<String>,
    place: Place,
    name: String,
    due: Due,
    ty: Type,
}

impl Outlet {
    /// `look` is called when [`Outlet::look`] is to be.
    pub fn open(place: &Place, name: &str, due: &Due, look: Look) -> Result<Outlet, String> {
        let ty: Type = due.signature.parse().map_err(|why| format!("its type cannot be read: {why}"))?;
        let key = key::topic(&place.prefix, name);
        let is_reliable = due.traffic.reliable || due.offer.depth == 0;
        let publisher = place
            .session
            .declare_publisher(key.clone())
            .encoding(Encoding::APPLICATION_CDR)
            .priority(qos::priority(due.traffic.priority))
            .congestion_control(qos::congestion(is_reliable))
            .allowed_destination(Locality::Remote)
            .wait()
            .map_err(|why| said(&why))?;
        let is_wanted = Arc::new(AtomicBool::new(false));
        let wanted = Arc::clone(&is_wanted);
        let listener = publisher.matching_listener().callback(move |status| {
            wanted.store(status.matching(), Ordering::Relaxed); // relaxed: what looks is told by a channel
            look();
        });
        let listener = listener.wait().map_err(|why| said(&why))?;
        let kept = due.offer.transient_local.then(|| kept::answer(place, &key, name, due, &TypeTag::of(&ty))).transpose()?;
        Ok(Outlet {
            flow: None,
            _kept: kept,
            _listener: listener,
            publisher: Arc::new(publisher),
            is_wanted,
            refused: None,
            place: place.clone(),
            name: name.to_owned(),
            due: due.clone(),
            ty,
        })
    }
}

impl Channel for Outlet {
    fn look(&mut self) {
        let is_wanted = self.is_wanted.load(Ordering::Relaxed); // relaxed: see above
        if !is_wanted {
            self.flow = None;
            self.refused = None;
        } else if self.flow.is_none() && self.refused.is_none() {
            match Flow::open(&self.place, &self.name, &self.due, &self.ty, &self.publisher) {
                Ok(flow) => self.flow = Some(flow),
                Err(why) => {
                    let text = format!("'{}' cannot be opened in this domain: {why}", self.name);
                    log::warn!("{text}");
                    self.refused = Some(text);
                }
            }
        }
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        match (&self.flow, &self.refused) {
            (Some(flow), _) => Some((State::Open, flow.told())),
            (None, Some(why)) => Some((State::Refused(why.clone()), (0, 0, 0))),
            (None, None) => None,
        }
    }
}

/// Messages on their way. Nothing here ever makes a publisher wait.
struct Flow {
    // First, so that nothing is pushed any more.
    subscriber: Subscriber,
    line: Arc<Line>,
    task: AbortHandle,
}

/// Between the domain's thread and the task that gives messages to Zenoh, which may block.
struct Line {
    queue: Mutex<Queue>,
    come: Notify,
    sent: AtomicU64,
    bytes: AtomicU64,
    /// Too large, or not taken by Zenoh.
    refused: AtomicU64,
}

impl Flow {
    fn open(place: &Place, name: &str, due: &Due, ty: &Type, publisher: &Arc<Publisher<'static>>) -> sinew::Result<Flow> {
        let opened = Instant::now();
        let reading = Reading::of(&due.offer, true, &due.traffic);
        let line = Arc::new(Line {
            queue: Mutex::new(Queue::new(reading.keep, due.traffic.max_rate, opened)),
            come: Notify::new(),
            sent: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        });
        let (to, lifespan) = (Arc::clone(&line), due.offer.lifespan);
        let taken = Taken { max_message: place.max_message, compression: 0 };
        let options = SubscriberOptions { ghost: true, ..SubscriberOptions::default() };
        let subscriber =
            Subscriber::with_callback(&place.node, name, &due.signature, &reading.qos, options, move |frame| {
                match outgoing(frame, lifespan, Packing::None, taken) {
                    Some(message) => to.push(message),
                    None => _ = to.refused.fetch_add(1, Ordering::Relaxed),
                }
            })?;
        let (from, publisher) = (Arc::clone(&line), Arc::clone(publisher));
        let message =
            Message { ty: TypeTag::of(ty), origin: 0, source: place.drawn(), sequence: 0, is_kept: false, offer: due.offer.clone() };
        let keeps = reading.qos.transient_local;
        let task = place.runtime.spawn(async move {
            loop {
                let (sequence, next) = from.next().await;
                let is_kept = keeps && next.published < opened;
                from.put(&publisher, next, Message { sequence, is_kept, ..message.clone() });
            }
        });
        Ok(Flow { subscriber, line, task: task.abort_handle() })
    }

    fn told(&self) -> (u64, u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let lost = self.line.queue().dropped() + self.subscriber.statistics().missed + now(&self.line.refused);
        (now(&self.line.sent), now(&self.line.bytes), lost)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Line {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Outgoing) {
        self.queue().push(message);
        self.come.notify_one();
    }

    /// The next message, with its number, when it may go.
    async fn next(&self) -> (u64, Outgoing) {
        loop {
            let when = {
                let (now, mut queue) = (Instant::now(), self.queue());
                // Zenoh says nothing of how fast the link is.
                if let Some(next) = queue.take(now, u64::MAX) {
                    return (next.sequence, next.message);
                }
                queue.when(now)
            };
            match when {
                Some(when) => tokio::time::sleep_until(when.into()).await,
                None => self.come.notified().await,
            }
        }
    }

    fn put(&self, publisher: &Publisher<'_>, outgoing: Outgoing, message: Message) {
        let size = outgoing.unpacked;
        let attached = Attached::Message(Message { origin: outgoing.origin, ..message }).encode();
        let put = publisher.put(joined(outgoing.parts)).attachment(attached);
        match tokio::task::block_in_place(|| put.wait()) {
            Ok(()) => {
                self.sent.fetch_add(1, Ordering::Relaxed);
                self.bytes.fetch_add(u64::from(size), Ordering::Relaxed);
            }
            Err(why) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                log::debug!("a message on '{}' could not be sent: {}", publisher.key_expr(), said(&why));
            }
        }
    }
}
