//! Ctrl-C, for verbs that have something to finish.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::clock::now_ns;
use crate::failure::{Done, Failure};

/// What comes so soon after the first is the same again: `timeout` tells its child and then the group of both, and a terminal that goes may tell twice.
const SAME_NS: i64 = 1_000_000_000;
/// For what is to be left in order.
const IN_ORDER: Duration = Duration::from_secs(3);
/// No time of a signal.
const NEVER: i64 = i64::MIN;

/// Calls `then` when somebody interrupts the command, or its terminal goes (unless `nohup` has started it), once. Who does it again, a second later or more and in the same way, ends it at once: not who stops
/// programs by one signal after the other, as the launcher does, since what was recorded is worth that time.
pub fn on_interrupt(then: impl FnOnce() + Send + 'static) -> Done {
    on_signal(|_| then())
}

/// Calls `then` when somebody interrupts the command, or its terminal goes, which ends it afterwards as it would have: for what is to be left in order by a command that has nothing to finish. A terminal that takes
/// nothing may hold `then` up, and not the end.
pub fn before_interrupt(then: impl FnOnce() + Send + 'static) -> Done {
    on_signal(|signal| {
        let (is_done, done) = channel::<()>();
        std::thread::spawn(move || {
            then();
            drop(is_done);
        });
        let _ = done.recv_timeout(IN_ORDER);
        let _ = low_level::emulate_default_handler(signal);
    })
}

fn on_signal(then: impl FnOnce(i32) + Send + 'static) -> Done {
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let all: Vec<i32> = [SIGINT, SIGTERM].into_iter().chain(hangup).collect();
    for signal in &all {
        end_by_second(*signal).map_err(unwatched)?;
    }
    let mut signals = Signals::new(all).map_err(unwatched)?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            then(signal);
        }
    });
    Ok(())
}

/// What to say where nobody tells of signals.
pub fn unwatched(why: io::Error) -> Failure {
    Failure::Failed(format!("signals cannot be watched: {why}"))
}

/// Whether whoever has started this program has it ignore that.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

fn end_by_second(signal: i32) -> io::Result<()> {
    let first_ns = AtomicI64::new(NEVER);
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
