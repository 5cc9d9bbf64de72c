//! Samples that wait.

use std::time::Duration;

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
