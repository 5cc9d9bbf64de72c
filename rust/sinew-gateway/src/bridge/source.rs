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

    /// Messages that were lost before they were taken.
    pub fn missed(&self) -> u64 {
        self.missed + self.subscriber.statistics().missed + self.lost.load(Ordering::Relaxed)
    }

    /// Whether all was taken of publishers that have gone since then: it is awake, and takes one message after the other.
    pub fn has_taken_all(&self, since: Instant) -> bool {
        since.elapsed() >= QUIET && self.is_quiet()
    }

    fn is_quiet(&self) -> bool {
        // Who is about to take one has the lock.
        self.taking.try_lock().is_ok_and(|taking| taking.last.elapsed() >= QUIET) && !self.has_publishers()
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
