//! Messages that others, as bridges, bring into this domain, and that go onward to a peer (G38).
//!
//! Bridges bring what an ordinary subscriber wants. So there is one as long as the peer wants the topic, and as it asks for what the peer asks for, whatever is offered meanwhile: a bridge opens anew what is wanted otherwise, and what
//! it had brought would be gone for a moment, and the channel with it, again and again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew::raw::{Frame, Subscriber, SubscriberOptions, SubscriberStatistics};
use sinew::{Node, Qos};

use super::outlet::{DEEPEST, Reading, thread_for};
use crate::domain::passes_on;
use crate::protocol::{Offer, Want};
use crate::rules::Traffic;

/// What is asked for in the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// Of the topic.
    pub name: String,
    signature: String,
    qos: Qos,
    execution_thread: u32,
}

/// Who asks for it, until it is dropped.
pub struct Asked {
    node: Node,
    /// The gateway's, which is not that one.
    own: String,
    asking: Asking,
    asker: Subscriber,
    hold: Arc<Mutex<Hold>>,
    /// Where the asker does not get what is to go.
    feed: Mutex<Option<Subscriber>>,
}

type Push = Box<dyn FnMut(Frame) + Send>;

/// What becomes of messages that the asker gets.
enum Hold {
    /// What a bridge brings first may be the only message, and comes before the channel is open.
    Kept(VecDeque<Frame>),
    Pushed(Push),
    Dropped,
}

impl Asking {
    /// All that the peer asks for, but never such that publishers would wait.
    pub fn of(want: &Want, traffic: &Traffic) -> Asking {
        let Offer { depth, reliable, transient_local, deadline, lease, .. } = want.offer;
        let depth = if traffic.reliable || depth == 0 { DEEPEST } else { depth.min(DEEPEST) };
        let qos = Qos { reliable, transient_local, deadline, lease, ..Qos::keep_last(depth) };
        Asking { name: want.name.clone(), signature: want.signature.clone(), qos, execution_thread: thread_for(traffic) }
    }

    /// For another subscriber, such that both together ask for no more than the asker does.
    fn beside(&self, reading: &Reading) -> Qos {
        Qos {
            depth: reading.qos.depth.min(self.qos.depth),
            reliable: reading.qos.reliable && self.qos.reliable,
            transient_local: reading.qos.transient_local && self.qos.transient_local,
            ..Qos::default()
        }
    }

    /// Whether the asker gets the messages of all who together offer this.
    fn is_met(&self, offer: &Offer) -> bool {
        let is_as_short = |asked: Option<_>, offered: Option<_>| asked.is_none_or(|asked| offered.is_some_and(|offered| offered <= asked));
        self.qos.reliable <= offer.reliable
            && self.qos.transient_local <= offer.transient_local
            && is_as_short(self.qos.deadline, offer.deadline)
            && is_as_short(self.qos.lease, offer.lease)
    }
}

impl Asked {
    /// Subscribes as this node, which is the second one of the gateway `own`. Blocks until the manager has agreed.
    pub fn open(node: &Node, own: &str, asking: Asking) -> sinew::Result<Asked> {
        let hold = Arc::new(Mutex::new(Hold::Kept(VecDeque::new())));
        let (held, most) = (Arc::clone(&hold), asking.qos.depth as usize);
        let asker = subscriber(node, own, &asking, &asking.qos, move |frame| lock(&held).take(frame, most))?;
        Ok(Asked { node: node.clone(), own: own.to_owned(), asking, asker, hold, feed: Mutex::default() })
    }

    /// What it asks for.
    pub fn asking(&self) -> &Asking {
        &self.asking
    }

    /// From now on messages go there: of all who together offer this, and, the first time, those that have come before. Blocks until the manager has agreed. How many messages were lost before that.
    pub(super) fn flow(&self, offer: &Offer, reading: &Reading, mut push: impl FnMut(Frame) + Send + 'static) -> sinew::Result<u64> {
        let mut hold = lock(&self.hold);
        let kept = match &mut *hold {
            Hold::Kept(kept) => Some(std::mem::take(kept)),
            // What was kept for those who come late it has had already.
            Hold::Dropped => (!self.asking.qos.transient_local).then(VecDeque::new),
            Hold::Pushed(_) => None,
        };
        if let Some(kept) = kept.filter(|_| self.asking.is_met(offer)) {
            let missed = self.asker.statistics().missed;
            kept.into_iter().for_each(&mut push);
            *hold = Hold::Pushed(Box::new(push));
            return Ok(missed);
        }
        *hold = Hold::Dropped;
        drop(hold);
        *lock(&self.feed) = Some(subscriber(&self.node, &self.own, &self.asking, &self.asking.beside(reading), push)?);
        Ok(0)
    }

    /// No more, until messages go elsewhere. `is_wanted`: by the peer all the same, and what comes until then is for it. What is kept for those who come late, the next one gets again.
    pub(super) fn stop(&self, is_wanted: bool) {
        let fed = lock(&self.feed).take();
        drop(fed);
        *lock(&self.hold) = if is_wanted && !self.asking.qos.transient_local { Hold::Kept(VecDeque::new()) } else { Hold::Dropped };
    }

    /// Of whatever gets the messages that go there.
    pub(super) fn statistics(&self) -> SubscriberStatistics {
        lock(&self.feed).as_ref().unwrap_or(&self.asker).statistics()
    }
}

impl Hold {
    fn take(&mut self, frame: Frame, most: usize) {
        match self {
            Hold::Kept(kept) => {
                kept.push_back(frame);
                if kept.len() > most {
                    kept.pop_front();
                }
            }
            Hold::Pushed(push) => push(frame),
            Hold::Dropped => {}
        }
    }
}

/// An ordinary one, of whose messages those are left out that may not go onward.
fn subscriber(
    node: &Node,
    own: &str,
    asking: &Asking,
    qos: &Qos,
    mut push: impl FnMut(Frame) + Send + 'static,
) -> sinew::Result<Subscriber> {
    let options = SubscriberOptions { execution_thread: asking.execution_thread, ..SubscriberOptions::default() };
    let own = own.to_owned();
    Subscriber::with_callback(node, &asking.name, &asking.signature, qos, options, move |frame| {
        if passes_on(&own, &frame.info().publisher) {
            push(frame);
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use sinew::NodeOptions;
    use sinew::raw::{Publisher, PublisherOptions};

    use super::*;
    use crate::protocol::Kind;
    use crate::testing::{NUMBER, until};

    fn want(offer: &Offer) -> Want {
        let (name, signature, response) = ("number".to_owned(), NUMBER.to_owned(), String::new());
        Want { channel: 1, kind: Kind::Topic, name, signature, response, offer: offer.clone() }
    }

    #[test]
    fn whatever_is_offered_bridges_are_asked_for_the_same() {
        let offers: Vec<Offer> = [0, 1, 7, 1000]
            .into_iter()
            .flat_map(|depth| [(false, false), (false, true), (true, false), (true, true)].map(|both| (depth, both)))
            .map(|(depth, (reliable, transient_local))| Offer { depth, reliable, transient_local, ..Offer::default() })
            .collect();
        for (wanted, offered, reliable) in
            offers.iter().flat_map(|wanted| offers.iter().flat_map(move |o| [(wanted, o, false), (wanted, o, true)]))
        {
            let traffic = Traffic { reliable, ..Traffic::default() };
            let asking = Asking::of(&want(wanted), &traffic);
            let beside = asking.beside(&Reading::of(offered, wanted.transient_local, &traffic));
            let both = Qos {
                depth: beside.depth.max(asking.qos.depth),
                reliable: beside.reliable || asking.qos.reliable,
                transient_local: beside.transient_local || asking.qos.transient_local,
                ..asking.qos.clone()
            };
            assert!(
                both == asking.qos && !beside.keep_all && beside.deadline.is_none() && beside.lease.is_none(),
                "{wanted:?} {offered:?}"
            );
        }
    }

    #[test]
    fn what_is_brought_before_the_channel_is_open_goes_first_and_what_may_not_go_onward_never() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let domain = folder.path().join("domain").to_str().expect("a path is a text").to_owned();
        let node = |name| Node::with_options(name, &NodeOptions { domain: domain.clone(), by_caller: false }).expect("there is a manager");
        let offer = Offer { depth: 10, ..Offer::default() };
        let second = node("gateway_1_onward");
        let asked = Asked::open(&second, "gateway_1", Asking::of(&want(&offer), &Traffic::default())).expect("it may subscribe");
        let publishers = ["bridge", "gateway_1", "gateway_2_onward"].map(|name| {
            let options = PublisherOptions { ghost: sinew::Ghost::Carrier, ..PublisherOptions::default() };
            Publisher::new(&node(name), "number", NUMBER, &offer.qos(), options).expect("it may publish")
        });
        until(|| publishers.iter().all(|publisher| publisher.statistics().subscribers == 1));
        let publish = |number: u8| {
            for (at, publisher) in publishers.iter().enumerate() {
                publisher.publish(&[&[0, 1, 0, 0, number, at as u8, 0, 0]]).expect("it is published");
            }
        };
        publish(1);
        publish(2);
        until(|| asked.asker.statistics().received == 6);
        let (told, heard) = channel();
        let reading = Reading::of(&offer, false, &Traffic::default());
        asked.flow(&offer, &reading, move |frame| told.send(frame.to_vec()[4..6].to_vec()).expect("it is heard")).expect("it may");
        publish(3);
        for number in 1..=3 {
            assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(vec![number, 0]));
        }
        until(|| asked.asker.statistics().received == 9);
        asked.stop(false);
        assert!(heard.recv().is_err(), "something else has come");
        let again = || {
            let (told, heard) = channel();
            asked.flow(&offer, &reading, move |frame| told.send(frame.to_vec()[4]).expect("it is heard")).expect("it may");
            assert!(lock(&asked.feed).is_none(), "a second subscriber is for what the first one does not get");
            heard
        };
        publish(4);
        until(|| asked.asker.statistics().received == 12);
        let heard = again();
        publish(5);
        assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(5), "nobody wanted the one before");
        until(|| asked.asker.statistics().received == 15);
        asked.stop(true);
        publish(6);
        until(|| asked.asker.statistics().received == 18);
        assert_eq!(again().recv_timeout(Duration::from_secs(20)), Ok(6), "it was wanted all the time");
    }
}
