//! A whole gateway to a Zenoh network.

use std::thread::JoinHandle;

use sinew::{DomainWatch, GatewayPeer};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::exchange::{Ear, Event, Exchange};
use super::network;
use crate::config::{Settings, Zenoh};
use crate::domain::Followed;
use crate::gateway::{CannotStart, drawn, joined};
use crate::status::Teller;

/// A gateway that runs, until it is dropped.
pub struct Bridge {
    ear: Ear,
    thread: Option<JoinHandle<()>>,
    joining: AbortHandle,
    _watch: DomainWatch,
}

impl Bridge {
    /// Joins the domain, and the network as soon as that lets it. On a tokio runtime of several threads. Blocks until the domain is known.
    pub fn start(settings: &Settings, zenoh: &Zenoh) -> Result<Bridge, CannotStart> {
        let config = network::config(zenoh).map_err(CannotStart)?;
        let node = joined(settings, &drawn(), false)?;
        let (ear, heard) = Ear::new();
        let teller = Teller::new(&node, &settings.name, "");
        let told = ear.clone();
        let (followed, watch) = Followed::start(&node, move || told.tell(Event::Domain))
            .map_err(|error| CannotStart(format!("the domain cannot be watched: {error}")))?;
        let runtime = Handle::current();
        let how = (settings.rules.clone(), zenoh.prefix.clone(), settings.max_message);
        let exchange = Exchange::new(&node, &runtime, how, followed, ear.clone(), teller);
        let joined = ear.clone();
        let joining = runtime.spawn(async move { joined.tell(Event::Joined(network::join(config).await)) }).abort_handle();
        let thread = std::thread::spawn(move || exchange.run(&heard));
        Ok(Bridge { ear, thread: Some(thread), joining, _watch: watch })
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
        self.ear.tell(Event::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
