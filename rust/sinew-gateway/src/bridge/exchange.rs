//! The one who joins domain and network: follows the domain, and opens and closes what is to go over.
//!
//! It is one thread, since to open something in the domain blocks until the manager has agreed. Messages never wait for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use sinew::raw::ProviderOptions;
use sinew::{
    Call, GatewayCatalogue, GatewayCatalogueRequest, GatewayChannel, GatewayEntry, GatewayPeer, GatewayPeerCatalogue, GatewayStatus, Node,
    Provider,
};

use super::due::{Due, Key, Way, due};
use super::network::{Channel, Counted, Look, Network, sum};
use crate::channels::State;
use crate::config::Settings;
use crate::domain::{Followed, Local};
use crate::protocol::Kind;
use crate::rules::Rules;
use crate::status::{self, Teller};

/// What happens.
pub enum Event {
    /// There is news of the domain.
    Domain,
    /// The network is joined.
    Joined(Box<dyn Network>),
    /// What a channel has on the other side has come, or gone.
    Look(Key),
    /// From now on these hold.
    Rules(Rules),
    /// Somebody wants to know how it stands.
    Status(Sender<Vec<GatewayPeer>>),
    /// Somebody in the domain wants to know what others have.
    Catalogue(Asking),
    /// It is over.
    End,
}

/// Closed channels whose counts are remembered.
const MOST_PAST: usize = 4096;

/// Between two tries to open what could not be opened.
const PAUSE: Duration = Duration::from_secs(5);

/// What has not gone then of what was published here by who has gone is given up, and so are calls whose provider here has gone, and no other one has come.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks whether it has.
const LOOK: Duration = Duration::from_millis(10);

type Asking = Call<GatewayCatalogueRequest, GatewayCatalogue>;
type Catalogue = Provider<GatewayCatalogueRequest, GatewayCatalogue>;

/// Where the exchange hears of things. Cheap to clone; never blocks.
#[derive(Clone)]
pub struct Ear {
    events: Sender<Event>,
    is_ending: Arc<AtomicBool>,
}

impl Ear {
    /// With its other end.
    pub(super) fn new() -> (Ear, Receiver<Event>) {
        let (events, heard) = channel();
        (Ear { events, is_ending: Arc::default() }, heard)
    }

    /// Something happens.
    pub(super) fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// It ends, before whatever else it has heard of: each of that may wait for a manager that is gone.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed); // who misses it finds what is sent behind it
        self.tell(Event::End);
    }

    /// Nothing is opened any more.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// What a channel has on the other side has come, or gone, if there is such a channel.
    pub fn look(&self, key: Key) {
        self.tell(Event::Look(key));
    }
}

/// What is open, or why it is not.
type Open = Result<Box<dyn Channel>, String>;

/// See the module.
pub struct Exchange {
    rules: Rules,
    /// Of the network, until it is joined.
    name: String,
    domain: Followed,
    node: Node,
    ear: Ear,
    teller: Teller,
    /// None: the network cannot tell.
    _catalogue: Option<Catalogue>,
    channels: BTreeMap<Key, (Due, Open)>,
    /// Topics and services that nobody here has any more, since when: what was published goes first, and what was called may be answered by the next one.
    leaving: BTreeMap<Key, Instant>,
    /// What was counted of channels that were closed.
    past: BTreeMap<Key, Counted>,
    /// When what could not be opened is tried again.
    again: Option<Instant>,
    /// None: it is not joined yet.
    network: Option<Box<dyn Network>>,
    is_connected: bool,
}

impl Exchange {
    /// Before the network is joined.
    pub fn new(settings: &Settings, node: Node, domain: Followed, ear: Ear, teller: Teller) -> Exchange {
        let (rules, name) = (settings.rules.clone(), settings.tag.clone());
        let (channels, leaving, past) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Exchange {
            rules,
            name,
            domain,
            node,
            ear,
            teller,
            _catalogue: None,
            channels,
            leaving,
            past,
            again: None,
            network: None,
            is_connected: false,
        }
    }

    /// Until the end.
    pub fn run(mut self, heard: &Receiver<Event>) {
        loop {
            let now = Instant::now();
            let due = self.domain.returns().map_or(Duration::MAX, |at| at.saturating_duration_since(now)).min(self.teller.due());
            let mut next = heard.recv_timeout(if self.leaving.is_empty() { due } else { due.min(LOOK) });
            while let Ok(event) = next {
                if self.ear.is_ending() {
                    // Before the network, in which they are.
                    return self.channels.clear();
                }
                self.act(event);
                next = heard.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
            if self.domain.returns().is_some_and(|at| Instant::now() >= at) {
                self.act(Event::Domain);
                // What was too late for the manager is known by then.
                self.again.get_or_insert_with(soon);
            }
            if self.again.take_if(|again| Instant::now() >= *again).is_some() {
                self.follow();
                self.look_at_refused();
            }
            self.look_at_leaving();
            if let Some(network) = &mut self.network {
                network.settled(self.domain.local());
            }
            if self.teller.due().is_zero() {
                self.look_at_network();
                self.teller.tell(vec![([0; 16], self.status())]);
            }
        }
    }

    fn act(&mut self, event: Event) {
        match event {
            Event::Domain => {
                if self.domain.look() {
                    self.follow();
                }
            }
            Event::Joined(network) => {
                self._catalogue = if network.catalogue().is_some() { provide(&self.node, &self.ear) } else { None };
                self.network = Some(network);
                self.look_at_network();
                self.follow();
            }
            Event::Look(key) => {
                // Of what nobody has there is nothing to be opened.
                if let Some((_, Ok(channel))) = self.channels.get_mut(&key).filter(|_| !self.leaving.contains_key(&key)) {
                    look(channel.as_mut(), &mut self.again);
                }
            }
            Event::Rules(rules) => {
                self.rules = rules;
                self.follow();
            }
            Event::Status(tell) => {
                self.look_at_network();
                let _ = tell.send(vec![self.status()]);
            }
            Event::Catalogue(call) => {
                let told = match call.request() {
                    Ok(asked) => call.answer(&self.told_catalogue(&asked.peer)),
                    Err(why) => call.fail(&why.to_string()),
                };
                if let Err(why) = told {
                    log::debug!("what others have could not be told: {why}");
                }
            }
            Event::End => {}
        }
    }

    /// What the rules let in.
    fn told_catalogue(&self, peer: &str) -> GatewayCatalogue {
        if !peer.is_empty() && peer != self.name {
            return GatewayCatalogue::default();
        }
        let mut entries = self.network.as_ref().and_then(|network| network.catalogue()).unwrap_or_default();
        let tag = self.network.as_ref().map_or("", |network| network.tag());
        let kind_of = |entry: &GatewayEntry| if entry.kind == Kind::Topic.name() { Kind::Topic } else { Kind::Service };
        entries.retain(|entry| self.rules.decide(kind_of(entry), &entry.name, tag).symbol.lets_in());
        GatewayCatalogue { peers: vec![GatewayPeerCatalogue { name: self.name.clone(), answered: true, entries }] }
    }

    fn look_at_network(&mut self) {
        let Some(network) = &self.network else { return };
        let is_connected = network.is_connected();
        if is_connected == self.is_connected {
            return;
        }
        self.is_connected = is_connected;
        if !is_connected {
            log::warn!("nobody of {} is there any more", network.name());
            return;
        }
        log::info!("connected with {}", network.name());
        for (_, open) in self.channels.values() {
            if let Ok(channel) = open {
                channel.reconnected();
            }
        }
    }

    /// Opens what is to be open, and closes the rest: what nobody here has any more when all that was published has gone, and all that was called is answered.
    fn follow(&mut self) {
        let Some(network) = &mut self.network else { return };
        network.follow(self.domain.local());
        let mut due = due(self.domain.local(), &self.rules, network.tag());
        // How bridges stand, each tells its own domain.
        due.retain(|(_, name, _), _| name != GatewayStatus::TOPIC);
        // First, so that the places of those that are opened anew are free.
        let (local, past, leaving, ear) = (self.domain.local(), &mut self.past, &mut self.leaving, &self.ear);
        let may_go = |(kind, name, _): &Key| self.rules.decide(*kind, name, network.tag()).symbol.lets_out();
        self.channels.retain(|key, (before, open)| {
            let stays = due.get(key).is_some_and(|now| {
                let is_on_its_topic = open.as_ref().ok().and_then(|channel| channel.is_on_its_topic());
                is_on_its_topic.unwrap_or(now.topic == before.topic)
                    && (*now == before.on(now.topic) || open.as_mut().is_ok_and(|channel| channel.renew(now)))
            });
            if let Some(now) = due.get(key).filter(|_| stays) {
                *before = now.clone();
                if leaving.remove(key).is_some() {
                    ear.look(key.clone());
                }
                return true;
            }
            if open.is_ok() && is_gone(local, key) && may_go(key) {
                leaving.entry(key.clone()).or_insert_with(Instant::now);
                return true;
            }
            leaving.remove(key);
            close(past, key, open);
            false
        });
        let is_tried_again = self.again.is_none();
        due.retain(|key, _| self.channels.get(key).is_none_or(|(_, open)| open.is_err() && is_tried_again));
        for (key, due) in due {
            if self.ear.is_ending() {
                return;
            }
            let (ear, looks) = (self.ear.clone(), key.clone());
            let look: Look = Arc::new(move || ear.look(looks.clone()));
            let open = network.open(&key, &due, look).map_err(|why| format!("'{}' cannot be opened: {why}", key.1));
            let is_to_be_tried_again = match &open {
                Ok(channel) => is_refused(channel.as_ref()),
                Err(text) => {
                    // Said once, however often it is tried.
                    if !matches!(self.channels.get(&key), Some((_, Err(before))) if before == text) {
                        log::warn!("{text}");
                    }
                    true
                }
            };
            if is_to_be_tried_again {
                self.again.get_or_insert_with(soon);
            }
            self.channels.insert(key, (due, open));
        }
    }

    /// Closes those of which all has gone, or had time to.
    fn look_at_leaving(&mut self) {
        let (channels, past) = (&mut self.channels, &mut self.past);
        self.leaving.retain(|key, since| {
            let Some((_, open)) = channels.get_mut(key) else { return false };
            let stays = since.elapsed() < PATIENCE && open.as_ref().is_ok_and(|channel| !channel.has_gone(*since));
            if !stays {
                close(past, key, open);
                channels.remove(key);
            }
            stays
        });
    }

    /// Those that the network has let be opened, and something else has not.
    fn look_at_refused(&mut self) {
        for (_, open) in self.channels.values_mut() {
            if let Ok(channel) = open
                && !self.ear.is_ending()
                && is_refused(channel.as_ref())
            {
                look(channel.as_mut(), &mut self.again);
            }
        }
    }

    /// Without rates. The network is one peer.
    fn status(&self) -> GatewayPeer {
        let past = |key: &Key| self.past.get(key).copied().unwrap_or_default();
        let mut channels = Vec::new();
        // What is closed, or wanted by nobody at the moment, is told of for what it has lost.
        let mut closed: Vec<(&Key, Counted)> = Vec::new();
        for (key, (_, open)) in &self.channels {
            match told(key, open, past(key)) {
                Some(told) => channels.push(told),
                None => closed.push((key, sum(open.as_ref().map_or((0, 0, 0), |channel| channel.counted()), past(key)))),
            }
        }
        closed.extend(self.past.iter().filter(|(key, _)| !self.channels.contains_key(*key)).map(|(key, past)| (key, *past)));
        let bytes = |outgoing| channels.iter().filter(|channel| channel.outgoing == outgoing).map(|channel| channel.bytes).sum();
        let (sent_bytes, received_bytes) = (bytes(true), bytes(false));
        let closed = closed.into_iter().filter(|(_, (.., lost))| *lost > 0);
        channels.extend(closed.map(|((kind, name, way), counts)| status::channel(*kind, name, *way == Way::Out, None, counts)));
        channels.sort_by(|a, b| (&a.name, a.outgoing).cmp(&(&b.name, b.outgoing)));
        GatewayPeer {
            name: self.name.clone(),
            tag: self.name.clone(),
            connected: self.is_connected,
            sent_bytes,
            received_bytes,
            channels,
            ..GatewayPeer::default()
        }
    }
}

/// Blocks until the manager has agreed; where it does not, that is logged, and nothing is told.
fn provide(node: &Node, ear: &Ear) -> Option<Catalogue> {
    let ear = ear.clone();
    let ask = move |call: Asking| ear.tell(Event::Catalogue(call));
    let provided = Provider::new(node, &GatewayCatalogue::service(&node.name()), &ProviderOptions::default(), ask);
    provided.map_err(|why| log::warn!("what others have is not told in the domain: {why}")).ok()
}

/// It is to be looked at again, as it may be open then.
fn is_refused(channel: &dyn Channel) -> bool {
    matches!(channel.told(), Some((State::Refused(_), _)))
}

fn look(channel: &mut dyn Channel, again: &mut Option<Instant>) {
    channel.look();
    if is_refused(channel) {
        again.get_or_insert_with(soon);
    }
}

fn soon() -> Instant {
    Instant::now() + PAUSE
}

/// Whether it is what nobody in the domain has any more.
fn is_gone(local: &Local, (kind, name, way): &Key) -> bool {
    let had = || local.channels.get(&(*kind, name.clone())).and_then(|channel| channel.had.as_ref());
    *way == Way::Out && had().is_none()
}

/// What did not go is counted, too.
fn close(past: &mut BTreeMap<Key, Counted>, key: &Key, open: &mut Open) {
    if let Ok(channel) = open {
        channel.give_up();
        remember(past, key, channel.counted());
    }
}

/// What was counted of a channel that is closed, so that it is counted on when that is opened anew.
fn remember(past: &mut BTreeMap<Key, Counted>, key: &Key, counted: Counted) {
    if counted == Counted::default() {
        return;
    }
    if past.len() >= MOST_PAST && !past.contains_key(key) {
        past.pop_first();
    }
    let before = past.entry(key.clone()).or_default();
    *before = sum(*before, counted);
}

/// None: there is nothing to tell, as nobody wants it.
fn told((kind, name, way): &Key, open: &Open, past: Counted) -> Option<GatewayChannel> {
    let (state, counts) = match open {
        Ok(channel) => channel.told()?,
        Err(why) => (State::Refused(why.clone()), (0, 0, 0)),
    };
    Some(status::channel(*kind, name, *way == Way::Out, Some(&state), sum(counts, past)))
}
