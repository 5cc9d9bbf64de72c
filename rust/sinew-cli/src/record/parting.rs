//! When a subscriber that is not needed any more may go: what waits for it is to be taken before.

use std::time::Duration;

use sinew::raw::SubscriberStatistics;

/// When the last publisher of a topic dies, what it published last is still to be taken. So is what waits for a subscriber in whose place there is another one, until that has met all. For so long nothing is taken of what it had alone, though whoever takes could.
pub const PARTING: Duration = Duration::from_secs(5);

/// For how long nothing was there for it to take.
#[derive(Default)]
pub struct Quiet {
    received: u64,
    time: Duration,
}

impl Quiet {
    /// So much time has passed, in which nothing could be taken while a message waited for a disk. Whether it may go.
    pub fn look(&mut self, told: &SubscriberStatistics, passed: Duration, is_waiting: bool) -> bool {
        // What living publishers publish now comes by the next one, too.
        let had_more = told.publishers == 0 && told.received != self.received;
        self.received = told.received;
        if had_more {
            self.time = Duration::ZERO;
        } else if !is_waiting {
            self.time += passed;
        }
        self.time >= PARTING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_when_nothing_of_its_own_has_come_for_a_time_in_which_it_could() {
        let mut quiet = Quiet::default();
        let mut look = |received, publishers, is_waiting| {
            let told = SubscriberStatistics { received, publishers, ..Default::default() };
            quiet.look(&told, PARTING / 2, is_waiting)
        };
        assert!((1..10).all(|received| !look(received, 0, false)), "of publishers that are gone");
        assert!((0..10).all(|_| !look(9, 0, true)), "the disk is slow");
        assert!(!look(9, 0, false) && look(9, 0, false));
        let mut quiet = Quiet::default();
        let mut look = |received| quiet.look(&SubscriberStatistics { received, publishers: 1, ..Default::default() }, PARTING / 2, false);
        assert!(!look(1) && look(2), "of one that lives, which the next one hears");
    }
}
