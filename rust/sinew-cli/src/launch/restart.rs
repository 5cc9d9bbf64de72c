//! Whether a process that has ended is started again, and when.

use std::time::Duration;

use rustix::process::WaitStatus;
use serde::{Serialize, Serializer};

/// When a process is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Not at all.
    Never,
    /// When it has failed: a robot is to go on, and what has done its work is done.
    OnFailure,
    /// Whatever it ended with.
    Always,
}

impl Restart {
    /// As a launch file names it.
    pub fn of(text: &str) -> Result<Restart, String> {
        match text {
            "never" => Ok(Restart::Never),
            "on-failure" => Ok(Restart::OnFailure),
            "always" => Ok(Restart::Always),
            _ => Err(format!("'{text}' does not say when a process is started again: never, on-failure and always do")),
        }
    }

    /// After such an end; none: it could not even be started.
    pub fn follows(self, end: Option<End>) -> bool {
        match self {
            Restart::Never => false,
            Restart::OnFailure => is_failure(end),
            Restart::Always => true,
        }
    }
}

/// How a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    #[serde(serialize_with = "by_name")]
    Signal(i32),
}

impl End {
    /// As the kernel tells it.
    pub fn of(status: WaitStatus) -> End {
        status.terminating_signal().map_or_else(|| End::Status(status.exit_status().unwrap_or_default()), End::Signal)
    }
}

/// Anything but status 0.
pub fn is_failure(end: Option<End>) -> bool {
    end != Some(End::Status(0))
}

impl std::fmt::Display for End {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Status(status) => write!(to, "ended with status {status}"),
            End::Signal(signal) => write!(to, "was ended by {}", signal_name(*signal)),
        }
    }
}

/// "SIGKILL".
pub fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

fn by_name<S: Serializer>(signal: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&signal_name(*signal))
}

/// How long to wait before a process is started again.
pub struct BackOff {
    next: Duration,
}

impl BackOff {
    /// Before the first time.
    pub const FIRST: Duration = Duration::from_millis(500);
    /// At most.
    pub const MOST: Duration = Duration::from_secs(10);
    /// What has lived so long begins anew.
    pub const ENOUGH: Duration = Duration::from_secs(10);

    /// Of a process that has not ended yet.
    pub fn new() -> BackOff {
        BackOff { next: BackOff::FIRST }
    }

    /// Of one that has, after it lived so long: each time twice as long.
    pub fn after(&mut self, lived: Duration) -> Duration {
        if lived >= BackOff::ENOUGH {
            self.next = BackOff::FIRST;
        }
        let next = (self.next * 2).min(BackOff::MOST);
        std::mem::replace(&mut self.next, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ends_soon_waits_longer_each_time_and_who_has_lived_does_not() {
        let mut back_off = BackOff::new();
        let waits: Vec<f64> = (0..7).map(|_| back_off.after(Duration::from_secs(1)).as_secs_f64()).collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]);
        assert_eq!(back_off.after(Duration::from_secs(11)), BackOff::FIRST);
        assert_eq!(back_off.after(Duration::from_secs(1)), BackOff::FIRST * 2);
    }

    #[test]
    fn each_policy_follows_what_it_says() {
        let (well, badly, killed) = (End::Status(0), End::Status(3), End::Signal(9));
        let follows = |text: &str| [Some(well), Some(badly), Some(killed), None].map(|end| Restart::of(text).unwrap().follows(end));
        assert_eq!(follows("never"), [false; 4]);
        assert_eq!(follows("on-failure"), [false, true, true, true]);
        assert_eq!(follows("always"), [true; 4]);
        assert!(Restart::of("sometimes").is_err());
        assert_eq!((badly.to_string(), killed.to_string()), ("ended with status 3".to_owned(), "was ended by SIGKILL".to_owned()));
    }
}
