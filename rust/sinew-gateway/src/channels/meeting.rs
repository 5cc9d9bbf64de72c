//! Until those who want a topic are connected with the ghost that has come to publish it: the first message may be the only one.

use std::time::{Duration, Instant};

/// Within which they are, unless its offer is not what they ask for.
const CONNECTED: Duration = Duration::from_millis(500);
/// Where one is, others follow within this time.
const ALL: Duration = Duration::from_millis(10);

/// Of a ghost that was made just now.
pub(crate) struct Meeting {
    begun: Instant,
    subscribers: u64,
    since: Instant,
}

impl Meeting {
    /// Between two looks at how many subscribers there are.
    pub const LOOK: Duration = Duration::from_millis(1);

    pub fn new() -> Meeting {
        let begun = Instant::now();
        Meeting { begun, subscribers: 0, since: begun }
    }

    /// Whether all are there, now that there are so many, or no more are to be waited for.
    pub fn is_over(&mut self, subscribers: u64) -> bool {
        if subscribers != self.subscribers {
            (self.subscribers, self.since) = (subscribers, Instant::now());
        }
        self.begun.elapsed() >= CONNECTED || (subscribers > 0 && self.since.elapsed() >= ALL)
    }
}
