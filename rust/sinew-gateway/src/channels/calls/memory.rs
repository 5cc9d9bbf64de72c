//! What becomes of the calls of one peer, also while the connection is lost (G27).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::served::Answered;

/// Calls of a peer at a time, answered ones that were not delivered included.
const MOST_CALLS: usize = 1024;

/// Of one peer, by its numbers. Thread-safe.
#[derive(Default)]
pub struct Memory(Mutex<HashMap<u64, Remembered>>);

struct Remembered {
    answer: watch::Receiver<Option<Arc<Answered>>>,
    running: AbortHandle,
}

impl Memory {
    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that a call has, or will have. A new one is begun, by a task that `begin` starts, and ends by saying the answer. None: there are too many.
    pub fn answer(
        &self,
        call: u64,
        begin: impl FnOnce(watch::Sender<Option<Arc<Answered>>>) -> AbortHandle,
    ) -> Option<watch::Receiver<Option<Arc<Answered>>>> {
        let mut calls = self.calls();
        if let Some(known) = calls.get(&call) {
            return Some(known.answer.clone());
        }
        if calls.len() >= MOST_CALLS {
            return None;
        }
        let (say, answer) = watch::channel(None);
        calls.insert(call, Remembered { answer: answer.clone(), running: begin(say) });
        Some(answer)
    }

    /// The peer has the answer, or does not want it any more: then the call is cancelled if it still runs.
    pub fn forget(&self, call: u64) {
        if let Some(known) = self.calls().remove(&call) {
            known.running.abort();
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
