//! The domain, as its manager tells of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sinew::{DomainState, DomainUpdate, DomainWatch, Node};

use super::{Local, Looking};

/// Within which nodes whose manager has died come back to the next one, and ghosts, a second later (W84).
const RETURN: Duration = Duration::from_secs(3);

/// Followed by one thread.
#[derive(Default)]
pub struct Followed {
    updates: Arc<Mutex<Vec<DomainUpdate>>>,
    state: DomainState,
    is_complete: bool,
    /// Of a bridge, whose manager has died: until then it is as it was, so that nothing is closed for want of who is about to come back.
    returns: Option<Instant>,
    local: Arc<Local>,
    looking: Looking,
}

impl Followed {
    /// As long as the watch is there, `tell` is called when there is news. Blocks until the domain is known.
    pub fn start(node: &Node, looking: Looking, tell: impl Fn() + Send + 'static) -> sinew::Result<(Followed, DomainWatch)> {
        let followed = Followed { looking, ..Followed::default() };
        let updates = Arc::clone(&followed.updates);
        let watch = node.watch_domain(move |update| {
            updates.lock().unwrap_or_else(PoisonError::into_inner).push(update);
            tell();
        })?;
        Ok((followed, watch))
    }

    /// As it was when it was looked at last.
    pub fn local(&self) -> &Arc<Local> {
        &self.local
    }

    /// When nodes have come back whose manager has died, so that it is to be looked at again.
    pub fn returns(&self) -> Option<Instant> {
        self.returns
    }

    /// Takes the news. Whether something is wanted or had that was not, or the other way round.
    pub fn look(&mut self) -> bool {
        let updates = std::mem::take(&mut *self.updates.lock().unwrap_or_else(PoisonError::into_inner));
        for update in updates {
            if update.anew {
                let had_manager = self.is_complete || self.returns.is_some();
                self.returns = (had_manager && self.looking == Looking::Bridge).then(|| Instant::now() + RETURN);
                self.is_complete = false;
            }
            self.is_complete |= update.complete;
            self.state.apply(update);
        }
        self.returns.take_if(|returns| Instant::now() >= *returns);
        if !self.is_complete || self.returns.is_some() {
            return false;
        }
        let local = Local::of(&self.state, &self.looking);
        let has_changed = local != *self.local;
        if has_changed {
            self.local = Arc::new(local);
        }
        has_changed
    }
}
