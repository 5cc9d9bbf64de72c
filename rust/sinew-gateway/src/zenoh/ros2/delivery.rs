//! What becomes of messages that have come from nodes of rmw_zenoh. Everything in them may be wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::raw::Publisher;
use tokio::sync::Notify;
use zenoh::bytes::ZBytes;
use zenoh::sample::{Sample, SampleKind};
use zenoh::time::Timestamp;

use super::attachment::{Attachment, Gid};
use super::network::Place;
use crate::bridge::AGAIN;
use crate::channels::Recent;
use crate::protocol::Offer;
use crate::ros2::form::{self, Form, Unpublished};
use crate::ros2::qos::Grade;
use crate::ros2::types::RosType;
use crate::zenoh::waiting::{Crowded, Waiting};

/// Publishers whose messages are counted at a time.
const MOST_SOURCES: usize = 1024;
/// Within which it is known of a publisher that there is one, whose first message may be here before.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who publishes in the domain what comes.
pub struct Ghost {
    /// Of it.
    pub publisher: Publisher,
    /// What it offers.
    pub offer: Offer,
}

/// Ghosts of all grades that publishers there offer, and of which grade who is.
#[derive(Default)]
pub struct Ghosts {
    pub all: BTreeMap<Grade, Arc<Ghost>>,
    pub grades: HashMap<Gid, Grade>,
}

impl Ghosts {
    /// For the messages of this publisher. Those of one who is not known yet, or not any more, all get.
    fn of(&self, publisher: Gid) -> Option<Arc<Ghost>> {
        let of_it = match self.grades.get(&publisher) {
            Some(grade) => self.all.get(grade),
            None => self.all.values().next_back(),
        };
        of_it.cloned()
    }
}

/// Where messages are put down while there is somebody for it. Shared between threads.
#[derive(Default)]
pub struct Landing {
    ghosts: Mutex<Ghosts>,
    come: Notify,
    messages: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    crowded: Crowded<Gid>,
    is_told: AtomicBool,
}

impl Landing {
    /// Who is there.
    pub fn ghosts(&self) -> MutexGuard<'_, Ghosts> {
        self.ghosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// They are others from now on.
    pub fn changed(&self) {
        self.come.notify_one();
    }

    /// Waits until there is somebody for the messages of this publisher.
    async fn ghost_of(&self, publisher: Gid) -> Arc<Ghost> {
        loop {
            let ghost = self.ghosts().of(publisher);
            if let Some(ghost) = ghost {
                return ghost;
            }
            self.come.notified().await;
        }
    }

    /// Messages, their bytes, and messages that were lost on the way or refused.
    pub fn told(&self) -> (u64, u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (now(&self.messages), now(&self.bytes), now(&self.lost))
    }

    /// There was no room for this one.
    pub fn crowded(&self, sample: &Sample) {
        if let Some(attachment) = attachment(sample) {
            self.crowded.note(attachment.gid);
        }
    }

    /// Before one that comes of this publisher so many are missing.
    fn miss(&self, publisher: Gid, missing: u64) {
        self.lost.fetch_add(self.crowded.uncounted(&publisher, missing), Ordering::Relaxed);
    }

    /// Tells the first.
    fn lose(&self, why: impl FnOnce() -> String) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        if !self.is_told.swap(true, Ordering::Relaxed) {
            log::warn!("{}", why());
        }
    }
}

/// What has come of a publisher.
#[derive(Clone, Copy, Default)]
struct Source {
    /// The last number.
    last: i64,
    /// Its time stamp, or a later one of the same clock.
    at: Option<Timestamp>,
    /// The last that somebody had kept.
    kept: i64,
    /// The last before which those are counted that are missing, also when it is to come once more.
    counted: i64,
}

impl Source {
    /// Whether who publishes has begun anew as who it was, and counts anew: within one life, what has a lower number has an earlier time stamp. Only of one clock: on its way a message may get another.
    fn is_anew(&self, sequence: i64, at: Option<&Timestamp>) -> bool {
        let is_later = |(before, at): (&Timestamp, &Timestamp)| at.get_id() == before.get_id() && at > before;
        sequence <= self.last && self.at.as_ref().zip(at).is_some_and(is_later)
    }

    /// What a publisher that has begun anew did before is no matter.
    fn look_at(&mut self, sequence: i64, at: Option<&Timestamp>) {
        if self.is_anew(sequence, at) {
            *self = Source::default();
        }
    }

    /// This one is taken.
    fn take(&mut self, sequence: i64, at: Option<&Timestamp>) {
        self.last = sequence;
        let before = self.at.filter(|before| at.is_some_and(|at| at.get_id() == before.get_id()));
        self.at = at.copied().max(before);
    }

    /// This number comes: so many before it are missing. Of whom nothing was heard before, nothing is known to be lost. And no number may make the count a nonsense.
    fn missing(&mut self, sequence: i64) -> u64 {
        let missing = if self.counted > 0 { sequence.saturating_sub(self.counted.saturating_add(1)) } else { 0 };
        self.counted = self.counted.max(sequence);
        missing.clamp(0, i64::from(u32::MAX)).unsigned_abs()
    }
}

/// Of one topic, in the order in which they are to be published.
pub struct Delivery {
    place: Place,
    name: String,
    form: Form,
    ty: RosType,
    landing: Arc<Landing>,
    sources: HashMap<Gid, Source>,
    /// By their time stamps, which a message keeps whoever tells it: a topic that is offered anew there has another gid, and tells what was kept once more.
    recent: Recent,
}

impl Delivery {
    /// Into the domain.
    pub fn new(place: &Place, name: &str, (form, ty): (Form, RosType), landing: &Arc<Landing>) -> Delivery {
        Delivery {
            place: place.clone(),
            name: name.to_owned(),
            form,
            ty,
            landing: Arc::clone(landing),
            sources: HashMap::new(),
            recent: Recent::default(),
        }
    }

    /// What came before is to come once more.
    pub fn forget(&mut self) {
        self.sources.values_mut().for_each(|source| *source = Source { counted: source.counted, ..Source::default() });
        self.recent = Recent::default();
    }

    /// Publishes what others have kept, in the order of its time stamps: those of one publisher never go back, whatever its clock does, as what it says beside a message may. What it has published before, and `waiting` still has, comes first.
    pub async fn take_kept(&mut self, samples: Vec<Sample>, waiting: &Waiting) {
        let samples = samples.into_iter().filter(|sample| sample.kind() == SampleKind::Put && !self.is_echo(sample));
        let attached = samples.filter_map(|sample| Some((attachment(&sample)?, sample)));
        let mut kept: Vec<(Attachment, Sample)> = attached.collect();
        kept.sort_by_key(|(attachment, sample)| (sample.timestamp().copied(), attachment.time_ns, attachment.gid, attachment.sequence));
        let mut first = HashMap::<Gid, i64>::new();
        for (Attachment { gid, sequence, .. }, _) in &kept {
            first.entry(*gid).and_modify(|first| *first = *sequence.min(first)).or_insert(*sequence);
        }
        let is_before = |sample: &Sample| {
            attachment(sample).is_some_and(|Attachment { gid, sequence, .. }| first.get(&gid).is_some_and(|first| sequence < *first))
        };
        let is_more = |(Attachment { gid, sequence, .. }, sample): &&(Attachment, Sample)| {
            self.sources.get(gid).is_none_or(|source| *sequence > source.last || source.is_anew(*sequence, sample.timestamp()))
        };
        // As others keep the same.
        let new: HashSet<(Gid, i64)> = kept.iter().filter(is_more).map(|(of, _)| (of.gid, of.sequence)).collect();
        waiting.hold(new.len() as u64);
        while let Some(sample) = waiting.next_of(is_before) {
            self.take(sample).await;
        }
        for (attachment, sample) in kept {
            let is_new = self.is_new(&sample);
            let source = self.source(attachment.gid);
            source.look_at(attachment.sequence, sample.timestamp());
            if attachment.sequence > source.last {
                source.take(attachment.sequence, sample.timestamp());
                source.kept = attachment.sequence;
                let missing = source.missing(attachment.sequence);
                self.landing.miss(attachment.gid, missing);
                if is_new {
                    self.publish(&sample, attachment.gid).await;
                }
                waiting.release(1);
            }
        }
        // And those that came behind newer ones of the same publisher.
        waiting.release(new.len() as u64);
    }

    /// Publishes it, if it is as it should be and did not come before.
    pub async fn take(&mut self, sample: Sample) {
        if sample.kind() != SampleKind::Put || self.is_echo(&sample) {
            return;
        }
        let Some(attachment) = attachment(&sample) else {
            let name = &self.name;
            return self.landing.lose(|| format!("a message on '{name}' has no attachment of rmw_zenoh beside it, as all of ROS 2 have"));
        };
        let is_new = self.is_new(&sample);
        let source = self.source(attachment.gid);
        source.look_at(attachment.sequence, sample.timestamp());
        if attachment.sequence <= source.kept {
            return;
        }
        source.take(attachment.sequence, sample.timestamp());
        let missing = source.missing(attachment.sequence);
        self.landing.miss(attachment.gid, missing);
        if is_new {
            self.publish(&sample, attachment.gid).await;
        }
    }

    /// What has no time stamp, or got one on its way, always is.
    fn is_new(&mut self, sample: &Sample) -> bool {
        let Some(timestamp) = sample.timestamp() else { return true };
        let mut hasher = DefaultHasher::new();
        (timestamp.get_time().as_u64(), timestamp.get_id().to_le_bytes()).hash(&mut hasher);
        self.recent.is_new(hasher.finish())
    }

    /// Another bridge of this domain has sent it. Bridges have time stamps, whose id is that of their session.
    fn is_echo(&self, sample: &Sample) -> bool {
        sample.timestamp().is_some_and(|timestamp| self.place.strangers().is_echo(&timestamp.get_id().to_string()))
    }

    fn source(&mut self, gid: Gid) -> &mut Source {
        if self.sources.len() >= MOST_SOURCES && !self.sources.contains_key(&gid) {
            self.sources.clear();
        }
        self.sources.entry(gid).or_default()
    }

    async fn publish(&self, sample: &Sample, publisher: Gid) {
        loop {
            // Anew each time, as others may take its place.
            let Ok(ghost) = tokio::time::timeout(PATIENCE, self.landing.ghost_of(publisher)).await else {
                return self
                    .landing
                    .lose(|| format!("a message on '{}' is of nobody whom ROS 2 knows of: its publisher has no token", self.name));
            };
            match tokio::task::block_in_place(|| self.put(&ghost.publisher, sample.payload())) {
                Ok(size) => {
                    self.landing.messages.fetch_add(1, Ordering::Relaxed);
                    self.landing.bytes.fetch_add(size as u64, Ordering::Relaxed);
                    return;
                }
                Err(why) if why.is_held_back(&ghost.publisher, &ghost.offer, sample.payload().len()) => tokio::time::sleep(AGAIN).await,
                Err(why) => return self.landing.lose(|| format!("a message on '{}' {why}", self.name)),
            }
        }
    }

    /// Into the memory where subscribers will read it. Its size.
    fn put(&self, publisher: &Publisher, payload: &ZBytes) -> Result<usize, Unpublished> {
        let (size, most) = (payload.len(), self.place.zenoh.max_message);
        if size as u64 > most {
            return Err(format!("has {size} bytes, where \"max_message\" of this bridge are {most}").into());
        }
        if matches!(self.form, Form::Status) {
            return form::publish_status(publisher, &mut payload.to_bytes().into_owned());
        }
        let before = self.form.before();
        let mut loan = publisher.loan(before + size)?;
        let mut rest = loan.bytes().get_mut(before..before + size).ok_or_else(|| "has no room in this domain".to_owned())?;
        for part in payload.slices() {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(part.len());
            here.copy_from_slice(part);
            rest = behind;
        }
        self.form.publish(loan, size, &self.ty)
    }
}

fn attachment(sample: &Sample) -> Option<Attachment> {
    Attachment::decode(&sample.attachment()?.to_bytes())
}
