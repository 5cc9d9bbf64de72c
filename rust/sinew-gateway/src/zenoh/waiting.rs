//! Samples that wait.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use zenoh::sample::Sample;

use crate::bridge::{self, Weighs};

/// Who keeps all, and has no room for a message, is asked again so soon: what comes meanwhile waits behind it.
pub const AGAIN: Duration = Duration::from_millis(1);

/// Of one topic.
pub type Waiting = bridge::Waiting<Sample>;

impl Weighs for Sample {
    fn weight(&self) -> usize {
        self.payload().len()
    }
}

/// What waits is not published any more, and is lost. Blocks until the task that takes it has ended, so that each is counted once.
pub fn give_up(waiting: &Waiting, task: &mut JoinHandle<()>, runtime: &Handle) {
    task.abort();
    let _ = runtime.block_on(task);
    waiting.give_up();
}
