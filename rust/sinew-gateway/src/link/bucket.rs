//! Token buckets: so many a second, and how many at once. Pure: time is an argument.

use std::time::{Duration, Instant};

/// Fills at a rate up to what may go at once. Whoever finds it not empty may take more than is in it, and all wait until that was made up for: so one thing that is larger than the bucket passes, and in the long run no more than the rate goes.
#[derive(Debug)]
pub(crate) struct Bucket {
    rate: f64,
    most: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    /// Full at `now`. `rate` per second, `most` at once.
    pub fn new(rate: f64, most: f64, now: Instant) -> Bucket {
        Bucket { rate: rate.max(f64::MIN_POSITIVE), most, level: most, at: now }
    }

    /// Per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at);
        self.level = (self.level + passed.as_secs_f64() * self.rate).min(self.most);
        self.at = self.at.max(now);
    }

    /// When something may be taken; `now` or before: at once.
    pub fn when(&mut self, now: Instant) -> Instant {
        self.fill(now);
        if self.level > 0.0 {
            return now;
        }
        // A nanosecond more than nothing, so that it is not found empty then for a rounding error.
        let wait = (-self.level / self.rate).min(LONGEST.as_secs_f64());
        now + Duration::from_secs_f64(wait) + Duration::from_nanos(1_000)
    }

    /// Takes, whatever is in it.
    pub fn take(&mut self, now: Instant, amount: f64) {
        self.fill(now);
        self.level -= amount;
    }
}

/// A limit for messages and copies of them. Copies live on what messages leave: none of these ever waits for one of those.
#[derive(Debug)]
pub(super) struct Allowance {
    messages: Bucket,
    all: Bucket,
}

impl Allowance {
    /// As [`Bucket::new`].
    pub fn new(rate: f64, most: f64, now: Instant) -> Allowance {
        Allowance { messages: Bucket::new(rate, most, now), all: Bucket::new(rate, most, now) }
    }

    /// Per second.
    pub fn rate(&self) -> f64 {
        self.messages.rate()
    }

    /// When messages may go; `now` or before: at once.
    pub fn when(&mut self, now: Instant) -> Instant {
        self.messages.when(now)
    }

    /// Whether messages have left something for copies.
    pub fn leaves(&mut self, now: Instant) -> bool {
        self.all.when(now) <= now
    }

    /// Takes, whatever is left.
    pub fn take(&mut self, now: Instant, amount: f64, is_copy: bool) {
        if !is_copy {
            self.messages.take(now, amount);
        }
        self.all.take(now, amount);
    }
}

/// Waits are cut into such ones.
const LONGEST: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes within a time, if pieces of this size are taken as early as is allowed.
    fn taken(bucket: &mut Bucket, piece: f64, from: Instant, time: Duration) -> f64 {
        let (mut now, mut sum) = (from, 0.0);
        while now <= from + time {
            match bucket.when(now) {
                at if at <= now => {
                    bucket.take(now, piece);
                    sum += piece;
                }
                at => now = at,
            }
        }
        sum
    }

    #[test]
    fn in_the_long_run_no_more_than_the_rate_goes_and_no_less() {
        let start = Instant::now();
        let sum = taken(&mut Bucket::new(1_000_000.0, 10_000.0, start), 1_500.0, start, Duration::from_secs(10));
        assert!((10_000_000.0..=10_012_000.0).contains(&sum), "{sum} bytes");
    }

    #[test]
    fn what_was_not_used_is_kept_only_up_to_what_may_go_at_once() {
        let start = Instant::now();
        let mut bucket = Bucket::new(1_000.0, 500.0, start);
        let sum = taken(&mut bucket, 1.0, start + Duration::from_secs(60), Duration::from_secs(1));
        assert!((1_499.0..=1_502.0).contains(&sum), "{sum}");
    }

    #[test]
    fn one_thing_larger_than_the_bucket_passes_and_is_made_up_for() {
        let start = Instant::now();
        let mut bucket = Bucket::new(1_000.0, 10.0, start);
        assert!(bucket.when(start) <= start);
        bucket.take(start, 1_010.0);
        let next = bucket.when(start);
        assert!(next >= start + Duration::from_secs(1), "{:?}", next - start);
        assert!(bucket.when(next) <= next);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let start = Instant::now();
        let later = start + Duration::from_secs(1);
        let mut bucket = Bucket::new(1.0, 1.0, later);
        bucket.take(later, 1.0);
        assert!(bucket.when(start) > start);
        assert!(bucket.when(later) > later);
    }
}
