//! Congestion control that keeps the queue in the network a few milliseconds long.
//!
//! Controllers that fill the queue until it overflows (NewReno, Cubic) let every command wait behind as much of an image as the slowest queue holds, and take each loss, of which wireless links have plenty, for a full queue. This one goes by delay. The window `w`
//! is moved, once per measurement, to what gives the queueing delay that is wanted, as FAST TCP does (1):
//!
//! ```text
//! w := w * (base + target) / rtt      at most a quarter more, at least a quarter
//! ```
//!
//! * `rtt` is the smallest round-trip time among the datagrams that were sent after `w` was last moved, over a time of half a round trip and no less than 8 ms. So each measurement is of the window that it judges, and jitter of single datagrams (Wi-Fi) is not taken for
//!   a queue, as in Copa (2), of which also the choice of the standing rather than the last round-trip time is.
//! * `base` is the smallest round-trip time of the last 3 to 6 s. So that the own standing queue does not get into it, every 3 s the window is small for a measurement, and the queue runs empty, as in BBR (3).
//! * No more than a quarter is added at a time: links let through bursts that have waited (token buckets, aggregation on Wi-Fi), during which there is no queue, and who doubles the window meanwhile has a long one afterwards.
//! * In the start the window grows by what was acknowledged (doubling per round trip), until half the wanted delay was seen, or loss.
//! * It stays as it is while less is sent than it allows.
//! * Loss of up to [`TOLERATED_LOSS`] means nothing (the link loses what it likes); what goes beyond in a measurement shrinks the window in proportion. Persistent congestion (RFC 9002, 7.6) starts anew with the smallest window.
//!
//! Who has a queue filled by others gets little of the link, until after 6 s their queue counts as `base`.
//!
//! (1) Wei, Jin, Low, Hegde: FAST TCP, IEEE/ACM Transactions on Networking 14 (6), 2006. (2) Arun, Balakrishnan: Copa, NSDI 2018. (3) Cardwell et al.: BBR, ACM Queue 14 (5), 2016.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion;
use quinn_proto::RttEstimator;

use super::gauge::Gauge;

/// The queueing delay that is wanted.
const TARGET: Duration = Duration::from_millis(3);
/// A measurement takes no less.
const SHORTEST: Duration = Duration::from_millis(8);
/// Half of how long a round-trip time counts as the smallest.
const BASE_AGE: Duration = Duration::from_secs(3);
const TOLERATED_LOSS: f64 = 0.1;
/// Packets.
const REMEMBERED: f64 = 256.0;
/// In datagrams.
const INITIAL_WINDOW: u64 = 32;
const SMALLEST_WINDOW: u64 = 3;
/// 4 GiB, above which quinn does not pace.
const LARGEST_WINDOW: u64 = u32::MAX as u64;

/// Makes a [`Controller`] for each path.
#[derive(Debug, Default)]
pub(super) struct Factory;

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Controller::new(now, u64::from(current_mtu)))
    }
}

/// What is measured since the window was last moved.
#[derive(Clone, Debug)]
struct Measurement {
    /// Only datagrams that were sent later count.
    since: Instant,
    /// When the first of those was acknowledged.
    begun: Option<Instant>,
    rtt: Duration,
    acked: u64,
    lost: u64,
    /// quinn had all the time something to send.
    busy: bool,
}

impl Measurement {
    fn new(since: Instant) -> Measurement {
        Measurement { since, begun: None, rtt: Duration::MAX, acked: 0, lost: 0, busy: false }
    }

    fn loss(&self) -> f64 {
        self.lost as f64 / (self.acked + self.lost).max(1) as f64
    }
}

/// Of one path. See the module.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    mtu: u64,
    window: u64,
    starting: bool,
    measured: Measurement,
    /// The smallest since `base_since`, and of the `BASE_AGE` before.
    base: [Duration; 2],
    base_since: Instant,
    /// The window after the measurement with an empty queue.
    after_drain: Option<u64>,
    /// The part of the packets that is lost, on average over the last [`REMEMBERED`].
    loss: f64,
    gauge: Arc<Gauge>,
}

impl Controller {
    pub fn new(now: Instant, mtu: u64) -> Controller {
        Controller {
            mtu,
            window: INITIAL_WINDOW * mtu,
            starting: true,
            measured: Measurement::new(now),
            base: [Duration::MAX; 2],
            base_since: now,
            after_drain: None,
            loss: 0.0,
            gauge: Arc::default(),
        }
    }

    /// What this one, and all clones of it, tell.
    pub fn gauge(&self) -> &Arc<Gauge> {
        &self.gauge
    }

    fn smallest(&self) -> u64 {
        SMALLEST_WINDOW * self.mtu
    }

    fn base(&self) -> Duration {
        self.base[0].min(self.base[1])
    }

    fn set_window(&mut self, window: f64) {
        self.window = (window as u64).clamp(self.smallest(), LARGEST_WINDOW);
    }

    /// A datagram was acknowledged.
    fn acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64, busy: bool) {
        let rtt = now.saturating_duration_since(sent).max(Duration::from_micros(1));
        self.base[0] = self.base[0].min(rtt);
        if sent < self.measured.since {
            return;
        }
        let measured = &mut self.measured;
        measured.begun.get_or_insert(now);
        measured.rtt = measured.rtt.min(rtt);
        measured.acked += bytes;
        measured.busy |= busy;
        if self.starting && busy && self.after_drain.is_none() {
            self.set_window((self.window + bytes) as f64);
        }
    }

    /// After acknowledgements: moves the window if enough was measured.
    fn consider(&mut self, now: Instant) {
        let Some(begun) = self.measured.begun else { return };
        let elapsed = now.saturating_duration_since(begun);
        let queue = self.measured.rtt.saturating_sub(self.base());
        if self.starting && self.after_drain.is_none() {
            // Do not wait for a whole measurement where the queue is there already.
            if elapsed < (self.measured.rtt / 2).max(SHORTEST) && queue < TARGET {
                return;
            }
        } else if elapsed < (self.measured.rtt / 2).max(SHORTEST) {
            return;
        }
        let measured = std::mem::replace(&mut self.measured, Measurement::new(now));
        if let Some(window) = self.after_drain.take() {
            self.set_window(window as f64);
            return;
        }
        let (rtt, base) = (measured.rtt.as_secs_f64(), self.base().as_secs_f64());
        if !measured.busy {
            return;
        }
        if self.starting && queue < TARGET / 2 && measured.loss() <= TOLERATED_LOSS {
            return;
        }
        self.starting = false;
        let factor = ((base + TARGET.as_secs_f64()) / rtt).clamp(0.25, 1.25) * (1.0 - (measured.loss() - TOLERATED_LOSS).max(0.0));
        self.set_window(self.window as f64 * factor);
        if now.saturating_duration_since(self.base_since) >= BASE_AGE {
            self.base = [measured.rtt, self.base[0]];
            self.base_since = now;
            self.after_drain = Some(self.window);
            self.set_window(self.window as f64 * 0.75 * base / rtt.max(base));
        }
    }
}

impl congestion::Controller for Controller {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, _rtt: &RttEstimator) {
        self.acknowledged(now, sent, bytes, !app_limited);
        self.gauge.acknowledged(bytes);
        self.loss -= self.loss / REMEMBERED;
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.consider(now);
        self.gauge.loses(self.loss);
        // Where nothing is in flight no acknowledgement would come to say so later.
        self.gauge.end_acks(in_flight, app_limited && in_flight < self.window || in_flight == 0);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        if sent >= self.measured.since {
            self.measured.lost += lost_bytes;
        }
        // How many packets they were is not told.
        let packets = i32::try_from(lost_bytes.div_ceil(self.mtu)).unwrap_or(i32::MAX);
        self.loss = 1.0 - (1.0 - self.loss) * (1.0 - 1.0 / REMEMBERED).powi(packets);
        if is_persistent_congestion {
            self.starting = true;
            self.after_drain = None;
            self.measured = Measurement::new(now);
            self.set_window(0.0);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu);
        self.set_window(self.window as f64);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        INITIAL_WINDOW * self.mtu
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
