//! Messages of this domain on their way to a peer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sinew::raw::{Frame, MessageInfo, Subscriber, SubscriberOptions, SubscriberStatistics};
use sinew::{Ghost, Node, Qos};

use super::asked::Asked;
use super::ledger::Ending;
use super::origin::origin_of;
use super::taking::{LeftOff, Taking};
use super::times;
use crate::link::{Keep, Lane, LaneOptions, Outbox, Outgoing};
use crate::packing::pack;
use crate::point::point;
use crate::protocol::{End, Offer, Packing, Want};
use crate::rules::Traffic;

/// Parts that are smaller are copied, so that few parts are sent.
const SMALL: usize = 4096;
/// The execution thread on which messages are packed.
const PACKING: u32 = 1;
/// What a ghost can have waiting for it.
pub(crate) const DEEPEST: u32 = 512;
/// Bytes that wait of a topic of which nothing may be lost, with what is around each message.
const MOST_WAITING: usize = 64 << 20;
/// (G35) What has not gone then is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// A ghost whose publishers have gone, and that has taken nothing for so long, has taken all: it is awake, and takes one after the other.
const QUIET: Duration = Duration::from_millis(50);

/// What the peer takes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Bytes of a message at most.
    pub max_message: u64,
    /// (G11)
    pub compression: u8,
}

/// A topic that goes to a peer. Messages are read where their publisher wrote them, and stay there until the peer has them, or they are given up. Nothing here ever makes a publisher wait.
///
/// When its publishers have gone, it is open until all that they have published was taken and sent (G35). That could break in three ways: what waits for the ghost is not taken any more, what was taken is not sent any more, and who publishes meanwhile
/// is not heard. So [`Outlet::look`] first has the ghost take what is left, then has the lane send it, and the ghost stays until both are over; and [`Outlet::go_on`] may come at any time before that.
pub struct Outlet {
    topic: String,
    // Before the lane, so that nothing is pushed any more when that goes.
    source: Source,
    lane: Arc<Lane>,
    taken: Taken,
    counts: Arc<Taking>,
    /// Messages that subscribers have missed that are none any more.
    missed: u64,
    /// Those who come late get what was kept.
    is_kept: bool,
    /// What a rate leaves out is not lost.
    has_rate: bool,
    ending: Option<Leaving>,
    /// No publisher was there any more when it took the last message.
    are_gone: bool,
}

/// A channel that ends.
struct Leaving {
    why: Ending,
    until: Instant,
    /// So many messages were begun to be taken, since then no more.
    begun: u64,
    since: Instant,
}

/// Where messages are from.
pub enum Supply<'a> {
    /// Those that are published in the domain that this is a node of.
    Domain(&'a Node),
    /// Also those that others have brought there (G38).
    Asked(Arc<Asked>),
}

/// What reads it.
enum Source {
    /// A ghost.
    Own {
        node: Node,
        /// None: no more is taken.
        subscriber: Option<Subscriber>,
        /// Of the same topic before it was gone and came again: it may have to take what is left there.
        before: Option<Subscriber>,
    },
    /// (G38)
    Asked {
        asked: Arc<Asked>,
        /// Messages that were lost before some came here. None: no more is taken.
        missed: Option<u64>,
    },
}

impl Outlet {
    /// Subscribes as a ghost, or takes what was asked for. Blocks until the manager has agreed.
    pub fn open(
        from: Supply<'_>,
        want: &Want,
        offer: &Offer,
        (ordered, left_off): (bool, LeftOff),
        traffic: &Traffic,
        outbox: &Outbox,
        taken: Taken,
    ) -> sinew::Result<Outlet> {
        let lane = outbox.lane(LaneOptions {
            channel: want.channel,
            after: left_off.last(),
            ordered,
            priority: traffic.priority,
            keep: Reading::of(offer, want.offer.transient_local, traffic).keep,
            max_rate: traffic.max_rate,
            max_bandwidth: traffic.max_bandwidth,
        });
        let source = match from {
            Supply::Domain(node) => Source::Own { node: node.clone(), subscriber: None, before: None },
            Supply::Asked(asked) => Source::Asked { asked, missed: None },
        };
        let mut outlet = Outlet {
            topic: want.name.clone(),
            source,
            lane: Arc::new(lane),
            taken,
            counts: Arc::default(),
            missed: 0,
            is_kept: Reading::of(offer, want.offer.transient_local, traffic).qos.transient_local,
            has_rate: traffic.max_rate.is_some(),
            ending: None,
            are_gone: false,
        };
        outlet.counts.begin_behind(&left_off);
        outlet.subscribe(want, offer, traffic)?;
        Ok(outlet)
    }

    /// What becomes of messages.
    fn push(&self, offer: &Offer, traffic: &Traffic) -> impl FnMut(Frame) + Send + 'static {
        let (to, lifespan, compression, taken) = (Arc::clone(&self.lane), offer.lifespan, traffic.compression, self.taken);
        let counts = Arc::clone(&self.counts);
        move |frame| {
            counts.begun.fetch_add(1, Ordering::Relaxed); // relaxed: all of these are numbers that stand for themselves
            point("message taken");
            let info = frame.info();
            let (missed, between) = (info.missed, counts.between(&info));
            to.lose(missed + between);
            counts.between.fetch_add(between, Ordering::Relaxed);
            counts.missed.fetch_add(missed, Ordering::Relaxed);
            match outgoing(frame, &info, lifespan, compression, taken) {
                Some(message) => to.push(message),
                None => {
                    to.lose(1);
                    counts.too_large.fetch_add(1, Ordering::Relaxed);
                }
            }
            counts.ended.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn subscribe(&mut self, want: &Want, offer: &Offer, traffic: &Traffic) -> sinew::Result<()> {
        let reading = Reading::of(offer, want.offer.transient_local, traffic);
        let push = self.push(offer, traffic);
        match &mut self.source {
            Source::Asked { asked, missed } => {
                *missed = Some(asked.flow(offer, &reading, push)?);
            }
            Source::Own { node, subscriber, before } => {
                let options =
                    SubscriberOptions { ghost: Ghost::Carrier, execution_thread: thread_for(traffic), ..SubscriberOptions::default() };
                let new = Subscriber::with_callback(node, &want.name, &want.signature, &reading.qos, options, push)?;
                self.missed += before.take().map_or(0, |before| before.statistics().missed);
                *before = subscriber.replace(new);
            }
        }
        self.counts.begin_anew();
        Ok(())
    }

    /// Of its messages.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// It is to end, if it does not end already.
    pub fn end(&mut self, why: Ending) {
        let now = Instant::now();
        let (until, begun) =
            (self.ending.as_ref().map_or(now + PATIENCE, |ending| ending.until), self.counts.begun.load(Ordering::Relaxed));
        self.ending = Some(Leaving { why, until, begun, since: now });
        if why != Ending::Gone {
            self.take_no_more();
        }
        if why == Ending::Forbidden {
            self.lane.close();
        }
    }

    /// Is it to end?
    pub fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// Its publishers, or others, are there again.
    pub fn go_on(&mut self, want: &Want, offer: &Offer, traffic: &Traffic) -> sinew::Result<()> {
        // Whoever still has a publisher is known to the manager, and must not take everything twice.
        let now = self.source.statistics();
        if now.as_ref().is_none_or(|now| now.detached) {
            if now.map_or(self.are_gone, |now| now.publishers == 0) {
                self.counts.forget_publishers();
            }
            self.subscribe(want, offer, traffic)?;
            if let Source::Own { before, .. } = &mut self.source
                && let Some(before) = before.take_if(|before| before.statistics().publishers > 0)
            {
                self.missed += before.statistics().missed;
            }
        }
        self.ending = None;
        Ok(())
    }

    /// Where it has left off. What is kept comes again, with numbers of its own.
    pub fn left_off(&self) -> LeftOff {
        if self.are_gone || self.has_rate {
            self.counts.forget_publishers();
        }
        self.counts.left_off(if self.is_kept { 0 } else { self.lane.end().last })
    }

    /// Takes and sends nothing any more.
    pub fn close(&mut self) {
        self.take_no_more();
        self.lane.close();
    }

    /// How far it went, if it has ended. To be asked again and again while it ends; then it is to be dropped.
    pub fn look(&mut self, now: Instant) -> Option<End> {
        let ending = self.ending.as_mut()?;
        if now < ending.until {
            let (begun, ended) = (self.counts.begun.load(Ordering::Relaxed), self.counts.ended.load(Ordering::Relaxed));
            if begun != ending.begun || ended != begun {
                (ending.begun, ending.since) = (begun, now);
            }
            let has_publishers = self.source.has_publishers();
            let is_taken = ending.why != Ending::Gone || (!has_publishers && now - ending.since >= QUIET);
            if !is_taken || !self.lane.has_gone() {
                return None;
            }
        }
        self.close();
        Some(self.lane.end())
    }

    fn take_no_more(&mut self) {
        if let Some(now) = self.source.statistics() {
            self.are_gone = now.publishers == 0;
        }
        let is_wanted = self.ending.as_ref().is_some_and(|ending| ending.why != Ending::Forbidden);
        self.missed += self.source.stop(is_wanted);
        self.lane.lose(self.missed.saturating_sub(self.counts.missed.swap(self.missed, Ordering::Relaxed)));
    }

    /// Messages that were sent, their bytes, and messages that were lost: on the way to the gateway, given up, or larger than the peer takes.
    pub fn told(&self) -> (u64, u64, u64) {
        let sent = self.lane.statistics();
        (
            sent.sent,
            sent.sent_bytes,
            sent.dropped
                + self.missed
                + self.source.missed()
                + self.counts.too_large.load(Ordering::Relaxed)
                + self.counts.between.load(Ordering::Relaxed),
        )
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.source.stop(false);
    }
}

impl Source {
    /// What its reader counts. None: no more is taken.
    fn statistics(&self) -> Option<SubscriberStatistics> {
        match self {
            Source::Own { subscriber, .. } => subscriber.as_ref().map(Subscriber::statistics),
            Source::Asked { asked, missed } => missed.map(|_| asked.statistics()),
        }
    }

    /// Somebody may still have published something that was not taken. Of what was asked for that cannot be told: this gateway may publish there, too.
    fn has_publishers(&self) -> bool {
        matches!(self, Source::Own { subscriber: Some(subscriber), .. } if subscriber.statistics().publishers > 0)
    }

    /// Messages that were lost on the way to here.
    fn missed(&self) -> u64 {
        match self {
            Source::Own { subscriber, before, .. } => {
                subscriber.iter().chain(before).map(|subscriber| subscriber.statistics().missed).sum()
            }
            Source::Asked { asked, missed } => missed.map_or(0, |before| asked.statistics().missed.saturating_sub(before)),
        }
    }

    /// Takes no more, and tells what it has missed. `is_wanted`: by the peer all the same.
    fn stop(&mut self, is_wanted: bool) -> u64 {
        let missed = self.missed();
        match self {
            Source::Own { subscriber, before, .. } => (*subscriber, *before) = (None, None),
            Source::Asked { asked, missed } => {
                if missed.take().is_some() {
                    asked.stop(is_wanted);
                }
            }
        }
        missed
    }
}

/// The execution thread on which messages are taken, so that others do not wait while they are packed.
pub(super) fn thread_for(traffic: &Traffic) -> u32 {
    if traffic.compression == Packing::None { 0 } else { PACKING }
}

/// How a ghost reads a topic that is to go elsewhere.
pub(crate) struct Reading {
    /// Never such that publishers would wait for it.
    pub qos: Qos,
    /// Of what cannot be sent yet.
    pub keep: Keep,
}

impl Reading {
    /// A topic of which this is offered; `wants_kept`: also what was kept for those who come late.
    pub fn of(offer: &Offer, wants_kept: bool, traffic: &Traffic) -> Reading {
        let transient_local = offer.transient_local && wants_kept;
        // Of what is kept for those who come late, the newest alone would not be enough.
        let is_kept = transient_local && offer.depth > 1;
        let is_all = traffic.reliable || offer.depth == 0 || is_kept;
        let depth = if is_all && !is_kept { DEEPEST } else { offer.depth.clamp(1, DEEPEST) };
        Reading {
            qos: Qos { reliable: offer.reliable, transient_local, ..Qos::keep_last(depth) },
            keep: if is_all { Keep::All { bytes: MOST_WAITING } } else { Keep::Newest { depth: depth as usize } },
        }
    }
}

/// None: it is too large.
pub(crate) fn outgoing(
    frame: Frame,
    info: &MessageInfo,
    lifespan: Option<Duration>,
    compression: Packing,
    taken: Taken,
) -> Option<Outgoing> {
    let unpacked = u32::try_from(frame.size()).ok().filter(|size| u64::from(*size) <= taken.max_message)?;
    let published = published(info);
    let mut parts = parts_of(frame);
    let packed = pack(compression, taken.compression, &parts);
    let packing = if packed.is_some() { compression } else { Packing::None };
    if let Some(packed) = packed {
        parts = vec![packed];
    }
    Some(Outgoing { origin: origin_of(info), parts, packing, unpacked, published, expires: lifespan.map(|lifespan| published + lifespan) })
}

/// When it was.
pub(crate) fn published(info: &MessageInfo) -> Instant {
    let now = Instant::now();
    // By the clock now: since it was received, its thread may have stood still.
    let age = Duration::from_nanos(times::now().saturating_sub(info.source_time_ns).max(0).unsigned_abs());
    now.checked_sub(age).unwrap_or(now)
}

/// What lies in shared memory stays there.
pub(crate) fn parts_of(frame: Frame) -> Vec<Bytes> {
    struct Part(Arc<Frame>, usize);
    impl AsRef<[u8]> for Part {
        fn as_ref(&self) -> &[u8] {
            self.0.extents().nth(self.1).unwrap_or_default()
        }
    }
    let frame = Arc::new(frame);
    let mut parts = Vec::new();
    let mut small = Vec::new();
    for (index, extent) in frame.extents().enumerate() {
        if extent.len() < SMALL {
            small.extend_from_slice(extent);
        } else {
            if !small.is_empty() {
                parts.push(Bytes::from(std::mem::take(&mut small)));
            }
            parts.push(Bytes::from_owner(Part(Arc::clone(&frame), index)));
        }
    }
    if !small.is_empty() {
        parts.push(Bytes::from(small));
    }
    parts
}
