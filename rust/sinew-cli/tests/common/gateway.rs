//! A gateway as its domain sees it, with a peer `far` that is made up. What it brings is the test's.
#![allow(dead_code)] // by each test file, another part

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use sinew::raw::{Publisher, PublisherOptions};
use sinew::{
    GatewayCatalogue, GatewayCatalogueRequest, GatewayEntry, GatewayPeer, GatewayPeerCatalogue, GatewayStatus, Ghost, Node, Provider, Qos,
};

pub const NUMBER: &str = "test/Number{value:uint64;}";

pub fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

/// What peers offer.
pub fn kept() -> Qos {
    Qos { transient_local: true, reliable: true, ..Qos::keep_last(3) }
}

/// Of the topic `number`.
pub fn publisher(node: &Node, ghost: Ghost, qos: &Qos) -> Publisher {
    Publisher::new(node, "number", NUMBER, qos, PublisherOptions { ghost, ..PublisherOptions::default() }).unwrap()
}

/// It tells what its peer has.
pub struct Gateway {
    node: Node,
    status: sinew::Publisher<GatewayStatus>,
    _provider: Provider<GatewayCatalogueRequest, GatewayCatalogue>,
    peers: Arc<Mutex<Vec<GatewayPeerCatalogue>>>,
    asked: Arc<AtomicU64>,
}

impl Gateway {
    /// Topics like `number` of these names.
    pub fn new(node: &Node, topics: &[&str]) -> Gateway {
        let status = sinew::Publisher::new(node, GatewayStatus::TOPIC, &GatewayStatus::qos()).unwrap();
        status.publish(&GatewayStatus::default()).unwrap();
        let (peers, asked) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let (told, counted) = (Arc::clone(&peers), Arc::clone(&asked));
        let provider = Provider::new(node, &GatewayCatalogue::service(&node.name()), &Default::default(), move |call| {
            call.answer(&GatewayCatalogue { peers: told.lock().unwrap().clone() }).unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let gateway = Gateway { node: node.clone(), status, _provider: provider.unwrap(), peers, asked };
        gateway.has(true, topics);
        gateway
    }

    /// From now on, what the peer has: `answered`, as it says itself.
    pub fn has(&self, answered: bool, topics: &[&str]) {
        self.has_of(NUMBER, answered, topics);
    }

    /// The same, of a type.
    pub fn has_of(&self, signature: &str, answered: bool, topics: &[&str]) {
        let entry = |name: &&str| GatewayEntry {
            kind: "topic".to_owned(),
            name: (*name).to_owned(),
            signature: signature.to_owned(),
            depth: 3,
            reliable: true,
            transient_local: true,
            ..GatewayEntry::default()
        };
        let entries = topics.iter().map(entry).collect();
        *self.peers.lock().unwrap() = vec![GatewayPeerCatalogue { name: "far".to_owned(), answered, entries }];
    }

    /// How often it was asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Tells that such peers are connected.
    pub fn is_connected_with(&self, peers: &[&str]) {
        let peer = |name: &&str| GatewayPeer { name: (*name).to_owned(), connected: true, ..GatewayPeer::default() };
        let status = GatewayStatus { node: self.node.name(), peers: peers.iter().map(peer).collect(), ..GatewayStatus::default() };
        self.status.publish(&status).unwrap();
    }
}
