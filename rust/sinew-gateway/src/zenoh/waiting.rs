//! Samples that wait.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use zenoh::sample::Sample;

use crate::bridge::{self, Weighs};

/// Of one topic.
pub type Waiting = bridge::Waiting<Sample>;

impl Weighs for Sample {
    fn weight(&self) -> usize {
        self.payload().len()
    }
}

/// Publishers of which that is known at a time.
const MOST: usize = 1024;

/// How many there was no room for of each publisher, since the last that was taken: they are counted when they go, and not once more where their numbers are missing.
pub struct Crowded<P>(Mutex<HashMap<P, u64>>);

impl<P> Default for Crowded<P> {
    fn default() -> Crowded<P> {
        Crowded(Mutex::default())
    }
}

impl<P: Eq + Hash> Crowded<P> {
    /// There was no room for one of it.
    pub fn note(&self, publisher: P) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&publisher) {
            all.clear();
        }
        *all.entry(publisher).or_default() += 1;
    }

    /// One of it is taken, before which so many are missing: how many of these are not counted yet.
    pub fn uncounted(&self, publisher: &P, missing: u64) -> u64 {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(publisher);
        missing.saturating_sub(counted.unwrap_or_default())
    }
}

/// What waits is not published any more, and is lost. Blocks until the task that takes it has ended, so that each is counted once.
pub fn give_up(waiting: &Waiting, task: &mut JoinHandle<()>, runtime: &Handle) {
    task.abort();
    let _ = runtime.block_on(task);
    waiting.give_up();
}
