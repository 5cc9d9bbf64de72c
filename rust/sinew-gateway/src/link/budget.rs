//! What all connections of a gateway may send together.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::bucket::Allowance;

/// Bits a second for all connections of a gateway together, or as many as there are. Counts datagrams with their headers, as they are on an Ethernet, but not what is sent again after a loss.
#[derive(Debug)]
pub struct Budget {
    limit: Option<Limit>,
}

#[derive(Debug)]
struct Limit {
    bytes_per_second: f64,
    allowance: Mutex<Allowance>,
}

impl Limit {
    fn allowance(&self) -> MutexGuard<'_, Allowance> {
        self.allowance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That much may go at once.
const AT_ONCE: Duration = Duration::from_millis(10);
/// Bytes of a datagram, and what is around them: Ethernet, IPv6, UDP, QUIC and its seal.
const DATAGRAM: usize = 1400;
const AROUND: usize = 110;

impl Budget {
    /// Of so many bits a second; None is no limit.
    pub fn new(bits_per_second: Option<u64>) -> Budget {
        let limit = bits_per_second.map(|bits| {
            let bytes_per_second = bits.max(1) as f64 / 8.0;
            let at_once = (bytes_per_second * AT_ONCE.as_secs_f64()).max(2.0 * (DATAGRAM + AROUND) as f64);
            Limit { bytes_per_second, allowance: Mutex::new(Allowance::new(bytes_per_second, at_once, Instant::now())) }
        });
        Budget { limit }
    }

    /// No more can go in the long run.
    pub(super) fn bytes_per_second(&self) -> u64 {
        self.limit.as_ref().map_or(u64::MAX, |limit| limit.bytes_per_second as u64)
    }

    /// When something other than a copy may be sent.
    pub(super) fn when(&self, now: Instant) -> Instant {
        self.limit.as_ref().map_or(now, |limit| limit.allowance().when(now))
    }

    /// Whether all else has left something for copies.
    pub(super) fn leaves(&self, now: Instant) -> bool {
        self.limit.as_ref().is_none_or(|limit| limit.allowance().leaves(now))
    }

    /// So many bytes have been sent.
    pub(super) fn take(&self, now: Instant, bytes: usize, is_copy: bool) {
        if let Some(limit) = &self.limit {
            limit.allowance().take(now, on_the_wire(bytes) as f64, is_copy);
        }
    }

    /// No more bytes than this at a time, so that others get their turn.
    pub(super) fn piece(&self) -> usize {
        self.limit.as_ref().map_or(usize::MAX, |limit| ((limit.bytes_per_second * AT_ONCE.as_secs_f64() / 2.0) as usize).max(DATAGRAM))
    }
}

/// Bytes of datagrams.
pub(super) fn on_the_wire(bytes: usize) -> usize {
    bytes + bytes.div_ceil(DATAGRAM) * AROUND
}
