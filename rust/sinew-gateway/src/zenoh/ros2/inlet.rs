//! A topic of nodes of rmw_zenoh that comes into the domain.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::query::ReplyKeyExpr;
use zenoh::sample::{Locality, Sample};

use super::attachment::Gid;
use super::delivery::{Delivery, Ghost, Landing};
use super::names;
use super::network::Place;
use super::token::Kind;
use crate::bridge::{Channel, Due, Key, Look, connected_ghost, note};
use crate::channels::State;
use crate::protocol::Offer;
use crate::ros2::form::Form;
use crate::ros2::qos::{self, Grade, Qos};
use crate::ros2::types::RosType;
use crate::zenoh::waiting::{Waiting, give_up};
use crate::zenoh::{asking, said};

/// Of publishers that have gone, so many are known at most while something waits.
const MOST_GONE: usize = 1024;

/// Wants the topic. The domain has a ghost for it while somebody there publishes it: one for each grade of what those offer.
pub struct Inlet {
    // First, so that nothing comes any more. By their keys: types that differ in bounds have others.
    subscribers: BTreeMap<String, Subscriber<()>>,
    waiting: Arc<Waiting>,
    /// Somebody is to look when nothing waits any more.
    is_awaited: Arc<AtomicBool>,
    landing: Arc<Landing>,
    asking: Arc<Asking>,
    /// Publishers that keep something, by their tokens, which were asked.
    keepers: BTreeSet<String>,
    task: JoinHandle<()>,
    refused: Option<String>,
    look: Look,
    place: Place,
    key: Key,
    /// At least what is wanted.
    due: Due,
    /// By all who are there now.
    wanted: Offer,
    form: Form,
    ty: RosType,
}

/// Whom to ask for what was kept.
#[derive(Default)]
struct Asking {
    /// By the keys of messages.
    at: Mutex<BTreeSet<String>>,
    again: Notify,
    /// A ghost is new that is to keep for those who come late what has come already.
    is_anew: AtomicBool,
}

/// Who publishes it there.
#[derive(Default)]
struct Writers {
    /// What those offer who are of the type.
    offers: HashMap<Gid, Qos>,
    /// Where they publish.
    keys: BTreeSet<String>,
    /// Tokens of those who keep messages for those who come late.
    keepers: BTreeSet<String>,
    /// Why others are not of the type.
    why: Option<String>,
}

impl Inlet {
    /// What is wanted of the network. `look` is called when [`Inlet::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Inlet, String> {
        let (form, ty) = Form::of(&place.types, &place.actions, &key.1, &due.signature)?;
        let (waiting, landing, asking) = (Arc::<Waiting>::default(), Arc::<Landing>::default(), Arc::<Asking>::default());
        if matches!(form, Form::Feedback(..)) {
            place.comes(&key.1, &waiting);
        }
        let mut delivery = Delivery::new(place, &key.1, (form.clone(), ty.clone()), &landing);
        let (from, asked, there, most) =
            (Arc::clone(&waiting), Arc::clone(&asking), place.zenoh.clone(), due.kept.unwrap_or(due.offer.depth));
        let task = place.zenoh.runtime.spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    () = asked.again.notified() => {
                        let keys = asked.at.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        if asked.is_anew.swap(false, Ordering::Relaxed) {
                            delivery.forget();
                        }
                        for key in keys {
                            let mut kept = asking::kept(&there, &selector(&key, most), ReplyKeyExpr::Any).await;
                            // They may answer anything.
                            kept.retain(|sample| sample.key_expr().as_str() == key);
                            delivery.take_kept(kept, &from).await;
                        }
                    }
                    sample = from.next() => delivery.take(sample).await,
                }
            }
        });
        let (place, key, due, wanted) = (place.clone(), key.clone(), due.clone(), due.offer.clone());
        let mut inlet = Inlet {
            subscribers: BTreeMap::new(),
            waiting,
            is_awaited: Arc::default(),
            landing,
            asking,
            keepers: BTreeSet::new(),
            task,
            refused: None,
            look,
            place,
            key,
            due,
            wanted,
            form,
            ty,
        };
        inlet.subscribe(&BTreeSet::new())?;
        // What is asked for in the domain is as much as this can be asked for there.
        let wanted = Qos { lifespan: None, ..qos::of_writer(&inlet.due.offer) };
        inlet.place.graph.opened(&inlet.key, (&inlet.key.1, &inlet.ty.dds, &inlet.ty.hash), wanted);
        inlet.look();
        Ok(inlet)
    }

    fn data(&self, hash: &str) -> String {
        names::data(self.place.domain_id, &self.key.1, &self.ty.dds, hash)
    }

    fn writers(&self) -> Writers {
        let strangers = self.place.strangers();
        let mut writers = Writers::default();
        for (token, end) in strangers.on(Kind::Publisher, &self.key.1) {
            match self.ty.fits(&self.key.1, &end.ty, Some(&end.hash)) {
                Ok(()) => {
                    writers.offers.insert(Gid::of(token), end.qos.clone());
                    writers.keys.insert(self.data(&end.hash));
                    if end.qos.transient_local {
                        writers.keepers.insert(token.to_owned());
                    }
                }
                Err(why) => writers.why = Some(why),
            }
        }
        writers
    }

    /// To these keys, and that of the type as it is known here.
    fn subscribe(&mut self, keys: &BTreeSet<String>) -> Result<(), String> {
        let own = self.data(&self.ty.hash);
        self.subscribers.retain(|key, _| *key == own || keys.contains(key));
        for key in keys.iter().chain([&own]) {
            if self.subscribers.contains_key(key) {
                continue;
            }
            let (to, landing) = (Arc::clone(&self.waiting), Arc::clone(&self.landing));
            let subscriber = self.place.zenoh.session.declare_subscriber(key.clone()).allowed_origin(Locality::Remote);
            let subscriber = subscriber
                .callback(move |sample: Sample| to.push(sample).iter().for_each(|lost| landing.crowded(lost)))
                .wait()
                .map_err(|why| said(&why))?;
            self.subscribers.insert(key.clone(), subscriber);
        }
        *self.asking.at.lock().unwrap_or_else(PoisonError::into_inner) = self.subscribers.keys().cloned().collect();
        Ok(())
    }

    fn ghost(&self, offer: Offer) -> Result<Ghost, String> {
        let node = &self.place.zenoh.node;
        let publisher = connected_ghost(node, &self.key.1, &self.due.signature, &offer)
            .map_err(|why| format!("'{}' cannot be opened in this domain: {why}", self.key.1))?;
        Ok(Ghost { publisher, offer })
    }

    /// Opens what is to be there for these publishers, or closes it.
    fn follow(&mut self, writers: Writers) -> Result<(), String> {
        self.subscribe(&writers.keys).map_err(|why| format!("'{}' cannot be opened: {why}", self.key.1))?;
        // Before anybody publishes here what comes, as that is newer. Once of each who keeps something: what came already is known by its number.
        if self.due.offer.transient_local && !writers.keepers.is_subset(&self.keepers) {
            self.asking.again.notify_one();
        }
        self.keepers = writers.keepers;
        let grades: HashMap<Gid, Grade> = writers.offers.iter().map(|(gid, offered)| (*gid, self.grade(offered))).collect();
        let offer = |grade| {
            let of_it = writers.offers.values().filter(|offered| self.grade(offered) == grade);
            (grade, self.form.offer(qos::offered(&self.due.offer, of_it)))
        };
        let mut due: BTreeMap<Grade, Offer> = grades.values().copied().map(offer).collect();
        let waits = self.waits();
        {
            let mut ghosts = self.landing.ghosts();
            if waits {
                // What waits its subscribers are to get, though its publishers have gone.
                if ghosts.grades.len() >= MOST_GONE + grades.len() {
                    ghosts.grades.clear();
                }
                ghosts.grades.extend(grades);
            } else {
                ghosts.all.retain(|grade, _| due.contains_key(grade));
                ghosts.grades = grades;
            }
            // Where those who are there now offer more, it is their offer that counts, once nothing waits: it would come behind what follows it. Who offers less takes nothing from others.
            due.retain(|grade, offer| ghosts.all.get(grade).is_none_or(|ghost| !waits && qos::is_more(&ghost.offer, offer)));
        }
        for (grade, offer) in due {
            let before = self.landing.ghosts().all.get(&grade).cloned();
            let offer = qos::no_less(before.as_ref().map(|before| &before.offer), offer);
            let ghost = self.ghost(offer).inspect_err(|_| self.keepers.clear())?;
            self.landing.ghosts().all.insert(grade, Arc::new(ghost));
            if before.is_some() && grade.is_kept() {
                self.asking.is_anew.store(true, Ordering::Relaxed);
                self.asking.again.notify_one();
            }
        }
        self.landing.changed();
        Ok(())
    }

    /// Whether messages wait to be published here. It is looked again when none does any more.
    fn waits(&self) -> bool {
        if self.waiting.is_settled() {
            return false;
        }
        if !self.is_awaited.swap(true, Ordering::Relaxed) {
            let (waiting, is_awaited, look) = (Arc::clone(&self.waiting), Arc::clone(&self.is_awaited), Arc::clone(&self.look));
            self.place.zenoh.runtime.spawn(async move {
                waiting.settled().await;
                is_awaited.store(false, Ordering::Relaxed);
                look();
            });
        }
        true
    }

    fn grade(&self, offered: &Qos) -> Grade {
        Grade::of(offered, self.due.offer.transient_local)
    }
}

fn selector(key: &str, most: u32) -> String {
    let most = if most == 0 { String::new() } else { format!("?_max={most}") };
    names::keepers(key) + &most
}

impl Channel for Inlet {
    fn look(&mut self) {
        let mut writers = self.writers();
        let why = writers.why.take().filter(|_| writers.offers.is_empty());
        let refused = self.follow(writers).err().or(why);
        note(&mut self.refused, refused);
    }

    fn give_up(&mut self) {
        give_up(&self.waiting, &mut self.task, &self.place.zenoh.runtime);
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let ghosts: Vec<Arc<Ghost>> = self.landing.ghosts().all.values().cloned().collect();
        let offers = || ghosts.iter().map(|ghost| (&ghost.offer, ghost.publisher.statistics().subscribers));
        let state = match &self.refused {
            Some(why) => State::Refused(why.clone()),
            None if ghosts.is_empty() => State::Waiting,
            None => qos::stands(&self.wanted, offers()),
        };
        let (messages, bytes, lost) = self.landing.told();
        Some((state, (messages, bytes, lost + self.waiting.lost())))
    }

    fn renew(&mut self, due: &Due) -> bool {
        let Some((doing, false)) = self.due.doing_for(due) else { return false };
        (self.due, self.wanted) = (doing, due.offer.clone());
        true
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.task.abort();
        // Nobody waits for it any more, either.
        self.waiting.give_up();
        self.place.graph.closed(&self.key);
    }
}
