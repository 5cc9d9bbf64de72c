//! Samples that wait.

use zenoh::sample::Sample;

use crate::bridge::{self, Weighs};

/// Of one topic.
pub type Waiting = bridge::Waiting<Sample>;

impl Weighs for Sample {
    fn weight(&self) -> usize {
        self.payload().len()
    }
}
