//! What a network is to do that is in place of peers.

use std::sync::Arc;
use std::time::Instant;

use sinew::GatewayEntry;

use super::due::{Due, Key};
use crate::channels::State;
use crate::domain::Local;

/// A network that is joined, until it is dropped. Used by one thread, which may wait in it.
pub trait Network: Send {
    /// As it is called in a sentence: "the Zenoh network".
    fn name(&self) -> &'static str;

    /// By which rules are chosen for it, and its name as a peer.
    fn tag(&self) -> &'static str;

    /// Whether anybody else is there.
    fn is_connected(&self) -> bool;

    /// Something that goes over from now on, or will when somebody there wants it or has it: [`Look`] tells that to look again is worth it. Fails with half a sentence.
    fn open(&self, key: &Key, due: &Due, look: Look) -> Result<Box<dyn Channel>, String>;

    /// This is what there is in the domain now, before anything is opened or closed for it.
    fn follow(&self, _local: &Arc<Local>) {}

    /// What others have there. None: in such a network nobody can tell.
    fn catalogue(&self) -> Option<Vec<GatewayEntry>> {
        None
    }

    /// This is what there is in the domain, and nothing is to be opened or closed at the moment.
    fn settled(&mut self, _local: &Local) {}
}

/// Messages or calls, their bytes, and those that were lost.
pub type Counted = (u64, u64, u64);

/// Both together.
pub fn sum(a: Counted, b: Counted) -> Counted {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

/// To be called, by any thread, when [`Channel::look`] is to be.
pub type Look = Arc<dyn Fn() + Send + Sync>;

/// Keeps in `before` why a channel is not what it is to be, if so. The log says it once, however often that comes out.
pub fn note(before: &mut Option<String>, why: Option<String>) {
    if let Some(text) = why.as_ref().filter(|_| why != *before) {
        log::warn!("{text}");
    }
    *before = why;
}

/// What was opened; or else why not is [noted](note).
pub fn opened<T>(before: &mut Option<String>, opening: Result<T, String>) -> Option<T> {
    let (open, why) = match opening {
        Ok(open) => (Some(open), None),
        Err(why) => (None, Some(why)),
    };
    note(before, why);
    open
}

/// A topic or a service that goes over one way, until it is dropped.
pub trait Channel: Send {
    /// Opens what is to be open now, or closes it. Blocks until the manager has agreed. Called again after a while as long as it is told to be refused: the manager may be away, or memory short, and nobody is told when it is so no more.
    fn look(&mut self) {}

    /// The connection with the network has come again.
    fn reconnected(&self) {}

    /// Whether all that it has in the domain is still on its topic there, which another manager has given another number. None: it does not know, and a topic of another number is another one.
    fn is_on_its_topic(&self) -> Option<bool> {
        None
    }

    /// Goes on as it is, where that is as good as what is due now. False: it is closed, and opened anew.
    fn renew(&mut self, _due: &Due) -> bool {
        false
    }

    /// Whether all has gone that was published of a topic, or all is answered that was called of a service, that nobody here has any more, since then.
    fn has_gone(&self, _since: Instant) -> bool {
        true
    }

    /// It is about to be closed: what has not gone is lost, and counted. Blocks for a moment.
    fn give_up(&mut self) {}

    /// How it stands, with messages or calls, their bytes, and those that were lost. None: there is nothing to tell, as nobody wants it.
    fn told(&self) -> Option<(State, Counted)>;

    /// The same counts, also of what nobody wants any more.
    fn counted(&self) -> Counted {
        self.told().map(|(_, counted)| counted).unwrap_or_default()
    }
}
