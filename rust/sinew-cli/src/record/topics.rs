//! Follows the topics that are recorded, as they come and go.

mod unheard;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sinew::raw::{Frame, Subscriber, SubscriberOptions, SubscriberStatistics};
use sinew::{ErrorKind, Ghost, Node, Qos};

use self::unheard::Unheard;
use super::awaited::Awaited;
use super::counts::{Counts, NotRecorded};
use super::heard::Heard;
use super::parting::{PARTING, Quiet};
use super::source::{Received, Source, offered};
use crate::beyond::Far;
use crate::commands::record::Record;
use crate::domain::View;
use crate::output::{say, shown};

/// What becomes of each message, on an execution thread of the node.
pub type Sink = Arc<dyn Fn(Received) + Send + Sync>;

/// Callbacks for messages may wait; those for the domain, on the first thread, do not.
const THREAD: u32 = 1;
/// Who is not heard for so long is told of. Before, the two may be about to agree.
const MEETING: Duration = Duration::from_secs(1);

/// Subscribers of the topics that are recorded. They are ghosts: a topic is there as long as others want it. But for those that are to come from another domain: somebody has to want them here.
pub struct Subscriptions {
    node: Node,
    wanted: Box<dyn Fn(&str) -> bool>,
    sink: Sink,
    /// By the names of topics. They stay when the manager is gone, and with it what it tells, until a topic is really gone.
    subscribed: HashMap<String, Subscription>,
    /// Those of topics that are gone, or in whose place there are others. Messages may still come by them.
    parting: Vec<Parting>,
    /// When it was looked for those that can go.
    looked: Instant,
    giving: Arc<Giving>,
    /// By the names of topics that are subscribed, or parting.
    heard: HashMap<String, Arc<Mutex<Heard>>>,
    /// So many subscribers were there.
    made: u64,
    /// What is to come from another domain.
    awaited: Option<Awaited>,
    /// Names of topics that come from another domain for this.
    brought: HashSet<String>,
    /// A topic that comes again is the same to files.
    known: HashMap<(String, String), Arc<Source>>,
    /// By those who are not subscribed any more.
    before: BTreeMap<String, Counts>,
    unheard: Unheard,
    /// What could not be had, for whatever time: who was not heard (none: the topic was refused), and why. All of it was told.
    missing: BTreeMap<(String, Option<String>), String>,
}

/// What the one thread of all callbacks does, and is to do.
#[derive(Default)]
struct Giving {
    /// A message is given to the sink, which may wait for a disk.
    // seq_cst, as the other: who says that it is over sees a message that is given all the same.
    is_on: AtomicBool,
    is_over: AtomicBool,
}

struct Subscription {
    subscriber: Result<Subscriber, Refused>,
    /// It asks for what publishers have kept.
    asks_for_kept: bool,
    /// Another one of each.
    number: u64,
    /// Messages that have come by it, and by no other before.
    // relaxed: only told.
    received: Arc<AtomicU64>,
}

struct Parting {
    topic: String,
    subscription: Subscription,
    quiet: Quiet,
}

/// A topic of this type.
struct Refused {
    signature: String,
    /// It lacked memory or descriptors, of which there may be some again.
    is_for_want: bool,
}

impl Subscriptions {
    pub fn new(node: Node, wanted: impl Fn(&str) -> bool + 'static, sink: Sink) -> Subscriptions {
        Subscriptions {
            node,
            wanted: Box::new(wanted),
            sink,
            subscribed: HashMap::new(),
            parting: Vec::new(),
            looked: Instant::now(),
            giving: Arc::default(),
            heard: HashMap::new(),
            made: 0,
            awaited: None,
            brought: HashSet::new(),
            known: HashMap::new(),
            before: BTreeMap::new(),
            unheard: Unheard::default(),
            missing: BTreeMap::new(),
        }
    }

    /// Has come here what is called by its whole name, or a condition looks at, and only another domain has. Blocks until gateways have told what there is, where something of that is not known here.
    pub fn bring(&mut self, asked: &Record, view: &View) {
        let mut awaited = Awaited::new(&self.node, asked, &self.wanted);
        let found = awaited.ask(view);
        self.awaited = Some(awaited);
        self.subscribe_beyond(found);
    }

    fn subscribe_beyond(&mut self, found: Vec<(String, Far)>) {
        for (name, far) in found {
            self.brought.insert(name.clone());
            self.subscribe(&name, &far.signature, std::slice::from_ref(&far.offered), far.offered.transient_local);
        }
    }

    /// Subscribes to what has come, and lets go of what is gone.
    pub fn update(&mut self, view: &View) {
        let is_over = |name: &String, subscription: &mut Subscription| match &subscription.subscriber {
            Ok(subscriber) => subscriber.statistics().detached,
            Err(_) => view.state.topic(name).is_none(),
        };
        let gone: Vec<_> = self.subscribed.extract_if(is_over).collect();
        gone.into_iter().for_each(|(name, subscription)| self.part(name, subscription));
        self.let_go();
        self.forget(view);
        for topic in view.topics() {
            if !(self.wanted)(&topic.name) {
                continue;
            }
            let offered = offered(view, topic);
            // Only of publishers that are there it can be told what they offer.
            if offered.is_empty() {
                continue;
            }
            if let Some(source) = self.known.get(&(topic.name.clone(), topic.signature.clone())) {
                source.offer(&offered);
            }
            let all_keep = offered.iter().all(|qos| qos.transient_local);
            let is_fine = self.subscribed.get(&topic.name).is_some_and(|subscription| match &subscription.subscriber {
                // Who asks for what was kept does not hear those who keep nothing, and who does not misses what the others published before the two met.
                Ok(_) => subscription.asks_for_kept == all_keep,
                Err(refused) => !refused.is_for_want && refused.signature == topic.signature,
            });
            if !is_fine {
                self.subscribe(&topic.name, &topic.signature, &offered, all_keep);
            }
        }
        self.note_unheard(view);
    }

    /// What time alone brings: also from another domain, where that is connected later, or where who has held a topic here has gone.
    pub fn tend(&mut self, view: &View) {
        self.let_go();
        self.tell_unheard();
        let subscribed = &self.subscribed;
        let is_held = |is_meant: &dyn Fn(&str) -> bool| subscribed.iter().any(|(name, held)| is_meant(name) && held.is_attached());
        let found = self.awaited.as_mut().map(|awaited| awaited.follow(view, is_held));
        self.subscribe_beyond(found.unwrap_or_default());
    }

    /// Says of publishers whose messages do not come, once, why.
    fn tell_unheard(&mut self) {
        for (topic, node, why) in self.unheard.late(Instant::now()) {
            self.miss(topic, Some(node), why);
        }
    }

    /// What could not be had, or not all the time: topics that were refused, and publishers that were not heard.
    pub fn not_recorded(&self) -> Vec<NotRecorded> {
        let told = self.missing.iter().map(|((name, node), why)| {
            let why = node.as_ref().map_or_else(|| why.clone(), |node| format!("node '{node}' was not heard: {why}"));
            NotRecorded { name: name.clone(), why }
        });
        told.collect()
    }

    fn miss(&mut self, topic: String, node: Option<String>, why: String) {
        let Entry::Vacant(new) = self.missing.entry((topic, node)) else { return };
        let topic = shown(&new.key().0);
        match &new.key().1 {
            Some(node) => say!("topic '{topic}': what {} publishes is not recorded: {}", shown(node), shown(&why)),
            None => say!("topic '{topic}' is not recorded: {}", shown(&why)),
        }
        new.insert(why);
    }

    /// Looks for publishers that are there and not heard.
    pub fn note_unheard(&mut self, view: &View) {
        self.tell_unheard();
        let fine = self.subscribed.iter().filter(|(_, subscription)| subscription.subscriber.is_ok());
        self.unheard.look(view, fine.map(|(name, _)| name.as_str()), Instant::now());
    }

    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.subscribed.is_empty()
    }

    /// What comes from now on is not received. Waits until the sink has the message that has come just before, unless it `may_wait` for long.
    pub fn stop(&self, may_wait: impl Fn() -> bool) {
        self.giving.is_over.store(true, Ordering::SeqCst);
        while self.giving.is_on.load(Ordering::SeqCst) && !may_wait() {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Messages that have come, and that the sink was not given yet, by the names of topics.
    pub fn waiting(&self) -> BTreeMap<String, u64> {
        let mut waiting = BTreeMap::new();
        let subscribed = self.subscribed.iter().map(|(name, subscription)| (name, subscription.statistics()));
        let parting = self.parting.iter().map(|parting| (&parting.topic, parting.subscription.statistics()));
        // What living publishers publish waits for the next one, too.
        for (topic, told) in subscribed.chain(parting.filter(|(_, told)| told.publishers == 0)) {
            *waiting.entry(topic.clone()).or_default() += told.waiting;
        }
        waiting
    }

    /// By the names of topics.
    pub fn counts(&self) -> BTreeMap<String, Counts> {
        let mut counts = self.before.clone();
        for (name, subscription) in &self.subscribed {
            *counts.entry(name.clone()).or_default() += subscription.counts();
        }
        for parting in &self.parting {
            *counts.entry(parting.topic.clone()).or_default() += self.counts_of(parting);
        }
        counts
    }

    fn subscribe(&mut self, topic: &str, signature: &str, offered: &[Qos], asks_for_kept: bool) {
        let (number, received) = (self.made, Arc::default());
        self.made += 1;
        let subscriber = match self.subscriber(topic, signature, offered, asks_for_kept, number, &received) {
            Ok(subscriber) => Ok(subscriber),
            // It has gone meanwhile, or the manager: then it comes again.
            Err(NoSubscriber::ForNow) => return,
            Err(NoSubscriber::Refused { why, is_for_want }) => {
                self.miss(topic.to_owned(), None, why);
                if self.subscribed.get(topic).is_some_and(|before| before.subscriber.is_ok()) {
                    return; // which goes on
                }
                Err(Refused { signature: signature.to_owned(), is_for_want })
            }
        };
        if let Some(before) = self.subscribed.insert(topic.to_owned(), Subscription { subscriber, asks_for_kept, number, received }) {
            self.part(topic.to_owned(), before);
        }
    }

    fn subscriber(
        &mut self,
        topic: &str,
        signature: &str,
        offered: &[Qos],
        asks_for_kept: bool,
        number: u64,
        received: &Arc<AtomicU64>,
    ) -> Result<Subscriber, NoSubscriber> {
        let key = (topic.to_owned(), signature.to_owned());
        let source = match self.known.get(&key) {
            Some(source) => Arc::clone(source),
            None => {
                let source = Source::new(self.known.len(), topic, signature, offered).map_err(NoSubscriber::for_good)?;
                if source.described.schema_encoding == "omgidl" {
                    let name = shown(topic);
                    say!(
                        "topic '{name}' has variants, for which ROS has no word: it is described in IDL, and rosbags does not open a file with that; sinew and Foxglove do. Without it: --exclude '{name}'"
                    );
                }
                Arc::new(source)
            }
        };
        self.known.insert(key, Arc::clone(&source));
        let sink = Arc::clone(&self.sink);
        let qos = Qos { keep_all: true, transient_local: asks_for_kept, ..Qos::default() };
        let ghost = if self.brought.contains(topic) { Ghost::No } else { Ghost::Observer };
        let options = SubscriberOptions { ghost, execution_thread: THREAD, ..Default::default() };
        let (heard, received) = (Arc::clone(self.heard.entry(topic.to_owned()).or_default()), Arc::clone(received));
        let giving = Arc::clone(&self.giving);
        let on_frame = move |frame: Frame| {
            giving.is_on.store(true, Ordering::SeqCst);
            if !giving.is_over.load(Ordering::SeqCst) && heard.lock().expect("nobody panics with it").is_new(frame.info(), number) {
                received.fetch_add(1, Ordering::Relaxed);
                sink(Received { source: Arc::clone(&source), frame });
            }
            giving.is_on.store(false, Ordering::SeqCst);
        };
        let created = Subscriber::with_callback(&self.node, topic, signature, &qos, options, on_frame);
        created.map_err(|why| match why.kind() {
            ErrorKind::Unavailable | ErrorKind::Disconnected => NoSubscriber::ForNow,
            kind => NoSubscriber::Refused { why: why.to_string(), is_for_want: kind == ErrorKind::Exhausted },
        })
    }

    /// It ends when what comes by it has come.
    fn part(&mut self, topic: String, subscription: Subscription) {
        self.heard_of(&topic, |heard| heard.parts(subscription.number));
        self.parting.push(Parting { topic, subscription, quiet: Quiet::default() });
    }

    fn let_go(&mut self) {
        // Of a longer time this process may have been stopped for most.
        let passed = std::mem::replace(&mut self.looked, Instant::now()).elapsed().min(MEETING);
        let is_giving = self.giving.is_on.load(Ordering::SeqCst);
        let is_over = |parting: &mut Parting| parting.quiet.look(&parting.subscription.statistics(), passed, is_giving);
        let over: Vec<Parting> = self.parting.extract_if(.., is_over).collect();
        for parting in over {
            let counts = self.counts_of(&parting);
            self.heard_of(&parting.topic, |heard| heard.ends(parting.subscription.number));
            *self.before.entry(parting.topic).or_default() += counts;
        }
    }

    /// Where two hear the same, what both were late for is lost once.
    fn counts_of(&self, parting: &Parting) -> Counts {
        let counts = parting.subscription.counts();
        let by_both =
            |next: &Subscription| self.heard_of(&parting.topic, |heard| heard.lost_by_both(parting.subscription.number, next.number));
        let by_both = self.subscribed.get(&parting.topic).and_then(by_both).unwrap_or(0);
        Counts { lost: counts.lost.saturating_sub(by_both), ..counts }
    }

    fn heard_of<T>(&self, topic: &str, of: impl FnOnce(&mut Heard) -> T) -> Option<T> {
        self.heard.get(topic).map(|heard| of(&mut heard.lock().expect("nobody panics with it")))
    }

    /// What nobody needs to have heard any more.
    fn forget(&mut self, view: &View) {
        let (subscribed, parting) = (&self.subscribed, &self.parting);
        self.heard.retain(|topic, _| subscribed.contains_key(topic) || parting.iter().any(|parting| parting.topic == *topic));
        let there: HashSet<&str> = view.state.nodes.values().map(|node| node.name.as_str()).collect();
        let now = Instant::now();
        // Who parts may still bring what others have brought.
        for (_, heard) in self.heard.iter().filter(|(topic, _)| !parting.iter().any(|parting| parting.topic == **topic)) {
            heard.lock().expect("nobody panics with it").forget(now, PARTING, |publisher| there.contains(publisher));
        }
    }
}

/// Why there is none.
enum NoSubscriber {
    ForNow,
    Refused { why: String, is_for_want: bool },
}

impl NoSubscriber {
    fn for_good(why: String) -> NoSubscriber {
        NoSubscriber::Refused { why, is_for_want: false }
    }
}

impl Subscription {
    fn statistics(&self) -> SubscriberStatistics {
        self.subscriber.as_ref().map(Subscriber::statistics).unwrap_or_default()
    }

    /// Its topic is there.
    fn is_attached(&self) -> bool {
        self.subscriber.as_ref().is_ok_and(|subscriber| !subscriber.statistics().detached)
    }

    fn counts(&self) -> Counts {
        let statistics = self.statistics();
        let lost = statistics.missed + statistics.rejected;
        Counts { received: self.received.load(Ordering::Relaxed), lost, copied: statistics.over_quota }
    }
}

#[cfg(test)]
mod tests {
    use sinew::NodeOptions;
    use sinew::raw::{Publisher, PublisherOptions};

    use super::*;

    /// The domain, with a recorder in it and somebody who publishes.
    fn scene() -> (tempfile::TempDir, Node, (Publisher, Node)) {
        let folder = tempfile::tempdir().unwrap();
        let node = |name| {
            let domain = folder.path().join("domain").to_str().unwrap().to_owned();
            Node::with_options(name, &NodeOptions { domain, by_caller: false }).unwrap()
        };
        let (recorder, camera) = (node("recorder"), node("camera"));
        let publisher = Publisher::new(&camera, "image", "uint8", &Qos::default(), PublisherOptions::default()).unwrap();
        (folder, recorder, (publisher, camera))
    }

    /// Follows the domain until it is so, or the time is over.
    fn follow(subscriptions: &mut Subscriptions, until: impl Fn(&Subscriptions) -> bool) {
        let end = Instant::now() + 6 * PARTING;
        while !until(subscriptions) && Instant::now() < end {
            let view = View::of(&subscriptions.node).unwrap();
            subscriptions.update(&view);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_a_publisher_that_is_gone_has_left_is_taken_once_however_slow_the_disk_is() {
        let (_folder, recorder, (publisher, camera)) = scene();
        let (given, infos) = std::sync::mpsc::channel();
        let sink = move |message: Received| {
            given.send(message.frame.info()).unwrap();
            if message.frame.info().sequence == 1 {
                std::thread::sleep(PARTING + MEETING);
            }
        };
        let mut subscriptions = Subscriptions::new(recorder, |_| true, Arc::new(sink));
        follow(&mut subscriptions, |_| publisher.statistics().subscribers == 1);
        (0..3).for_each(|n| publisher.publish(&[&[0, 1, 0, 0, n]]).unwrap());
        let first = infos.recv().unwrap();
        drop((publisher, camera));
        follow(&mut subscriptions, |all| !all.parting.is_empty());
        follow(&mut subscriptions, |all| all.counts()["image"].received == 3);
        let heard = subscriptions.heard.get("image").expect("it has not been let go of");
        assert!(!heard.lock().unwrap().is_new(first, u64::MAX), "it would be taken again");
        assert_eq!([2, 3].map(|_| infos.recv().unwrap().sequence), [2, 3]);
        follow(&mut subscriptions, |all| all.parting.is_empty());
        assert_eq!((subscriptions.parting.len(), subscriptions.counts()["image"].received), (0, 3));
    }

    #[test]
    fn what_a_publisher_that_is_gone_has_left_waits_while_the_disk_is_slow() {
        let (_folder, recorder, (publisher, camera)) = scene();
        let (go, gone_on) = std::sync::mpsc::channel::<()>();
        let (given, gone_on) = (Arc::<AtomicU64>::default(), Mutex::new(gone_on));
        let counted = Arc::clone(&given);
        let sink = move |_: Received| {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = gone_on.lock().unwrap().recv();
        };
        let mut subscriptions = Subscriptions::new(recorder, |_| true, Arc::new(sink));
        follow(&mut subscriptions, |_| publisher.statistics().subscribers == 1);
        (0..3).for_each(|n| publisher.publish(&[&[0, 1, 0, 0, n]]).unwrap());
        follow(&mut subscriptions, |_| given.load(Ordering::SeqCst) == 1);
        drop((publisher, camera));
        follow(&mut subscriptions, |all| all.parting.iter().any(|parting| parting.subscription.statistics().publishers == 0));
        let waiting = subscriptions.waiting();
        drop(go);
        assert_eq!(waiting.get("image"), Some(&2));
    }
}
