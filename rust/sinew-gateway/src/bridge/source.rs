//! What reads a topic of the domain for a network.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sinew::raw::{Frame, MessageInfo, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, Qos};

/// Publishers that are told apart, so that those that come and go cost a bounded amount of memory.
const MOST_PUBLISHERS: usize = 256;
/// For the next subscriber to be connected, and for the one before to have taken what that has not.
const PATIENCE: Duration = Duration::from_secs(1);
/// What was published before the next subscriber was connected, or by who has gone, has come by then.
const QUIET: Duration = Duration::from_millis(50);

/// A subscriber, in whose place a deeper one can be put: nothing is lost by that, and nothing comes twice.
pub struct Source {
    // First, so that nothing is taken any more.
    subscriber: Subscriber,
    taking: Arc<Mutex<Taking>>,
    at: At,
    /// What subscribers before have missed.
    missed: u64,
    /// What was published between two of them. Nobody waits for it, as what takes a message may.
    lost: Arc<AtomicU64>,
    is_given_up: Arc<AtomicBool>,
}

/// What is read, and how.
pub struct At {
    /// In the domain.
    pub node: Node,
    /// The topic.
    pub name: String,
    /// Its type.
    pub signature: String,
    /// Messages a second of each publisher at most; 0: all.
    pub max_rate: f64,
    /// Of the node, on which messages are taken.
    pub execution_thread: u32,
}

type Take = Box<dyn FnMut(Frame, &MessageInfo) + Send>;

/// What becomes of messages. Told by the domain's threads.
struct Taking {
    take: Take,
    /// Whose messages are taken: those of the next one wait.
    turn: u64,
    waiting: Vec<Frame>,
    newest: Newest,
    /// When it was the turn of the one before.
    before: Newest,
    /// When something was taken last.
    last: Instant,
    lost: Arc<AtomicU64>,
    is_given_up: Arc<AtomicBool>,
    has_rate: bool,
}

/// The message of each publisher's node that was taken last.
type Newest = HashMap<String, Mark>;

struct Mark {
    time_ns: i64,
    /// None: there are several publishers of one node, or were, and it is not known whose it is.
    sequence: Option<u64>,
}

impl Source {
    /// Blocks until the manager has agreed.
    pub fn open(at: At, qos: &Qos, take: impl FnMut(Frame, &MessageInfo) + Send + 'static) -> sinew::Result<Source> {
        let (lost, is_given_up) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let taking = Arc::new(Mutex::new(Taking {
            take: Box::new(take),
            turn: 0,
            waiting: Vec::new(),
            newest: Newest::new(),
            before: Newest::new(),
            last: Instant::now(),
            lost: Arc::clone(&lost),
            is_given_up: Arc::clone(&is_given_up),
            has_rate: at.max_rate > 0.0,
        }));
        let subscriber = subscriber(&at, qos, &taking, 0)?;
        Ok(Source { subscriber, taking, at, missed: 0, lost, is_given_up })
    }

    fn taking(&self) -> MutexGuard<'_, Taking> {
        lock(&self.taking)
    }

    /// Whether it is on its topic, which may be gone.
    pub fn is_on_its_topic(&self) -> bool {
        !self.subscriber.statistics().detached
    }

    /// Messages that were lost before they were taken.
    pub fn missed(&self) -> u64 {
        let told = self.subscriber.statistics();
        // What a publisher that has gone has left is given up, too.
        let left = if told.publishers == 0 && self.is_given_up.load(Ordering::Relaxed) { told.waiting } else { 0 };
        self.missed + told.missed + left + self.lost.load(Ordering::Relaxed)
    }

    /// Whether all was taken of publishers that have gone since then.
    pub fn has_taken_all(&self, since: Instant) -> bool {
        since.elapsed() >= QUIET && self.is_quiet()
    }

    fn is_quiet(&self) -> bool {
        let told = self.subscriber.statistics();
        // What does not wait any more is handed over under the lock, which is not seen for the moment before.
        told.publishers == 0 && told.waiting == 0 && self.taking.try_lock().is_ok_and(|taking| taking.last.elapsed() >= QUIET)
    }

    fn has_publishers(&self) -> bool {
        self.subscriber.statistics().publishers > 0
    }

    /// What comes from now on is lost. Blocks for a moment, in which that is counted of publishers that have gone.
    pub fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed); // relaxed: who misses it has the lock
        drop(self.taking());
        let until = Instant::now() + PATIENCE;
        while !self.has_publishers() && !self.is_quiet() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes nothing any more, and tells what it has missed.
    pub fn end(self) -> u64 {
        let missed = self.missed();
        drop(self);
        missed
    }

    /// Has each of them read so from now on. Blocks for a moment.
    pub fn renew<'a>(sources: impl IntoIterator<Item = &'a mut Source>, qos: &Qos) -> sinew::Result<()> {
        let mut renewed = Vec::new();
        for source in sources {
            let turn = source.taking().turn + 1;
            renewed.push((subscriber(&source.at, qos, &source.taking, turn)?, source));
        }
        let until = Instant::now() + PATIENCE;
        let wait = |is_over: &dyn Fn(&Subscriber, &Source) -> bool| {
            while Instant::now() < until && !renewed.iter().all(|(next, source)| is_over(next, source)) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        if !renewed.is_empty() {
            // From then on all that is published comes to both.
            wait(&|next, source| next.statistics().publishers >= source.subscriber.statistics().publishers);
            std::thread::sleep(QUIET);
            wait(&|_, source| source.taking().is_level());
        }
        for (next, source) in renewed {
            let before = std::mem::replace(&mut source.subscriber, next);
            source.missed += before.statistics().missed;
            drop(before);
            source.taking().begin();
        }
        Ok(())
    }
}

fn lock(taking: &Mutex<Taking>) -> MutexGuard<'_, Taking> {
    taking.lock().unwrap_or_else(PoisonError::into_inner)
}

fn subscriber(at: &At, qos: &Qos, taking: &Arc<Mutex<Taking>>, turn: u64) -> sinew::Result<Subscriber> {
    let to = Arc::clone(taking);
    let options = SubscriberOptions {
        ghost: Ghost::Carrier,
        max_rate: at.max_rate,
        execution_thread: at.execution_thread,
        ..SubscriberOptions::default()
    };
    let came = move |frame: Frame| lock(&to).came(frame, turn);
    Subscriber::with_callback(&at.node, &at.name, &at.signature, qos, options, came)
}

impl Taking {
    fn came(&mut self, frame: Frame, turn: u64) {
        if turn == self.turn { self.pass(frame) } else { self.waiting.push(frame) }
    }

    /// Whether nothing is missing between what was taken and what waits.
    fn is_level(&self) -> bool {
        let mut first = HashMap::new();
        for info in self.waiting.iter().map(Frame::info) {
            first.entry(info.publisher).or_insert(info.source_time_ns);
        }
        first.iter().all(|(publisher, time_ns)| self.newest.get(publisher).is_some_and(|newest| newest.time_ns >= *time_ns))
    }

    /// It is the turn of the next one.
    fn begin(&mut self) {
        self.turn += 1;
        self.before = std::mem::take(&mut self.newest);
        for frame in std::mem::take(&mut self.waiting) {
            self.pass(frame);
        }
    }

    fn pass(&mut self, frame: Frame) {
        let info = frame.info();
        let before = self.before.get(&info.publisher);
        if before.is_some_and(|before| info.source_time_ns <= before.time_ns) {
            return;
        }
        if let Some(newest) = self.newest.get_mut(&info.publisher) {
            newest.time_ns = newest.time_ns.max(info.source_time_ns);
            newest.sequence = newest.sequence.filter(|newest| *newest < info.sequence).map(|_| info.sequence);
        } else {
            // What a rate leaves out is not lost.
            let last = before.and_then(|before| before.sequence).filter(|_| !self.has_rate);
            let lost = last.map_or(0, |last| info.sequence.saturating_sub(last).saturating_sub(1 + info.missed));
            self.lost.fetch_add(lost, Ordering::Relaxed);
            if self.newest.len() >= MOST_PUBLISHERS {
                self.newest.clear();
            }
            self.newest.insert(info.publisher.clone(), Mark { time_ns: info.source_time_ns, sequence: Some(info.sequence) });
        }
        if self.is_given_up.load(Ordering::Relaxed) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            (self.take)(frame, &info);
        }
        self.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use sinew::NodeOptions;
    use sinew::raw::{Publisher, PublisherOptions};

    use super::*;
    use crate::testing::{NUMBER, until};

    const LEFT: u64 = 3;

    /// A publisher goes, and leaves messages behind for a source whose thread has much to do with another topic. Tells how many were taken, and when it went.
    fn with_a_busy_thread(then: impl FnOnce(&Source, &AtomicU64, Instant)) {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let domain = folder.path().join("domain").to_str().expect("it is text").to_owned();
        let node = |name| Node::with_options(name, &NodeOptions { domain: domain.clone(), by_caller: false }).expect("there is a manager");
        let (bridge, camera) = (node("bridge"), node("camera"));
        let qos = Qos { reliable: true, ..Qos::keep_last(10) };
        let at = |name: &str| At {
            node: bridge.clone(),
            name: name.to_owned(),
            signature: NUMBER.to_owned(),
            max_rate: 0.0,
            execution_thread: 0,
        };
        let publisher = |name| Publisher::new(&camera, name, NUMBER, &qos, PublisherOptions::default()).expect("it may publish");
        // A ghost makes no topic.
        let (busy, numbers) = (publisher("slow"), publisher("number"));
        let taken = Arc::<AtomicU64>::default();
        let (begun, has_begun) = channel();
        let (free, is_free) = channel::<()>();
        let slow = Source::open(at("slow"), &qos, move |_, _| {
            begun.send(()).expect("somebody waits for it");
            let _ = is_free.recv();
        })
        .expect("it may subscribe");
        let count = Arc::clone(&taken);
        let source = Source::open(at("number"), &qos, move |_, _| _ = count.fetch_add(1, Ordering::Relaxed)).expect("it may subscribe");
        until(|| {
            slow.has_publishers() && source.has_publishers() && numbers.statistics().subscribers == 1 && busy.statistics().subscribers == 1
        });
        // Goes before the source whose callback waits for it, also where something fails.
        let free = free;
        let stream = [0, 1, 0, 0, 7, 0, 0, 0];
        busy.publish(&[&stream]).expect("it is published");
        has_begun.recv().expect("it comes");
        (0..LEFT).for_each(|_| numbers.publish(&[&stream]).expect("it is published"));
        drop(numbers);
        until(|| !source.has_publishers());
        let gone = Instant::now();
        std::thread::sleep(2 * QUIET);
        then(&source, &taken, gone);
        drop(free);
        until(|| source.has_taken_all(gone));
        assert_eq!(taken.load(Ordering::Relaxed) + source.missed(), LEFT);
    }

    #[test]
    fn what_waits_for_a_busy_thread_is_not_taken_for_taken() {
        with_a_busy_thread(|source, taken, gone| {
            assert_eq!(taken.load(Ordering::Relaxed), 0);
            assert!(!source.has_taken_all(gone));
            assert_eq!(source.missed(), 0);
        });
    }

    #[test]
    fn what_waits_for_a_busy_thread_is_counted_when_it_is_given_up() {
        with_a_busy_thread(|source, _, _| {
            source.give_up();
            assert_eq!(source.missed(), LEFT);
        });
    }
}
