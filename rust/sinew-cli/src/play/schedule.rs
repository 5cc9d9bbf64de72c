//! When each message is due: the time of the recording beside that of the clock.

use std::time::{Duration, Instant};

/// Where in the recording it is, which moves with the clock, at its rate, or stands still.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// At this moment it was at this time of the recording. All that is due is told from there, so that no error grows.
    at: Instant,
    time: u64,
    rate: f64,
    is_paused: bool,
}

impl Schedule {
    /// From that time on.
    pub fn new(now: Instant, time: u64, rate: f64, is_paused: bool) -> Schedule {
        Schedule { at: now, time, rate, is_paused }
    }

    /// The time of the recording.
    pub fn time(&self, now: Instant) -> u64 {
        if self.is_paused {
            return self.time;
        }
        let passed = now.saturating_duration_since(self.at).as_secs_f64() * self.rate;
        self.time.saturating_add((passed * 1e9) as u64)
    }

    /// When a message of that time is due; none: not while it stands still.
    pub fn due(&self, time: u64) -> Option<Instant> {
        if self.is_paused {
            return None;
        }
        let left = time.saturating_sub(self.time) as f64 / 1e9 / self.rate;
        // Beyond what a clock can say, it is never due.
        Duration::try_from_secs_f64(left).ok().and_then(|left| self.at.checked_add(left))
    }

    /// Goes on from that time.
    pub fn jump(&mut self, now: Instant, time: u64) {
        (self.at, self.time) = (now, time);
    }

    /// Stands still, or goes on.
    pub fn set_paused(&mut self, now: Instant, is_paused: bool) {
        self.jump(now, self.time(now));
        self.is_paused = is_paused;
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// So many times as fast from now on.
    pub fn set_rate(&mut self, now: Instant, rate: f64) {
        self.jump(now, self.time(now));
        self.rate = rate;
    }

    /// How many times as fast.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn messages_are_due_by_the_time_that_has_passed_not_by_those_before_them() {
        let begun = Instant::now();
        let schedule = Schedule::new(begun, 100 * SECOND, 2.0, false);
        for n in 0..1000 {
            assert_eq!(schedule.due(100 * SECOND + n * 10_000_000), Some(begun + Duration::from_millis(5 * n)));
        }
        assert_eq!(schedule.due(0), Some(begun), "what is over is due");
        assert_eq!(schedule.time(begun + Duration::from_secs(3)), 106 * SECOND);
    }

    #[test]
    fn time_stands_still_while_it_is_paused_and_goes_on_at_another_rate() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut schedule = Schedule::new(begun, 0, 1.0, false);
        schedule.set_paused(after(2), true);
        assert_eq!((schedule.time(after(10)), schedule.due(5 * SECOND)), (2 * SECOND, None));
        schedule.set_paused(after(10), false);
        assert_eq!(schedule.due(5 * SECOND), Some(after(13)));
        schedule.set_rate(after(11), 0.5);
        assert_eq!(schedule.due(5 * SECOND), Some(after(15)));
    }

    #[test]
    fn times_that_no_recording_has_are_no_reason_to_panic() {
        let begun = Instant::now();
        assert!(Schedule::new(begun, 0, 0.001, false).due(u64::MAX).is_some_and(|due| due > begun));
        assert_eq!(Schedule::new(begun, 0, 1e-30, false).due(u64::MAX), None);
        assert!(Schedule::new(Instant::now(), u64::MAX, 1000.0, false).time(Instant::now() + Duration::from_secs(1)) > 0);
    }
}
