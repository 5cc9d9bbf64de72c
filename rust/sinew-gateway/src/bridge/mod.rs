//! A network of others in place of peers: topics and services of the domain as what that network has. The network as a whole is one peer.
//!
//! | file | what is there |
//! | --- | --- |
//! | `due` | what is to be open; pure |
//! | `network` | what such a network is to do |
//! | `ghost`, `mark` | who publishes here what comes from there, and by what bridges of one domain know each other |
//! | `source` | a subscriber of the domain, in whose place a deeper one can be put |
//! | `waiting` | messages that have come, and wait to be published here |
//! | `exchange` | the thread that opens and closes what is to go over |

mod due;
mod exchange;
mod ghost;
mod mark;
mod network;
mod source;
mod waiting;

use std::thread::JoinHandle;

use sinew::msg::Type;
use sinew::msg::stream::Reader;
use sinew::{DomainWatch, GatewayPeer};
use tokio::task::AbortHandle;

pub use due::{Due, Key, Way};
pub use exchange::Ear;
use exchange::{Event, Exchange};
pub(crate) use ghost::connected_ghost;
pub(crate) use mark::mark;
pub use network::{Channel, Counted, Look, Network};
pub(crate) use network::{note, opened, sum};
pub(crate) use source::{At, Source};
#[cfg(feature = "zenoh")]
pub(crate) use waiting::Weighs;
pub(crate) use waiting::{AGAIN, Waiting};

use crate::config::Settings;
use crate::domain::{Followed, Looking};
use crate::gateway::{CannotStart, drawn, joined};
use crate::name;
use crate::status::Teller;

/// Whether these parts are a stream of this type; else why not, as half a sentence. For what strangers send: sinew's own programs look again when they read it.
pub(crate) fn check<'a>(parts: impl Iterator<Item = &'a [u8]>, ty: &Type) -> Result<(), String> {
    let slices: Vec<&[u8]> = parts.collect();
    let checked = Reader::new(&slices).and_then(|mut reader| {
        reader.skip_value(ty)?;
        reader.finish()
    });
    checked.map_err(|why| why.to_string())
}

/// A gateway that runs, until it is dropped.
pub struct Bridge {
    ear: Ear,
    thread: Option<JoinHandle<()>>,
    joining: AbortHandle,
    _watch: DomainWatch,
}

impl Bridge {
    /// Joins the domain, and the network as soon as that lets it, which `join` waits for. On a tokio runtime of several threads. Blocks until the domain is known.
    pub fn start<N, J>(settings: &Settings, join: impl FnOnce(sinew::Node, Ear) -> Result<J, String>) -> Result<Bridge, CannotStart>
    where
        N: Network + 'static,
        J: Future<Output = N> + Send + 'static,
    {
        let node = joined(settings, &drawn(), false)?;
        let (ear, heard) = Ear::new();
        let teller = Teller::new(&node, &name::of(settings), "");
        let told = ear.clone();
        let (followed, watch) = Followed::start(&node, Looking::Bridge, move || told.tell(Event::Domain))
            .map_err(|error| CannotStart(format!("the domain cannot be watched: {error}")))?;
        let exchange = Exchange::new(settings, node.clone(), followed, ear.clone(), teller);
        let (joins, joined) = (join(node, ear.clone()).map_err(CannotStart)?, ear.clone());
        let joining = tokio::runtime::Handle::current().spawn(async move {
            let network: Box<dyn Network> = Box::new(joins.await);
            joined.tell(Event::Joined(network));
        });
        let thread = std::thread::spawn(move || exchange.run(&heard));
        Ok(Bridge { ear, thread: Some(thread), joining: joining.abort_handle(), _watch: watch })
    }

    /// How it stands, without rates: the network is one peer. Blocks until it is told.
    pub fn status(&self) -> Vec<GatewayPeer> {
        let (tell, told) = std::sync::mpsc::channel();
        self.ear.tell(Event::Status(tell));
        told.recv().unwrap_or_default()
    }

    /// The rules that hold from now on.
    pub fn change(&self, settings: &Settings) {
        self.ear.tell(Event::Rules(settings.rules.clone()));
    }

    /// Leaves domain and network.
    pub async fn end(self) {
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

impl Drop for Bridge {
    /// Waits until everything is closed.
    fn drop(&mut self) {
        self.joining.abort();
        self.ear.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
