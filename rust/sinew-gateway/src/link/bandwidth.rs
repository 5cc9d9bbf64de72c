//! What a lane may send by its rule. Pure: time is an argument.

use std::time::Instant;

use super::bucket::Allowance;
use super::budget::on_the_wire;

/// Bits a second for a lane, as [`Budget`](super::Budget) counts them, or as many as there are.
#[derive(Debug)]
pub(super) struct Bandwidth {
    limit: Option<Allowance>,
    /// It was used up since the lane had nothing to send the last time: what waits, waits for that.
    is_short: bool,
}

impl Bandwidth {
    /// None is no limit.
    pub fn new(bits_per_second: Option<u64>, now: Instant) -> Bandwidth {
        let limit = bits_per_second.map(|bits| {
            let bytes = bits.max(1) as f64 / 8.0;
            Allowance::new(bytes, (bytes / 50.0).max(3_000.0), now)
        });
        Bandwidth { limit, is_short: false }
    }

    /// When the lane may send, which has something other than copies to send then. None: it has nothing.
    pub fn when(&mut self, ready: Option<Instant>, now: Instant) -> Option<Instant> {
        let allowed = self.limit.as_mut().map_or(now, |limit| limit.when(now));
        self.is_short = ready.is_some() && (self.is_short || allowed > now);
        ready.map(|ready| ready.max(allowed))
    }

    /// Whether messages have left something for copies.
    pub fn leaves(&mut self, now: Instant) -> bool {
        self.limit.as_mut().is_none_or(|limit| limit.leaves(now))
    }

    /// Bytes a second that the lane has of a link with so many.
    pub fn of(&self, link: u64) -> u64 {
        self.limit.as_ref().filter(|_| self.is_short).map_or(link, |limit| link.min(limit.rate() as u64))
    }

    /// So many bytes have been sent. When more of messages may be is returned.
    pub fn take(&mut self, now: Instant, bytes: usize, is_copy: bool) -> Instant {
        self.limit.as_mut().map_or(now, |limit| {
            limit.take(now, on_the_wire(bytes) as f64, is_copy);
            limit.when(now)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_all_of_the_link_until_it_has_to_wait_and_again_when_nothing_waits() {
        let now = Instant::now();
        let mut bandwidth = Bandwidth::new(Some(1_000_000), now);
        assert_eq!((bandwidth.when(Some(now), now), bandwidth.of(u64::MAX)), (Some(now), u64::MAX));
        let next = bandwidth.take(now, 16_384, false);
        assert!(next > now);
        assert_eq!((bandwidth.when(Some(now), now), bandwidth.of(u64::MAX), bandwidth.of(7)), (Some(next), 125_000, 7));
        assert_eq!((bandwidth.when(Some(now), next), bandwidth.of(u64::MAX)), (Some(next), 125_000));
        assert_eq!((bandwidth.when(None, next), bandwidth.of(u64::MAX)), (None, u64::MAX));
    }
}
