//! What becomes of the calls of one peer, also while the connection is lost (G27).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::served::Answered;

/// Calls of a peer at a time, answered ones that were not delivered included.
const MOST_CALLS: usize = 1024;
/// (G27) How long one is remembered that nobody waits for: it may have been cancelled while the connection was lost, and then nobody says so.
const KEPT: Duration = Duration::from_secs(60);

/// Of one peer, by its numbers. Thread-safe.
#[derive(Default)]
pub struct Memory {
    calls: Mutex<HashMap<u64, Remembered>>,
    /// The peer has heard that nothing was remembered of it before.
    is_known: AtomicBool,
}

/// What will say the answer, once.
type Say = watch::Sender<Option<Arc<Answered>>>;

/// What has said it, or will.
type Answer = watch::Receiver<Option<Arc<Answered>>>;

struct Remembered {
    answer: Answer,
    running: AbortHandle,
    /// Whoever waits for the answer has another one of it.
    waits: Arc<()>,
    /// Since nobody does.
    alone: Option<Instant>,
}

impl Remembered {
    /// Its provider has gone.
    fn has_failed(&self) -> bool {
        self.answer.borrow().as_ref().is_some_and(|answer| answer.is_by_nobody())
    }
}

impl Memory {
    /// (G48) The peer has said something that follows what it was told: so it has heard that nothing was remembered of it before, and need not hear it again.
    pub fn begin(&self) {
        self.is_known.store(true, Ordering::Relaxed); // relaxed: it stands for itself
    }

    /// The peer may not have heard that yet.
    pub fn is_new(&self) -> bool {
        !self.is_known.load(Ordering::Relaxed) // relaxed: see begin
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Remembered>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that a call has, or will have, and what is to be kept as long as it is waited for. A new one is begun, by a task that `begin` starts, and ends by saying the answer; so is one of which the provider has gone, as there may be another one now.
    /// None: there are too many.
    pub fn answer(&self, call: u64, begin: impl FnOnce(Say) -> AbortHandle) -> Option<(Answer, Arc<()>)> {
        self.begin();
        let mut calls = self.calls();
        match calls.entry(call) {
            Entry::Occupied(known) if known.get().has_failed() => _ = known.remove(),
            Entry::Occupied(known) => return Some((known.get().answer.clone(), Arc::clone(&known.get().waits))),
            Entry::Vacant(_) => {}
        }
        if calls.len() >= MOST_CALLS {
            return None;
        }
        let (say, answer) = watch::channel(None);
        let waits = Arc::new(());
        calls.insert(call, Remembered { answer: answer.clone(), running: begin(say), waits: Arc::clone(&waits), alone: None });
        Some((answer, waits))
    }

    /// Forgets those that nobody has waited for, for long.
    pub fn look(&self, now: Instant) {
        self.calls().retain(|_, known| {
            if Arc::strong_count(&known.waits) > 1 {
                known.alone = None;
                return true;
            }
            let is_kept = now.saturating_duration_since(*known.alone.get_or_insert(now)) < KEPT;
            if !is_kept {
                known.running.abort();
            }
            is_kept
        });
    }

    /// The peer has the answer, or does not want it any more: then the call is cancelled if it still runs. `waits`: of that answer, as the call may have been begun anew.
    pub fn forget(&self, call: u64, waits: &Arc<()>) {
        if let Entry::Occupied(known) = self.calls().entry(call)
            && Arc::ptr_eq(&known.get().waits, waits)
        {
            known.remove().running.abort();
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for known in self.calls().values() {
            known.running.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a call that is executed for ever.
    fn begun(say: Say) -> AbortHandle {
        tokio::spawn(async move { say.closed().await }).abort_handle()
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_forgotten_after_a_while_and_cancelled() {
        let memory = Memory::default();
        let (now, later) = (Instant::now(), |seconds| Duration::from_secs(seconds));
        let (mut answer, waits) = memory.answer(1, begun).expect("there is room");
        memory.look(now);
        memory.look(now + later(100));
        drop(waits);
        memory.look(now + later(100));
        memory.look(now + later(159));
        // Whoever asks again, as after a lost connection, has it.
        let waits = memory.answer(1, |_| unreachable!("it is known")).expect("there is room").1;
        memory.look(now + later(1000));
        drop(waits);
        memory.look(now + later(1000));
        memory.look(now + later(1060));
        assert!(memory.calls().is_empty());
        answer.changed().await.expect_err("it is cancelled");
    }
}
