//! Who a writer or a reader is connected with.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::guid::Guid;
use crate::bridge::Look;

/// Of one endpoint. Told by the back end's threads.
pub struct Matched {
    state: Mutex<State>,
    changed: Notify,
    look: Look,
}

#[derive(Default)]
struct State {
    others: HashSet<Guid>,
    /// The last policy that did not fit.
    incompatible: Option<String>,
}

impl Matched {
    /// With nobody. `look` is called when that changes.
    pub fn new(look: Look) -> Matched {
        Matched { state: Mutex::default(), changed: Notify::new(), look }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody is connected, or is not any more.
    pub fn tell(&self, other: Guid, is_matched: bool) {
        {
            let mut state = self.state();
            let has_changed = if is_matched { state.others.insert(other) } else { state.others.remove(&other) };
            if !has_changed {
                return;
            }
        }
        self.changed.notify_waiters();
        (self.look)();
    }

    /// Somebody is not connected, since this policy does not fit.
    pub fn refuse(&self, policy: &str) {
        self.state().incompatible = Some(policy.to_owned());
        (self.look)();
    }

    /// All who are.
    pub fn others(&self) -> HashSet<Guid> {
        self.state().others.clone()
    }

    /// Whether anybody is.
    pub fn is_anybody(&self) -> bool {
        self.is_any(|_| true)
    }

    /// Whether somebody is connected whom this fits.
    pub fn is_any(&self, fits: impl Fn(&Guid) -> bool) -> bool {
        self.state().others.iter().any(fits)
    }

    /// A policy that does not fit somebody of these, as he is there, and is not connected.
    pub fn incompatible(&self, there: impl IntoIterator<Item = Guid>) -> Option<String> {
        let state = self.state();
        let is_apart = there.into_iter().any(|each| !state.others.contains(&each));
        state.incompatible.clone().filter(|_| is_apart)
    }

    /// Waits until somebody is connected whom this fits. False: that takes too long.
    pub async fn wait(&self, patience: Duration, fits: impl Fn(&Guid) -> bool) -> bool {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                // Before it is looked, so that nothing is missed.
                changed.as_mut().enable();
                if self.is_any(&fits) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(patience, waiting).await.is_ok()
    }
}
