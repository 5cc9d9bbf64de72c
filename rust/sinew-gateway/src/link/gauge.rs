//! What the congestion controller of a connection tells the task that sends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::bell::Bell;

/// Of bytes in packets: so much is around them, and no less than that around one.
const AROUND_PART: usize = 32;
const AROUND_LEAST: u64 = 48;

/// Written by quinn's thread, under its lock; read by the task that sends.
///
/// quinn would tell of room in its send window, but counts in it all behind the first byte that was lost, also what has arrived: on a link that loses some, half of the window is then in nobody's way. So the window that counts is kept by who sends, and quinn's own is wider than that.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    /// Bytes of packets, since the connection began.
    acked: AtomicU64,
    /// As acknowledgements ended the last time.
    in_flight: AtomicU64,
    /// Then quinn had room, and nothing to send.
    is_starved: AtomicBool,
    /// Packets that the link loses, of a million.
    loss: AtomicU64,
    /// The task waits for any of it to change.
    is_awaited: AtomicBool,
    bell: Mutex<Option<Arc<Bell>>>,
}

impl Gauge {
    /// This is to be rung.
    pub fn attach(&self, bell: Arc<Bell>) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(bell);
    }

    pub fn acknowledged(&self, bytes: u64) {
        self.acked.fetch_add(bytes, Ordering::Relaxed); // relaxed: published by `end_acks`
    }

    /// Of all packets, this part is lost.
    pub fn loses(&self, part: f64) {
        self.loss.store((part * 1e6) as u64, Ordering::Relaxed); // relaxed: a number that stands for itself
    }

    /// The part of the packets that is lost.
    pub fn loss(&self) -> f64 {
        self.loss.load(Ordering::Relaxed) as f64 / 1e6 // relaxed: a number that stands for itself
    }

    /// After each batch of acknowledgements.
    pub fn end_acks(&self, in_flight: u64, is_starved: bool) {
        self.in_flight.store(in_flight, Ordering::Relaxed); // relaxed: published by what follows
        self.is_starved.fetch_or(is_starved, Ordering::SeqCst);
        // Either this sees that it is awaited, or the task, which looks again after it has said so, sees what has changed: all in one order (SeqCst).
        if self.is_awaited.swap(false, Ordering::SeqCst)
            && let Some(bell) = &*self.bell.lock().unwrap_or_else(PoisonError::into_inner)
        {
            bell.ring();
        }
    }

    /// From now on the bell is rung, once.
    pub fn wait(&self) {
        self.is_awaited.store(true, Ordering::SeqCst);
    }

    /// All that was acknowledged so far; and, if quinn has run out of bytes to send since this was asked, how many it had in flight then.
    pub fn read(&self) -> (u64, Option<u64>) {
        let is_starved = self.is_starved.swap(false, Ordering::SeqCst);
        let in_flight = self.in_flight.load(Ordering::Relaxed); // relaxed: see `end_acks`
        (self.acked.load(Ordering::Relaxed), is_starved.then_some(in_flight)) // relaxed: see `acknowledged`
    }
}

/// Bytes that quinn was given, and that the far side has not acknowledged: under way, to be sent again, or not sent yet.
#[derive(Debug)]
pub(super) struct Outstanding {
    bytes: u64,
    /// Of the gauge, up to here.
    acked: u64,
}

impl Outstanding {
    /// From now on.
    pub fn new(gauge: &Gauge) -> Outstanding {
        Outstanding { bytes: 0, acked: gauge.read().0 }
    }

    /// quinn was given so many.
    pub fn wrote(&mut self, bytes: usize) {
        self.bytes += (bytes + bytes / AROUND_PART) as u64 + AROUND_LEAST;
    }

    /// Looks what was acknowledged, and gives how many there are now. Packets are what is acknowledged, so what is around them is counted, a little more than it is as a rule. That adds up, until quinn has nothing to send: then what it has in flight is what there is.
    pub fn follow(&mut self, gauge: &Gauge) -> u64 {
        let (acked, all_in_flight) = gauge.read();
        self.bytes = all_in_flight.unwrap_or(self.bytes.saturating_sub(acked - self.acked));
        self.acked = acked;
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::{Context, Wake, Waker};

    use super::*;

    /// Packets as quinn makes them of so many bytes.
    fn packets(bytes: u64) -> u64 {
        bytes + bytes.div_ceil(1_400) * 38
    }

    #[test]
    fn what_was_acknowledged_is_not_outstanding_any_more_whatever_was_lost_before_it() {
        let gauge = Gauge::default();
        let mut outstanding = Outstanding::new(&gauge);
        outstanding.wrote(140_000);
        // The first of a hundred packets was lost.
        gauge.acknowledged(packets(138_600));
        gauge.end_acks(0, false);
        assert!((1_400..5_000).contains(&outstanding.follow(&gauge)), "{outstanding:?}");
    }

    #[test]
    fn however_much_was_sent_no_more_is_counted_than_there_is_once_quinn_has_run_out() {
        let gauge = Gauge::default();
        let mut outstanding = Outstanding::new(&gauge);
        for _ in 0..1_000 {
            outstanding.wrote(14_000);
            gauge.acknowledged(packets(14_000));
            gauge.end_acks(0, false);
        }
        let counted = outstanding.follow(&gauge);
        assert!((1..1_000_000).contains(&counted), "too little is counted, or far too much: {counted}");
        gauge.end_acks(700, true);
        assert_eq!(outstanding.follow(&gauge), 700);
        // It was said once.
        outstanding.wrote(1_400);
        assert!(outstanding.follow(&gauge) > 2_100);
    }

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed); // relaxed: a count
        }
    }

    #[test]
    fn the_bell_is_rung_once_each_time_that_it_is_waited_for() {
        let (gauge, bell, rung) = (Gauge::default(), Arc::<Bell>::default(), Arc::new(Count(AtomicUsize::new(0))));
        bell.listen(&Context::from_waker(&Waker::from(Arc::clone(&rung))));
        gauge.attach(bell);
        let count = |waits: bool| {
            if waits {
                gauge.wait();
            }
            gauge.end_acks(0, false);
            rung.0.load(Ordering::Relaxed) // relaxed: one thread
        };
        assert_eq!([count(false), count(true), count(false), count(true)], [0, 1, 1, 2]);
    }
}
