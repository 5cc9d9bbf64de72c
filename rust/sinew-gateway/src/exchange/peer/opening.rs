//! Opening what is to go over.

use std::sync::Arc;
use std::time::Instant;

use sinew::Id;

use super::{PAUSE, Peer};
use crate::channels::{Outlet, Provided, Received, Served, Supply, Taken};
use crate::point::point;
use crate::protocol::{Control, Kind, Offer, Want};
use crate::rules::Traffic;

impl Peer {
    pub(super) fn open_out(&mut self, channel: u32, want: &Want, offer: Offer, ordered: bool, traffic: &Traffic) {
        let Some(live) = &mut self.live else { return };
        let session = &live.session;
        let left_off = self.left_off.remove(&want.name).filter(|(_, until)| want.kind == Kind::Topic && Instant::now() < *until);
        let left_off = left_off.map(|(left_off, _)| left_off).unwrap_or_default();
        let after = left_off.last();
        let taken = Taken { max_message: session.max_message(), compression: session.hello.compression };
        let opened = match want.kind {
            Kind::Topic => {
                let asked = if traffic.onward { self.wishes.asked(&self.nodes, want, traffic).map(Some) } else { Ok(None) };
                asked
                    .and_then(|asked| {
                        let from = asked.map_or(Supply::Domain(self.nodes.own()), Supply::Asked);
                        Outlet::open(from, want, &offer, (ordered, left_off), traffic, &session.outbox, taken)
                    })
                    .map(|outlet| {
                        if traffic.onward {
                            session.say(Control::Onward { channel });
                        }
                        live.outlets.insert(channel, outlet);
                    })
            }
            Kind::Service => Served::open(self.nodes.own(), want, traffic.priority, session.ahead, Arc::clone(&self.memory))
                .map(|served| session.inlet.serve(channel, Arc::new(served))),
        };
        match opened {
            Ok(()) => {
                point(if want.kind == Kind::Topic { "topic opened for the peer" } else { "service opened for the peer" });
                session.say(Control::Open { channel, ordered, after, offer });
            }
            Err(error) => {
                live.again.get_or_insert_with(|| Instant::now() + PAUSE);
                let acts = live.ledger.failed_out(channel, &format!("'{}' cannot be opened in the domain that has it: {error}", want.name));
                self.perform(acts);
            }
        }
    }

    pub(super) fn open_in(
        &mut self,
        channel: u32,
        want: &Want,
        topic: Id,
        offer: &Offer,
        (ordered, after): (bool, u64),
        traffic: &Traffic,
    ) {
        let is_onward = self.live.as_ref().is_some_and(|live| live.onward.contains(&channel));
        let fits = |kept: &Arc<Received>| kept.is_onward() == is_onward && kept.fits(want, topic, offer, ordered);
        let goes_before = |kept: &&Arc<Received>| kept.is_onward() == is_onward && kept.keeps() && kept.is_like(want, topic, offer);
        let mut before = None;
        if want.kind == Kind::Topic && !self.received.get(&want.name).is_some_and(fits) {
            before = self.received.get(&want.name).filter(goes_before).cloned();
            // First, so that its place is free.
            self.forget_received(&want.name);
        }
        let Some(live) = &mut self.live else { return };
        let opened = match want.kind {
            Kind::Topic => {
                let come = self.come.remove(&want.name);
                let received = match self.received.get(&want.name) {
                    Some(kept) => Ok(Arc::clone(kept)),
                    None => {
                        let node = if is_onward { self.nodes.second() } else { Ok(self.nodes.own().clone()) };
                        let opened = node.and_then(|node| Received::open(&node, is_onward, want, topic, offer, ordered));
                        opened
                            .map(|opened| match before {
                                Some(before) => opened.behind(before),
                                None => opened,
                            })
                            .map(Arc::new)
                    }
                };
                received.map(|received| {
                    let course = received.begin(after, come, live.session.ahead);
                    live.session.inlet.open(channel, Arc::clone(&received), course);
                    self.received.insert(want.name.clone(), received);
                    self.reopened.remove(&want.name);
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
                provided.map(|mut provided| {
                    provided.lead(Arc::clone(&live.session), channel);
                    self.provided.insert(want.name.clone(), provided);
                })
            }
        };
        match opened {
            Ok(()) => {
                point(if want.kind == Kind::Topic { "topic opened here" } else { "service opened here" });
                live.open.insert(channel, (want.kind, want.name.clone()));
                live.said.remove(&(want.kind, want.name.clone()));
            }
            Err(error) => {
                let text = format!("'{}' cannot be opened in this domain: {error}", want.name);
                if live.said.insert((want.kind, want.name.clone()), text.clone()).as_ref() != Some(&text) {
                    self.lines.warn(&format!("of {}: {text}", self.name));
                }
                live.again.get_or_insert_with(|| Instant::now() + PAUSE);
                let acts = live.ledger.failed_in(channel, &text);
                self.perform(acts);
            }
        }
    }
}
