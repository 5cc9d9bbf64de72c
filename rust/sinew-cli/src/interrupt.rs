//! Ctrl-C, for verbs that have something to finish.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::failure::{Done, Failure};

/// Calls `then` when somebody interrupts the command, once. Who does it again ends it at once.
pub fn on_interrupt(then: impl FnOnce() + Send + 'static) -> Done {
    let unwatched = |why| Failure::Failed(format!("signals cannot be watched: {why}"));
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, Arc::clone(&is_second)).map_err(unwatched)?;
        flag::register(signal, Arc::clone(&is_second)).map_err(unwatched)?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(unwatched)?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            then();
        }
    });
    Ok(())
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
