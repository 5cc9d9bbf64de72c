//! What the bridge has in ROS 1: topics that it publishes there, and those that it subscribes to. Shared between threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::followed::Followed;
use super::master::Role;
use super::offered::Offered;

/// By the names that topics have there.
#[derive(Default)]
pub struct Ends {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    offered: BTreeMap<String, (u64, Arc<Offered>)>,
    followed: BTreeMap<String, (u64, Arc<Followed>)>,
    last: u64,
    is_over: bool,
}

/// What the master is to know.
pub struct Wish {
    /// Another one for each that is opened.
    pub number: u64,
    /// As ROS 1 names it.
    pub ty: String,
    /// Who is to hear of publishers.
    pub followed: Option<Arc<Followed>>,
}

impl Ends {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A topic that is published from now on.
    pub fn offer(&self, topic: &str, offered: Arc<Offered>) {
        self.change(|state| _ = state.offered.insert(topic.to_owned(), (state.last, offered)));
    }

    /// A topic that is not published any more.
    pub fn withdraw(&self, topic: &str) {
        self.change(|state| _ = state.offered.remove(topic));
    }

    /// A topic that is subscribed to from now on.
    pub fn follow(&self, topic: &str, followed: Arc<Followed>) {
        self.change(|state| _ = state.followed.insert(topic.to_owned(), (state.last, followed)));
    }

    /// A topic that is not subscribed to any more.
    pub fn leave(&self, topic: &str) {
        self.change(|state| _ = state.followed.remove(topic));
    }

    /// Nothing of it is there any more, nor will be.
    pub fn end(&self) {
        self.change(|state| *state = State { is_over: true, ..State::default() });
    }

    fn change(&self, act: impl FnOnce(&mut State)) {
        {
            let mut state = self.state();
            state.last += 1;
            act(&mut state);
        }
        self.changed.notify_one();
    }

    /// Waits until something is there that was not, or the other way round, for the one who tells the master.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// All that the master is to know; whether it is over.
    pub fn wishes(&self) -> (BTreeMap<(Role, String), Wish>, bool) {
        let state = self.state();
        let offered = state.offered.iter().map(|(topic, (number, offered))| {
            ((Role::Publisher, topic.clone()), Wish { number: *number, ty: offered.ty().to_owned(), followed: None })
        });
        let followed = state.followed.iter().map(|(topic, (number, followed))| {
            let wish = Wish { number: *number, ty: followed.ty().to_owned(), followed: Some(Arc::clone(followed)) };
            ((Role::Subscriber, topic.clone()), wish)
        });
        (offered.chain(followed).collect(), state.is_over)
    }

    /// Who publishes this.
    pub fn offered(&self, topic: &str) -> Option<Arc<Offered>> {
        self.state().offered.get(topic).map(|(_, offered)| Arc::clone(offered))
    }

    /// What somebody cannot have who wants it, by the names of topics.
    pub fn refusing(&self) -> Vec<(String, Arc<Offered>)> {
        let state = self.state();
        let refusing = state.offered.iter().filter(|(_, (_, offered))| offered.is_refused());
        refusing.map(|(topic, (_, offered))| (topic.clone(), Arc::clone(offered))).collect()
    }

    /// Who subscribes to this.
    pub fn followed(&self, topic: &str) -> Option<Arc<Followed>> {
        self.state().followed.get(topic).map(|(_, followed)| Arc::clone(followed))
    }

    /// The names of topics and of their types, of those with this role.
    pub fn topics(&self, role: Role) -> Vec<(String, String)> {
        let (wishes, _) = self.wishes();
        wishes.into_iter().filter(|((each, _), _)| *each == role).map(|((_, topic), wish)| (topic, wish.ty)).collect()
    }
}
