//! The domain, as its manager tells of it.

use std::sync::{Arc, Mutex, PoisonError};

use sinew::{DomainState, DomainUpdate, DomainWatch, Node};

use super::{Local, Looking};

/// Followed by one thread.
#[derive(Default)]
pub struct Followed {
    updates: Arc<Mutex<Vec<DomainUpdate>>>,
    state: DomainState,
    is_complete: bool,
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

    /// Takes the news. Whether something is wanted or had that was not, or the other way round.
    pub fn look(&mut self) -> bool {
        let updates = std::mem::take(&mut *self.updates.lock().unwrap_or_else(PoisonError::into_inner));
        for update in updates {
            if update.anew {
                self.is_complete = false;
            }
            self.is_complete |= update.complete;
            self.state.apply(update);
        }
        if !self.is_complete {
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
