//! A topic of the domain that goes to the Zenoh network.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sinew::msg::Type;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::liveliness::LivelinessToken;
use zenoh::matching::MatchingListener;
use zenoh::pubsub::Publisher;
use zenoh::query::Queryable;
use zenoh::sample::Locality;

use super::attached::{Attached, Message, TypeTag};
use super::flow::{Beside, Flow, Payload};
use super::network::Place;
use super::{joined, kept, key, qos, said};
use crate::bridge::{Channel, Counted, Due, Look, opened, sum};
use crate::channels::{State, times};
use crate::link::Outgoing;

/// Announces the topic. The domain is read only while somebody there subscribes.
pub struct Outlet {
    // In the order in which they go.
    flow: Option<Flow>,
    /// What was counted of flows before.
    past: Counted,
    _keeper: Option<Keeper>,
    _listener: MatchingListener<()>,
    publisher: Arc<Publisher<'static>>,
    is_wanted: Arc<AtomicBool>,
    refused: Option<String>,
    place: Place,
    name: String,
    due: Arc<Mutex<Due>>,
    /// What is told of messages.
    said: Arc<Mutex<Message>>,
    ty: Type,
}

/// Answers those who ask for what was kept, and tells that it does.
struct Keeper {
    // Before what it tells of.
    _token: LivelinessToken,
    _queryable: Queryable<()>,
}

impl Keeper {
    fn open(place: &Place, name: &str, key: String, due: &Arc<Mutex<Due>>, telling: &Arc<Mutex<Message>>) -> Result<Keeper, String> {
        let (source, telling) = (place.drawn(), Arc::clone(telling));
        let asked = kept::Asked { at: key.clone(), key, name: name.to_owned(), due: Arc::clone(due), payload: payload() };
        let queryable = kept::answer(place, asked, move |outgoing| {
            Some(beside(&Message { source, is_kept: true, ..lock(&telling).clone() }, outgoing))
        })?;
        let token = place.session.liveliness().declare_token(key::keeper(&place.prefix, name, source));
        Ok(Keeper { _token: token.wait().map_err(|why| said(&why))?, _queryable: queryable })
    }
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
        let (said, shared) = (Arc::new(Mutex::new(message(place, due, &ty))), Arc::new(Mutex::new(due.clone())));
        let keeper = due.offer.transient_local.then(|| Keeper::open(place, name, key, &shared, &said)).transpose()?;
        Ok(Outlet {
            flow: None,
            past: Counted::default(),
            _keeper: keeper,
            _listener: listener,
            publisher: Arc::new(publisher),
            is_wanted,
            refused: None,
            place: place.clone(),
            name: name.to_owned(),
            due: shared,
            said,
            ty,
        })
    }

    fn flow(&self) -> sinew::Result<Flow> {
        let due = lock(&self.due).clone();
        let (opened, keeps, said) = (Instant::now(), due.offer.transient_local, Arc::clone(&self.said));
        *lock(&said) = message(&self.place, &due, &self.ty);
        Flow::open(&self.place, &self.name, &due, &self.publisher, payload(), move |outgoing, sequence| {
            let is_kept = keeps && outgoing.published < opened;
            beside(&Message { sequence, is_kept, ..lock(&said).clone() }, outgoing)
        })
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Messages go as they are.
fn payload() -> Payload {
    Arc::new(|parts| Some(joined(parts)))
}

/// What is told of each message of a topic, from a new source.
fn message(place: &Place, due: &Due, ty: &Type) -> Message {
    Message { ty: TypeTag::of(ty), origin: 0, source: place.drawn(), sequence: 0, is_kept: false, offer: due.offer.clone(), clock: 0 }
}

fn beside(message: &Message, outgoing: &Outgoing) -> Beside {
    let message = Message { origin: outgoing.origin, clock: times::now(), ..message.clone() };
    Beside { attachment: Attached::Message(message).encode(), timestamp: None }
}

impl Channel for Outlet {
    fn look(&mut self) {
        let is_wanted = self.is_wanted.load(Ordering::Relaxed); // relaxed: see above
        if !is_wanted {
            self.past = self.counted();
            self.flow = None;
            self.refused = None;
        } else if self.flow.is_none() {
            let flow = self.flow().map_err(|why| format!("'{}' cannot be opened in this domain: {why}", self.name));
            self.flow = opened(&mut self.refused, flow);
        }
    }

    fn has_gone(&self, since: Instant) -> bool {
        self.flow.as_ref().is_none_or(|flow| flow.has_gone(since))
    }

    fn give_up(&mut self) {
        if let Some(flow) = &self.flow {
            flow.give_up();
        }
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        match (&self.flow, &self.refused) {
            (Some(flow), _) => Some((State::Open, sum(self.past, flow.told()))),
            (None, Some(why)) => Some((State::Refused(why.clone()), self.past)),
            (None, None) => None,
        }
    }

    fn counted(&self) -> Counted {
        self.flow.as_ref().map_or(self.past, |flow| sum(self.past, flow.told()))
    }

    fn renew(&mut self, due: &Due) -> bool {
        let before = lock(&self.due).clone();
        if !before.differs_in_depth_alone(due) {
            return false;
        }
        if due.offer.depth <= before.offer.depth {
            return true;
        }
        *lock(&self.due) = due.clone();
        let is_renewed = self.flow.as_mut().is_none_or(|flow| flow.renew(due).is_ok());
        // Of another source, as those there take what is offered from the first message of each.
        *lock(&self.said) = message(&self.place, due, &self.ty);
        is_renewed
    }
}
