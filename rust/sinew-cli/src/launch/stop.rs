//! How all are stopped: they are asked, asked again, and killed.

use std::time::{Duration, Instant};

use rustix::process::Signal;

/// One after the other.
const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::KILL];
/// How long each may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Who asks again so soon has asked once: `timeout` tells its child and then the group of both. Shorter than between two Ctrl-C of a person.
const SAME: Duration = Duration::from_millis(100);

/// How far it has come.
#[derive(Default)]
pub struct Stop {
    /// Which signal was sent, and when the next one is due.
    sent: Option<(usize, Instant)>,
}

impl Stop {
    /// Whether it has begun.
    pub fn has_begun(&self) -> bool {
        self.sent.is_some()
    }

    /// The signal that was sent last.
    pub fn signal(&self) -> Option<Signal> {
        self.sent.map(|(step, _)| SIGNALS[step])
    }

    /// When the next one is due; after the last one that is sent again, for those who have come meanwhile.
    pub fn due(&self) -> Option<Instant> {
        self.sent.map(|(_, due)| due)
    }

    /// Whether a signal was sent so shortly before that nobody can mean another one.
    pub fn has_just_sent(&self, now: Instant) -> bool {
        self.sent.is_some_and(|(_, due)| now + PATIENCE < due + SAME)
    }

    /// Begins, or goes on to the next signal: which is to be sent now.
    pub fn step(&mut self, now: Instant) -> Signal {
        let step = self.sent.map_or(0, |(step, _)| (step + 1).min(SIGNALS.len() - 1));
        self.sent = Some((step, now + PATIENCE));
        SIGNALS[step]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_come_one_after_the_other_and_the_last_one_again() {
        let (mut stop, now) = (Stop::default(), Instant::now());
        assert!(!stop.has_begun() && stop.due().is_none());
        let sent: Vec<_> = (0..4).map(|_| stop.step(now)).collect();
        assert_eq!(sent, [Signal::INT, Signal::TERM, Signal::KILL, Signal::KILL]);
        assert_eq!((stop.due(), stop.signal()), (Some(now + PATIENCE), Some(Signal::KILL)));
    }

    #[test]
    fn who_asks_twice_at_once_has_asked_once() {
        let (mut stop, now) = (Stop::default(), Instant::now());
        assert!(!stop.has_just_sent(now));
        stop.step(now);
        assert!(stop.has_just_sent(now) && stop.has_just_sent(now + SAME / 2) && !stop.has_just_sent(now + SAME));
    }
}
