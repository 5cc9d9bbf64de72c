//! Which channels there are between this domain and one peer: what each side wants, and what is open. Pure: what is to be done comes out as [`Act`]s, in the order in which it is to be done.
//!
//! A channel is open only while this domain has (or wants) it, the peer wants (or has) it, and the rules of both sides let it: each side speaks of what its own rules allow alone (G13, G14).
//!
//! A topic whose publishers have gone ends behind what they have published (G35, G36), on both sides: it stays open until whoever performs the acts says that it has ended ([`Ledger::ended_out`], [`Ledger::ended_in`]). Of one topic there is never
//! more than one channel in a direction that is not over, so nothing of the next one can overtake what is under way, or come a second time.

use std::collections::BTreeMap;

use sinew::Id;
use sinew::msg::{Type, difference};

use crate::domain::{Local, LocalChannel, may_go_onward};
use crate::protocol::{Control, Decoded, End, Kind, Offer, Refusal, Want, violation};
use crate::rules::{Rules, Traffic};

/// Wants of a peer at most, so that it costs a bounded amount of memory.
const MOST_WANTS: usize = 4096;

/// What is to be done now.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// To be said to the peer.
    Send(Control),
    /// Messages of this domain are to go to the peer, which is to be told [`Control::Open`] when that is ready; else [`Ledger::failed_out`].
    OpenOut {
        /// The peer's number.
        channel: u32,
        /// What it wants.
        want: Want,
        /// What publishers here offer.
        offer: Offer,
        /// (G21)
        ordered: bool,
        /// How the rules want it done.
        traffic: Traffic,
    },
    /// It is to end; when it has, [`Ledger::ended_out`].
    EndOut {
        /// The peer's number.
        channel: u32,
        /// What becomes of what was published.
        why: Ending,
    },
    /// A channel that was to end goes on, or does so with another topic of the same name; if that cannot be, [`Act::EndOut`] is to be performed.
    GoOnOut {
        /// The peer's number.
        channel: u32,
        /// What it wants.
        want: Want,
        /// What publishers here offer.
        offer: Offer,
        /// How the rules want it done.
        traffic: Traffic,
    },
    /// No more, and nothing is to be said.
    CloseOut {
        /// The peer's number.
        channel: u32,
    },
    /// Messages of the peer may come from now on.
    Expect {
        /// Our number.
        channel: u32,
    },
    /// The peer has opened it: its messages are to go to this domain.
    OpenIn {
        /// Our number.
        channel: u32,
        /// What we want.
        want: Want,
        /// That it is for.
        topic: Id,
        /// What publishers there offer.
        offer: Offer,
        /// (G21)
        ordered: bool,
        /// (G37)
        after: u64,
        /// How the rules want it done.
        traffic: Traffic,
    },
    /// The peer has ended it: when what is under way has come, [`Ledger::ended_in`].
    EndIn {
        /// Our number.
        channel: u32,
        /// How far it went.
        end: End,
    },
    /// No more, and nothing of it is expected.
    CloseIn {
        /// Our number.
        channel: u32,
        /// Another channel of the same topic takes its place: what keeps messages of it for those who come late is to stay for that (G47).
        goes_on: bool,
    },
}

/// Why messages of this domain are not to go to the peer any more, or not as they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Who has published them has gone: all that they have left is to go.
    Gone,
    /// They are published otherwise than before: what was taken is to go.
    Changed,
    /// The rules do not let them out: nothing is to go.
    Forbidden,
}

/// What is between this domain and one peer.
#[derive(Debug)]
pub struct Ledger {
    tag: String,
    next: u32,
    ours: BTreeMap<(Kind, String), Ours>,
    theirs: BTreeMap<u32, Theirs>,
}

/// What we want of the peer.
#[derive(Debug)]
struct Ours {
    want: Want,
    topic: Id,
    state: State,
    /// The peer has said so; what is under way is waited for.
    is_ending: bool,
    /// (G47)
    is_anew: bool,
    /// All of that has come.
    is_over: bool,
    /// It was opened, and cannot be here: the channel is over, and what the peer still says of it means nothing (G17).
    has_failed: bool,
}

/// What the peer wants of us.
#[derive(Debug)]
struct Theirs {
    want: Want,
    state: State,
    /// Opened with this, which is what must change for it to be closed.
    open: Option<Fitting>,
    /// It is open until it has ended.
    ending: Option<Ending>,
    /// It ends as it is published otherwise, and was published all the time (G47).
    is_anew: bool,
    /// It was opened, and closed: over.
    is_used: bool,
    /// Could not be opened with this.
    failed: Option<Fitting>,
    /// What the peer was told of that last.
    told: Option<String>,
}

/// What fits a want of the peer.
#[derive(Clone, Debug, PartialEq)]
struct Fitting {
    topic: Id,
    offer: Offer,
    ordered: bool,
    traffic: Traffic,
}

/// How a channel stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nobody on the other side has it, or the rules do not let it.
    #[default]
    Waiting,
    /// Messages go over it.
    Open,
    /// They do, but not for everybody as they should, and why.
    OpenBut(String),
    /// Why not.
    Refused(String),
}

impl Ledger {
    /// With a peer of this tag.
    pub fn new(tag: &str) -> Ledger {
        Ledger { tag: tag.to_owned(), next: 1, ours: BTreeMap::new(), theirs: BTreeMap::new() }
    }

    /// What changes now that the domain, or the rules, are like this.
    pub fn follow(&mut self, local: &Local, rules: &Rules) -> Vec<Act> {
        let mut acts = Vec::new();
        self.follow_ours(local, rules, &mut acts);
        let channels: Vec<u32> = self.theirs.keys().copied().collect();
        for channel in channels {
            self.follow_theirs(channel, local, rules, &mut acts);
        }
        acts
    }

    /// What changes by what the peer says, other than Hello and Ready.
    pub fn hear(&mut self, control: Control, local: &Local, rules: &Rules) -> Decoded<Vec<Act>> {
        let mut acts = Vec::new();
        match control {
            Control::Want(want) => {
                let channel = want.channel;
                if self.theirs.len() >= MOST_WANTS {
                    let text = format!("a gateway serves at most {MOST_WANTS} channels to a peer: narrow the rules of either side");
                    return Ok(vec![Act::Send(Control::Refuse { channel, reason: Refusal::Room, text })]);
                }
                let is_twice = self.theirs.values().any(|theirs| theirs.want.kind == want.kind && theirs.want.name == want.name);
                if is_twice || self.theirs.contains_key(&channel) {
                    return violation(format!("a second want of '{}', or of channel {channel}", want.name));
                }
                self.theirs.insert(
                    channel,
                    Theirs {
                        want,
                        state: State::Waiting,
                        open: None,
                        ending: None,
                        is_anew: false,
                        is_used: false,
                        failed: None,
                        told: None,
                    },
                );
                self.follow_theirs(channel, local, rules, &mut acts);
            }
            Control::Unwant { channel } => {
                let Some(theirs) = self.theirs.remove(&channel) else {
                    // It was refused for want of room.
                    return Ok(acts);
                };
                if theirs.open.is_some() {
                    acts.push(Act::CloseOut { channel });
                }
            }
            Control::Open { channel, ordered, after, offer } => {
                if let Some(ours) = self.ours_of(channel) {
                    if ours.state == State::Open {
                        return violation(format!("channel {channel} is opened a second time"));
                    }
                    ours.state = State::Open;
                    let (want, topic) = (ours.want.clone(), ours.topic);
                    let traffic = rules.decide(want.kind, &want.name, &self.tag).traffic;
                    acts.push(Act::OpenIn { channel, want, topic, offer, ordered, after, traffic });
                }
            }
            Control::Close { channel, end } => {
                let Some(ours) = self.ours_of(channel) else { return Ok(acts) };
                if ours.is_ending {
                    return violation(format!("channel {channel} is closed a second time"));
                }
                if ours.state == State::Open && ours.want.kind == Kind::Topic {
                    ours.is_ending = true;
                    acts.push(Act::EndIn { channel, end });
                } else {
                    acts = self.ended_in(channel, local, rules);
                }
            }
            Control::Refuse { channel, text, .. } => {
                if let Some(ours) = self.ours_of(channel).filter(|ours| ours.state != State::Open) {
                    ours.state = State::Refused(text);
                }
            }
            Control::Anew { channel } => {
                if let Some(ours) = self.ours_of(channel) {
                    ours.is_anew = true;
                }
            }
            // Who publishes it here, the caller looks after (G38).
            Control::Onward { .. } => {}
            // Whoever sends the messages hears it (G40).
            Control::Taken { .. } => {}
            // It is about calls (G48).
            Control::Forgotten => {}
            Control::Hello(_) | Control::Ready => return violation("a second Hello or Ready"),
        }
        Ok(acts)
    }

    /// A channel to the peer that was to be opened could not be: the domain does not let it.
    pub fn failed_out(&mut self, channel: u32, text: &str) -> Vec<Act> {
        let Some(theirs) = self.theirs.get_mut(&channel) else {
            return Vec::new();
        };
        theirs.failed = theirs.open.take();
        theirs.state = State::Refused(text.to_owned());
        if theirs.told.as_deref() == Some(text) {
            return Vec::new();
        }
        theirs.told = Some(text.to_owned());
        vec![Act::Send(Control::Refuse { channel, reason: Refusal::Domain, text: text.to_owned() })]
    }

    /// A channel that the peer has opened could not be opened here: the domain does not let it. Until [`Ledger::retry`] it is not wanted any more, so that nothing is sent that would wait here for ever (G43).
    pub fn failed_in(&mut self, channel: u32, text: &str) -> Vec<Act> {
        let Some(ours) = self.ours_of(channel) else { return Vec::new() };
        ours.state = State::Refused(text.to_owned());
        ours.has_failed = true;
        vec![Act::CloseIn { channel, goes_on: false }, Act::Send(Control::Unwant { channel })]
    }

    /// What could not be opened, here or for the peer, is tried again: what was in the way may be so no more.
    pub fn retry(&mut self, local: &Local, rules: &Rules) -> Vec<Act> {
        self.ours.retain(|_, ours| !ours.has_failed);
        self.theirs.values_mut().for_each(|theirs| theirs.failed = None);
        self.follow(local, rules)
    }

    /// What we want over this channel of ours.
    fn ours_of(&mut self, channel: u32) -> Option<&mut Ours> {
        self.ours.values_mut().find(|ours| ours.want.channel == channel && !ours.has_failed)
    }

    /// What was under way on a channel that the peer has ended has come, or is not waited for any more.
    pub fn ended_in(&mut self, channel: u32, local: &Local, rules: &Rules) -> Vec<Act> {
        let mut acts = Vec::new();
        if let Some(ours) = self.ours.values_mut().find(|ours| ours.want.channel == channel) {
            ours.is_over = true;
            self.follow_ours(local, rules, &mut acts);
        }
        acts
    }

    /// A channel to the peer has ended, so far.
    pub fn ended_out(&mut self, channel: u32, end: End) -> Vec<Act> {
        let Some(theirs) = self.theirs.get_mut(&channel) else {
            return Vec::new();
        };
        theirs.open = None;
        theirs.is_used = true;
        theirs.state = State::Waiting;
        let anew = theirs.is_anew.then_some(Act::Send(Control::Anew { channel }));
        anew.into_iter().chain([Act::Send(Control::Close { channel, end })]).collect()
    }

    /// What the peer wants by this number.
    pub fn wanted(&self, channel: u32) -> Option<&Want> {
        self.theirs.get(&channel).map(|theirs| &theirs.want)
    }

    /// What we want by this number is there, and neither open nor refused.
    pub fn is_waiting(&self, channel: u32) -> bool {
        self.ours.values().any(|ours| ours.want.channel == channel && ours.state == State::Waiting)
    }

    /// What we want of the peer, by name, with how it stands; and what it wants of us.
    pub fn states(&self) -> impl Iterator<Item = (bool, &Want, &State)> {
        let ours = self.ours.values().map(|ours| (true, &ours.want, &ours.state));
        ours.chain(self.theirs.values().map(|theirs| (false, &theirs.want, &theirs.state)))
    }

    fn follow_ours(&mut self, local: &Local, rules: &Rules, acts: &mut Vec<Act>) {
        let wanted: BTreeMap<_, _> = local
            .channels
            .iter()
            .filter_map(|(key, channel)| Some((key, channel, channel.wanted.as_ref()?)))
            .filter(|((kind, name), ..)| rules.decide(*kind, name, &self.tag).symbol.lets_in())
            .map(|(key, channel, offer)| (key, (channel, offer)))
            .collect();
        // What is asked for now, if it is of the same topic.
        let now = |ours: &Ours| {
            let (channel, offer) = wanted.get(&(ours.want.kind, ours.want.name.clone()))?;
            let is_same = channel.topic == ours.topic && channel.signature == ours.want.signature && channel.response == ours.want.response;
            is_same.then_some(*offer)
        };
        let over = self.ours.iter().filter(|(_, ours)| ours.is_over || now(ours) != Some(&ours.want.offer));
        let over: Vec<_> = over.map(|(key, ours)| (key.clone(), now(ours).is_some_and(|offer| ours.goes_on_with(offer)))).collect();
        for (key, goes_on) in over {
            self.unwant(&key, goes_on, acts);
        }
        for (key, (channel, offer)) in wanted {
            if self.ours.contains_key(key) {
                continue;
            }
            let want = Want {
                channel: self.next,
                kind: key.0,
                name: key.1.clone(),
                signature: channel.signature.clone(),
                response: channel.response.clone(),
                offer: offer.clone(),
            };
            self.next += 1;
            acts.push(Act::Expect { channel: want.channel });
            acts.push(Act::Send(Control::Want(want.clone())));
            let (topic, state) = (channel.topic, State::Waiting);
            self.ours.insert(key.clone(), Ours { want, topic, state, is_ending: false, is_anew: false, is_over: false, has_failed: false });
        }
    }

    fn unwant(&mut self, key: &(Kind, String), goes_on: bool, acts: &mut Vec<Act>) {
        if let Some(ours) = self.ours.remove(key).filter(|ours| !ours.has_failed) {
            let channel = ours.want.channel;
            acts.push(Act::CloseIn { channel, goes_on });
            acts.push(Act::Send(Control::Unwant { channel }));
        }
    }

    fn follow_theirs(&mut self, channel: u32, local: &Local, rules: &Rules, acts: &mut Vec<Act>) {
        let Some(theirs) = self.theirs.get_mut(&channel) else { return };
        if theirs.is_used {
            return;
        }
        let mut decision = rules.decide(theirs.want.kind, &theirs.want.name, &self.tag);
        decision.traffic.onward &= may_go_onward(&theirs.want.name);
        let here = local.channels.get(&(theirs.want.kind, theirs.want.name.clone()));
        let had = here.and_then(|here| Some((here, here.had_for(&decision)?)));
        let why = match had {
            _ if !decision.symbol.lets_out() => Ending::Forbidden,
            None => Ending::Gone,
            Some(_) => Ending::Changed,
        };
        let conflict = had.and_then(|(here, _)| conflict(&theirs.want, here));
        let fitting = match (had, &conflict) {
            (Some((here, offer)), None) => {
                let ordered = decision.traffic.reliable || (offer.reliable && theirs.want.offer.reliable);
                Some(Fitting { topic: here.topic, offer: offer.clone(), ordered, traffic: decision.traffic })
            }
            _ => None,
        };
        if let Some(open) = &theirs.open {
            let is_as_it_was = fitting.as_ref().is_some_and(|fitting| fitting.is_done_by(open));
            if let Some(fitting) = fitting.filter(|fitting| fitting.goes_on_with(open, theirs.want.kind))
                && (theirs.ending.is_some() || !is_as_it_was)
            {
                theirs.ending = None;
                theirs.open = Some(fitting.clone());
                let Fitting { offer, traffic, .. } = fitting;
                acts.push(Act::GoOnOut { channel, want: theirs.want.clone(), offer, traffic });
            } else if (theirs.ending.is_some() || !is_as_it_was) && theirs.ending != Some(why) {
                theirs.is_anew = theirs.ending.is_none() && why == Ending::Changed && theirs.want.kind == Kind::Topic;
                theirs.ending = Some(why);
                acts.push(Act::EndOut { channel, why });
            }
            return;
        }
        if theirs.failed != fitting {
            theirs.failed = None;
        }
        match (fitting, conflict) {
            (Some(fitting), _) if theirs.open.is_none() && theirs.failed.is_none() => {
                theirs.state = State::Open;
                theirs.open = Some(fitting.clone());
                let Fitting { offer, ordered, traffic, .. } = fitting;
                acts.push(Act::OpenOut { channel, want: theirs.want.clone(), offer, ordered, traffic });
            }
            (_, Some(text)) if theirs.state != State::Refused(text.clone()) => {
                theirs.state = State::Refused(text.clone());
                acts.push(Act::Send(Control::Refuse { channel, reason: Refusal::Type, text }));
            }
            _ => {}
        }
    }
}

impl Ours {
    /// The next channel of the topic brings nothing that is older than what this one has, and was not to be had from it.
    fn goes_on_with(&self, offer: &Offer) -> bool {
        (self.is_anew || !self.is_ending) && (self.want.offer.transient_local || !offer.transient_local)
    }
}

impl Fitting {
    /// A channel that was opened with the other one is for this, too. If less is kept now for those who come late, that is no reason for another one, over which all would come a second time.
    fn is_done_by(&self, other: &Fitting) -> bool {
        let depth = other.offer.depth;
        let is_less = self.offer.transient_local && (1..depth).contains(&self.offer.depth);
        self == other || is_less && Fitting { offer: Offer { depth, ..self.offer.clone() }, ..self.clone() } == *other
    }

    /// A channel that was opened with the other one is as good for this. What was kept of publishers that have gone is not, for those who come late.
    fn goes_on_with(&self, other: &Fitting, kind: Kind) -> bool {
        kind == Kind::Topic
            && !self.offer.transient_local
            && self.offer == other.offer
            && self.ordered == other.ordered
            && self.traffic == other.traffic
    }
}

/// Why the types do not fit, as a sentence for both sides.
fn conflict(want: &Want, here: &LocalChannel) -> Option<String> {
    let (what, halves) = match want.kind {
        Kind::Topic => ("topic", [("", &want.signature, &here.signature), ("", &here.response, &here.response)]),
        Kind::Service => ("service", [("requests ", &want.signature, &here.signature), ("responses ", &want.response, &here.response)]),
    };
    for (half, there, here) in halves {
        if there == here {
            continue;
        }
        let (Ok(there), Ok(here)) = (there.parse::<Type>(), here.parse::<Type>()) else {
            return Some(format!("{what} '{}' is wanted with a type that cannot be read", want.name));
        };
        if there.hash() != here.hash() {
            let why = difference(&here, &there).map_or_else(String::new, |why| format!(": {why}"));
            let (has, wants) = (here.name(), there.name());
            return Some(format!(
                "{what} '{}' has {half}{has} in the domain that has it (there), and {half}{wants} in the one that wants it (here){why}",
                want.name
            ));
        }
    }
    None
}
