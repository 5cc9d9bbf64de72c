//! A topic of the Zenoh network that comes into the domain.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::query::ReplyKeyExpr;
use zenoh::sample::{Locality, SampleKind};

use super::delivery::{Delivery, Ledger};
use super::network::Place;
use super::waiting::{Waiting, give_up};
use super::{asking, key, said};
use crate::bridge::{Channel, Due};
use crate::channels::State;
use crate::protocol::Offer;

/// Of those who kept something, and have gone, so many are known at most.
const MOST_GONE: usize = 1024;

/// Subscribes. The domain has a ghost for it from the first message on that fits.
pub struct Inlet {
    // First, so that nothing comes any more.
    _subscriber: Subscriber<()>,
    /// To those who keep something.
    _keepers: Option<Subscriber<()>>,
    waiting: Arc<Waiting>,
    ledger: Arc<Ledger>,
    /// At least what is wanted.
    due: Due,
    /// By all who are there now.
    wanted: Offer,
    /// As much as is wanted, for what comes of strangers, of whom nothing is known.
    offered: Arc<Mutex<Offer>>,
    again: Arc<Notify>,
    task: JoinHandle<()>,
    place: Place,
}

impl Inlet {
    /// What is wanted of the network.
    pub fn open(place: &Place, name: &str, due: &Due) -> Result<Inlet, String> {
        let key = key::topic(&place.prefix, name);
        let (waiting, ledger) = (Arc::<Waiting>::default(), Arc::<Ledger>::default());
        let (to, crowded) = (Arc::clone(&waiting), Arc::clone(&ledger));
        let subscriber = place.session.declare_subscriber(key.clone()).allowed_origin(Locality::Remote);
        let subscriber = subscriber
            .callback(move |sample| to.push(sample).iter().for_each(|lost| crowded.crowded(lost)))
            .wait()
            .map_err(|why| said(&why))?;
        let offered = Arc::new(Mutex::new(due.offer.clone()));
        let mut delivery = Delivery::new(place, name, due, &offered, &ledger)?;
        let again = Arc::new(Notify::new());
        let keepers = due.offer.transient_local.then(|| keepers(place, name, &again)).transpose()?;
        let (from, asked, there, wants_kept) = (Arc::clone(&waiting), Arc::clone(&again), place.clone(), due.offer.transient_local);
        let task = place.runtime.spawn(async move {
            // Once now, and then whenever the connection comes again, or that with one who keeps something.
            asked.notify_one();
            loop {
                tokio::select! {
                    biased;
                    () = asked.notified(), if wants_kept => {
                        let kept = asking::kept(&there, &key, ReplyKeyExpr::MatchingQuery).await;
                        delivery.take_kept(kept, &from).await;
                    }
                    sample = from.next() => delivery.take(&sample, false).await,
                }
            }
        });
        let (due, wanted, place) = (due.clone(), due.offer.clone(), place.clone());
        Ok(Inlet { _subscriber: subscriber, _keepers: keepers, waiting, ledger, due, wanted, offered, again, task, place })
    }

    fn offered(&self) -> MutexGuard<'_, Offer> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever keeps something, and could not be reached for a while, is asked again, as what was published meanwhile went to others alone. Of those who are new to the network all comes by itself.
fn keepers(place: &Place, name: &str, again: &Arc<Notify>) -> Result<Subscriber<()>, String> {
    let (again, gone) = (Arc::clone(again), Mutex::new(BTreeSet::new()));
    let keepers = place.session.liveliness().declare_subscriber(key::keepers(&place.prefix, name)).history(true);
    let keepers = keepers.callback(move |sample| {
        let mut gone = gone.lock().unwrap_or_else(PoisonError::into_inner);
        let keeper = sample.key_expr().as_str();
        if sample.kind() == SampleKind::Put {
            if gone.remove(keeper) {
                again.notify_one();
            }
            return;
        }
        if gone.len() >= MOST_GONE {
            gone.pop_first();
        }
        gone.insert(keeper.to_owned());
    });
    keepers.wait().map_err(|why| said(&why))
}

impl Channel for Inlet {
    /// What was kept may be new.
    fn reconnected(&self) {
        self.again.notify_one();
    }

    fn give_up(&mut self) {
        give_up(&self.waiting, &mut self.task, &self.place.runtime);
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let (state, (messages, bytes, lost)) = self.ledger.told(&self.wanted);
        Some((state, (messages, bytes, lost + self.waiting.lost())))
    }

    /// What was kept is asked for once, when it begins to be wanted.
    fn renew(&mut self, due: &Due) -> bool {
        let begins_to_be_kept = due.offer.transient_local && !self.due.offer.transient_local;
        let Some((doing, _)) = self.due.doing_for(due).filter(|_| !begins_to_be_kept) else { return false };
        self.offered().clone_from(&doing.offer);
        (self.due, self.wanted) = (doing, due.offer.clone());
        true
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.task.abort();
    }
}
