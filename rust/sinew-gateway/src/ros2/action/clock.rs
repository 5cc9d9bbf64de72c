//! Times of the domain, which are of CLOCK_MONOTONIC, and of ROS 2, which are of the clock on the wall.

use rustix::time::{ClockId, clock_gettime};

/// How the two clocks stand to each other.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    monotonic: i64,
    /// That the wall is ahead.
    ahead: i64,
}

/// A time of ROS 2: builtin_interfaces/msg/Time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Whole seconds.
    pub sec: i32,
    /// Less than a second.
    pub nanosec: u32,
}

const SECOND: i64 = 1_000_000_000;

impl Clock {
    /// As it is.
    pub fn now() -> Clock {
        let ns = |clock| {
            let now = clock_gettime(clock);
            now.tv_sec * SECOND + now.tv_nsec
        };
        let monotonic = ns(ClockId::Monotonic);
        Clock { monotonic, ahead: ns(ClockId::Realtime) - monotonic }
    }

    /// Nanoseconds of CLOCK_MONOTONIC.
    pub fn monotonic(&self) -> i64 {
        self.monotonic
    }

    /// On the wall. What cannot be told there is nearest to it.
    pub fn stamp(&self, monotonic: i64) -> Stamp {
        let wall = monotonic.saturating_add(self.ahead);
        let (sec, nanosec) = (wall.div_euclid(SECOND), wall.rem_euclid(SECOND));
        let sec = i32::try_from(sec).unwrap_or(if sec < 0 { i32::MIN } else { i32::MAX });
        Stamp { sec, nanosec: nanosec as u32 } // less than a second
    }

    /// The other way round.
    pub fn monotonic_of(&self, stamp: Stamp) -> i64 {
        i64::from(stamp.sec) * SECOND + i64::from(stamp.nanosec) - self.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_same_there_and_back() {
        let clock = Clock { monotonic: 0, ahead: 1_700_000_000_123_456_789 };
        let stamp = clock.stamp(5_000_000_001);
        assert_eq!(stamp, Stamp { sec: 1_700_000_005, nanosec: 123_456_790 });
        assert_eq!(clock.monotonic_of(stamp), 5_000_000_001);
        assert_eq!(clock.stamp(i64::MAX).sec, i32::MAX);
    }
}
