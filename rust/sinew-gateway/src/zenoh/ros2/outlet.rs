//! A topic of the domain that goes to nodes of rmw_zenoh.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use zenoh::liveliness::LivelinessToken;
use zenoh::matching::MatchingListener;
use zenoh::pubsub::Publisher;
use zenoh::query::Queryable;
use zenoh::sample::Locality;
use zenoh::time::{NTP64, Timestamp};
use zenoh::{Session, Wait};

use super::attachment::Attachment;
use super::graph::OwnGid;
use super::network::Place;
use super::stamps::{Stamp, Stamps};
use super::token::Kind;
use super::{names, time_ns};
use crate::bridge::{Channel, Counted, Due, Key, Look, opened, sum};
use crate::channels::State;
use crate::link::Outgoing;
use crate::ros2::form::Form;
use crate::ros2::qos;
use crate::ros2::types::RosType;
use crate::zenoh::flow::{Beside, Flow, Payload, padded};
use crate::zenoh::qos::{congestion, priority};
use crate::zenoh::{kept, said};

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
    /// What somebody there wants of it that is not as it is here.
    lacking: Option<String>,
    stamping: Arc<Stamping>,
    place: Place,
    key: Key,
    due: Arc<Mutex<Due>>,
    form: Form,
    ty: RosType,
}

/// Answers those who come late, and lets them know.
struct Keeper {
    _queryable: Queryable<()>,
    _token: LivelinessToken,
}

impl Keeper {
    fn open(
        place: &Place,
        data: String,
        key: &Key,
        due: &Arc<Mutex<Due>>,
        payload: Payload,
        stamping: &Arc<Stamping>,
    ) -> Result<Keeper, String> {
        let session = &place.zenoh.session;
        let at = names::keeper(&data, &session.zid().to_string());
        let asked = kept::Asked { at: at.clone(), key: data, name: key.1.clone(), due: Arc::clone(due), payload };
        let stamping = Arc::clone(stamping);
        let queryable = kept::answer(&place.zenoh, asked, move |outgoing| stamping.beside_kept(outgoing))?;
        let token = session.liveliness().declare_token(at).wait().map_err(|why| said(&why))?;
        Ok(Keeper { _queryable: queryable, _token: token })
    }
}

/// What stands beside messages.
struct Stamping {
    session: Session,
    gid: OwnGid,
    stamps: Arc<Mutex<Stamps>>,
}

impl Stamping {
    fn stamps(&self) -> MutexGuard<'_, Stamps> {
        self.stamps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When it was published, and the time now.
    fn times(&self, outgoing: &Outgoing) -> (i64, u64) {
        (time_ns(outgoing.published.elapsed()), self.session.new_timestamp().get_time().as_u64())
    }

    fn beside(&self, outgoing: &Outgoing) -> Beside {
        self.told(self.stamps().of(outgoing.origin, outgoing.published, &|| self.times(outgoing)))
    }

    fn beside_kept(&self, outgoing: &Outgoing) -> Option<Beside> {
        let stamp = self.stamps().of_kept(outgoing.origin, outgoing.published, &|| self.times(outgoing));
        stamp.map(|stamp| self.told(stamp))
    }

    fn told(&self, stamp: Stamp) -> Beside {
        let attachment = Attachment { sequence: stamp.sequence, time_ns: stamp.time_ns, gid: self.gid.get() };
        let id = *self.session.new_timestamp().get_id();
        Beside { attachment: attachment.encode(), timestamp: Some(Timestamp::new(NTP64(stamp.order), id)) }
    }
}

fn payload(form: &Form, ty: &RosType) -> Payload {
    let (form, ty) = (form.clone(), ty.clone());
    Arc::new(move |parts| match &form {
        Form::Same => Some(padded(parts, ty.padding())),
        other => other.write(parts.iter().map(|part| &part[..]), &ty, |parts| parts.concat().into()),
    })
}

impl Outlet {
    /// `look` is called when [`Outlet::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Outlet, String> {
        let (form, ty) = Form::of(&place.types, &place.actions, &key.1, &due.signature)?;
        // Of which it is offered as much as it is there.
        let due = &Due { offer: form.offer_there(&due.offer), ..due.clone() };
        let data = names::data(place.domain_id, &key.1, &ty.dds, &ty.hash);
        let is_reliable = due.traffic.reliable || due.offer.depth == 0;
        let session = &place.zenoh.session;
        let publisher = session
            .declare_publisher(data.clone())
            .priority(priority(due.traffic.priority))
            .congestion_control(congestion(is_reliable))
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
        let gid = place.graph.opened(key, (&key.1, &ty.dds, &ty.hash), qos::of_writer(&due.offer));
        let stamping = Arc::new(Stamping { session: session.clone(), gid, stamps: place.stamped.of(&data) });
        let shared = Arc::new(Mutex::new(due.clone()));
        let keeper = due.offer.transient_local.then(|| Keeper::open(place, data, key, &shared, payload(&form, &ty), &stamping));
        let keeper = keeper.transpose().inspect_err(|_| place.graph.closed(key))?;
        let mut outlet = Outlet {
            flow: None,
            past: Counted::default(),
            _keeper: keeper,
            _listener: listener,
            publisher: Arc::new(publisher),
            is_wanted,
            refused: None,
            lacking: None,
            stamping,
            place: place.clone(),
            key: key.clone(),
            due: shared,
            form,
            ty,
        };
        outlet.look();
        Ok(outlet)
    }

    fn flow(&self) -> sinew::Result<Flow> {
        let stamping = Arc::clone(&self.stamping);
        let beside = move |outgoing: &Outgoing, _: u64| stamping.beside(outgoing);
        let due = self.due().clone();
        Flow::open(&self.place.zenoh, &self.key.1, &due, &self.publisher, payload(&self.form, &self.ty), beside)
    }

    fn due(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What subscriptions there ask for that is not offered, and why those of other types get nothing.
    fn wishes(&self) -> (Option<&'static str>, Option<String>) {
        let strangers = self.place.strangers();
        let (mut lacking, mut other) = (None, None);
        for (_, end) in strangers.on(Kind::Subscription, &self.key.1) {
            match self.ty.fits(&self.key.1, &end.ty, Some(&end.hash)) {
                Ok(()) => lacking = lacking.or_else(|| qos::lacking(&self.due().offer, &end.qos)),
                Err(why) => other = Some(why),
            }
        }
        (lacking, other)
    }
}

impl Channel for Outlet {
    fn look(&mut self) {
        let is_wanted = self.is_wanted.load(Ordering::Relaxed); // relaxed: see above
        if !is_wanted {
            self.past = self.counted();
            self.flow = None;
            self.refused = None;
        } else if self.flow.is_none() {
            let flow = self.flow().map_err(|why| format!("'{}' cannot be opened in this domain: {why}", self.key.1));
            self.flow = opened(&mut self.refused, flow);
        }
        let lacking = match self.wishes() {
            (Some(policy), _) => Some(qos::asks_for_more(policy)),
            // Those of another type are no matter where there are others.
            (None, other) => other.filter(|_| !is_wanted),
        };
        if let Some(why) = lacking.as_ref().filter(|_| lacking != self.lacking) {
            log::warn!("topic '{}': {why}", self.key.1);
        }
        self.lacking = lacking;
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
        match (&self.flow, &self.refused, &self.lacking) {
            // rmw_zenoh matches whoever has the type.
            (Some(flow), _, Some(why)) => Some((State::OpenBut(why.clone()), sum(self.past, flow.told()))),
            (Some(flow), _, None) => Some((State::Open, sum(self.past, flow.told()))),
            (None, Some(why), _) | (None, None, Some(why)) => Some((State::Refused(why.clone()), self.past)),
            (None, None, None) => None,
        }
    }

    fn counted(&self) -> Counted {
        self.flow.as_ref().map_or(self.past, |flow| sum(self.past, flow.told()))
    }

    /// Those there are told of the depth that there was first: how many they are to get of what is kept, they say themselves.
    fn renew(&mut self, due: &Due) -> bool {
        let due = Due { offer: self.form.offer_there(&due.offer), ..due.clone() };
        let before = self.due().clone();
        if !before.differs_in_depth_alone(&due) {
            return false;
        }
        if due.offer.depth <= before.offer.depth {
            return true;
        }
        *self.due() = due.clone();
        self.flow.as_mut().is_none_or(|flow| flow.renew(&due).is_ok())
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
    }
}
