//! A topic of the domain that goes to DDS.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use sinew::raw::{Frame, MessageInfo};

use super::back_end::{self, Listener, Writer};
use super::guid::Guid;
use super::matched::Matched;
use super::network::Place;
use super::strangers::Endpoint;
use super::types::RosType;
use super::{names, qos};
use crate::bridge::{At, Channel, Counted, Due, Key, Look, Source, note, opened, sum};
use crate::channels::{Reading, State};
use crate::ros2::form::Form;

/// Execution threads that messages are sent on, so that a small one need not wait behind a large one of another topic.
const THREADS: u32 = 4;
/// Further ones, for topics that wait for readers there: so many that hardly any two of these share one.
const WAITING: u32 = 1000;

/// Offers the topic. The domain is read only while somebody there subscribes.
pub struct Outlet {
    // First, so that nothing is written any more.
    flow: Option<Flow>,
    /// What was counted of flows before.
    past: Counted,
    writer: Arc<Writer>,
    matched: Arc<Matched>,
    refused: Option<String>,
    /// Why somebody there who subscribes is not written to.
    misfit: Option<String>,
    place: Place,
    key: Key,
    due: Due,
    told: Arc<(Form, RosType)>,
}

struct Heard(Arc<Matched>);

impl Listener for Heard {
    fn matched(&self, other: Guid, is_matched: bool) {
        self.0.tell(other, is_matched);
    }

    fn incompatible(&self, policy: &str) {
        self.0.refuse(policy);
    }
}

impl Outlet {
    /// `look` is called when [`Outlet::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Outlet, String> {
        let told = Arc::new(Form::of(&place.types, &place.actions, &key.1, &due.signature)?);
        let (form, ty) = &*told;
        let matched = Arc::new(Matched::new(look));
        let at = back_end::Place {
            topic: &names::topic(&key.1),
            ty: &ty.dds,
            qos: qos::of_keeper(&form.offer_there(&due.offer)),
            user_data: &ty.user_data(),
        };
        let writer = Arc::new(Writer::open(&place.participant, &at, Heard(Arc::clone(&matched)))?);
        place.graph.opened(key, true, writer.guid());
        Ok(Outlet {
            flow: None,
            past: Counted::default(),
            writer,
            matched,
            refused: None,
            misfit: None,
            place: place.clone(),
            key: key.clone(),
            due: due.clone(),
            told,
        })
    }

    /// Why this one, who may be connected as the name of its type is the same, is not of the type.
    fn misfit(&self, reader: &Endpoint) -> Option<String> {
        self.told.1.fits(&self.key.1, &reader.ty, reader.hash.as_deref()).err()
    }

    /// Whether somebody is to get it, and why somebody else, who is there, is not.
    fn wishes(&self) -> (bool, Option<String>) {
        let strangers = self.place.strangers();
        // Of whom nothing is known yet, nothing is known against him.
        let fits = |guid: &Guid| strangers.endpoint(*guid).is_none_or(|reader| self.misfit(reader).is_none());
        (self.matched.is_any(fits), strangers.on(&names::topic(&self.key.1), false).find_map(|reader| self.misfit(reader)))
    }

    /// What somebody there asks for that is not offered, so that he gets nothing, whoever else does.
    fn lacking(&self) -> Option<String> {
        let offer = self.told.0.offer_there(&self.due.offer);
        let strangers = self.place.strangers();
        let topic = names::topic(&self.key.1);
        let readers = || strangers.on(&topic, false).filter(|reader| self.misfit(reader).is_none());
        let policy = readers().find_map(|reader| qos::lacking(&offer, &reader.qos)).map(str::to_owned);
        policy.or_else(|| self.matched.incompatible(readers().map(|reader| reader.guid)))
    }
}

impl Channel for Outlet {
    fn look(&mut self) {
        let (is_wanted, misfit) = self.wishes();
        note(&mut self.misfit, misfit);
        if !is_wanted {
            if let Some(flow) = self.flow.take() {
                self.past = sum(self.past, flow.end());
                // Who comes next gets what the domain has kept by then.
                self.writer.forget();
            }
            self.refused = None;
        } else if self.flow.is_none() {
            let flow = Flow::open(&self.place, &self.key.1, &self.due, &self.told, &self.writer);
            let flow = flow.map_err(|why| format!("'{}' cannot be opened in this domain: {why}", self.key.1));
            self.flow = opened(&mut self.refused, flow);
        }
    }

    fn is_on_its_topic(&self) -> Option<bool> {
        Some(self.flow.as_ref().is_none_or(|flow| flow.source.is_on_its_topic()))
    }

    fn has_gone(&self, since: Instant) -> bool {
        self.flow.as_ref().is_none_or(|flow| flow.source.has_taken_all(since) && self.writer.is_acknowledged())
    }

    fn give_up(&mut self) {
        if let Some(flow) = &self.flow {
            flow.source.give_up();
            // Some of it may arrive all the same. Among what is kept for those who come late DDS does not tell how many it is.
            if !self.due.offer.transient_local && !self.writer.is_acknowledged() {
                self.past.2 += self.writer.forget();
            }
        }
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let why = || self.lacking().map(|policy| qos::asks_for_more(&policy)).or_else(|| self.misfit.clone());
        match (&self.flow, &self.refused) {
            (Some(flow), _) => Some((why().map_or(State::Open, State::OpenBut), sum(self.past, flow.told()))),
            (None, refused) => Some((State::Refused(refused.clone().or_else(why)?), self.past)),
        }
    }

    fn counted(&self) -> Counted {
        self.flow.as_ref().map_or(self.past, |flow| sum(self.past, flow.told()))
    }

    /// Another depth alone is no reason for another writer, of which readers would get once more what they have, and for which they would miss some: unless less would be kept for those who come late than there is, or nobody reads.
    fn renew(&mut self, due: &Due) -> bool {
        let is_deeper = due.offer.depth > self.due.offer.depth;
        let Some(flow) = &mut self.flow else { return false };
        if !self.due.differs_in_depth_alone(due) || due.offer.transient_local && is_deeper {
            return false;
        }
        if !is_deeper {
            return true;
        }
        self.due = due.clone();
        flow.renew(due, &self.told.0).is_ok()
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
    }
}

/// Messages on their way, each written by the thread that takes it.
struct Flow {
    source: Source,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    bytes: AtomicU64,
    /// Too large, or not taken by DDS.
    refused: AtomicU64,
}

impl Flow {
    fn open(place: &Place, name: &str, due: &Due, told: &Arc<(Form, RosType)>, writer: &Arc<Writer>) -> sinew::Result<Flow> {
        let offer = told.0.offer_there(&due.offer);
        let reading = Reading::of(&offer, true, &due.traffic);
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let waits = qos::of_keeper(&offer).depth == 0;
        let execution_thread =
            if waits { THREADS + (hasher.finish() % u64::from(WAITING)) as u32 } else { (hasher.finish() % u64::from(THREADS)) as u32 };
        let at = At {
            node: place.node.clone(),
            name: name.to_owned(),
            signature: due.signature.clone(),
            max_rate: due.traffic.max_rate.unwrap_or_default(),
            execution_thread,
        };
        let counts = Arc::<Counts>::default();
        let (to, told, counted, most) = (Arc::clone(writer), Arc::clone(told), Arc::clone(&counts), place.max_message);
        let write = move |frame: Frame, _: &MessageInfo| {
            let size = frame.size() as u64;
            let (form, ty) = &*told;
            let is_sent = size <= most && form.write(frame.extents(), ty, |parts| to.write(parts, None)).flatten().is_some();
            if is_sent {
                counted.sent.fetch_add(1, Ordering::Relaxed);
                counted.bytes.fetch_add(size, Ordering::Relaxed);
            } else {
                counted.refused.fetch_add(1, Ordering::Relaxed);
            }
        };
        Ok(Flow { source: Source::open(at, &reading.qos, write)?, counts })
    }

    /// Goes on with another depth. Blocks for a moment.
    fn renew(&mut self, due: &Due, form: &Form) -> sinew::Result<()> {
        let reading = Reading::of(&form.offer_there(&due.offer), true, &due.traffic);
        Source::renew([&mut self.source], &reading.qos)
    }

    /// All that was counted of it.
    fn end(self) -> Counted {
        // First, so that nothing is written any more.
        let missed = self.source.end();
        self.counts.told(missed)
    }

    fn told(&self) -> Counted {
        self.counts.told(self.source.missed())
    }
}

impl Counts {
    fn told(&self, missed: u64) -> Counted {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (now(&self.sent), now(&self.bytes), missed + now(&self.refused))
    }
}
