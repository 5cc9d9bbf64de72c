//! Ctrl-C, for verbs that have something to finish.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::clock::now_ns;
use crate::failure::{Done, Failure};

/// What comes so soon after the first is the same again: `timeout` tells its child and then the group of both, and a terminal that goes may tell twice.
const SAME_NS: i64 = 1_000_000_000;
/// No time of a signal.
const NEVER: i64 = i64::MIN;

/// Calls `then` when somebody interrupts the command, once. Who does it again, a second later or more, ends it at once.
pub fn on_interrupt(then: impl FnOnce() + Send + 'static) -> Done {
    let first_ns = Arc::new(AtomicI64::new(NEVER));
    for signal in [SIGINT, SIGTERM] {
        end_by_second(signal, Arc::clone(&first_ns)).map_err(unwatched)?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(unwatched)?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            then();
        }
    });
    Ok(())
}

/// What to say where nobody tells of signals.
pub fn unwatched(why: io::Error) -> Failure {
    Failure::Failed(format!("signals cannot be watched: {why}"))
}

fn end_by_second(signal: i32, first_ns: Arc<AtomicI64>) -> io::Result<()> {
    let obey = move || {
        let now = now_ns();
        // relaxed: nothing else is told by it.
        if let Err(first) = first_ns.compare_exchange(NEVER, now, Ordering::Relaxed, Ordering::Relaxed)
            && now - first >= SAME_NS
        {
            let _ = low_level::emulate_default_handler(signal);
        }
    };
    // SAFETY: it reads a clock, changes an atomic, and calls what may be called in a handler.
    unsafe { low_level::register(signal, obey) }.map(drop)
}

/// Whether the command was interrupted, for loops that wait.
pub struct Interrupt(Arc<(Mutex<bool>, Condvar)>);

impl Interrupt {
    /// From now on.
    pub fn new() -> Done<Interrupt> {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let told = Arc::clone(&shared);
        on_interrupt(move || {
            *told.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            told.1.notify_all();
        })?;
        Ok(Interrupt(shared))
    }

    /// Waits for so long, or until it came. Whether it has.
    pub fn wait(&self, time: Duration) -> bool {
        let came = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (came, _) = self.0.1.wait_timeout_while(came, time, |came| !*came).unwrap_or_else(PoisonError::into_inner);
        *came
    }

    /// The same until that moment.
    pub fn wait_until(&self, moment: Instant) -> bool {
        self.wait(moment.saturating_duration_since(Instant::now()))
    }
}
