//! What becomes of messages that have come from the Zenoh network. Everything in them may be wrong.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sinew::msg::Type;
use sinew::raw::Publisher;
use zenoh::bytes::ZBytes;
use zenoh::sample::{Sample, SampleKind};

use super::attached::{Attached, Message, TypeTag};
use super::network::Place;
use super::waiting::{Crowded, Waiting};
use crate::bridge::{AGAIN, Due, check, connected_ghost};
use crate::channels::{DEEPEST, Recent, State, is_held_back, times};
use crate::peers::printable;
use crate::protocol::{Kind, Offer};
use crate::ros2::action::Part;
use crate::ros2::qos;

/// Channels of the network whose losses are counted at a time.
const MOST_SOURCES: usize = 256;
/// What is offered does not change more often.
const SETTLED: Duration = Duration::from_secs(1);
/// Who is silent for so long, while others are not, may have gone, and nobody tells: what he offers is no matter any more.
const SILENT: Duration = Duration::from_secs(10);
/// What is told of it. Shared between threads.
#[derive(Default)]
pub struct Ledger {
    ghosts: Mutex<BTreeMap<Grade, Arc<Ghost>>>,
    /// Why there are none.
    refused: Mutex<Option<String>>,
    messages: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    /// By their channels.
    crowded: Crowded<u64>,
}

impl Ledger {
    /// How it stands for those who ask for `wanted`, with messages, their bytes, and messages that were lost on the way or refused.
    pub fn told(&self, wanted: &Offer) -> (State, (u64, u64, u64)) {
        let mut ghosts: Vec<Arc<Ghost>> = self.ghosts().values().cloned().collect();
        let is_heard = |ghost: &Arc<Ghost>| ghost.heard().elapsed() < SILENT;
        if ghosts.iter().any(is_heard) {
            ghosts.retain(is_heard);
        }
        let offers = || ghosts.iter().map(|ghost| (&ghost.offer, ghost.publisher.statistics().subscribers));
        let state = match &*self.refused.lock().unwrap_or_else(PoisonError::into_inner) {
            _ if !ghosts.is_empty() => qos::stands(wanted, offers()),
            Some(why) => State::Refused(why.clone()),
            None => State::Waiting,
        };
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (state, (now(&self.messages), now(&self.bytes), now(&self.lost)))
    }

    /// There was no room for this one.
    pub fn crowded(&self, sample: &Sample) {
        if let Some(message) = message_of(sample) {
            self.crowded.note(message.source);
        }
    }

    fn ghosts(&self) -> MutexGuard<'_, BTreeMap<Grade, Arc<Ghost>>> {
        self.ghosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What publishers there offer that decides who hears them: reliable, and transient-local. Of each there is a ghost of its own, since who offers less would else take from others what they offer.
type Grade = (bool, bool);

/// Who publishes in the domain what comes.
struct Ghost {
    publisher: Publisher,
    offer: Offer,
    opened: Instant,
    /// When something came of it at last.
    heard: Mutex<Instant>,
    /// Has kept less, and stays for those who come late until so many more have come here.
    before: Mutex<Option<(Arc<Ghost>, u32)>>,
}

impl Ghost {
    fn heard(&self) -> MutexGuard<'_, Instant> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn before(&self) -> MutexGuard<'_, Option<(Arc<Ghost>, u32)>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of what is kept for those who come late, how many messages that is alone.
    fn differs_in_depth_alone(&self, offer: &Offer) -> bool {
        offer.transient_local && self.offer == Offer { depth: self.offer.depth, ..offer.clone() }
    }

    /// Whether it does where this is offered. Who keeps more does.
    fn does(&self, offer: &Offer) -> bool {
        let keeps_more = self.offer.depth > offer.depth && offer.depth > 0;
        self.offer == *offer || keeps_more && self.differs_in_depth_alone(offer)
    }

    /// Whether more than it keeps is to be kept.
    fn keeps_less(&self, offer: &Offer) -> bool {
        let is_deeper = self.offer.depth > 0 && (offer.depth == 0 || offer.depth > self.offer.depth);
        is_deeper && self.differs_in_depth_alone(offer)
    }

    /// How many the next one keeps, which is to keep more. Where one is left from before already, more than is asked for, so that few of them are there at a time, however often somebody says one more.
    fn next_depth(&self, offer: &Offer) -> u32 {
        if offer.depth > 0 && self.before().is_some() { offer.depth.next_power_of_two().min(DEEPEST) } else { offer.depth }
    }

    fn publish(&self, payload: &ZBytes) -> sinew::Result<()> {
        *self.heard() = Instant::now();
        self.publisher.publish(&payload.slices().collect::<Vec<_>>())?;
        let mut before = self.before();
        if let Some((_, missing)) = &mut *before {
            *missing = missing.saturating_sub(1);
        }
        let done = before.take_if(|(_, missing)| *missing == 0);
        drop((before, done));
        Ok(())
    }
}

/// Of one topic, in the order in which they are to be published.
pub struct Delivery {
    place: Place,
    name: String,
    due: Due,
    ty: Type,
    tag: TypeTag,
    /// Of an action, whose times are shifted.
    part: Option<Part>,
    ledger: Arc<Ledger>,
    recent: Recent,
    /// What they said, of those that a storage may have, too.
    contents: Recent,
    /// What is wanted in the domain now.
    wanted: Arc<Mutex<Offer>>,
    /// And what of that is offered.
    offered: Offer,
    /// The last number of each channel.
    sequences: HashMap<u64, u64>,
    /// It was logged that something was refused.
    is_told: bool,
}

impl Delivery {
    /// Into the domain, in which this is wanted; how much of it may change.
    pub fn new(place: &Place, name: &str, due: &Due, wanted: &Arc<Mutex<Offer>>, ledger: &Arc<Ledger>) -> Result<Delivery, String> {
        let ty: Type = due.signature.parse().map_err(|why| format!("its type cannot be read: {why}"))?;
        Ok(Delivery {
            place: place.clone(),
            name: name.to_owned(),
            due: due.clone(),
            tag: TypeTag::of(&ty),
            ty,
            part: times::part_of(Kind::Topic, name, &due.signature),
            ledger: Arc::clone(ledger),
            recent: Recent::default(),
            contents: Recent::default(),
            wanted: Arc::clone(wanted),
            offered: due.offer.clone(),
            sequences: HashMap::new(),
            is_told: false,
        })
    }

    /// Publishes what others have kept. What waits already in `waiting` comes in its place, behind what was published before it.
    pub async fn take_kept(&mut self, mut kept: Vec<Sample>, waiting: &Waiting) {
        // Messages of gateways come first: a storage may have the same ones, and know less of them.
        kept.sort_by_key(|sample| sample.attachment().is_none());
        waiting.hold(kept.len() as u64);
        for sample in kept {
            let before = origin_of(&sample).map_or(0, |origin| waiting.up_to(|waits| origin_of(waits) == Some(origin)));
            for _ in 0..before {
                let Some(next) = waiting.next_of(|_| true) else { break };
                self.take(&next, false).await;
            }
            self.take(&sample, true).await;
            waiting.release(1);
        }
    }

    /// Publishes it, if it fits and did not come before. `was_asked`: somebody has kept it.
    pub async fn take(&mut self, sample: &Sample, was_asked: bool) {
        if sample.kind() != SampleKind::Put {
            return;
        }
        match self.fitting(sample) {
            Ok(message) => self.deliver(sample.payload(), message, was_asked).await,
            Err(why) => self.refuse(&why),
        }
    }

    /// None: a program that knows nothing of sinew has sent it, but it is of the type. Else why it does not fit, as a sentence.
    fn fitting(&self, sample: &Sample) -> Result<Option<Message>, String> {
        let (name, size) = (&self.name, sample.payload().len() as u64);
        if size > self.place.max_message {
            return Err(format!(
                "a message on '{name}' has {size} bytes, where \"max_message\" of this gateway are {}",
                self.place.max_message
            ));
        }
        let attached = sample.attachment().map_or(Ok(None), |attachment| Attached::decode(&attachment.to_bytes()));
        match attached {
            Ok(Some(Attached::Message(message))) if message.ty.hash == self.tag.hash => Ok(Some(message)),
            Ok(Some(Attached::Message(message))) => {
                let hex = |hash: [u8; 16]| format!("{:032x}", u128::from_be_bytes(hash));
                let (there, here) = (hex(message.ty.hash), hex(self.tag.hash));
                Err(format!(
                    "topic '{name}' has {} (hash {there}) in the Zenoh network, and {} (hash {here}) in this domain",
                    printable(&message.ty.name),
                    self.tag.name
                ))
            }
            Ok(Some(_)) => Err(format!("a message on '{name}' has the attachment of a call")),
            Ok(None) => match check(sample.payload().slices(), &self.ty) {
                Ok(()) => Ok(None),
                Err(why) => Err(format!("a message on '{name}', of a program without sinew, is no {}: {why}", self.tag.name)),
            },
            Err(why) => Err(format!("a message on '{name}' has an attachment that is not as it should be: {why}")),
        }
    }

    async fn deliver(&mut self, payload: &ZBytes, message: Option<Message>, was_asked: bool) {
        let content = (was_asked || self.due.offer.transient_local).then(|| hash_of(payload));
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_new_source = match &message {
            Some(message) => self.count_lost(message),
            None => wanted != self.offered,
        };
        match &message {
            Some(message) => {
                // Whoever wants nothing that was kept does not get it, either, because somebody else does.
                if message.is_kept && !self.due.offer.transient_local || !self.recent.is_new(message.origin) {
                    return;
                }
                if let Some(content) = content {
                    self.contents.is_new(content);
                }
            }
            // Of a message that a storage has kept, only what it says tells whether it came before.
            None => {
                let is_new = content.is_none_or(|content| self.contents.is_new(content));
                if was_asked && !is_new {
                    return;
                }
            }
        }
        let shifted = self.part.zip(message.as_ref()).map(|(part, message)| {
            let mut stream = payload.to_bytes().into_owned();
            times::shift(part, &mut stream, times::ahead_of(message.clock));
            ZBytes::from(stream)
        });
        let payload = shifted.as_ref().unwrap_or(payload);
        // Of what a stranger sends nothing is known, so it is offered as it is wanted.
        let mut offer = message.map_or(wanted, |message| message.offer);
        offer.depth = offer.depth.min(DEEPEST);
        let mut published = tokio::task::block_in_place(|| self.publish(payload, &offer, is_new_source));
        while published.as_ref().is_err_and(|why| self.is_held_back(&offer, why, payload.len())) {
            tokio::time::sleep(AGAIN).await;
            // In the same place: what waits there comes first.
            published = tokio::task::block_in_place(|| self.publish(payload, &offer, false));
        }
        match published {
            Ok(()) => {
                self.ledger.messages.fetch_add(1, Ordering::Relaxed);
                self.ledger.bytes.fetch_add(payload.len() as u64, Ordering::Relaxed);
            }
            Err(why) => self.refuse(&format!("a message on '{}' could not be published: {why}", self.name)),
        }
    }

    fn is_held_back(&self, offer: &Offer, why: &sinew::Error, bytes: usize) -> bool {
        let ghost = self.ledger.ghosts().get(&(offer.reliable, offer.transient_local)).cloned();
        ghost.is_some_and(|ghost| is_held_back(&ghost.publisher, &ghost.offer, why, bytes as u64))
    }

    /// Of those of one grade, who begins to send decides what else is offered from then on: as a rule it is the next life of the one before. How many messages are kept is more as soon as anybody says so, since others publish them, too, as a rule.
    fn publish(&mut self, payload: &ZBytes, offer: &Offer, is_new_source: bool) -> sinew::Result<()> {
        let grade = (offer.reliable, offer.transient_local);
        let is_other = |ghost: &Ghost| is_new_source && !ghost.does(offer) && ghost.opened.elapsed() > SETTLED;
        let before = self.ledger.ghosts().get(&grade).cloned();
        let ghost = match before {
            Some(ghost) if !ghost.keeps_less(offer) && !is_other(&ghost) => ghost,
            before => {
                let before = before.filter(|before| before.keeps_less(offer));
                if before.is_none() {
                    // First, so that its place is free.
                    self.ledger.ghosts().remove(&grade);
                }
                let offer = Offer { depth: before.as_ref().map_or(offer.depth, |before| before.next_depth(offer)), ..offer.clone() };
                let publisher = connected_ghost(&self.place.node, &self.name, &self.due.signature, &offer)?;
                let (opened, depth) = (Instant::now(), if offer.depth == 0 { DEEPEST } else { offer.depth });
                let before = Mutex::new(before.map(|before| (before, depth)));
                let ghost = Arc::new(Ghost { publisher, offer, opened, heard: Mutex::new(opened), before });
                self.ledger.ghosts().insert(grade, Arc::clone(&ghost));
                ghost
            }
        };
        if ghost.does(offer) {
            self.offered.clone_from(offer);
        }
        ghost.publish(payload)
    }

    /// Whether nothing of its channel was heard before.
    fn count_lost(&mut self, message: &Message) -> bool {
        if message.sequence == 0 {
            return false;
        }
        if self.sequences.len() >= MOST_SOURCES && !self.sequences.contains_key(&message.source) {
            self.sequences.clear();
        }
        let last = self.sequences.insert(message.source, message.sequence);
        // No number may make the count a nonsense.
        let lost = last.map_or(0, |last| message.sequence.saturating_sub(last.saturating_add(1)).min(u64::from(u32::MAX)));
        self.ledger.lost.fetch_add(self.ledger.crowded.uncounted(&message.source, lost), Ordering::Relaxed);
        last.is_none()
    }

    /// Tells it once; while nothing fits, it is why.
    fn refuse(&mut self, why: &str) {
        self.ledger.lost.fetch_add(1, Ordering::Relaxed);
        if !self.is_told {
            self.is_told = true;
            log::warn!("{why}");
        }
        *self.ledger.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }
}

fn message_of(sample: &Sample) -> Option<Message> {
    match Attached::decode(&sample.attachment()?.to_bytes()) {
        Ok(Some(Attached::Message(message))) => Some(message),
        _ => None,
    }
}

fn origin_of(sample: &Sample) -> Option<u64> {
    message_of(sample).map(|message| message.origin)
}

fn hash_of(payload: &ZBytes) -> u64 {
    let mut hasher = DefaultHasher::new();
    for slice in payload.slices() {
        hasher.write(slice);
    }
    payload.len().hash(&mut hasher);
    hasher.finish()
}
