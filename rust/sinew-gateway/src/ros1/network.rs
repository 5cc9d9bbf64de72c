//! ROS 1 around a master, and what goes over there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sinew::msg::ros1::Library;
use sinew::{GatewayEntry, Node};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

use super::calls::Unanswered;
use super::ends::Ends;
use super::inlet::Inlet;
use super::master::Master;
use super::names::Own;
use super::node::Address;
use super::outlet::Outlet;
use super::types::Types;
use super::uri::{Uri, is_host};
use super::{catalogue, registrations, server};
use crate::bridge::{Channel, Due, Key, Look, Network, Way, mark};
use crate::config::{ROS1, Ros1, Settings};
use crate::gateway::drawn;
use crate::protocol::Kind;

/// Where Debian has definitions.
const DEBIAN: &str = "/usr/share";
/// How long the master has to say what there is: those who ask in the domain wait twice as long.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How long leaving may take.
const LEAVING: Duration = Duration::from_secs(2);

/// What all channels need. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    /// In the domain.
    pub node: Node,
    /// Where tasks run.
    pub runtime: Handle,
    /// Bytes.
    pub max_message: u64,
    /// As ROS 1 knows them.
    pub types: Arc<Types>,
    /// Who the bridge is there.
    pub address: Arc<Address>,
    /// What it has there.
    pub ends: Arc<Ends>,
}

/// The network, until it is left.
pub struct Joined {
    place: Place,
    master: Arc<Master>,
    is_connected: Arc<AtomicBool>,
    keeping: JoinHandle<()>,
    serving: [AbortHandle; 2],
}

impl Joined {
    /// Whether there is a master will be seen. In a tokio runtime. Fails with half a sentence.
    pub fn join(settings: &Settings, ros1: &Ros1, node: Node, runtime: Handle) -> Result<Joined, String> {
        let (master, host) = (master(ros1)?, host(ros1)?);
        let (questions, messages) = (bound(&host)?, bound(&host)?);
        let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port()).map_err(|why| unbound(&why));
        let at = Uri { host, port: port(&questions)? };
        let id = drawn();
        let own = Own::new(&mark(settings)?, [id[0], id[1], id[2], id[3]]);
        log::info!("node {} at {at}, of the master at {master}", own.name);
        let address = Arc::new(Address { own, at, port: port(&messages)?, master });
        let ends = Arc::<Ends>::default();
        let asked = Arc::new(Master::new(address.master.clone(), &address.own.name, &address.at));
        let is_connected = Arc::new(AtomicBool::new(false));
        let keeping = runtime.spawn(registrations::keep(Arc::clone(&ends), Arc::clone(&asked), Arc::clone(&is_connected)));
        let serving = [
            runtime.spawn(server::questions(questions, Arc::clone(&address), Arc::clone(&ends))).abort_handle(),
            runtime.spawn(server::messages(messages, Arc::clone(&address), Arc::clone(&ends))).abort_handle(),
        ];
        let types = Arc::new(Types::new(Library::new(folders(ros1))));
        let place = Place { node, runtime, max_message: settings.max_message, types, address, ends };
        Ok(Joined { place, master: asked, is_connected, keeping, serving })
    }
}

impl Network for Joined {
    fn name(&self) -> &'static str {
        "the ROS 1 network"
    }

    fn tag(&self) -> &'static str {
        ROS1
    }

    fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Relaxed) // relaxed: nothing else is told by it
    }

    fn open(&self, (kind, name, way): &Key, due: &Due, look: Look) -> Result<Box<dyn Channel>, String> {
        let place = &self.place;
        Ok(match (kind, way) {
            (Kind::Topic, Way::Out) => Box::new(Outlet::open(place, name, due, look)?),
            (Kind::Topic, Way::In) => Box::new(Inlet::open(place, name, due)?),
            (Kind::Service, _) => return Err("services do not go over to ROS 1".to_owned()),
        })
    }

    fn catalogue(&self) -> Option<Vec<GatewayEntry>> {
        if !self.is_connected() {
            return Some(Vec::new());
        }
        let place = &self.place;
        let answer = place.runtime.block_on(async { timeout(PATIENCE, self.master.state()).await });
        let answer = answer.map_err(|_| "it does not answer in time".to_owned()).and_then(|answer| answer.map_err(Unanswered::why));
        Some(match answer {
            Ok([state, types]) => catalogue::entries(&state, &types, &place.address.own, &place.types),
            Err(why) => {
                log::debug!("the master of ROS 1 does not say what there is: {why}");
                Vec::new()
            }
        })
    }
}

impl Drop for Joined {
    /// So that the master forgets the node.
    fn drop(&mut self) {
        self.place.ends.end();
        // Whom a runtime runs cannot wait for it.
        if Handle::try_current().is_err() {
            let keeping = &mut self.keeping;
            let _ = self.place.runtime.block_on(async move { timeout(LEAVING, keeping).await });
        }
        self.keeping.abort();
        self.serving.iter().for_each(AbortHandle::abort);
    }
}

/// As ROS 1 has it.
fn master(ros1: &Ros1) -> Result<Uri, String> {
    if let Some(uri) = &ros1.master {
        return Ok(uri.clone());
    }
    match std::env::var("ROS_MASTER_URI") {
        Ok(text) => text.parse().map_err(|_| format!("ROS_MASTER_URI is {text:?}, which is no address like \"http://localhost:11311\"")),
        Err(_) => Ok(Uri { host: "localhost".to_owned(), port: 11311 }),
    }
}

/// Where others reach the bridge, as ROS 1 has it: what it is told, or else the name of the machine.
fn host(ros1: &Ros1) -> Result<String, String> {
    if let Some(host) = &ros1.hostname {
        return Ok(host.clone());
    }
    for variable in ["ROS_HOSTNAME", "ROS_IP"] {
        if let Ok(host) = std::env::var(variable) {
            let wrong = || format!("{variable} is {host:?}, which is neither a name of a machine nor an address");
            return is_host(&host).then(|| host.clone()).ok_or_else(wrong);
        }
    }
    let machine = rustix::system::uname();
    Ok(machine.nodename().to_str().ok().filter(|name| is_host(name)).unwrap_or("localhost").to_owned())
}

/// At a port that is free. Who is told to be on this machine alone cannot be reached from others.
fn bound(host: &str) -> Result<TcpListener, String> {
    let address: IpAddr = match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => address,
        Ok(IpAddr::V6(_)) => Ipv6Addr::UNSPECIFIED.into(),
        Err(_) if host == "localhost" => Ipv4Addr::LOCALHOST.into(),
        Ok(IpAddr::V4(_)) | Err(_) => Ipv4Addr::UNSPECIFIED.into(),
    };
    let listener = std::net::TcpListener::bind(SocketAddr::from((address, 0))).map_err(|why| unbound(&why))?;
    listener.set_nonblocking(true).and_then(|()| TcpListener::from_std(listener)).map_err(|why| unbound(&why))
}

fn unbound(why: &io::Error) -> String {
    format!("no port can be listened at: {why}")
}

/// With definitions, in the order in which they are asked.
fn folders(ros1: &Ros1) -> Vec<PathBuf> {
    let mut folders = ros1.definitions.clone();
    let path = std::env::var_os("ROS_PACKAGE_PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty()));
    folders.push(DEBIAN.into());
    folders
}
