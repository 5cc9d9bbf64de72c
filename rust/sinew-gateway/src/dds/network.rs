//! The DDS domain, and what goes over there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew::msg::ros2::Library;
use sinew::{GatewayEntry, Node};
use tokio::runtime::Handle;

use super::back_end::{BackEnd, Heard, Participant};
use super::graph::{Graph, Told};
use super::guid::Guid;
use super::inlet::Inlet;
use super::outlet::Outlet;
use super::provided::Provided;
use super::served::Served;
use super::strangers::{Endpoint, MARK, Strangers};
use super::types::{RosType, Types};
use crate::bridge::{Channel, Due, Ear, Key, Look, Network, Way, mark};
use crate::config::{ROS2, Ros2, Settings};
use crate::domain::Local;
use crate::name;
use crate::protocol::Kind;
use crate::ros2::action::{self, OfActions};
use crate::ros2::catalogue;

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
    /// What was told of goals.
    pub actions: Arc<OfActions>,
    strangers: Arc<Mutex<Strangers>>,
}

impl Place {
    /// Who else is there.
    pub fn strangers(&self) -> MutexGuard<'_, Strangers> {
        lock(&self.strangers)
    }

    /// Whether this domain has already what that writes, as it, or another bridge, brings it there.
    pub fn is_echo(&self, writer: Guid) -> bool {
        writer.participant() == self.participant.guid().participant() || self.strangers().is_echo(writer)
    }

    /// Whether what it writes on this topic is of the type, as far as is known. DDS connects who has a type of this name. Else why not, as half a sentence.
    pub fn fits(&self, name: &str, ty: &RosType, writer: Guid) -> Result<(), String> {
        let strangers = self.strangers();
        let Some(writer) = strangers.endpoint(writer) else { return Ok(()) };
        ty.fits(name, &writer.ty, writer.hash.as_deref())
    }

    /// Why a message of so many bytes is not taken. None: it is.
    pub fn too_large(&self, size: usize) -> Option<String> {
        let most = self.max_message;
        (size as u64 > most).then(|| format!("a message has {size} bytes, where \"max_message\" of this bridge are {most}"))
    }
}

fn lock(strangers: &Mutex<Strangers>) -> MutexGuard<'_, Strangers> {
    strangers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The network, until it is left.
pub struct Joined {
    told: Told,
    place: Place,
    ear: Ear,
}

impl Joined {
    /// Fails with half a sentence.
    pub fn join(settings: &Settings, ros2: &Ros2, (node, ear): (Node, Ear), runtime: Handle) -> Result<Joined, String> {
        let mark = mark(settings)?;
        let strangers = Arc::new(Mutex::new(Strangers::new(mark.clone())));
        let (heard_of, hearing) = (Arc::clone(&strangers), ear.clone());
        let heard = move |heard: Heard| {
            let keys = {
                let mut strangers = lock(&heard_of);
                match heard {
                    Heard::Came(guid, stranger) => {
                        if strangers.came(guid, stranger) {
                            log::info!("another bridge of this domain is there: what that brings does not go back");
                        }
                        Vec::new()
                    }
                    Heard::Went(guid) => strangers.went(guid),
                    Heard::Opened(endpoint) => strangers.opened(endpoint),
                    Heard::Closed(guid) => strangers.closed(guid),
                }
            };
            for key in keys {
                hearing.look(key);
            }
        };
        let back_end = BackEnd::load()?;
        log::info!("{} in domain {}", back_end.name(), ros2.domain_id);
        let said = format!("enclave=/;{MARK}={mark};");
        let interfaces: Vec<String> = ros2.interfaces.iter().map(ToString::to_string).collect();
        let participant = Participant::open(back_end, (ros2.domain_id, &name::of(settings), &interfaces.join(",")), &said, heard)?;
        let graph = Arc::<Graph>::default();
        let told = Told::open(&participant, &graph)?;
        let types = Arc::new(Types::new(Library::new(sinew::definition_folders(&ros2.definitions))));
        let (max_message, actions) = (settings.max_message, Arc::default());
        let place = Place { node, runtime, participant, max_message, types, graph, actions, strangers };
        Ok(Joined { told, place, ear })
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
        if let Some(of_action) = action::open(place, &self.ear, key, due, &look) {
            return of_action;
        }
        Ok(match (key.0, key.2) {
            (Kind::Topic, Way::Out) => Box::new(Outlet::open(place, key, due, look)?),
            (Kind::Topic, Way::In) => Box::new(Inlet::open(place, key, due, look)?),
            (Kind::Service, Way::Out) => Box::new(Served::open(place, key, due, look)?),
            (Kind::Service, Way::In) => Box::new(Provided::open(place, key, due, look)?),
        })
    }

    fn catalogue(&self) -> Option<Vec<GatewayEntry>> {
        let had = self.place.strangers().had();
        Some(had.iter().filter(|(_, name, _)| catalogue::is_listed(name)).map(|had| entry(&self.place.types, had)).collect())
    }

    fn settled(&mut self, local: &Local) {
        self.told.tell(local);
    }
}

fn entry(types: &Types, (kind, name, ends): &(Kind, String, Vec<Endpoint>)) -> GatewayEntry {
    let ty = |at: usize| ends.get(at).map_or("", |end| end.ty.as_str());
    match kind {
        Kind::Service => catalogue::service(types, name, [ty(0), ty(1)]),
        // Discovery tells of no depth.
        Kind::Topic => GatewayEntry { depth: 1, ..catalogue::topic(types, name, ty(0), ends.iter().map(|end| &end.qos)) },
    }
}
