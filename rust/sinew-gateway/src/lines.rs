//! What the log says of others, who may have it say something as often as they like, and as much.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use log::Level;

use crate::link::Bucket;
use crate::peers::printable;

/// Lines at once, and then in a second.
const AT_ONCE: f64 = 10.0;
const RATE: f64 = 1.0;
/// Bytes of a line.
const LONGEST: usize = 1024;

/// The lines of one kind.
pub struct Lines(Mutex<State>);

struct State {
    bucket: Bucket,
    left_out: u64,
}

impl Lines {
    /// None so far.
    pub fn new() -> Lines {
        Lines(Mutex::new(State { bucket: Bucket::new(RATE, AT_ONCE, Instant::now()), left_out: 0 }))
    }

    /// A warning, or else one that is counted, of which the next one tells.
    pub fn warn(&self, line: &str) {
        self.say(Level::Warn, line);
    }

    /// Likewise of what is no trouble.
    pub fn info(&self, line: &str) {
        self.say(Level::Info, line);
    }

    fn say(&self, level: Level, line: &str) {
        let Some(Told { left_out, is_last }) = self.take(Instant::now()) else { return };
        let before = if left_out > 0 { format!(" (and {left_out} more lines, which were left out)") } else { String::new() };
        let after = if is_last { " (what comes within the next second is left out)" } else { "" };
        log::log!(level, "{}{before}{after}", cut(line));
    }

    /// None if this one is left out.
    fn take(&self, now: Instant) -> Option<Told> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bucket.when(now) > now {
            state.left_out += 1;
            return None;
        }
        state.bucket.take(now, 1.0);
        Some(Told { left_out: std::mem::take(&mut state.left_out), is_last: state.bucket.when(now) > now })
    }
}

/// What is said with a line.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    /// So many were left out before it.
    left_out: u64,
    /// For a while.
    is_last: bool,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::new()
    }
}

/// What of it is shown, on one line.
fn cut(line: &str) -> String {
    let end = (0..=LONGEST.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or_default();
    let rest = if end < line.len() { " ..." } else { "" };
    printable(&line[..end]) + rest
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn some_lines_are_said_at_once_and_then_one_in_a_second_which_tells_of_the_others() {
        let (lines, begin) = (Lines::new(), Instant::now());
        let said = |at: f64| lines.take(begin + Duration::from_secs_f64(at)).map(|told| (told.left_out, told.is_last));
        for left in (0..10).rev() {
            assert_eq!(said(0.5), Some((0, left == 0)));
        }
        for _ in 0..1000 {
            assert_eq!(said(0.5), None);
        }
        assert_eq!([said(1.5), said(1.5), said(2.5)], [Some((1000, true)), None, Some((1, true))]);
        for left in (0..10).rev() {
            assert_eq!(said(100.0), Some((0, left == 0)));
        }
        assert_eq!(said(100.0), None);
    }

    #[test]
    fn what_is_long_is_cut_where_a_character_ends() {
        assert_eq!(cut("a\nb"), "a\u{fffd}b");
        assert_eq!(cut(&"x".repeat(1024)), "x".repeat(1024));
        assert_eq!(cut(&"ä".repeat(1000)), "ä".repeat(512) + " ...");
        assert_eq!(cut(&format!("x{}", "ä".repeat(1000))), format!("x{} ...", "ä".repeat(511)));
    }
}
