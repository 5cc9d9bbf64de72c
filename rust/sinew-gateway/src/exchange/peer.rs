//! What is open between the domain and one peer.

mod opening;

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::{GatewayChannel, GatewayPeer};
use tokio::runtime::Handle;

use super::wishes::Wishes;
use crate::channels::{Act, Asking, Ending, Ledger, LeftOff, Memory, Outlet, Provided, Received, State};
use crate::domain::{Local, may_go_onward};
use crate::lines::Lines;
use crate::link::SILENCE;
use crate::nodes::Nodes;
use crate::peers::Session;
use crate::point::point;
use crate::protocol::{Closed, Control, End, Kind, Refusal, Want};
use crate::rules::{Rules, Traffic};
use crate::status;

/// (G36, G37, G44, G47) How long what is under way is waited for on a channel that the peer has closed, and how long for a channel that was there before the connection was lost, or something has changed.
const UNDER_WAY: Duration = Duration::from_secs(5);
/// (G37) How long it is known where a channel has left off: with the connection, as long as what comes is kept on the other side; else until it is asked for again, or what has changed of a want is told.
const LEFT_OFF: Duration = Duration::from_secs(5);
const LEFT_OFF_UNWANTED: Duration = Duration::from_millis(100);
/// Between two tries to open what the domain did not let be opened.
const PAUSE: Duration = Duration::from_secs(5);
/// Topics whose counts are kept while nobody wants them.
const MOST_COUNTED: usize = 4096;

/// Messages, bytes, and messages that were lost.
type Told = (u64, u64, u64);

/// A peer, by its id. When the connection is lost, what messages of its topics go into, and calls that wait, are kept for a while.
pub struct Peer {
    runtime: Handle,
    name: String,
    /// What it calls itself, and where it was: it may be the next life of another peer.
    who: Option<(String, IpAddr)>,
    tag: String,
    live: Option<Live>,
    /// When there was a connection first.
    met: Option<Instant>,
    /// When that was lost which was the last one.
    lost: Option<Instant>,
    /// Since there is no connection.
    until: Option<Instant>,
    received: HashMap<String, Arc<Received>>,
    /// What is there from before the connection was lost, or something has changed, is opened again until then, or it is over.
    reopened: HashMap<String, Instant>,
    /// What was counted by what is there no more, for topics that go to the peer and for those that come from it: what was lost at an end is seen afterwards.
    counted: HashMap<(bool, String), Told>,
    /// How far topics had come that came from the peer, by their channels' numbers.
    come: HashMap<String, u64>,
    /// Where topics have left off that went to it, and until when that is known.
    left_off: HashMap<String, (LeftOff, Instant)>,
    provided: HashMap<String, Provided>,
    /// What others are to bring, by name.
    wishes: Wishes,
    /// What the log says of what peers say.
    lines: Arc<Lines>,
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
    /// Of these, what the peer has ended, how far it went, and how long that is waited for.
    ending: HashMap<u32, (End, Instant)>,
    /// When what could not be opened is tried again.
    again: Option<Instant>,
    /// What the log says of it, by name, so that it says so once.
    said: HashMap<(Kind, String), String>,
    /// That it wants too much was said once.
    is_told_of_room: bool,
}

impl Peer {
    /// Not connected yet.
    pub fn new(nodes: Arc<Nodes>, runtime: Handle, lines: Arc<Lines>) -> Peer {
        Peer {
            nodes,
            runtime,
            name: String::new(),
            who: None,
            tag: String::new(),
            live: None,
            met: None,
            lost: None,
            until: None,
            received: HashMap::new(),
            reopened: HashMap::new(),
            counted: HashMap::new(),
            come: HashMap::new(),
            left_off: HashMap::new(),
            provided: HashMap::new(),
            wishes: Wishes::default(),
            lines,
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
        self.close_outlets();
        // What was said over the connections before may not have been read.
        if self.memory.is_new() {
            session.say(Control::Forgotten);
        }
        self.name = session.shown();
        self.who = Some((session.hello.name.clone(), session.address().ip()));
        self.met.get_or_insert_with(Instant::now);
        session.hello.tag.clone_into(&mut self.tag);
        self.until = None;
        let ledger = Ledger::new(&session.hello.tag);
        let until = Instant::now() + UNDER_WAY;
        self.provided.values_mut().for_each(|provided| provided.expect(until));
        self.reopened = self.received.keys().map(|name| (name.clone(), until)).collect();
        self.live = Some(Live {
            session,
            ledger,
            outlets: HashMap::new(),
            open: HashMap::new(),
            onward: HashSet::new(),
            ending: HashMap::new(),
            again: None,
            said: HashMap::new(),
            is_told_of_room: false,
        });
    }

    /// There is none any more. It is waited for until then.
    pub fn down(&mut self, until: Instant) {
        self.close_outlets();
        self.live = None;
        self.lost = Some(Instant::now());
        self.until = Some(until);
        self.wishes.end(until);
        self.provided.values_mut().for_each(Provided::wait);
    }

    /// It lives, and is, as it seems, what this other one has become, which is not connected any more and does not come again: it has come since, and was not there beside it.
    pub fn is_next_life_of(&self, other: &Peer) -> bool {
        let has_come_since = self.met.zip(other.lost).is_some_and(|(met, lost)| is_after(met, lost));
        self.live.is_some() && other.live.is_none() && self.who.is_some() && self.who == other.who && has_come_since
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
        let Some(live) = &self.live else {
            told.channels = self.closed(&[]);
            return told;
        };
        let stats = live.session.connection.stats();
        told.connected = true;
        told.address = live.session.address().to_string();
        told.round_trip_ns = u64::try_from(stats.path.rtt.as_nanos()).unwrap_or(u64::MAX);
        (told.sent_bytes, told.received_bytes) = (stats.udp_tx.bytes, stats.udp_rx.bytes);
        (told.sent_packets, told.lost_packets) = (stats.path.sent_packets, stats.path.lost_packets);
        told.channels = live.ledger.states().map(|(is_ours, want, state)| self.channel(live, is_ours, want, state)).collect();
        told.channels.extend(self.closed(&told.channels));
        told.channels.sort_by(|a, b| (&a.name, a.outgoing).cmp(&(&b.name, b.outgoing)));
        told
    }

    /// Topics that are not among these, and have lost messages.
    fn closed(&self, open: &[GatewayChannel]) -> Vec<GatewayChannel> {
        let open: HashSet<(bool, &str)> = open.iter().map(|channel| (channel.outgoing, channel.name.as_str())).collect();
        let mut closed: HashMap<(bool, &str), Told> =
            self.counted.iter().map(|((outgoing, name), told)| ((*outgoing, name.as_str()), *told)).collect();
        for (name, received) in &self.received {
            let told = closed.entry((false, name)).or_default();
            *told = sum(*told, received.counts().told());
        }
        let losing = closed.into_iter().filter(|(key, (.., lost))| *lost > 0 && !open.contains(key));
        losing.map(|((outgoing, name), told)| status::channel(Kind::Topic, name, outgoing, None, told)).collect()
    }

    fn channel(&self, live: &Live, is_ours: bool, want: &Want, state: &State) -> GatewayChannel {
        let counts = match (is_ours, want.kind) {
            (true, Kind::Topic) => self.topic(false, &want.name, self.received.get(&want.name).map(|received| received.counts().told())),
            (false, Kind::Topic) => self.topic(true, &want.name, live.outlets.get(&want.channel).map(Outlet::told)),
            (true, Kind::Service) => self.provided.get(&want.name).map(|provided| provided.counts().told()),
            (false, Kind::Service) => live.session.inlet.served(want.channel).map(|served| served.counts().told()),
        }
        .unwrap_or_default();
        status::channel(want.kind, &want.name, !is_ours, Some(state), counts)
    }

    /// What was counted of a topic that goes to the peer, or comes from it, with what is there now.
    fn topic(&self, outgoing: bool, name: &str, now: Option<Told>) -> Option<Told> {
        let before = self.counted.get(&(outgoing, name.to_owned())).copied();
        before.into_iter().chain(now).reduce(sum)
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
        if let Control::Refuse { channel, text, .. } = &control
            && live.ledger.is_waiting(*channel)
        {
            self.lines.warn(&format!("{} refuses: {text}", self.name));
        }
        // To ask is to look at all that the peer wants: not for each message that it may say.
        let is_about = match &control {
            Control::Want(want) => Some(want),
            Control::Unwant { channel } => live.ledger.wanted(*channel),
            _ => None,
        };
        let is_onward = is_about.is_some_and(|want| onward(want, &self.tag, rules).is_some());
        if let Control::Onward { channel } = &control
            && live.ledger.states().any(|(is_ours, want, _)| is_ours && want.channel == *channel)
        {
            live.onward.insert(*channel);
        }
        if let Control::Open { .. } = control {
            self.memory.begin();
        }
        if control == Control::Forgotten {
            self.provided.retain(|_, provided| !provided.is_lost());
        }
        match live.ledger.hear(control, local, rules) {
            Ok(acts) => {
                self.perform(acts);
                if is_onward {
                    self.ask(local, rules);
                }
            }
            Err(why) => live.session.close(Closed::Violation, &why.0),
        }
    }

    fn perform(&mut self, acts: Vec<Act>) {
        for act in acts {
            let Some(live) = &mut self.live else { return };
            match act {
                Act::Send(control) => {
                    if let Control::Refuse { reason, text, .. } = &control
                        && (*reason != Refusal::Room || !std::mem::replace(&mut live.is_told_of_room, true))
                    {
                        self.lines.warn(&format!("{} was told: {text}", self.name));
                    }
                    if let Control::Want(_) = &control {
                        point("want about to be said");
                    }
                    live.session.say(control);
                }
                Act::Expect { channel } => live.session.inlet.expect(channel),
                Act::OpenOut { channel, want, offer, ordered, traffic } => self.open_out(channel, &want, offer, ordered, &traffic),
                Act::EndOut { channel, why } => match live.outlets.get_mut(&channel) {
                    Some(outlet) => outlet.end(why),
                    None => {
                        live.session.inlet.unserve(channel);
                        let acts = live.ledger.ended_out(channel, End::default());
                        self.perform(acts);
                    }
                },
                Act::GoOnOut { channel, want, offer, traffic } => {
                    if let Some(outlet) = live.outlets.get_mut(&channel)
                        && let Err(why) = outlet.go_on(&want, &offer, &traffic)
                    {
                        log::debug!("'{}' is opened for {} anew: {why}", want.name, self.name);
                        outlet.end(Ending::Changed);
                    }
                }
                Act::CloseOut { channel } => {
                    live.session.inlet.unserve(channel);
                    self.close_out(channel, LEFT_OFF_UNWANTED);
                }
                Act::OpenIn { channel, want, topic, offer, ordered, after, traffic } => {
                    self.open_in(channel, &want, topic, &offer, (ordered, after), &traffic)
                }
                Act::EndIn { channel, end } => _ = live.ending.insert(channel, (end, Instant::now() + UNDER_WAY)),
                Act::CloseIn { channel, goes_on } => {
                    live.session.inlet.unexpect(channel);
                    live.onward.remove(&channel);
                    live.ending.remove(&channel);
                    match live.open.remove(&channel) {
                        Some((Kind::Topic, name)) if goes_on => self.end_received(name),
                        Some((Kind::Topic, name)) => self.forget_received(&name),
                        Some((Kind::Service, name)) => {
                            if let Some(provided) = self.provided.get_mut(&name) {
                                provided.leave(Instant::now() + UNDER_WAY);
                            }
                        }
                        None => {}
                    }
                }
            }
        }
    }

    /// What the peer wants, and others are to bring, is asked for.
    fn ask(&mut self, local: &Local, rules: &Rules) {
        let Some(live) = &mut self.live else { return };
        let wanted = live.ledger.states().filter(|(is_ours, want, _)| !is_ours && want.kind == Kind::Topic).filter_map(|(_, want, _)| {
            let traffic = onward(want, &self.tag, rules)?;
            let topic = local.channels.get(&(want.kind, want.name.clone())).map(|channel| channel.topic);
            Some((want.channel, Asking::of(want, &traffic), topic))
        });
        let wanted = wanted.collect();
        for (channel, why) in self.wishes.follow(&self.nodes, wanted) {
            live.again.get_or_insert_with(|| Instant::now() + PAUSE);
            let acts = live.ledger.failed_out(channel, &why);
            for act in acts {
                if let Act::Send(control) = act {
                    self.lines.warn(&format!("{} was told: {why}", self.name));
                    live.session.say(control);
                }
            }
        }
    }

    /// What was wanted of others, and is not any more, for a while.
    pub fn ask_no_more(&mut self, now: Instant) {
        self.wishes.forget(now);
    }

    /// Calls that the peer has forgotten are, too.
    pub fn look_at_calls(&self, now: Instant) {
        self.memory.look(now);
    }

    /// Whether something is about to end: then it is to be looked at soon.
    pub fn is_ending(&self) -> bool {
        let is_ending = |live: &Live| !live.ending.is_empty() || live.outlets.values().any(Outlet::is_ending);
        self.live.as_ref().is_some_and(is_ending) || self.provided.values().any(Provided::is_leaving)
    }

    /// Closes what has ended, and tries again what could not be opened.
    pub fn look(&mut self, local: &Local, rules: &Rules) {
        let now = Instant::now();
        let Some(live) = &mut self.live else { return };
        if live.again.take_if(|again| now >= *again).is_some() {
            let acts = live.ledger.retry(local, rules);
            self.wishes.retry();
            self.perform(acts);
            self.ask(local, rules);
        }
        self.provided.retain(|_, provided| !provided.is_over(now));
        // Who subscribes here is to see that nobody publishes it any more.
        let over: Vec<String> = self.reopened.iter().filter(|(_, until)| now >= **until).map(|(name, _)| name.clone()).collect();
        for name in over {
            self.forget_received(&name);
        }
        let Some(live) = &mut self.live else { return };
        let out: Vec<_> = live.outlets.iter_mut().filter_map(|(channel, outlet)| Some((*channel, outlet.look(now)?))).collect();
        for (channel, end) in out {
            self.close_out(channel, LEFT_OFF);
            let Some(live) = &mut self.live else { return };
            let acts = live.ledger.ended_out(channel, end);
            self.perform(acts);
        }
        let Some(live) = &mut self.live else { return };
        let ending: Vec<_> = live.ending.iter().map(|(channel, (end, until))| (*channel, *end, *until)).collect();
        for (channel, end, until) in ending {
            let Some(live) = &mut self.live else { return };
            let received = live.open.get(&channel).and_then(|(_, name)| self.received.get(name));
            if now < until && received.is_some_and(|received| received.last() < end.sent) {
                continue;
            }
            if let Some(received) = received {
                received.end(Some(end.last));
            }
            let acts = live.ledger.ended_in(channel, local, rules);
            self.perform(acts);
        }
    }

    fn close_out(&mut self, channel: u32, known: Duration) {
        if let Some(mut outlet) = self.live.as_mut().and_then(|live| live.outlets.remove(&channel)) {
            outlet.close();
            self.count(true, outlet.topic(), outlet.told());
            let now = Instant::now();
            self.left_off.retain(|_, (_, until)| now < *until);
            self.left_off.insert(outlet.topic().to_owned(), (outlet.left_off(), now + known));
        }
    }

    /// With the connection.
    fn close_outlets(&mut self) {
        let channels: Vec<u32> = self.live.iter().flat_map(|live| live.outlets.keys().copied()).collect();
        for channel in channels {
            self.close_out(channel, super::KEPT);
        }
    }

    /// Another channel of it is to follow (G47).
    fn end_received(&mut self, name: String) {
        match self.received.get(&name) {
            Some(received) if received.keeps() => {
                received.end(None);
                self.reopened.insert(name, Instant::now() + UNDER_WAY);
            }
            _ => self.forget_received(&name),
        }
    }

    fn forget_received(&mut self, name: &str) {
        self.reopened.remove(name);
        if let Some(received) = self.received.remove(name) {
            // Before it is counted, and before the next one publishes: tasks may have messages of it at hand.
            received.end(None);
            self.count(false, name, received.counts().told());
            self.come.remove(name);
            // Of others it is not known what they have lost.
            if self.come.len() < MOST_COUNTED {
                self.come.insert(name.to_owned(), received.last());
            }
        }
    }

    fn count(&mut self, outgoing: bool, name: &str, told: Told) {
        let key = (outgoing, name.to_owned());
        if self.counted.len() >= MOST_COUNTED && !self.counted.contains_key(&key) {
            return;
        }
        let before = self.counted.entry(key).or_default();
        *before = sum(*before, told);
    }

    /// What was kept for a want that is none any more.
    fn drop_unwanted(&mut self, local: &Local) {
        let is_wanted = |kind, name: &str| local.channels.get(&(kind, name.to_owned())).is_some_and(|channel| channel.wanted.is_some());
        let unwanted: Vec<String> = self.received.keys().filter(|name| !is_wanted(Kind::Topic, name)).cloned().collect();
        for name in unwanted {
            self.forget_received(&name);
        }
    }
}

/// Whether who was met then may be what another one has become: that the connection with that was lost is noticed after a while.
fn is_after(met: Instant, lost: Instant) -> bool {
    met + SILENCE >= lost
}

/// How a topic goes that the peer wants, if it goes onward (G38).
fn onward(want: &Want, tag: &str, rules: &Rules) -> Option<Traffic> {
    let decision = rules.decide(want.kind, &want.name, tag);
    let goes = want.kind == Kind::Topic && decision.symbol.lets_out() && decision.traffic.onward && may_go_onward(&want.name);
    goes.then_some(decision.traffic)
}

fn sum(a: Told, b: Told) -> Told {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1), a.2.saturating_add(b.2))
}
