//! The one who joins everything: follows the domain and the peers, and opens and closes what is to go over between them.
//!
//! It is one thread, since to open something in the domain blocks until the manager has agreed. Messages never wait for it: they go from callbacks of the node to the outbox of a connection, and from tasks that read streams into shared memory.

mod peer;
mod wishes;

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sinew::{DomainWatch, GatewayPeer, GatewayStatus};
use tokio::runtime::Handle;

use crate::domain::{Followed, Local, Looking};
use crate::lines::Lines;
use crate::nodes::Nodes;
use crate::peers::{PeerEvent, Session};
use crate::protocol::{GatewayId, Had};
use crate::rules::Rules;
use crate::status::Teller;
use peer::Peer;

/// How long what belongs to a peer is kept when the connection is lost.
const KEPT: Duration = Duration::from_secs(30);

/// Between two looks at what is about to end.
const LOOK: Duration = Duration::from_millis(5);

enum Event {
    Domain,
    Peer(PeerEvent),
    Rules(Rules),
    Status(Sender<Vec<GatewayPeer>>),
    End,
}

/// Where the exchange hears of things. Cheap to clone; never blocks.
#[derive(Clone)]
pub struct Ear(Sender<Event>);

impl Ear {
    /// Of a connection.
    pub fn peer(&self, event: PeerEvent) {
        let _ = self.0.send(Event::Peer(event));
    }

    /// From now on these hold.
    pub fn rules(&self, rules: Rules) {
        let _ = self.0.send(Event::Rules(rules));
    }

    /// How all peers stand, without rates. Blocks until the exchange has told.
    pub fn status(&self) -> Vec<GatewayPeer> {
        let (tell, told) = channel();
        let _ = self.0.send(Event::Status(tell));
        told.recv().unwrap_or_default()
    }
}

/// The domain and the rules as they are, for whoever must know at once.
#[derive(Default)]
pub struct Snapshot {
    now: RwLock<(Arc<Local>, Rules)>,
}

impl Snapshot {
    /// There is a node of this name.
    pub fn has_node(&self, name: &str) -> bool {
        self.now.read().unwrap_or_else(PoisonError::into_inner).0.nodes.iter().any(|node| node == name)
    }

    /// What the domain has that rules let out to peers of this tag.
    pub fn catalogue(&self, tag: &str) -> Vec<Had> {
        let (local, rules) = &*self.now.read().unwrap_or_else(PoisonError::into_inner);
        // How gateways stand is for their own domains, but for who asks for it by name.
        let had = local.channels.iter().filter(|((_, name), _)| name != GatewayStatus::TOPIC);
        had.filter_map(|((kind, name), channel)| {
            Some(Had {
                kind: *kind,
                name: name.clone(),
                signature: channel.signature.clone(),
                response: channel.response.clone(),
                offer: channel.had_for(&rules.decide(*kind, name, tag))?.clone(),
            })
        })
        .collect()
    }

    fn set(&self, local: &Arc<Local>, rules: &Rules) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = (Arc::clone(local), rules.clone());
    }
}

/// See the module.
pub struct Exchange {
    ear: Ear,
    thread: Option<JoinHandle<()>>,
    _watch: DomainWatch,
}

impl Exchange {
    /// The ear that it will have.
    pub fn ear() -> (Ear, Heard) {
        let (ear, heard) = channel();
        (Ear(ear), Heard(heard))
    }

    /// Starts. Blocks until the domain is known.
    pub fn start(
        nodes: Nodes,
        rules: Rules,
        runtime: &Handle,
        (ear, heard): (Ear, Heard),
        snapshot: Arc<Snapshot>,
        teller: Teller,
    ) -> sinew::Result<Exchange> {
        let (told, looking) = (ear.clone(), Looking::Gateway(nodes.own_name().to_owned()));
        let (domain, watch) = Followed::start(nodes.own(), looking, move || _ = told.0.send(Event::Domain))?;
        let nodes = Arc::new(nodes);
        let (peers, lines, comings) = (HashMap::new(), Arc::new(Lines::new()), Lines::new());
        let mut follower = Follower { nodes, runtime: runtime.clone(), rules, domain, snapshot, peers, teller, lines, comings };
        let thread = std::thread::spawn(move || follower.run(&heard.0));
        Ok(Exchange { ear, thread: Some(thread), _watch: watch })
    }
}

/// The other end of an [`Ear`].
pub struct Heard(Receiver<Event>);

impl Drop for Exchange {
    /// Ends all connections, and waits until everything in the domain is closed.
    fn drop(&mut self) {
        let _ = self.ear.0.send(Event::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Follower {
    runtime: Handle,
    rules: Rules,
    domain: Followed,
    snapshot: Arc<Snapshot>,
    peers: HashMap<GatewayId, Peer>,
    teller: Teller,
    /// What the log says of what peers say.
    lines: Arc<Lines>,
    /// And that they come and go.
    comings: Lines,
    // Last, as all that is open is theirs.
    nodes: Arc<Nodes>,
}

impl Follower {
    fn run(&mut self, heard: &Receiver<Event>) {
        loop {
            let is_ending = self.peers.values().any(Peer::is_ending);
            match heard.recv_timeout(if is_ending { self.teller.due().min(LOOK) } else { self.teller.due() }) {
                Ok(Event::Domain) => self.follow_domain(),
                Ok(Event::Peer(event)) => self.follow_peer(event),
                Ok(Event::Rules(rules)) => {
                    self.rules = rules;
                    self.follow();
                }
                Ok(Event::Status(tell)) => _ = tell.send(self.peers.values().map(Peer::status).collect()),
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            for peer in self.peers.values_mut() {
                peer.look(self.domain.local(), &self.rules);
            }
            self.peers.retain(|_, peer| !peer.is_over(Instant::now()));
            self.peers.values_mut().for_each(|peer| peer.ask_no_more(Instant::now()));
            if self.teller.due().is_zero() {
                self.peers.values().for_each(|peer| peer.look_at_calls(Instant::now()));
                self.teller.tell(self.peers.iter().map(|(id, peer)| (*id, peer.status())).collect());
            }
        }
        for peer in self.peers.values() {
            peer.leave();
        }
    }

    fn follow_domain(&mut self) {
        if self.domain.look() {
            self.follow();
        }
    }

    fn follow(&mut self) {
        self.snapshot.set(self.domain.local(), &self.rules);
        for peer in self.peers.values_mut() {
            peer.follow(self.domain.local(), &self.rules);
        }
    }

    fn follow_peer(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::Up(session) => {
                self.up(session);
                self.drop_past_lives();
            }
            PeerEvent::Heard(number, control, _place) => {
                if let Some(peer) = self.peer_of(number).and_then(|id| self.peers.get_mut(&id)) {
                    peer.hear(control, self.domain.local(), &self.rules);
                }
            }
            PeerEvent::Down { number, why, has_left } => {
                if let Some(peer) = self.peer_of(number).and_then(|id| self.peers.get_mut(&id)) {
                    self.comings.warn(&format!("the connection with {} is over: {why}", peer.shown()));
                    peer.down(Instant::now() + if has_left { Duration::ZERO } else { KEPT });
                }
                self.drop_past_lives();
            }
        }
    }

    /// What a gateway that was started anew has left unanswered goes to it, and not when its last life was waited for in vain.
    fn drop_past_lives(&mut self) {
        let is_over = |id: &GatewayId, peer: &Peer| self.peers.iter().any(|(other, next)| other != id && next.is_next_life_of(peer));
        let over: Vec<GatewayId> = self.peers.iter().filter(|(id, peer)| is_over(id, peer)).map(|(id, _)| *id).collect();
        for id in over {
            self.peers.remove(&id);
        }
    }

    fn peer_of(&self, session: u64) -> Option<GatewayId> {
        self.peers.iter().find(|(_, peer)| peer.session_number() == Some(session)).map(|(id, _)| *id)
    }

    fn up(&mut self, session: Arc<Session>) {
        let who = if session.is_dialed { "dialed" } else { "has dialed" };
        self.comings.info(&format!("connected with {} ({who}, tag '{}')", session.shown(), crate::peers::printable(&session.hello.tag)));
        let peer = self
            .peers
            .entry(session.hello.id)
            .or_insert_with(|| Peer::new(Arc::clone(&self.nodes), self.runtime.clone(), Arc::clone(&self.lines)));
        peer.up(session);
        peer.follow(self.domain.local(), &self.rules);
    }
}
