//! What tests of several files need.

use std::time::{Duration, Instant};

/// The signature of a type.
pub const NUMBER: &str = "calc/Number{value:uint32;}";

/// Waits.
pub fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}
