//! How messages are to go, in Zenoh's words. Pure.

use zenoh::qos::{CongestionControl, Priority};

/// Zenoh knows seven, of which 0 here is the one in the middle.
pub fn priority(ours: i32) -> Priority {
    match ours {
        ..=-10 => Priority::Background,
        -9..=-1 => Priority::DataLow,
        0 => Priority::Data,
        1..=9 => Priority::DataHigh,
        10..=99 => Priority::InteractiveLow,
        100..=999 => Priority::InteractiveHigh,
        1000.. => Priority::RealTime,
    }
}

/// Of a topic: what is reliable waits for the network, which else drops what it has no room for.
pub fn congestion(reliable: bool) -> CongestionControl {
    if reliable { CongestionControl::Block } else { CongestionControl::Drop }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_greater_here_is_never_less_urgent_there() {
        let all: Vec<u8> = (-1000..=1000).map(|ours| priority(ours) as u8).collect();
        assert!(all.is_sorted_by(|before, next| before >= next), "a smaller number is more urgent");
        assert_eq!((all[0], all[1000], all[2000]), (Priority::Background as u8, Priority::DEFAULT as u8, Priority::RealTime as u8));
    }
}
