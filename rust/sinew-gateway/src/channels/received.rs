//! Messages of a peer on their way into this domain.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use quinn::{ReadExactError, RecvStream, VarInt};
use sinew::raw::{Loan, Publisher};
use sinew::{ErrorKind, Id, Node};
use tokio::sync::watch;

use super::gathering::{Gathering, skip};
use super::ghost::{ghost, is_all, is_held_back};
use super::meeting::Meeting;
use super::origin::Recent;
use super::outlet::DEEPEST;
use super::room::{NoRoom, Room};
use super::times;
use crate::packing::unpack;
use crate::point::point;
use crate::protocol::{Decoded, Dropped, Kind, Offer, Packing, RecordHead, RepairHead, TopicHead, Want, violation};
use crate::ros2::action::Part;

/// How long a message of a channel that is not ordered waits for those before it, which have arrived as a rule and are about to be handed on.
const GRACE: Duration = Duration::from_millis(2);
/// Who is to lose nothing, and takes nothing, is asked again so soon: time for whoever wants to know how far it has come, or ends the course.
const AGAIN: Duration = Duration::from_millis(1);
/// (G40) Of what was taken in order, the peer is told when it is so many bytes, or the next message lets itself be waited for so long.
const TELL_BYTES: u64 = 32 << 10;
const TELL_AFTER: Duration = Duration::from_millis(20);

/// A topic that comes from a peer: a ghost publishes what arrives, written once, into the memory where subscribers will read it.
///
/// It outlives its channels: the peer closes one and opens the next, or comes again over another connection. Tasks that read streams of a channel may still be at it when that is over, as they look for its end only where they wait, and the next
/// channel may count from 1 again. So each channel has a *course*, of which one at most is on: what of another one is handed on goes nowhere, is no violation, and changes no number (G42).
pub struct Received {
    publisher: Publisher,
    want: Want,
    topic: Id,
    offer: Offer,
    ordered: bool,
    is_onward: bool,
    /// Of an action, whose times are shifted.
    part: Option<Part>,
    /// Nanoseconds that the clock here says more than the peer's.
    ahead: AtomicI64,
    /// The course that is on. Set before `handed` is locked, so that who ends a course waits for one message at most that is being published, and not for all that its task has at hand.
    now: AtomicU64,
    handed: Mutex<Handed>,
    /// Messages of a channel that is not ordered, by their numbers, that are arriving.
    arriving: Mutex<HashMap<(Course, u64), Arc<Gathering>>>,
    /// Keeps what came before for those who come late, until this one has come to keep as much.
    before: Mutex<Option<Arc<Received>>>,
    /// The number of the last message that was handed on, for those that wait for it.
    last: watch::Sender<u64>,
    counts: Counts,
    /// None: it is over.
    meeting: Mutex<Option<Meeting>>,
}

/// A channel of a topic, from when it is opened until it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Course(u64);

/// What was handed on.
#[derive(Default)]
struct Handed {
    sequence: u64,
    recent: Recent,
}

/// Since the channel was there first.
#[derive(Debug, Default)]
pub struct Counts {
    /// Messages that were published here.
    pub messages: AtomicU64,
    /// Of them.
    pub bytes: AtomicU64,
    /// Given up by the sender, or overtaken on the way.
    pub lost: AtomicU64,
    /// Came a second time.
    pub repeated: AtomicU64,
    /// Not published for want of memory, or of room to arrive in.
    pub refused: AtomicU64,
}

impl Counts {
    /// Messages, bytes, and messages that were lost.
    pub fn told(&self) -> (u64, u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        // What is lost is what the peer says that it was.
        (now(&self.messages), now(&self.bytes), now(&self.lost).saturating_add(now(&self.refused)))
    }
}

impl Received {
    /// Publishes as a ghost. Blocks until the manager has agreed.
    pub fn open(node: &Node, is_onward: bool, want: &Want, topic: Id, offer: &Offer, ordered: bool) -> sinew::Result<Received> {
        Ok(Received {
            publisher: ghost(node, &want.name, &want.signature, offer)?,
            want: want.clone(),
            topic,
            offer: offer.clone(),
            ordered,
            is_onward,
            part: times::part_of(Kind::Topic, &want.name, &want.signature),
            ahead: AtomicI64::new(0),
            now: AtomicU64::new(0),
            handed: Mutex::default(),
            arriving: Mutex::default(),
            before: Mutex::default(),
            last: watch::Sender::new(0),
            counts: Counts::default(),
            meeting: Mutex::new(Some(Meeting::new())),
        })
    }

    /// Behind another one of the same topic: what that one has had is not published again, and what it has kept for those who come late stays.
    pub fn behind(self, before: Arc<Received>) -> Received {
        self.handed().recent = std::mem::take(&mut before.handed().recent);
        // Where all came a second time it has kept nothing itself, and the next one would be behind that, too, again and again.
        let before = if before.has_kept() == 0 { before.before().take() } else { Some(before) };
        Received { before: Mutex::new(before), ..self }
    }

    fn before(&self) -> MutexGuard<'_, Option<Arc<Received>>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many messages it has itself for those who come late.
    fn has_kept(&self) -> u64 {
        self.counts.messages.load(Ordering::Relaxed).min(self.keeps_most())
    }

    fn keeps_most(&self) -> u64 {
        u64::from(if is_all(&self.offer) { DEEPEST } else { self.offer.depth })
    }

    /// What came before, as far as this one and those behind it, which have kept so many messages, have come to keep as much as the last one of them.
    fn needless(&self, newer: u64, most: u64) -> Option<Arc<Received>> {
        let kept = newer + self.has_kept();
        let mut before = self.before();
        if kept >= most { before.take() } else { before.as_ref().and_then(|before| before.needless(kept, most)) }
    }

    /// Whether it can go on with a channel that is opened anew. Who keeps more for those who come late than is offered now does for that.
    pub fn fits(&self, want: &Want, topic: Id, offer: &Offer, ordered: bool) -> bool {
        let does = self.offer.depth == offer.depth || offer.transient_local && offer.depth < self.offer.depth;
        does && self.ordered == ordered && self.is_like(want, topic, offer)
    }

    /// It keeps messages for those who come late.
    pub fn keeps(&self) -> bool {
        self.offer.transient_local
    }

    /// Of the same topic, and offered as this is, but for how many messages are kept.
    pub fn is_like(&self, want: &Want, topic: Id, offer: &Offer) -> bool {
        self.topic == topic
            && self.want.name == want.name
            && self.want.signature == want.signature
            && is_all(&self.offer) == is_all(offer)
            && self.offer == Offer { depth: self.offer.depth, ..offer.clone() }
    }

    /// What comes was sent onward, and is published as that (G38).
    pub fn is_onward(&self) -> bool {
        self.is_onward
    }

    /// A new channel, whose messages have numbers behind this one: those of the one before are not handed on any more. What is missing up to it was to come over that one, if it is known how far it had come: the first channel is told.
    /// The clock here says `ahead` ns more than the peer's.
    pub fn begin(&self, after: u64, come: Option<u64>, ahead: i64) -> Course {
        self.ahead.store(ahead, Ordering::Relaxed);
        let course = self.next_course();
        let mut handed = self.handed();
        let come = if course.0 == 1 { come } else { Some(handed.sequence) };
        self.counts.lost.fetch_add(come.map_or(0, |come| after.saturating_sub(come)), Ordering::Relaxed);
        handed.sequence = after;
        self.last.send_replace(after);
        course
    }

    /// The number of the last message that was handed on.
    pub fn last(&self) -> u64 {
        self.handed().sequence
    }

    /// The channel is over. This was the number of its last message, if that is known. When this returns, nothing is handed on any more.
    pub fn end(&self, last: Option<u64>) {
        self.next_course();
        let mut handed = self.handed();
        let last = last.unwrap_or(0).max(handed.sequence);
        self.counts.lost.fetch_add(last - handed.sequence, Ordering::Relaxed);
        handed.sequence = last;
    }

    fn next_course(&self) -> Course {
        Course(self.now.fetch_add(1, Ordering::Relaxed) + 1) // relaxed: who begins or ends a course locks `handed` next, and it is read under that
    }

    /// None: the course is over.
    fn handed_of(&self, course: Course) -> Option<MutexGuard<'_, Handed>> {
        let handed = self.handed();
        (self.now.load(Ordering::Relaxed) == course.0).then_some(handed) // relaxed: see next_course
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn handed(&self) -> MutexGuard<'_, Handed> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// (G21)
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// Takes the message of a stream, whose head is read, of a channel that is not ordered.
    pub async fn take_one(&self, course: Course, mut stream: RecvStream, room: &Room, most: u64) -> Decoded<()> {
        self.record(course, &mut stream, room, most).await.map(|_| ())
    }

    /// Takes the messages of a stream, whose head is read, of an ordered channel, and tells by their numbers how far it has come (G40).
    pub async fn take_all(&self, course: Course, mut stream: RecvStream, room: &Room, most: u64, tell: impl Fn(u64)) -> Decoded<()> {
        let mut untold = None;
        loop {
            let mut record = pin!(self.record(course, &mut stream, room, most));
            let taken = match untold {
                None => record.await?,
                Some((last, _)) => match tokio::time::timeout(TELL_AFTER, record.as_mut()).await {
                    Ok(taken) => taken?,
                    Err(_) => {
                        tell(last);
                        untold = None;
                        record.await?
                    }
                },
            };
            let bytes = untold.map_or(0, |(_, bytes)| bytes);
            untold = match (taken, untold) {
                (Some(head), _) if bytes + u64::from(head.size) < TELL_BYTES => Some((head.sequence, bytes + u64::from(head.size))),
                (Some(head), _) => {
                    tell(head.sequence);
                    None
                }
                (None, untold) => {
                    untold.into_iter().for_each(|(last, _)| tell(last));
                    return Ok(());
                }
            };
        }
    }

    /// One message. None: the stream, or the course, is over, or it was given up.
    async fn record(&self, course: Course, stream: &mut RecvStream, room: &Room, most: u64) -> Decoded<Option<RecordHead>> {
        let mut head = [0; RecordHead::SIZE];
        match stream.read_exact(&mut head).await {
            Ok(()) => {}
            Err(ReadExactError::FinishedEarly(0)) if self.ordered => return Ok(None),
            Err(ReadExactError::FinishedEarly(_)) => return violation("a stream ends within a record"),
            Err(ReadExactError::ReadError(_)) => return Ok(None),
        }
        let head = RecordHead::decode(&head, most)?;
        let lend = || self.publishing(|| self.publisher.loan(head.unpacked as usize));
        let mut early = self.ordered.then(lend);
        let mut taken = match room.take(head.size, head.unpacked).await {
            Ok(taken) => taken,
            Err(NoRoom::Closed) => return Ok(None),
            Err(NoRoom::Full) => {
                let _ = stream.stop(VarInt::from_u32(Dropped::NoRoom as u32));
                self.refuse(course, head.sequence);
                return Ok(Some(head));
            }
        };
        let mut apart = None;
        if let Some(Err(why)) = &early
            && self.is_held_back(why, head.unpacked)
        {
            // Who stands still makes wait here, too. What is not read meanwhile would use up what the connection may carry, so it waits here as it came, without the room that others need. Of an ordered channel there is one message at a time.
            let Some(bytes) = self.apart(course, stream, &head).await? else { return Ok(None) };
            (apart, taken) = (Some(bytes), None);
        }
        while let Some(Err(why)) = &early
            && self.is_held_back(why, head.unpacked)
            && self.handed_of(course).is_some()
        {
            tokio::time::sleep(AGAIN).await;
            early = Some(lend());
        }
        let Ok(mut loan) = early.unwrap_or_else(lend) else {
            let is_whole = apart.is_some() || skip(stream, head.size).await?;
            self.refuse(course, head.sequence);
            return Ok(is_whole.then_some(head));
        };
        point("message announced");
        let is_whole = match (head.packing, apart) {
            (Packing::None, Some(whole)) => {
                loan.bytes().copy_from_slice(&whole);
                true
            }
            (Packing::None, None) => self.message(course, stream, &head, loan.bytes()).await?,
            (packing, apart) => {
                let packed = if apart.is_some() { apart } else { self.apart(course, stream, &head).await? };
                if let Some(packed) = &packed {
                    tokio::task::block_in_place(|| unpack(packing, packed, loan.bytes()))?;
                }
                packed.is_some()
            }
        };
        if is_whole {
            if let Some(part) = self.part {
                times::shift(part, loan.bytes(), self.ahead.load(Ordering::Relaxed));
            }
            self.met().await;
            if self.ordered {
                // Who is handed it may stand still. It is the only one of this channel.
                drop(taken);
            } else {
                let mut last = self.last.subscribe();
                let _ = tokio::time::timeout(GRACE, last.wait_for(|last| *last >= head.sequence - 1)).await;
            }
            return Ok(self.hand_on(course, loan, &head).await?.then_some(head));
        }
        Ok(None)
    }

    /// It cannot be published.
    fn refuse(&self, course: Course, sequence: u64) {
        if let Some(mut handed) = self.handed_of(course)
            && sequence > handed.sequence
        {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            self.pass(&mut handed, sequence);
        }
    }

    /// Until those who want it are connected with the publisher.
    async fn met(&self) {
        while self.is_meeting() {
            tokio::time::sleep(Meeting::LOOK).await;
        }
    }

    fn is_meeting(&self) -> bool {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        if meeting.as_mut().is_some_and(|meeting| meeting.is_over(self.publisher.statistics().subscribers)) {
            *meeting = None;
        }
        meeting.is_some()
    }

    /// The bytes of a message. False: the sender has given it up.
    async fn message(&self, course: Course, stream: &mut RecvStream, head: &RecordHead, into: &mut [u8]) -> Decoded<bool> {
        if self.ordered {
            return match stream.read_exact(into).await {
                Ok(()) => Ok(true),
                Err(ReadExactError::FinishedEarly(_)) => violation("a stream ends within a message"),
                Err(ReadExactError::ReadError(_)) => Ok(false),
            };
        }
        let gathers = self.gathers((course, head.sequence), into.len());
        gathers.gathering.whole(stream, (1 + TopicHead::SIZE + RecordHead::SIZE) as u64, into).await
    }

    /// The same, as they come. None: the sender has given it up.
    async fn apart(&self, course: Course, stream: &mut RecvStream, head: &RecordHead) -> Decoded<Option<Vec<u8>>> {
        let mut bytes = vec![0; head.size as usize];
        Ok(self.message(course, stream, head, &mut bytes).await?.then_some(bytes))
    }

    /// Until it is dropped, what comes for the repair of this message goes there.
    fn gathers(&self, message: (Course, u64), size: usize) -> Gathers<'_> {
        let gathering = Arc::clone(self.arriving().entry(message).or_insert_with(|| Arc::new(Gathering::new(size))));
        Gathers { received: self, message, gathering }
    }

    fn arriving(&self) -> MutexGuard<'_, HashMap<(Course, u64), Arc<Gathering>>> {
        self.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes symbols for the repair of a message, if that is arriving.
    pub fn repair(&self, course: Course, head: &RepairHead, symbols: Bytes) -> Decoded<()> {
        let gathering = self.arriving().get(&(course, head.sequence)).cloned();
        gathering.map_or(Ok(()), |gathering| gathering.add(head, symbols))
    }

    /// Only who has to lose nothing may have to wait. Saying that to tokio costs a change of threads.
    fn publishing<T>(&self, act: impl FnOnce() -> T) -> T {
        if is_all(&self.offer) { tokio::task::block_in_place(act) } else { act() }
    }

    /// A message that who is to lose nothing has no room for is tried again. Of an ordered channel alone, whose messages nothing else waits behind.
    fn waits(&self) -> bool {
        self.ordered && is_all(&self.offer)
    }

    /// As [`is_held_back`]; of an ordered channel alone.
    fn is_held_back(&self, why: &sinew::Error, bytes: u32) -> bool {
        self.ordered && is_held_back(&self.publisher, &self.offer, why, bytes.into())
    }

    /// It is decided what becomes of this message, and of all before it.
    fn pass(&self, handed: &mut Handed, sequence: u64) {
        self.counts.lost.fetch_add(sequence - handed.sequence - 1, Ordering::Relaxed);
        handed.sequence = sequence;
        self.last.send_replace(sequence);
    }

    /// False: the course is over.
    async fn hand_on(&self, course: Course, mut loan: Loan<'_>, head: &RecordHead) -> Decoded<bool> {
        if !self.waits() {
            return Ok(self.try_to_hand_on(course, head, || loan.publish(head.unpacked as usize))? != Handing::Over);
        }
        // A loan that was refused is gone.
        let kept = loan.bytes().to_vec();
        let mut handing = self.try_to_hand_on(course, head, || loan.publish(kept.len()))?;
        while handing == Handing::HeldBack {
            tokio::time::sleep(AGAIN).await;
            handing = self.try_to_hand_on(course, head, || self.publisher.publish(&[&kept]))?;
        }
        Ok(handing == Handing::Done)
    }

    fn try_to_hand_on(&self, course: Course, head: &RecordHead, publish: impl FnOnce() -> sinew::Result<()>) -> Decoded<Handing> {
        let Some(mut handed) = self.handed_of(course) else { return Ok(Handing::Over) };
        if head.sequence <= handed.sequence {
            if self.ordered {
                return violation(format!("message {} behind message {} of an ordered channel", head.sequence, handed.sequence));
            }
            // It was counted as lost when the one behind it was handed on.
            return Ok(Handing::Done);
        }
        point("message about to be published");
        if handed.recent.has(head.origin) {
            self.pass(&mut handed, head.sequence);
            self.counts.repeated.fetch_add(1, Ordering::Relaxed);
            return Ok(Handing::Done);
        }
        // Under the lock, so that they are published in their order.
        let published = self.publishing(publish);
        if published.as_ref().is_err_and(|why| self.is_held_back(why, head.unpacked)) {
            return Ok(Handing::HeldBack);
        }
        self.pass(&mut handed, head.sequence);
        let _ = handed.recent.is_new(head.origin);
        match published {
            Ok(()) => {
                point("message published");
                self.counts.messages.fetch_add(1, Ordering::Relaxed);
                // That may have to wait for the manager.
                self.needless(0, self.keeps_most()).map(|before| tokio::task::spawn_blocking(|| drop(before)));
                self.counts.bytes.fetch_add(u64::from(head.unpacked), Ordering::Relaxed);
            }
            Err(error) => {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                if error.kind() != ErrorKind::Exhausted && error.kind() != ErrorKind::WouldBlock {
                    log::debug!("a message on '{}' could not be published: {error}", self.want.name);
                }
            }
        }
        Ok(Handing::Done)
    }
}

/// What has become of a message that was to be handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handing {
    Done,
    /// The course is.
    Over,
    /// Who is to lose nothing has no room for it yet.
    HeldBack,
}

/// A message that arrives.
struct Gathers<'a> {
    received: &'a Received,
    message: (Course, u64),
    gathering: Arc<Gathering>,
}

impl Drop for Gathers<'_> {
    fn drop(&mut self) {
        // The same message may come a second time, and that go on; it needs no repair then.
        self.received.arriving().remove(&self.message);
    }
}
