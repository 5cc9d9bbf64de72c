//! A whole gateway.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use quinn::{Endpoint, TokioRuntime};
use sinew::{GatewayPeer, Node, NodeOptions};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::catalogue::{self, Catalogue};
use crate::config::Settings;
use crate::discovery::Discovery;
use crate::exchange::{Ear, Exchange, Snapshot};
use crate::lines::Lines;
use crate::link::{self, Budget};
use crate::nodes::{Nodes, run_callbacks};
use crate::peers::{Dialer, Known, Session, Shared, accept, expel};
use crate::point::point;
use crate::protocol::{GatewayId, Hello, VERSION};
use crate::security::{Identity, Trusted};
use crate::status::Teller;
use crate::{name, packing, protocol::Closed};

/// A gateway that runs, until it is dropped or ended.
pub struct Gateway {
    ear: Ear,
    exchange: Option<Exchange>,
    catalogue: Option<Catalogue>,
    endpoint: Endpoint,
    dialer: Arc<Dialer>,
    trusted: watch::Sender<Trusted>,
    tasks: JoinSet<()>,
}

/// Why it could not be started, as a sentence.
#[derive(Debug)]
pub struct CannotStart(pub String);

impl fmt::Display for CannotStart {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for CannotStart {}

impl Gateway {
    /// Joins the domain, and connects with peers from now on. On a tokio runtime of several threads. Blocks until the domain is known.
    pub fn start(settings: &Settings, identity: &Identity) -> Result<Gateway, CannotStart> {
        let id = drawn();
        let node = joined(settings, &id, true)?;
        let node_name = node.name();
        point("domain joined");
        let snapshot = Arc::new(Snapshot::default());
        let (ear, heard) = Exchange::ear();
        let name = name::of(settings);
        let hello = Hello {
            version: VERSION,
            id,
            name: name.clone(),
            tag: settings.tag.clone(),
            node: node_name.clone(),
            compression: packing::ALL,
            max_message: settings.max_message,
            clock: 0, // that of when it is said
        };
        let (told, there, had) = (ear.clone(), Arc::clone(&snapshot), Arc::clone(&snapshot));
        let shared = Arc::new(Shared {
            hello,
            known: Known::new(),
            budget: Arc::new(Budget::new(settings.budget)),
            tell: Box::new(move |event| told.peer(event)),
            is_in_domain: Box::new(move |name| name != node_name && there.has_node(name)),
            catalogue: Box::new(move |tag| had.catalogue(tag)),
            strangers: Lines::new(),
            dialed: Lines::new(),
        });
        let endpoint = bound(settings.listen, identity)?;
        point("listening");
        let address = endpoint.local_addr().unwrap_or(settings.listen).to_string();
        let teller = Teller::new(&node, &name, &address);
        let runtime = Handle::current();
        let nodes = Nodes::new(&node, domain_of(settings), runtime.clone());
        let exchange = Exchange::start(nodes, settings.rules.clone(), &runtime, (ear.clone(), heard), snapshot, teller)
            .map_err(|error| CannotStart(format!("the domain cannot be watched: {error}")))?;
        let dialer = Arc::new(Dialer { endpoint: endpoint.clone(), client: Mutex::new(identity.client()), shared: Arc::clone(&shared) });
        let catalogue = catalogue::provide(&node, Arc::clone(&shared), runtime);
        let (trusted, trusts) = watch::channel(identity.trusted());
        let mut tasks = JoinSet::new();
        tasks.spawn(run_callbacks(node));
        tasks.spawn(accept(endpoint.clone(), Arc::clone(&shared)));
        tasks.spawn(expel(shared, trusts));
        for peer in settings.peers.clone() {
            let dialer = Arc::clone(&dialer);
            tasks.spawn(async move { dialer.dial(&peer).await });
        }
        let gateway = Gateway { ear, exchange: Some(exchange), catalogue, endpoint, dialer, trusted, tasks };
        Ok(gateway.discovering(settings, id))
    }

    fn discovering(mut self, settings: &Settings, id: GatewayId) -> Gateway {
        if !settings.discovery.enabled {
            return self;
        }
        match Discovery::start(&settings.discovery, id, self.address().port()) {
            Ok(discovery) => {
                let dialer = Arc::clone(&self.dialer);
                self.tasks.spawn(follow(discovery, dialer, id));
            }
            Err(why) => log::warn!(
                "gateways on the local network cannot be found: {why}; peers that the configuration names are dialed all the same"
            ),
        }
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.endpoint.local_addr().unwrap_or(SocketAddr::from(([0; 8], 0)))
    }

    /// Those with peers that there are now.
    pub fn connections(&self) -> Vec<Arc<Session>> {
        self.dialer.shared.known.all()
    }

    /// How all peers stand, without rates.
    pub fn status(&self) -> Vec<GatewayPeer> {
        self.ear.status()
    }

    /// The rules and certificates that hold from now on. Connections that there are go on, unless their peers could not come now.
    pub fn change(&self, settings: &Settings, identity: &Identity) {
        self.ear.rules(settings.rules.clone());
        self.renew(identity);
    }

    /// The certificates that hold from now on. What peers have shown must do for these, too.
    pub fn renew(&self, identity: &Identity) {
        self.endpoint.set_server_config(Some(identity.server()));
        *self.dialer.client.lock().unwrap_or_else(PoisonError::into_inner) = identity.client();
        self.trusted.send_replace(identity.trusted());
    }

    /// Tells peers that it leaves, and waits until they know, or for a second.
    pub async fn end(mut self) {
        self.tasks.abort_all();
        point("leaving");
        self.catalogue = None;
        let exchange = self.exchange.take();
        let _ = tokio::task::spawn_blocking(move || drop(exchange)).await;
        self.endpoint.close((Closed::Leaving as u32).into(), b"");
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), self.endpoint.wait_idle()).await;
    }
}

fn domain_of(settings: &Settings) -> String {
    settings.domain.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// As a node of a name that nobody else has.
pub(crate) fn joined(settings: &Settings, id: &GatewayId, by_caller: bool) -> Result<Node, CannotStart> {
    let name = format!("gateway_{}", id[..4].iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    Node::with_options(&name, &NodeOptions { domain: domain_of(settings), by_caller })
        .map_err(|error| CannotStart(format!("the domain cannot be joined: {error}")))
}

fn bound(address: SocketAddr, identity: &Identity) -> Result<Endpoint, CannotStart> {
    let failed = |why: std::io::Error| {
        let help = if why.kind() == std::io::ErrorKind::AddrInUse {
            ": another gateway, or another program, has it; set \"listen\" to another port"
        } else {
            ""
        };
        CannotStart(format!("{address} cannot be listened at: {why}{help}"))
    };
    let socket = link::socket(address).map_err(failed)?;
    let port = socket.local_addr().map_err(failed)?.port();
    Endpoint::new(identity.endpoint(port), Some(identity.server()), socket, Arc::new(TokioRuntime)).map_err(failed)
}

/// Dials whom it finds, if that is for this side to do (G29).
async fn follow(mut discovery: Discovery, dialer: Arc<Dialer>, own: GatewayId) {
    let mut dialing = JoinSet::new();
    let mut dialed: HashMap<GatewayId, AbortHandle> = HashMap::new();
    loop {
        tokio::select! {
            found = discovery.next() => {
                // It is somewhere else now, or nowhere.
                if let Some(before) = dialed.remove(&found.id) {
                    before.abort();
                }
                if !found.leaving && found.id > own {
                    let dialer = Arc::clone(&dialer);
                    let task = dialing.spawn(async move {
                        dialer.dial_found(found.id, found.address).await;
                        found.id
                    });
                    dialed.insert(found.id, task);
                }
            }
            Some(ended) = dialing.join_next() => {
                if let Ok(id) = ended {
                    dialed.remove(&id);
                    discovery.forget(&id);
                }
            }
        }
    }
}

/// By lot.
pub(crate) fn drawn() -> GatewayId {
    let mut id = [0; 16];
    // It blocks at most until the kernel has entropy, and does not fail on kernels that sinew runs on.
    rustix::rand::getrandom(&mut id, rustix::rand::GetRandomFlags::empty()).expect("the kernel draws lots");
    id
}
