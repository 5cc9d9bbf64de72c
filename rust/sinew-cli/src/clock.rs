//! From the time of messages to that of files, and of others who look at them.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// How far apart the clocks of this machine are: that of messages, which never jumps, and that of calendars. Measured once, so that what it is told of has no jumps either.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    offset: i128,
}

impl Clock {
    pub fn new() -> Clock {
        const TRIES: usize = 10;
        let measure = || {
            let before = nanoseconds(clock_gettime(ClockId::Monotonic));
            let now = nanoseconds(clock_gettime(ClockId::Realtime));
            let after = nanoseconds(clock_gettime(ClockId::Monotonic));
            (after - before, now - (before + after) / 2)
        };
        // Of some, the one that was interrupted least.
        let best = (0..TRIES).map(|_| measure()).min_by_key(|(took, _)| *took);
        Clock { offset: best.map_or(0, |(_, offset)| offset) }
    }

    /// A time of a message, which a stranger may have given.
    pub fn since_1970(&self, time_ns: i64) -> u64 {
        (i128::from(time_ns) + self.offset).clamp(0, i128::from(i64::MAX)) as u64
    }
}

/// The time of messages.
pub fn now_ns() -> i64 {
    nanoseconds(clock_gettime(ClockId::Monotonic)) as i64
}

fn nanoseconds(time: Timespec) -> i128 {
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}
