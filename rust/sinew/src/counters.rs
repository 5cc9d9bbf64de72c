//! What is counted in a domain.

use std::fmt;
use std::ops::AddAssign;
use std::ptr;

use sinew_sys as sys;

use crate::domain::Id;
use crate::error::{Result, check};
use crate::node::Node;

/// The memory in which the nodes of a domain count, mapped read-only, as they come and go: who is looked at does nothing for it, and runs as fast as before.
///
/// ```no_run
/// # let node = sinew::Node::new("viewer")?;
/// let counters = node.domain_counters()?;
/// for publisher in counters.read()?.publishers {
///     println!("{}: {} messages", publisher.publisher, publisher.messages);
/// }
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct DomainCounters {
    counters: *mut sys::sinew_domain_counters,
    _node: Node,
}

// SAFETY: "Functions are thread-safe", of counters all.
unsafe impl Send for DomainCounters {}
// SAFETY: likewise.
unsafe impl Sync for DomainCounters {}

/// The counts of one moment, in the order of the ids of publishers, then of subscribers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainCounts {
    /// Of all.
    pub publishers: Vec<PublisherCounts>,
    /// Of all that are connected.
    pub pairs: Vec<PairCounts>,
}

/// Of a publisher, since it was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublisherCounts {
    /// The endpoint.
    pub publisher: Id,
    /// Stays when its node registers anew, as after the end of the manager, whereas the id is another one then, and its old one may be somebody else's: by this, what was counted at another moment is found.
    pub identity: u64,
    /// Published.
    pub messages: u64,
    /// Of them.
    pub bytes: u64,
    /// While publishing.
    pub bytes_copied: u64,
    /// For readers of other users.
    pub bytes_exported: u64,
    /// Messages that were not published.
    pub refused: u64,
    /// Messages taken back for want of memory before all had taken them.
    pub withdrawn: u64,
    /// When the newest was published, nanoseconds of `CLOCK_MONOTONIC`; 0: none was.
    pub newest_ns: i64,
}

/// What a subscriber has counted of one publisher, since they were connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairCounts {
    /// An endpoint.
    pub publisher: Id,
    /// An endpoint.
    pub subscriber: Id,
    /// As [`PublisherCounts::identity`]. A pair that is connected anew has the same ones, and counts from 0; while messages of the connection before are held, that one is told of as well.
    pub publisher_identity: u64,
    /// Likewise.
    pub subscriber_identity: u64,
    /// Received.
    pub messages: u64,
    /// Lost: pushed out by newer ones, or withdrawn.
    pub missed: u64,
    /// Of those, by a publisher whose memory was full.
    pub withdrawn: u64,
    /// Older than their lifespan.
    pub expired: u64,
    /// Not wanted: every n-th, or a rate.
    pub skipped: u64,
    /// Copied since the subscriber holds too much.
    pub over_quota: u64,
    /// By the subscriber, while receiving.
    pub bytes_copied: u64,
    /// Messages whose memory the subscriber keeps from being used again, now.
    pub held: u64,
    /// How long messages took.
    pub latency: Latency,
}

/// How many messages took how long from being published to being received. Of those that are published within a millisecond of each other one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Nanoseconds of all.
    pub total_ns: u64,
    /// How many took a time of each of [`Latency::bucket`]. Numbers begin again from 0 after 2^32 - 1.
    pub buckets: [u32; Latency::BUCKETS],
}

impl Latency {
    /// So many there are.
    pub const BUCKETS: usize = 48;

    /// The times of a bucket: from the first up to, and without, the second. The first bucket also has what took less, the last what took longer.
    pub fn bucket(index: usize) -> (u64, u64) {
        let low = 512_u64 << (index / 2);
        if index.is_multiple_of(2) { (low, low / 2 * 3) } else { (low / 2 * 3, low * 2) }
    }

    /// What came since then.
    #[must_use]
    pub fn since(&self, earlier: &Latency) -> Latency {
        let mut since = self.clone();
        since.total_ns = since.total_ns.wrapping_sub(earlier.total_ns);
        for (now, then) in since.buckets.iter_mut().zip(&earlier.buckets) {
            *now = now.wrapping_sub(*then);
        }
        since
    }

    /// How many messages these are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|count| u64::from(*count)).sum()
    }

    /// Of all; none: of nothing.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.total_ns as f64 / count as f64)
    }

    /// The time within which the given part of them came, by the upper ends of buckets; none: of nothing.
    pub fn quantile_ns(&self, part: f64) -> Option<u64> {
        let wanted = ((self.count() as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        (0..Latency::BUCKETS).find_map(|index| {
            seen += u64::from(self.buckets[index]);
            (seen >= wanted).then(|| Latency::bucket(index).1)
        })
    }
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { total_ns: 0, buckets: [0; Latency::BUCKETS] }
    }
}

impl AddAssign<&Latency> for Latency {
    fn add_assign(&mut self, other: &Latency) {
        self.total_ns = self.total_ns.wrapping_add(other.total_ns);
        for (all, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *all = all.wrapping_add(*more);
        }
    }
}

impl Node {
    /// What all nodes of the domain count, to be read at any time. Blocks until the manager has told everything, as [`Node::domain_state`].
    pub fn domain_counters(&self) -> Result<DomainCounters> {
        let mut counters = ptr::null_mut();
        // SAFETY: the node is there.
        check(unsafe { sys::sinew_domain_counters_create(self.0.raw(), &mut counters) })?;
        Ok(DomainCounters { counters, _node: self.clone() })
    }
}

impl DomainCounters {
    /// What is counted now. Makes no system call; under a microsecond for each publisher and pair. Goes on while there is no manager.
    pub fn read(&self) -> Result<DomainCounts> {
        let mut counts = ptr::null_mut();
        // SAFETY: the counters are there.
        check(unsafe { sys::sinew_domain_counters_read(self.counters, &mut counts) })?;
        // SAFETY: it is ours, indices are less than the counts, and it is released once, behind its last use.
        unsafe {
            let told = DomainCounts {
                publishers: (0..sys::sinew_domain_counts_publisher_count(counts))
                    .map(|index| publisher_of(&sys::sinew_domain_counts_publisher(counts, index)))
                    .collect(),
                pairs: (0..sys::sinew_domain_counts_pair_count(counts))
                    .map(|index| pair_of(&sys::sinew_domain_counts_pair(counts, index)))
                    .collect(),
            };
            sys::sinew_domain_counts_release(counts);
            Ok(told)
        }
    }
}

impl Drop for DomainCounters {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { sys::sinew_domain_counters_destroy(self.counters) }
    }
}

impl fmt::Debug for DomainCounters {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("DomainCounters").finish_non_exhaustive()
    }
}

fn publisher_of(counts: &sys::sinew_publisher_counts) -> PublisherCounts {
    PublisherCounts {
        publisher: counts.publisher,
        identity: counts.identity,
        messages: counts.messages,
        bytes: counts.bytes,
        bytes_copied: counts.bytes_copied,
        bytes_exported: counts.bytes_exported,
        refused: counts.refused,
        withdrawn: counts.withdrawn,
        newest_ns: counts.newest_ns,
    }
}

fn pair_of(counts: &sys::sinew_pair_counts) -> PairCounts {
    PairCounts {
        publisher: counts.publisher,
        subscriber: counts.subscriber,
        publisher_identity: counts.publisher_identity,
        subscriber_identity: counts.subscriber_identity,
        messages: counts.messages,
        missed: counts.missed,
        withdrawn: counts.withdrawn,
        expired: counts.expired,
        skipped: counts.skipped,
        over_quota: counts.over_quota,
        bytes_copied: counts.bytes_copied,
        held: counts.held,
        latency: Latency { total_ns: counts.latency_total_ns, buckets: counts.latency },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency_of(counts: &[(usize, u32)]) -> Latency {
        let mut latency = Latency::default();
        for (index, count) in counts {
            latency.buckets[*index] = *count;
        }
        latency
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        assert_eq!(Latency::bucket(0), (512, 768));
        for index in 1..Latency::BUCKETS {
            assert_eq!(Latency::bucket(index).0, Latency::bucket(index - 1).1, "{index}");
        }
    }

    #[test]
    fn a_quantile_is_the_end_of_the_bucket_in_which_it_lies() {
        let latency = latency_of(&[(2, 98), (10, 2)]);
        assert_eq!(latency.quantile_ns(0.5), Some(Latency::bucket(2).1));
        assert_eq!(latency.quantile_ns(0.99), Some(Latency::bucket(10).1));
        assert_eq!((Latency::default().quantile_ns(0.5), Latency::default().mean_ns()), (None, None));
    }

    #[test]
    fn what_came_since_bears_numbers_that_begin_again() {
        let (earlier, now) = (latency_of(&[(3, u32::MAX), (5, 4)]), latency_of(&[(3, 1), (5, 4)]));
        assert_eq!(now.since(&earlier), latency_of(&[(3, 2)]));
    }

    #[test]
    fn times_of_several_are_added() {
        let mut all = latency_of(&[(3, 1)]);
        all += &latency_of(&[(3, 2), (4, 1)]);
        assert_eq!((all.count(), all), (4, latency_of(&[(3, 3), (4, 1)])));
    }
}
