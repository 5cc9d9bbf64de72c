//! The one who joins domain and network: follows the domain, and opens and closes what is to go over.
//!
//! It is one thread, since to open something in the domain blocks until the manager has agreed. Messages never wait for it.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use sinew::{GatewayChannel, GatewayPeer, Node};
use tokio::runtime::Handle;
use zenoh::{Session, Wait};

use super::due::{Due, Key, Way, due};
use super::inlet::Inlet;
use super::network;
use super::outlet::Outlet;
use super::provided::Provided;
use super::said;
use super::served::Served;
use crate::channels::State;
use crate::config::ZENOH;
use crate::domain::Followed;
use crate::gateway::drawn;
use crate::protocol::Kind;
use crate::rules::Rules;
use crate::status::{self, Teller};

/// What happens.
pub enum Event {
    /// There is news of the domain.
    Domain,
    /// The network is joined.
    Joined(Session),
    /// What a channel has on the other side has come, or gone.
    Look(Key),
    /// From now on these hold.
    Rules(Rules),
    /// Somebody wants to know how it stands.
    Status(Sender<Vec<GatewayPeer>>),
    /// It is over.
    End,
}

/// Where the exchange hears of things. Cheap to clone; never blocks.
#[derive(Clone)]
pub struct Ear(pub Sender<Event>);

impl Ear {
    /// With its other end.
    pub fn new() -> (Ear, Receiver<Event>) {
        let (ear, heard) = channel();
        (Ear(ear), heard)
    }

    /// Something happens.
    pub fn tell(&self, event: Event) {
        let _ = self.0.send(event);
    }
}

/// What all channels need. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    /// In the domain.
    pub node: Node,
    /// Where tasks run.
    pub runtime: Handle,
    /// In the network.
    pub session: Session,
    /// What all key expressions begin with.
    pub prefix: String,
    /// Bytes.
    pub max_message: u64,
}

impl Place {
    /// By lot.
    pub fn drawn(&self) -> u64 {
        u128::from_le_bytes(drawn()) as u64
    }
}

/// What is open, or why it is not.
enum Open {
    Outlet(Box<Outlet>),
    Inlet(Inlet),
    Served(Served),
    Provided(Provided),
    Failed(String),
}

/// See the module.
pub struct Exchange {
    node: Node,
    runtime: Handle,
    prefix: String,
    max_message: u64,
    rules: Rules,
    domain: Followed,
    ear: Ear,
    teller: Teller,
    channels: BTreeMap<Key, (Due, Open)>,
    /// None: the network is not joined yet.
    place: Option<Place>,
    is_connected: bool,
}

impl Exchange {
    /// Before the network is joined.
    pub fn new(
        node: &Node,
        runtime: &Handle,
        (rules, prefix, max_message): (Rules, String, u64),
        domain: Followed,
        ear: Ear,
        teller: Teller,
    ) -> Exchange {
        Exchange {
            node: node.clone(),
            runtime: runtime.clone(),
            prefix,
            max_message,
            rules,
            domain,
            ear,
            teller,
            channels: BTreeMap::new(),
            place: None,
            is_connected: false,
        }
    }

    /// Until the end.
    pub fn run(mut self, heard: &Receiver<Event>) {
        loop {
            match heard.recv_timeout(self.teller.due()) {
                Ok(Event::Domain) => {
                    if self.domain.look() {
                        self.follow();
                    }
                }
                Ok(Event::Joined(session)) => {
                    let (node, runtime, prefix) = (self.node.clone(), self.runtime.clone(), self.prefix.clone());
                    self.place = Some(Place { node, runtime, session, prefix, max_message: self.max_message });
                    self.look_at_network();
                    self.follow();
                }
                Ok(Event::Look(key)) => match self.channels.get_mut(&key) {
                    Some((_, Open::Outlet(outlet))) => outlet.look(),
                    Some((_, Open::Provided(provided))) => provided.look(),
                    _ => {}
                },
                Ok(Event::Rules(rules)) => {
                    self.rules = rules;
                    self.follow();
                }
                Ok(Event::Status(tell)) => {
                    self.look_at_network();
                    let _ = tell.send(vec![self.status()]);
                }
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.teller.due().is_zero() {
                self.look_at_network();
                self.teller.tell(vec![([0; 16], self.status())]);
            }
        }
        self.channels.clear();
        if let Some(place) = self.place
            && let Err(why) = place.session.close().wait()
        {
            log::warn!("the Zenoh network could not be left as it should be: {}", said(&why));
        }
    }

    fn look_at_network(&mut self) {
        let is_connected = self.place.as_ref().is_some_and(|place| network::is_connected(&place.session));
        if is_connected == self.is_connected {
            return;
        }
        self.is_connected = is_connected;
        if !is_connected {
            log::warn!("nobody of the Zenoh network is there any more");
            return;
        }
        log::info!("connected with the Zenoh network");
        for (_, open) in self.channels.values() {
            if let Open::Inlet(inlet) = open {
                inlet.reconnected();
            }
        }
    }

    /// Opens what is to be open, and closes the rest.
    fn follow(&mut self) {
        let Some(place) = &self.place else { return };
        let mut due = due(self.domain.local(), &self.rules);
        // First, so that the places of those that are opened anew are free.
        self.channels.retain(|key, (before, _)| due.get(key) == Some(before));
        due.retain(|key, _| !self.channels.contains_key(key));
        for (key, due) in due {
            let open = opened(place, &key, &due, &self.ear);
            let open = open.unwrap_or_else(|why| {
                let text = format!("'{}' cannot be opened: {why}", key.1);
                log::warn!("{text}");
                Open::Failed(text)
            });
            self.channels.insert(key, (due, open));
        }
    }

    /// Without rates. The network is one peer.
    fn status(&self) -> GatewayPeer {
        let channels: Vec<GatewayChannel> = self.channels.iter().filter_map(|(key, (_, open))| told(key, open)).collect();
        let bytes = |outgoing| channels.iter().filter(|channel| channel.outgoing == outgoing).map(|channel| channel.bytes).sum();
        GatewayPeer {
            name: ZENOH.to_owned(),
            tag: ZENOH.to_owned(),
            connected: self.is_connected,
            sent_bytes: bytes(true),
            received_bytes: bytes(false),
            channels,
            ..GatewayPeer::default()
        }
    }
}

fn opened(place: &Place, key: &Key, due: &Due, ear: &Ear) -> Result<Open, String> {
    let (told, told_key) = (ear.clone(), key.clone());
    let look = move || told.tell(Event::Look(told_key.clone()));
    let (kind, name, way) = key;
    Ok(match (kind, way) {
        (Kind::Topic, Way::Out) => Open::Outlet(Box::new(Outlet::open(place, name, due, look)?)),
        (Kind::Topic, Way::In) => Open::Inlet(Inlet::open(place, name, due)?),
        (Kind::Service, Way::Out) => Open::Served(Served::open(place, name, due)?),
        (Kind::Service, Way::In) => Open::Provided(Provided::open(place, name, due, look)?),
    })
}

/// None: there is nothing to tell, as nobody wants it.
fn told((kind, name, way): &Key, open: &Open) -> Option<GatewayChannel> {
    let (state, counts) = match open {
        Open::Outlet(outlet) => outlet.told()?,
        Open::Inlet(inlet) => inlet.told(),
        Open::Served(served) => (State::Open, served.told()),
        Open::Provided(provided) => provided.told(),
        Open::Failed(why) => (State::Refused(why.clone()), (0, 0, 0)),
    };
    Some(status::channel(*kind, name, *way == Way::Out, &state, counts))
}
