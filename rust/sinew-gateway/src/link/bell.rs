//! Wakes the task that sends.

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

/// Wakes one task.
#[derive(Debug, Default)]
pub(super) struct Bell(Mutex<Option<Waker>>);

impl Bell {
    /// From now on this task is woken. To be called before it looks at what others change.
    pub fn listen(&self, cx: &Context<'_>) {
        let mut waker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match waker.as_mut() {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
    }

    /// To be called when something has changed. Does not block for longer than a wake takes.
    pub fn ring(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
