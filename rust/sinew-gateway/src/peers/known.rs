//! Which peers there is a connection with: one for each id (G4).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::{Session, close};
use crate::protocol::{Closed, GatewayId};

/// Thread-safe.
pub struct Known {
    sessions: Mutex<HashMap<GatewayId, Arc<Session>>>,
    changed: watch::Sender<()>,
}

impl Known {
    /// Nobody.
    pub fn new() -> Known {
        Known { sessions: Mutex::default(), changed: watch::Sender::new(()) }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<GatewayId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is a connection with it.
    pub fn has(&self, id: &GatewayId) -> bool {
        self.sessions().contains_key(id)
    }

    /// Every connection.
    pub fn all(&self) -> Vec<Arc<Session>> {
        self.sessions().values().cloned().collect()
    }

    /// Takes it in, in place of an older one where G4 says so, and then calls `tell`, before anybody else can come in its place: who is told of them in another order would take the one that is over for the one that lives. False: another one is kept.
    /// Whichever is not kept is closed.
    pub fn admit(&self, session: &Arc<Session>, own: &GatewayId, tell: impl FnOnce()) -> bool {
        let mut sessions = self.sessions();
        let id = session.hello.id;
        if let Some(other) = sessions.get(&id) {
            // Of two that were dialed by different sides that of the smaller id.
            let is_ours_kept = own < &id;
            if other.is_dialed != session.is_dialed && session.is_dialed != is_ours_kept {
                close(&session.connection, Closed::Duplicate, "");
                return false;
            }
            close(&other.connection, Closed::Duplicate, "");
        }
        sessions.insert(id, Arc::clone(session));
        self.changed.send_replace(());
        tell();
        true
    }

    /// It is over.
    pub fn forget(&self, session: &Session) {
        let mut sessions = self.sessions();
        if sessions.get(&session.hello.id).is_some_and(|known| known.number == session.number) {
            sessions.remove(&session.hello.id);
            self.changed.send_replace(());
        }
    }

    /// Until there is no connection with it.
    pub async fn wait_until_gone(&self, id: &GatewayId) {
        let mut changed = self.changed.subscribe();
        while self.has(id) && changed.changed().await.is_ok() {}
    }
}

impl Default for Known {
    fn default() -> Known {
        Known::new()
    }
}
