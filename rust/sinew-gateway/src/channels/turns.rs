//! The order in which streams of ordered channels are read (G21).

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;

/// The streams of a connection of which it is not known yet what they are, in the order in which they were opened.
#[derive(Debug)]
pub struct Headless(watch::Sender<BTreeSet<u64>>);

impl Headless {
    /// None.
    pub fn new() -> Headless {
        Headless(watch::Sender::new(BTreeSet::new()))
    }

    /// One more, the last so far.
    pub fn add(&self, number: u64) -> Unknown<'_> {
        self.0.send_modify(|numbers| _ = numbers.insert(number));
        Unknown(self, number)
    }
}

/// It is not known what this stream is, until this is dropped.
pub struct Unknown<'a>(&'a Headless, u64);

impl Unknown<'_> {
    /// Of the stream.
    pub fn number(&self) -> u64 {
        self.1
    }
}

impl Drop for Unknown<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|numbers| _ = numbers.remove(&self.1));
    }
}

/// The streams of an ordered channel: which there are, by their indices, and which comes next.
#[derive(Debug)]
pub struct Turns(watch::Sender<State>);

#[derive(Debug, Default)]
struct State {
    there: BTreeSet<u64>,
    next: u64,
}

impl Turns {
    /// From the first stream on.
    pub fn new() -> Turns {
        Turns(watch::Sender::new(State::default()))
    }

    /// A stream is there. To be said before it is taken out of the headless ones. None: it comes too late, or a second time.
    pub fn come(self: &Arc<Turns>, index: u64) -> Option<Turn> {
        let mut is_new = false;
        self.0.send_if_modified(|state| {
            is_new = index >= state.next && state.there.insert(index);
            is_new
        });
        is_new.then(|| Turn(Arc::clone(self), index))
    }
}

/// A stream that is there, until this is dropped.
pub struct Turn(Arc<Turns>, u64);

impl Turn {
    /// Until it is to be read. It is the stream of this number.
    pub async fn wait(&self, headless: &Headless, number: u64) {
        let (mut turns, mut unknown) = (self.0.0.subscribe(), headless.0.subscribe());
        loop {
            let (is_first, is_next) = {
                let state = turns.borrow_and_update();
                (state.there.first() == Some(&self.1), state.next == self.1)
            };
            let is_missing_one_possible = unknown.borrow_and_update().first().is_some_and(|first| *first < number);
            if is_first && (is_next || !is_missing_one_possible) {
                return;
            }
            let changed = tokio::select! {
                changed = turns.changed() => changed,
                changed = unknown.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| {
            state.there.remove(&self.1);
            state.next = state.next.max(self.1.saturating_add(1));
        });
    }
}
