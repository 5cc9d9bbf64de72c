//! A topic of ROS 1 that is wanted in the domain, and who publishes it there. Shared between threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sinew::raw::Publisher;
use tokio::task::AbortHandle;

use super::line::Counts;
use super::network::Place;
use super::publisher;
use super::types::RosType;
use super::uri::Uri;
use crate::bridge::Due;
use crate::channels::State;

/// Publishers of one topic that are listened to.
const MOST: usize = 1000;
/// Why somebody here gets nothing of a publisher there.
const KEEPS_NOTHING: &str = "subscribers here ask for what was kept, and publishers there keep nothing: they are not latched";

/// Of one topic.
pub struct Followed {
    /// Where it all is.
    pub place: Place,
    /// Its name in the domain.
    pub name: String,
    /// Its name in ROS 1.
    pub topic: String,
    /// What is wanted.
    pub due: Due,
    /// Likewise.
    pub ty: RosType,
    /// What has come.
    pub counts: Counts,
    links: Mutex<Links>,
    /// Somebody asks for what was kept.
    wants_kept: AtomicBool,
    is_told: AtomicBool,
}

#[derive(Default)]
struct Links {
    all: BTreeMap<Uri, Link>,
    /// How often it was told who there is.
    updates: u64,
    is_closed: bool,
}

struct Link {
    task: AbortHandle,
    standing: Standing,
    /// The master says that it publishes this.
    is_known: bool,
}

/// How it stands with a publisher.
pub enum Standing {
    /// It is dialed.
    Absent,
    /// Its messages come.
    Connected {
        /// It keeps the last one for those who come late.
        latches: bool,
        /// Who publishes them here.
        ghost: Weak<Publisher>,
    },
    /// It is a bridge of the same domain: what it has is here already.
    Echo,
    /// Its messages are of another type, as this sentence says.
    Refused(String),
}

impl Followed {
    /// Nobody is known who publishes it.
    pub fn new(place: Place, name: String, topic: String, due: Due, ty: RosType) -> Followed {
        let (counts, links, is_told) = (Counts::default(), Mutex::default(), AtomicBool::new(false));
        let wants_kept = AtomicBool::new(due.offer.transient_local);
        Followed { place, name, topic, due, ty, counts, links, wants_kept, is_told }
    }

    fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody asks for what was kept from now on, or nobody does.
    pub fn wants(&self, kept: bool) {
        self.wants_kept.store(kept, Ordering::Relaxed);
    }

    /// How the master is to call its type.
    pub fn ty(&self) -> &str {
        &self.ty.name
    }

    /// How often the master has told who there is.
    pub fn updates(&self) -> u64 {
        self.links().updates
    }

    /// The master tells who there is now.
    pub fn updated(self: &Arc<Followed>, publishers: Vec<Uri>) {
        let mut links = self.links();
        links.updates += 1;
        self.follow(&mut links, publishers);
    }

    /// The master answers who there was when it was told that this is wanted. Where it has told something since `updates`, that is newer.
    pub fn registered(self: &Arc<Followed>, updates: u64, publishers: Vec<Uri>) {
        let mut links = self.links();
        if links.updates == updates {
            self.follow(&mut links, publishers);
        }
    }

    fn follow(self: &Arc<Followed>, links: &mut Links, publishers: Vec<Uri>) {
        if links.is_closed {
            return;
        }
        let mut wanted: BTreeSet<Uri> = publishers.into_iter().take(MOST).collect();
        wanted.remove(&self.place.address.at);
        links.all.retain(|uri, link| {
            link.is_known = wanted.contains(uri);
            // A master that was started anew does not know those who were there before, as programs of ROS 1 do not tell it again. Who does not publish it any more ends the connection itself.
            let stays = link.is_known || matches!(link.standing, Standing::Connected { .. });
            if !stays {
                link.task.abort();
            }
            stays
        });
        let new: Vec<Uri> = wanted.into_iter().filter(|uri| !links.all.contains_key(uri)).collect();
        for uri in in_the_way(&links.all, new.len()) {
            if let Some(link) = links.all.remove(&uri) {
                link.task.abort();
            }
        }
        for uri in new {
            let task = self.place.runtime.spawn(publisher::follow(Arc::clone(self), uri.clone())).abort_handle();
            links.all.insert(uri, Link { task, standing: Standing::Absent, is_known: true });
        }
    }

    /// This one is not connected, or not any more. Whether it is dialed again: else it is forgotten.
    pub fn is_absent(&self, uri: &Uri) -> bool {
        let mut links = self.links();
        let Some(link) = links.all.get_mut(uri) else { return false };
        link.standing = Standing::Absent;
        let is_known = link.is_known;
        if !is_known {
            links.all.remove(uri);
        }
        is_known
    }

    /// How it stands with this one.
    pub fn stands(&self, uri: &Uri, standing: Standing) {
        if let Some(link) = self.links().all.get_mut(uri) {
            link.standing = standing;
        }
    }

    /// A message of a publisher could not be published here. Why is told once.
    pub fn lose(&self, why: impl FnOnce() -> String) {
        self.counts.lose(1);
        if !self.is_told.swap(true, Ordering::Relaxed) {
            log::warn!("a message on '{}' is lost: {}", self.name, why());
        }
    }

    /// Nobody wants it any more.
    pub fn close(&self) {
        let mut links = self.links();
        links.is_closed = true;
        std::mem::take(&mut links.all).values().for_each(|link| link.task.abort());
    }

    /// What is told of it.
    pub fn state(&self) -> State {
        let (mut connected, mut refused) = (Vec::new(), None);
        for link in self.links().all.values() {
            match &link.standing {
                Standing::Connected { latches, ghost } => connected.push((*latches, Weak::clone(ghost))),
                Standing::Refused(why) => refused = refused.or_else(|| Some(why.clone())),
                Standing::Absent | Standing::Echo => {}
            }
        }
        if connected.is_empty() {
            return refused.map_or(State::Waiting, State::Refused);
        }
        if self.wants_kept.load(Ordering::Relaxed) && !connected.iter().any(|(latches, _)| *latches) {
            let has_subscribers = |ghost: Arc<Publisher>| ghost.statistics().subscribers > 0;
            let is_read = connected.iter().any(|(_, ghost)| ghost.upgrade().is_some_and(has_subscribers));
            let why = KEEPS_NOTHING.to_owned();
            return if is_read { State::OpenBut(why) } else { State::Refused(why) };
        }
        refused.map_or(State::Open, State::OpenBut)
    }
}

/// Who goes so that there is room for so many new ones: whoever reaches this bridge may tell it of others, again and again. Those who are known stay.
fn in_the_way(links: &BTreeMap<Uri, Link>, new: usize) -> Vec<Uri> {
    let too_many = (links.len() + new).saturating_sub(MOST);
    links.iter().filter(|(_, link)| !link.is_known).map(|(uri, _)| uri.clone()).take(too_many).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_known_goes_when_there_are_too_many() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("there is room for a runtime");
        let link =
            |is_known| Link { task: runtime.spawn(std::future::pending::<()>()).abort_handle(), standing: Standing::Absent, is_known };
        let uri = |port: usize| -> Uri { format!("http://robot:{port}/").parse().expect("it is one") };
        let links: BTreeMap<Uri, Link> = (1..=900).map(|port| (uri(port), link(port > 500))).collect();
        assert!(in_the_way(&links, 100).is_empty());
        let gone = in_the_way(&links, 600);
        assert_eq!(gone.len(), 500);
        assert!(gone.iter().all(|uri| !links[uri].is_known));
    }
}
