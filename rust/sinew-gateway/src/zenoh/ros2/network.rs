//! The session in which nodes of ROS 2 are, and what goes over there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sinew::msg::ros2::Library;
use sinew::{GatewayEntry, Node};
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Config, Wait};

use super::graph::Graph;
use super::inlet::Inlet;
use super::names;
use super::outlet::Outlet;
use super::provided::Provided;
use super::served::Served;
use super::stamps::Stamped;
use super::strangers::Strangers;
use super::token::{Author, End, enclave};
use crate::bridge::{Channel, Due, Ear, Key, Look, Network, Way, mark};
use crate::config::{self, RmwZenoh, Settings};
use crate::domain::Local;
use crate::protocol::Kind;
use crate::ros2::action::{self, OfActions};
use crate::ros2::catalogue;
use crate::ros2::types::Types;
use crate::zenoh::network::{self, RETRY};
use crate::zenoh::said;
use crate::zenoh::waiting::Waiting;

/// What all channels need. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    /// The domain, and the session.
    pub zenoh: network::Place,
    /// ROS_DOMAIN_ID.
    pub domain_id: u32,
    /// As ROS 2 knows them.
    pub types: Arc<Types>,
    /// What the bridge has there.
    pub graph: Arc<Graph>,
    /// Messages that were sent there.
    pub stamped: Arc<Stamped>,
    /// What was told of goals.
    pub actions: Arc<OfActions>,
    /// Feedback that comes, by its topic.
    feedback: Arc<Mutex<HashMap<String, Weak<Waiting>>>>,
    strangers: Arc<Mutex<Strangers>>,
}

impl Place {
    /// Who else is there.
    pub fn strangers(&self) -> MutexGuard<'_, Strangers> {
        lock(&self.strangers)
    }

    /// What comes on this topic is feedback.
    pub fn comes(&self, topic: &str, waiting: &Arc<Waiting>) {
        let mut all = self.feedback.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, waiting| waiting.strong_count() > 0);
        all.insert(topic.to_owned(), Arc::downgrade(waiting));
    }

    /// None: nobody in the domain wants any.
    pub fn feedback_of(&self, action: &str) -> Option<Arc<Waiting>> {
        let all = self.feedback.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&action::part_of(action, "feedback")).and_then(Weak::upgrade)
    }
}

fn lock(strangers: &Mutex<Strangers>) -> MutexGuard<'_, Strangers> {
    strangers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is to be joined.
pub struct Asked {
    domain_id: u32,
    types: Arc<Types>,
    max_message: u64,
    enclave: String,
    config: Config,
}

impl Asked {
    /// As the configuration says it, of a domain that somebody has joined. Fails with half a sentence.
    pub fn new(settings: &Settings, asked: &RmwZenoh, config: Config) -> Result<Asked, String> {
        Ok(Asked {
            domain_id: asked.domain_id,
            types: Arc::new(Types::new(Library::new(sinew::definition_folders(&asked.definitions)))),
            max_message: settings.max_message,
            enclave: enclave(&mark(settings)?),
            config,
        })
    }
}

/// The network, until it is left.
pub struct Joined {
    // In the order in which they go; the session is the last.
    _heard: Subscriber<()>,
    place: Place,
    ear: Ear,
    session: network::Joined,
}

impl Joined {
    /// Joins it, and tries again where that fails.
    pub async fn join(asked: Asked, node: Node, ear: Ear) -> Joined {
        let runtime = tokio::runtime::Handle::current();
        loop {
            let session = network::join(asked.config.clone()).await;
            let zenoh = network::Place {
                node: node.clone(),
                runtime: runtime.clone(),
                session,
                prefix: asked.domain_id.to_string(),
                max_message: asked.max_message,
            };
            match Joined::of(&asked, zenoh, ear.clone()) {
                Ok(joined) => return joined,
                Err(why) => log::warn!("ROS 2 cannot be joined yet, which is tried again in {} s: {why}", RETRY.as_secs()),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    fn of(asked: &Asked, zenoh: network::Place, ear: Ear) -> Result<Joined, String> {
        let session = network::Joined(zenoh.clone());
        let zid = zenoh.session.zid().to_string();
        let strangers = Arc::new(Mutex::new(Strangers::new(zid.clone(), asked.enclave.clone())));
        let author = Author { domain_id: asked.domain_id, zid, enclave: asked.enclave.clone() };
        let graph = Arc::new(Graph::new(zenoh.session.clone(), author, zenoh.node.name()));
        let (heard_of, hearing) = (Arc::clone(&strangers), ear.clone());
        let heard = move |sample: Sample| {
            let (token, is_there) = (sample.key_expr().as_str(), sample.kind() == SampleKind::Put);
            let keys = if is_there { lock(&heard_of).came(token) } else { lock(&heard_of).went(token) };
            for key in keys {
                hearing.look(key);
            }
        };
        let all = zenoh.session.liveliness().declare_subscriber(names::tokens(asked.domain_id)).history(true);
        let heard = all.callback(heard).wait().map_err(|why| said(&why))?;
        let (domain_id, types) = (asked.domain_id, Arc::clone(&asked.types));
        let (stamped, actions, feedback) = (Arc::default(), Arc::default(), Arc::default());
        let place = Place { zenoh, domain_id, types, graph, stamped, actions, feedback, strangers };
        Ok(Joined { _heard: heard, place, ear, session })
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        // As long as the session is there.
        self.place.graph.clear();
    }
}

impl Network for Joined {
    fn name(&self) -> &'static str {
        "the ROS 2 network"
    }

    fn tag(&self) -> &'static str {
        config::ZENOH
    }

    fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    fn follow(&self, local: &Arc<Local>) {
        self.place.graph.follow(local);
        let is_there = |key: &str| names::name(key).is_some_and(|name| local.channels.contains_key(&(Kind::Topic, name.to_owned())));
        self.place.stamped.retain(is_there);
    }

    fn open(&self, key: &Key, due: &Due, look: Look) -> Result<Box<dyn Channel>, String> {
        let place = &self.place;
        if let Some(of_action) = action::open(place, &self.ear, key, due, &look) {
            return of_action;
        }
        Ok(match (key.0, key.2) {
            (Kind::Topic, Way::Out) => Box::new(Outlet::open(place, key, due, look)?),
            (Kind::Topic, Way::In) => Box::new(Inlet::open(place, key, due, look)?),
            (Kind::Service, Way::Out) => Box::new(Served::open(place, key, due)?),
            (Kind::Service, Way::In) => Box::new(Provided::open(place, key, due)?),
        })
    }

    fn settled(&mut self, _local: &Local) {
        self.place.graph.gone();
    }

    fn catalogue(&self) -> Option<Vec<GatewayEntry>> {
        let had = self.place.strangers().had();
        Some(had.iter().filter(|(_, name, _)| catalogue::is_listed(name)).map(|had| entry(&self.place.types, had)).collect())
    }
}

fn entry(types: &Types, (kind, name, ends): &(Kind, String, Vec<End>)) -> GatewayEntry {
    let ty = ends.first().map_or("", |end| end.ty.as_str());
    match kind {
        Kind::Topic => catalogue::topic(types, name, ty, ends.iter().map(|end| &end.qos)),
        // Tokens tell the type of the service alone, by whose name those of its requests and responses are known.
        Kind::Service => catalogue::service(types, name, [&format!("{ty}Request_"), &format!("{ty}Response_")]),
    }
}
