//! The DDS domain, and what goes over there.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew::Node;
use sinew::msg::ros2::Library;
use tokio::runtime::Handle;

use super::back_end::{self, BackEnd, Heard, Participant};
use super::graph::{Graph, Told};
use super::inlet::Inlet;
use super::outlet::Outlet;
use super::provided::Provided;
use super::served::Served;
use super::strangers::{MARK, Strangers};
use super::types::Types;
use crate::bridge::{Channel, Due, Ear, Key, Look, Network, Way};
use crate::config::{ROS2, Ros2, Settings};
use crate::domain::Local;
use crate::protocol::Kind;

/// Those that come with sinew, below its prefix.
const DEFINITIONS: &str = "share/sinew/msggen/definitions";

/// What all channels need. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    /// In the domain.
    pub node: Node,
    /// Where tasks run.
    pub runtime: Handle,
    /// In DDS.
    pub participant: Arc<Participant>,
    /// Bytes.
    pub max_message: u64,
    /// As ROS 2 knows them.
    pub types: Arc<Types>,
    /// What the bridge has in DDS.
    pub graph: Arc<Graph>,
    strangers: Arc<Mutex<Strangers>>,
}

impl Place {
    /// Who else is there.
    pub fn strangers(&self) -> MutexGuard<'_, Strangers> {
        lock(&self.strangers)
    }
}

fn lock(strangers: &Mutex<Strangers>) -> MutexGuard<'_, Strangers> {
    strangers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The network, until it is left.
pub struct Joined {
    told: Told,
    place: Place,
}

impl Joined {
    /// Fails with half a sentence.
    pub fn join(settings: &Settings, ros2: &Ros2, (node, ear): (Node, Ear), runtime: Handle) -> Result<Joined, String> {
        let mark = mark(settings);
        let strangers = Arc::new(Mutex::new(Strangers::new(mark.clone())));
        let heard_of = Arc::clone(&strangers);
        let heard = move |heard: Heard| {
            let keys = {
                let mut strangers = lock(&heard_of);
                match heard {
                    Heard::Came(guid, stranger) => {
                        strangers.came(guid, stranger);
                        Vec::new()
                    }
                    Heard::Went(guid) => strangers.went(guid),
                    Heard::Opened(endpoint) => strangers.opened(endpoint),
                    Heard::Closed(guid) => strangers.closed(guid),
                }
            };
            for key in keys {
                ear.look(key);
            }
        };
        let back_end = BackEnd::load()?;
        log::info!("{} in domain {}", back_end.name(), ros2.domain_id);
        let said = format!("enclave=/;{MARK}={mark};");
        let interfaces: Vec<String> = ros2.interfaces.iter().map(ToString::to_string).collect();
        let participant = Participant::open(back_end, (ros2.domain_id, &settings.name, &interfaces.join(",")), &said, heard)?;
        let graph = Arc::<Graph>::default();
        let told = Told::open(&participant, &graph)?;
        let types = Arc::new(Types::new(Library::new(folders(ros2))));
        let place = Place { node, runtime, participant, max_message: settings.max_message, types, graph, strangers };
        Ok(Joined { told, place })
    }
}

impl Network for Joined {
    fn name(&self) -> &'static str {
        "the ROS 2 network"
    }

    fn tag(&self) -> &'static str {
        ROS2
    }

    fn is_connected(&self) -> bool {
        self.place.strangers().is_anybody()
    }

    fn open(&self, key: &Key, due: &Due, look: Look) -> Result<Box<dyn Channel>, String> {
        let place = &self.place;
        Ok(match (key.0, key.2) {
            (Kind::Topic, Way::Out) => Box::new(Outlet::open(place, key, due, look)?),
            (Kind::Topic, Way::In) => Box::new(Inlet::open(place, key, due, look)?),
            (Kind::Service, Way::Out) => Box::new(Served::open(place, key, due, look)?),
            (Kind::Service, Way::In) => Box::new(Provided::open(place, key, due, look)?),
        })
    }

    fn settled(&mut self, local: &Local) {
        self.told.tell(local);
    }
}

/// With definitions, in the order in which they are asked.
fn folders(ros2: &Ros2) -> Vec<PathBuf> {
    let mut folders = ros2.definitions.clone();
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&prefixes).map(|prefix| prefix.join("share")));
    let own = back_end::library();
    folders
        .extend(own.iter().flat_map(|library| library.ancestors()).map(|prefix| prefix.join(DEFINITIONS)).find(|folder| folder.is_dir()));
    folders
}

/// Of this domain, on this machine, so that bridges of one domain know each other.
fn mark(settings: &Settings) -> String {
    let domain = settings.domain.clone().or_else(|| std::env::var_os("SINEW_DOMAIN").map(Into::into)).unwrap_or_else(|| "default".into());
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let user = rustix::process::getuid().as_raw();
    format!("{}/{user}/{}", boot.trim(), domain.display()).replace([';', '='], "_")
}
