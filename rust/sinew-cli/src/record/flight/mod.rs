//! `sinew record --last`: a flight recorder. It holds the newest messages where their publishers wrote them, and writes them into a file when something happens: also what a process that died published last.

mod condition;
mod service;
mod store;
mod watches;
mod write;

use std::io::IsTerminal;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sinew::Node;

pub use self::condition::Condition;
use self::service::{Caller, provide};
pub use self::service::{PREFIX, Request, Response, recorders};
use self::store::{Held, Store};
use self::watches::{Conditions, Deaths};
use self::write::{Job, Outcome, Plan, Written};
use super::Wanted;
use super::progress::{by_topics, refuse_not_recorded, tell_of_empty};
use super::source::Received;
use super::topics::Subscriptions;
use crate::aside::To;
use crate::cli::Cli;
use crate::clock::{self, Clock};
use crate::commands::record::Record;
use crate::domain::{Followed, View, in_domain, join};
use crate::failure::{Done, Failure};
use crate::interrupt;
use crate::output::{NAME, counted, print_to, say, show, shown};
use crate::units::bytes;

/// How often it is looked for what is too old.
const OFTEN: Duration = Duration::from_millis(200);

/// How long it is waited at the end for those who are answered: an answer goes with who gives it.
const LONGEST: Duration = Duration::from_secs(1);

/// What happens while it flies.
pub enum Event {
    /// Nodes or topics may have come or gone.
    Changed,
    /// It is to end.
    Interrupted,
    /// Somebody asks for what it holds.
    Asked(Caller),
    /// A condition holds.
    Holds(String),
    /// A file is written, or could not be.
    Written(Outcome),
}

/// A file that is to be written.
struct Pending {
    due: Instant,
    reasons: Vec<String>,
    callers: Vec<Caller>,
}

/// Flies until it is interrupted.
pub fn run(cli: &Cli, asked: &Record, last: Duration) -> Done {
    let plan = Plan::new(asked.output.as_deref(), asked.compression.into())?;
    let node = join(cli, "record")?;
    let (events, happened) = mpsc::channel();
    let interrupted = events.clone();
    interrupt::on_interrupt(move || drop(interrupted.send(Event::Interrupted)))?;
    let changed = events.clone();
    let followed = Followed::telling(&node, move || drop(changed.send(Event::Changed)))?;
    let _provider = provide(&node, &asked.name, events.clone())?;

    let store = Arc::new(Mutex::new(Store::new(i64::try_from(last.as_nanos()).unwrap_or(i64::MAX), asked.budget.as_u64())));
    let held = Wanted::new(asked)?;
    let (holds, watched) = (held.clone(), asked.when.clone());
    let conditions = Arc::new(Mutex::new(Conditions::new(&asked.when)));
    let (into, looks, tell) = (Arc::clone(&store), Arc::clone(&conditions), events.clone());
    let sink = Arc::new(move |message: Received| {
        let begun = looks.lock().expect("nobody panics with it").look(&message);
        if holds.has(&message.source.name) {
            into.lock().expect("nobody panics with it").push(Held::new(message));
        }
        // Now that the message by which it holds is there to be written.
        for condition in begun {
            let _ = tell.send(Event::Holds(condition));
        }
    });
    let subscribes = held.clone();
    let wanted = move |topic: &str| subscribes.has(topic) || watched.iter().any(|condition| condition.is_about(topic));
    let view = View::of(&node)?;
    let mut subscriptions = Subscriptions::new(node.clone(), wanted, sink);
    subscriptions.bring(asked, &view);
    if !cli.json {
        say!(
            "holding the last {last:?} in {} at most; `sinew trigger{}{}` writes them into a file, Ctrl-C ends it",
            asked.budget,
            if asked.name == super::USUAL_NAME { String::new() } else { format!(" {}", asked.name) },
            in_domain(cli.domain.as_deref())
        );
    }
    let mut flight = Flight {
        cli,
        asked,
        node,
        store,
        held,
        subscriptions,
        view,
        conditions,
        deaths: asked.on_death.as_ref().map(|of| Deaths::new(of.clone().map(|pattern| pattern.compile_matcher()))),
        plan,
        pending: None,
        is_writing: false,
        is_ending: false,
        has_begun_last: false,
        answered: Vec::new(),
        is_shown: std::io::stderr().is_terminal() && !cli.json,
        unwritten: None,
    };
    let tells = events;
    let ended = flight.fly(&followed, &happened, move |job| write::start(job, tells.clone()));
    // Whoever waits is told that nothing will come.
    drop(flight);
    ended
}

struct Flight<'a> {
    cli: &'a Cli,
    asked: &'a Record,
    node: Node,
    store: Arc<Mutex<Store>>,
    held: Wanted,
    subscriptions: Subscriptions,
    /// The newest.
    view: View,
    conditions: Arc<Mutex<Conditions>>,
    deaths: Option<Deaths>,
    plan: Plan,
    pending: Option<Pending>,
    is_writing: bool,
    is_ending: bool,
    /// It writes the last file, with all that came before; whatever happens now is not written.
    has_begun_last: bool,
    /// By what was written since it is ending: names of nodes.
    answered: Vec<String>,
    is_shown: bool,
    /// Why the first file that could not be written was not.
    unwritten: Option<String>,
}

fn died(node: &str) -> String {
    format!("node '{node}' died")
}

impl Flight<'_> {
    fn fly(&mut self, followed: &Followed, happened: &Receiver<Event>, start: impl Fn(Job)) -> Done {
        let begun = Instant::now();
        let end = self.asked.max_duration.map(|longest| begun + longest);
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) && !self.is_ending {
                self.end();
            }
            let is_idle = self.is_ending && !self.is_writing && self.pending.is_none();
            let until = if is_idle { now } else { self.next(now, end) };
            match happened.recv_timeout(until.saturating_duration_since(now)) {
                Ok(Event::Interrupted) => self.end(),
                Ok(Event::Changed) => {
                    if let Some(view) = followed.changed() {
                        self.view = view;
                        self.subscriptions.update(&self.view);
                        if let Some(deaths) = &mut self.deaths {
                            deaths.look(&self.view, Instant::now());
                        }
                    }
                }
                Ok(Event::Asked(call)) => {
                    let (reason, by) = (call.request().map(|request| request.reason).unwrap_or_default(), call.info().publisher);
                    let reason = if reason.is_empty() { format!("'{by}' asked for it") } else { reason };
                    self.trigger(reason, Some(call));
                }
                Ok(Event::Holds(condition)) => self.trigger(condition, None),
                Ok(Event::Written(outcome)) => {
                    self.is_writing = false;
                    self.tell(outcome);
                }
                Err(_) if is_idle => {
                    let verdict = self.verdict(followed);
                    self.await_answered(followed);
                    return verdict;
                }
                Err(_) => {
                    self.subscriptions.tend(&self.view);
                    self.conditions.lock().expect("nobody panics with it").forget(Instant::now(), &self.view);
                    self.show();
                }
            }
            let now = Instant::now();
            for node in self.deaths.iter_mut().flat_map(|deaths| deaths.dead(now)).collect::<Vec<_>>() {
                self.trigger(died(&node), None);
            }
            if !self.is_writing
                && let Some(pending) = self.pending.take_if(|pending| pending.due <= now)
            {
                self.is_writing = true;
                if self.is_ending {
                    self.has_begun_last = true;
                    self.answered.extend(pending.callers.iter().map(|caller| caller.info().publisher));
                }
                start(self.job(pending));
            }
        }
    }

    /// What is to be written is written now, in place of later. Who is missed may be why all are to end: `sinew launch` stops all when one dies.
    fn end(&mut self) {
        self.is_ending = true;
        let now = Instant::now();
        for node in self.deaths.iter_mut().flat_map(|deaths| deaths.missed(now)).collect::<Vec<_>>() {
            self.trigger(died(&node), None);
        }
        if let Some(pending) = &mut self.pending {
            pending.due = now;
        }
    }

    /// What could not be written, or held, and which of the topics that were named gave nothing.
    fn verdict(&mut self, followed: &Followed) -> Done {
        if let Some(view) = followed.changed() {
            self.subscriptions.note_unheard(&view);
        }
        if self.is_shown {
            show!("");
        }
        if let Some(why) = self.unwritten.take() {
            return Err(Failure::Failed(why));
        }
        refuse_not_recorded(&self.subscriptions.not_recorded())?;
        let mut topics = by_topics(self.subscriptions.counts());
        topics.retain(|topic| self.held.has(&topic.name));
        tell_of_empty(self.asked.topics.names(), &topics)
    }

    /// Until those who were answered at the end have gone, as `sinew trigger` does then.
    fn await_answered(&self, followed: &Followed) {
        let (mut view, until) = (View::of(&self.node).ok(), Instant::now() + LONGEST);
        while let Some(there) = view
            && there.nodes().iter().any(|node| self.answered.contains(&node.name))
        {
            view = followed.changed_until(until);
        }
    }

    /// When it is to be looked again.
    fn next(&self, now: Instant, end: Option<Instant>) -> Instant {
        let pending = self.pending.as_ref().filter(|_| !self.is_writing).map(|pending| pending.due);
        let death = self.deaths.as_ref().and_then(Deaths::due);
        let all = [Some(now + OFTEN), pending, death, end.filter(|end| *end > now)];
        all.into_iter().flatten().min().unwrap_or(now)
    }

    /// Lets go of what is too old, and says on a terminal how much is held.
    fn show(&self) {
        let mut store = self.store.lock().expect("nobody panics with it");
        store.let_go(clock::now_ns());
        let (messages, size) = store.totals();
        drop(store);
        if self.is_shown {
            show!("{messages} messages, {} held", bytes(size as f64));
        }
    }

    /// Another reason to write what is held, with those that there are already.
    fn trigger(&mut self, reason: String, caller: Option<Caller>) {
        if self.has_begun_last {
            if let Some(caller) = caller {
                let _ = caller.fail("the recorder ends, and writes its last file already");
            }
            return;
        }
        self.store.lock().expect("nobody panics with it").stay(clock::now_ns());
        let after = if self.is_ending { Duration::ZERO } else { self.asked.after };
        let due = Instant::now() + after;
        let pending = self.pending.get_or_insert_with(|| Pending { due, reasons: Vec::new(), callers: Vec::new() });
        if !pending.reasons.contains(&reason) {
            pending.reasons.push(reason);
        }
        pending.callers.extend(caller);
    }

    fn job(&self, pending: Pending) -> Job {
        let mut store = self.store.lock().expect("nobody panics with it");
        Job {
            held: store.take(clock::now_ns()),
            begin_ns: store.begin_ns(),
            reasons: pending.reasons,
            callers: pending.callers,
            plan: self.plan.clone(),
            // Of each file, as weeks may have passed: the calendar's clock was set meanwhile, or the machine slept.
            clock: Clock::new(),
        }
    }

    /// What has become of a file.
    fn tell(&mut self, outcome: Outcome) {
        if self.is_shown {
            show!("");
        }
        match outcome {
            Ok(written) => self.print(&written),
            Err(why) => {
                let why = shown(&why.to_string());
                say!("{why}");
                self.unwritten.get_or_insert(why);
            }
        }
    }

    fn print(&self, written: &Written) {
        if self.cli.json {
            let line = serde_json::to_string(written).expect("texts and numbers can be written");
            return print_to(To::Out, format_args!("{line}\n"));
        }
        print_to(
            To::Out,
            format_args!(
                "{NAME}{}{NAME:#}: {} of {:.1} s, {} ({} by reference, {} copied): {}\n",
                shown(&written.path.to_string_lossy()),
                counted(written.messages, "message"),
                written.seconds,
                bytes(written.bytes as f64),
                written.by_reference,
                written.copied,
                shown(&written.reasons.join("; "))
            ),
        );
    }
}
