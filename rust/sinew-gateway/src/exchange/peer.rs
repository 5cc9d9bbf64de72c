//! What is open between the domain and one peer.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use sinew::{GatewayChannel, GatewayPeer, Id};
use tokio::runtime::Handle;

use super::wishes::Wishes;
use crate::channels::{Act, Asking, Ledger, Memory, Outlet, Provided, Received, Served, State, Supply, Taken};
use crate::domain::{Local, may_go_onward};
use crate::nodes::Nodes;
use crate::peers::Session;
use crate::point::point;
use crate::protocol::{Closed, Control, Kind, Offer, Want};
use crate::rules::{Rules, Traffic};
use crate::status;

/// A peer, by its id. When the connection is lost, what messages of its topics go into, and calls that wait, are kept for a while.
pub struct Peer {
    runtime: Handle,
    max_message: u64,
    name: String,
    /// What it calls itself, and where it was: it may be the next life of another peer.
    who: Option<(String, IpAddr)>,
    tag: String,
    live: Option<Live>,
    /// Since there is no connection.
    until: Option<Instant>,
    received: HashMap<String, Arc<Received>>,
    provided: HashMap<String, Provided>,
    /// What others are to bring, by name.
    wishes: Wishes,
    memory: Arc<Memory>,
    // Last, as all that is open is theirs.
    nodes: Arc<Nodes>,
}

/// While there is a connection.
struct Live {
    session: Arc<Session>,
    ledger: Ledger,
    outlets: HashMap<u32, Outlet>,
    /// What we want, by our numbers.
    open: HashMap<u32, (Kind, String)>,
    /// Of these numbers, what comes was sent onward (G38).
    onward: HashSet<u32>,
}

impl Peer {
    /// Not connected yet.
    pub fn new(nodes: Arc<Nodes>, runtime: Handle, max_message: u64) -> Peer {
        Peer {
            nodes,
            runtime,
            max_message,
            name: String::new(),
            who: None,
            tag: String::new(),
            live: None,
            until: None,
            received: HashMap::new(),
            provided: HashMap::new(),
            wishes: Wishes::default(),
            memory: Arc::default(),
        }
    }

    /// For people.
    pub fn shown(&self) -> &str {
        &self.name
    }

    /// Of the connection.
    pub fn session_number(&self) -> Option<u64> {
        self.live.as_ref().map(|live| live.session.number)
    }

    /// There is a connection; if there was one, it is over.
    pub fn up(&mut self, session: Arc<Session>) {
        self.name = session.shown();
        self.who = Some((session.hello.name.clone(), session.address().ip()));
        session.hello.tag.clone_into(&mut self.tag);
        self.until = None;
        let ledger = Ledger::new(&session.hello.tag);
        self.live = Some(Live { session, ledger, outlets: HashMap::new(), open: HashMap::new(), onward: HashSet::new() });
    }

    /// There is none any more. It is waited for until then.
    pub fn down(&mut self, until: Instant) {
        self.live = None;
        self.until = Some(until);
        self.wishes.end(until);
        for provided in self.provided.values() {
            provided.lead(None);
        }
    }

    /// It lives, and is, as it seems, what this other one has become, which is not connected any more and does not come again.
    pub fn is_next_life_of(&self, other: &Peer) -> bool {
        self.live.is_some() && other.live.is_none() && self.who.is_some() && self.who == other.who
    }

    /// It was waited for long enough.
    pub fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// How it stands, without rates.
    pub fn status(&self) -> GatewayPeer {
        let mut told = GatewayPeer {
            name: self.who.as_ref().map_or_else(String::new, |(name, _)| name.clone()),
            tag: self.tag.clone(),
            ..GatewayPeer::default()
        };
        let Some(live) = &self.live else { return told };
        let stats = live.session.connection.stats();
        told.connected = true;
        told.address = live.session.address().to_string();
        told.round_trip_ns = u64::try_from(stats.path.rtt.as_nanos()).unwrap_or(u64::MAX);
        (told.sent_bytes, told.received_bytes) = (stats.udp_tx.bytes, stats.udp_rx.bytes);
        (told.sent_packets, told.lost_packets) = (stats.path.sent_packets, stats.path.lost_packets);
        told.channels = live.ledger.states().map(|(is_ours, want, state)| self.channel(live, is_ours, want, state)).collect();
        told.channels.sort_by(|a, b| (&a.name, a.outgoing).cmp(&(&b.name, b.outgoing)));
        told
    }

    fn channel(&self, live: &Live, is_ours: bool, want: &Want, state: &State) -> GatewayChannel {
        let counts = match (is_ours, want.kind) {
            (true, Kind::Topic) => self.received.get(&want.name).map(|received| received.counts().told()),
            (false, Kind::Topic) => live.outlets.get(&want.channel).map(Outlet::told),
            (true, Kind::Service) => self.provided.get(&want.name).map(|provided| provided.counts().told()),
            (false, Kind::Service) => live.session.inlet.served(want.channel).map(|served| served.counts().told()),
        }
        .unwrap_or_default();
        status::channel(want.kind, &want.name, !is_ours, state, counts)
    }

    /// The gateway ends.
    pub fn leave(&self) {
        if let Some(live) = &self.live {
            live.session.close(Closed::Leaving, "");
        }
    }

    /// The domain, or the rules, have changed.
    pub fn follow(&mut self, local: &Local, rules: &Rules) {
        let Some(live) = &mut self.live else { return };
        let acts = live.ledger.follow(local, rules);
        self.perform(acts);
        self.ask(local, rules);
        self.drop_unwanted(local);
    }

    /// The peer says something.
    pub fn hear(&mut self, control: Control, local: &Local, rules: &Rules) {
        let Some(live) = &mut self.live else { return };
        if let Control::Refuse { text, .. } = &control {
            log::warn!("{} refuses: {}", self.name, crate::peers::printable(text));
        }
        if let Control::Onward { channel } = &control
            && live.ledger.states().any(|(is_ours, want, _)| is_ours && want.channel == *channel)
        {
            live.onward.insert(*channel);
        }
        match live.ledger.hear(control, local, rules) {
            Ok(acts) => {
                self.perform(acts);
                self.ask(local, rules);
            }
            Err(why) => live.session.close(Closed::Violation, &why.0),
        }
    }

    fn perform(&mut self, acts: Vec<Act>) {
        for act in acts {
            let Some(live) = &mut self.live else { return };
            match act {
                Act::Send(control) => {
                    if let Control::Refuse { text, .. } = &control {
                        log::warn!("{} was told: {text}", self.name);
                    }
                    if let Control::Want(_) = &control {
                        point("want about to be said");
                    }
                    live.session.say(control);
                }
                Act::Expect { channel } => live.session.inlet.expect(channel),
                Act::OpenOut { channel, want, offer, ordered, traffic } => self.open_out(channel, &want, offer, ordered, &traffic),
                Act::CloseOut { channel } => {
                    live.outlets.remove(&channel);
                    live.session.inlet.unserve(channel);
                }
                Act::OpenIn { channel, want, topic, offer, ordered, traffic } => {
                    self.open_in(channel, &want, topic, &offer, ordered, &traffic)
                }
                Act::CloseIn { channel } => {
                    live.session.inlet.unexpect(channel);
                    live.onward.remove(&channel);
                    match live.open.remove(&channel) {
                        Some((Kind::Topic, name)) => _ = self.received.remove(&name),
                        Some((Kind::Service, name)) => match self.provided.get(&name) {
                            // The provider there may come again, and answer.
                            Some(provided) if provided.pending() > 0 => provided.lead(None),
                            _ => _ = self.provided.remove(&name),
                        },
                        None => {}
                    }
                }
            }
        }
    }

    fn open_out(&mut self, channel: u32, want: &Want, offer: Offer, ordered: bool, traffic: &Traffic) {
        let Some(live) = &mut self.live else { return };
        let session = &live.session;
        let taken = Taken { max_message: self.max_message.min(session.hello.max_message), compression: session.hello.compression };
        let opened = match want.kind {
            Kind::Topic => {
                let asked = if traffic.onward { self.wishes.asked(&self.nodes, want, traffic).map(Some) } else { Ok(None) };
                asked
                    .and_then(|asked| {
                        let from = asked.map_or(Supply::Domain(self.nodes.own()), Supply::Asked);
                        Outlet::open(from, want, &offer, ordered, traffic, &session.outbox, taken)
                    })
                    .map(|outlet| {
                        if traffic.onward {
                            session.say(Control::Onward { channel });
                        }
                        live.outlets.insert(channel, outlet);
                    })
            }
            Kind::Service => Served::open(self.nodes.own(), want, traffic.priority, Arc::clone(&self.memory))
                .map(|served| session.inlet.serve(channel, Arc::new(served))),
        };
        match opened {
            Ok(()) => {
                point(if want.kind == Kind::Topic { "topic opened for the peer" } else { "service opened for the peer" });
                session.say(Control::Open { channel, ordered, offer });
            }
            Err(error) => {
                let acts = live.ledger.failed_out(channel, &format!("'{}' cannot be opened in the domain that has it: {error}", want.name));
                self.perform(acts);
            }
        }
    }

    fn open_in(&mut self, channel: u32, want: &Want, topic: Id, offer: &Offer, ordered: bool, traffic: &Traffic) {
        let Some(live) = &mut self.live else { return };
        let opened = match want.kind {
            Kind::Topic => {
                let is_onward = live.onward.contains(&channel);
                let fits = |received: &&Arc<Received>| received.is_onward() == is_onward && received.fits(want, topic, offer, ordered);
                let kept = self.received.get(&want.name).filter(fits);
                let received = match kept {
                    Some(kept) => Ok(Arc::clone(kept)),
                    None => {
                        // First, so that its place is free.
                        self.received.remove(&want.name);
                        let node = if is_onward { self.nodes.second() } else { Ok(self.nodes.own().clone()) };
                        node.and_then(|node| Received::open(&node, is_onward, want, topic, offer, ordered)).map(Arc::new)
                    }
                };
                received.map(|received| {
                    received.begin();
                    live.session.inlet.open(channel, Arc::clone(&received));
                    self.received.insert(want.name.clone(), received);
                })
            }
            Kind::Service => {
                if !self.provided.get(&want.name).is_some_and(|provided| provided.fits(want, topic)) {
                    self.provided.remove(&want.name);
                }
                let provided = match self.provided.remove(&want.name) {
                    Some(provided) => Ok(provided),
                    None => Provided::open(self.nodes.own(), want, topic, traffic.priority, &self.runtime),
                };
                provided.map(|provided| {
                    provided.lead(Some((Arc::clone(&live.session), channel)));
                    self.provided.insert(want.name.clone(), provided);
                })
            }
        };
        match opened {
            Ok(()) => {
                point(if want.kind == Kind::Topic { "topic opened here" } else { "service opened here" });
                live.open.insert(channel, (want.kind, want.name.clone()));
            }
            Err(error) => log::warn!("'{}' of {} cannot be opened in this domain: {error}", want.name, self.name),
        }
    }

    /// What the peer wants, and others are to bring, is asked for.
    fn ask(&mut self, local: &Local, rules: &Rules) {
        let Some(live) = &mut self.live else { return };
        let wanted = live.ledger.states().filter(|(is_ours, want, _)| !is_ours && want.kind == Kind::Topic).filter_map(|(_, want, _)| {
            let decision = rules.decide(want.kind, &want.name, &self.tag);
            let topic = local.channels.get(&(want.kind, want.name.clone())).map(|channel| channel.topic);
            let is_onward = decision.symbol.lets_out() && decision.traffic.onward && may_go_onward(&want.name);
            is_onward.then(|| (want.channel, Asking::of(want, &decision.traffic), topic))
        });
        let wanted = wanted.collect();
        for (channel, why) in self.wishes.follow(&self.nodes, wanted) {
            let acts = live.ledger.failed_out(channel, &why);
            for act in acts {
                if let Act::Send(control) = act {
                    log::warn!("{} was told: {why}", self.name);
                    live.session.say(control);
                }
            }
        }
    }

    /// What was wanted of others, and is not any more, for a while.
    pub fn ask_no_more(&mut self, now: Instant) {
        self.wishes.forget(now);
    }

    /// What was kept for a want that is none any more.
    fn drop_unwanted(&mut self, local: &Local) {
        let is_wanted = |kind, name: &str| local.channels.get(&(kind, name.to_owned())).is_some_and(|channel| channel.wanted.is_some());
        self.received.retain(|name, _| is_wanted(Kind::Topic, name));
        self.provided.retain(|name, provided| provided.pending() > 0 || is_wanted(Kind::Service, name));
    }
}
