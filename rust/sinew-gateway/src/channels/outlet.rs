//! Messages of this domain on their way to a peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, Qos};

use super::origin::origin_of;
use crate::link::{Keep, Lane, LaneOptions, Outbox, Outgoing};
use crate::packing::pack;
use crate::point::point;
use crate::protocol::{Offer, Packing, Want};
use crate::rules::Traffic;

/// Parts that are smaller are copied, so that few parts are sent.
const SMALL: usize = 4096;
/// The execution thread on which messages are packed.
const PACKING: u32 = 1;
/// What a ghost can have waiting for it.
const DEEPEST: u32 = 512;
/// Bytes that wait of a topic of which nothing may be lost.
const MOST_WAITING: usize = 64 << 20;

/// What the peer takes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Bytes of a message at most.
    pub max_message: u64,
    /// (G11)
    pub compression: u8,
}

/// A topic that goes to a peer. Messages are read where their publisher wrote them, and stay there until the peer has them, or they are given up. Nothing here ever makes a publisher wait.
pub struct Outlet {
    // First, so that nothing is pushed any more when the lane goes.
    subscriber: Subscriber,
    lane: Arc<Lane>,
    too_large: Arc<AtomicU64>,
}

impl Outlet {
    /// Subscribes as a ghost. Blocks until the manager has agreed.
    pub fn open(
        node: &Node,
        want: &Want,
        offer: &Offer,
        ordered: bool,
        traffic: &Traffic,
        outbox: &Outbox,
        taken: Taken,
    ) -> sinew::Result<Outlet> {
        let reading = Reading::of(offer, want.offer.transient_local, traffic);
        let lane = Arc::new(outbox.lane(LaneOptions {
            channel: want.channel,
            ordered,
            priority: traffic.priority,
            keep: reading.keep,
            max_rate: traffic.max_rate,
            max_bandwidth: traffic.max_bandwidth,
        }));
        // So that others do not wait while messages are packed.
        let execution_thread = if traffic.compression == Packing::None { 0 } else { PACKING };
        let options = SubscriberOptions { ghost: Ghost::Carrier, execution_thread, ..SubscriberOptions::default() };
        let too_large = Arc::new(AtomicU64::new(0));
        let (to, lifespan, compression, counted) = (Arc::clone(&lane), offer.lifespan, traffic.compression, Arc::clone(&too_large));
        let subscriber = Subscriber::with_callback(node, &want.name, &want.signature, &reading.qos, options, move |frame| {
            point("message taken");
            match outgoing(frame, lifespan, compression, taken) {
                Some(message) => to.push(message),
                None => _ = counted.fetch_add(1, Ordering::Relaxed),
            }
        })?;
        Ok(Outlet { subscriber, lane, too_large })
    }

    /// Messages that were sent, their bytes, and messages that were lost: on the way to the gateway, given up, or larger than the peer takes.
    pub fn told(&self) -> (u64, u64, u64) {
        let sent = self.lane.statistics();
        let lost = sent.dropped + self.subscriber.statistics().missed + self.too_large.load(Ordering::Relaxed);
        (sent.sent, sent.sent_bytes, lost)
    }
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
pub(crate) fn outgoing(frame: Frame, lifespan: Option<Duration>, compression: Packing, taken: Taken) -> Option<Outgoing> {
    let unpacked = u32::try_from(frame.size()).ok().filter(|size| u64::from(*size) <= taken.max_message)?;
    let info = frame.info();
    let now = Instant::now();
    let age = Duration::from_nanos(info.receive_time_ns.saturating_sub(info.source_time_ns).max(0) as u64);
    let published = now.checked_sub(age).unwrap_or(now);
    let mut parts = parts_of(frame);
    let packed = pack(compression, taken.compression, &parts);
    let packing = if packed.is_some() { compression } else { Packing::None };
    if let Some(packed) = packed {
        parts = vec![packed];
    }
    Some(Outgoing { origin: origin_of(&info), parts, packing, unpacked, published, expires: lifespan.map(|lifespan| published + lifespan) })
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
