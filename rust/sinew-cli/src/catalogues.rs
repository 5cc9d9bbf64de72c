//! What only other machines have, as gateways tell: they are asked while somebody wants to know, and a link carries nothing for that before.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use sinew::{GatewayCatalogue, GatewayCatalogueRequest, GatewayPeerCatalogue, Node, Response};

use crate::beyond::{Asker, Beyond, PATIENCE, asker, telling};
use crate::domain::View;
use crate::gateways::Gateways;

/// How often gateways are asked while somebody wants to know: each answer goes over their links, which may be weak.
const NOW_AND_THEN: Duration = Duration::from_secs(30);
/// The same when a peer has come, or somebody who wants to know: who comes again and again is no reason to ask as often.
const SOON: Duration = Duration::from_secs(5);

/// What gateways tell.
pub struct Catalogues {
    node: Node,
    gateways: Gateways,
    /// Nodes of gateways, and with whom they are connected.
    peers: BTreeSet<(String, String)>,
    /// So many want to know.
    wanting: usize,
    /// Somebody has come who may have more, or want to know it.
    has_news: bool,
    asked_at: Option<Instant>,
    asked: Vec<Asked>,
    /// By the nodes of gateways, and by peers: what they told last.
    told: BTreeMap<String, BTreeMap<String, GatewayPeerCatalogue>>,
    beyond: Beyond,
}

/// A gateway that has yet to answer.
struct Asked {
    gateway: String,
    response: Response<GatewayCatalogue>,
    _asker: Asker,
}

impl Catalogues {
    /// Nothing yet.
    pub fn new(node: &Node) -> Catalogues {
        Catalogues {
            node: node.clone(),
            gateways: Gateways::default(),
            peers: BTreeSet::new(),
            wanting: 0,
            has_news: false,
            asked_at: None,
            asked: Vec::new(),
            told: BTreeMap::new(),
            beyond: Beyond::default(),
        }
    }

    /// All that they told last. It stays when nobody wants to know it any more, so that the next one finds it.
    pub fn beyond(&self) -> &Beyond {
        &self.beyond
    }

    /// Some have yet to answer.
    pub fn is_asking(&self) -> bool {
        !self.asked.is_empty()
    }

    /// So many who want to know have just asked by themselves.
    pub fn were_asked(&mut self, wanting: usize) {
        (self.wanting, self.asked_at) = (wanting, Some(Instant::now()));
    }

    /// Takes answers, and asks again when it is time. Waits for no gateway. True: they tell something else than before.
    pub fn follow(&mut self, view: &View, wanting: usize) -> bool {
        let mut is_told = self.is_asking();
        self.take_answers();
        if wanting > 0 && self.is_due(view, wanting) {
            self.ask(view);
            is_told = true;
        }
        self.wanting = wanting;
        is_told && !self.is_asking() && self.join()
    }

    fn is_due(&mut self, view: &View, wanting: usize) -> bool {
        // Where that fails, there is no news, and the next time it may not.
        let _ = self.gateways.follow(&self.node, view).and_then(|()| self.gateways.take(view, Duration::ZERO));
        let told = self.gateways.told.values().flat_map(|told| told.status.peers.iter().map(|peer| (&told.status.node, peer)));
        let peers = told.filter(|(_, peer)| peer.connected).map(|(node, peer)| (node.clone(), peer.name.clone())).collect();
        let before = std::mem::replace(&mut self.peers, peers);
        self.has_news |= wanting > self.wanting || !self.peers.is_subset(&before);
        let pace = if self.has_news { SOON } else { NOW_AND_THEN };
        !self.is_asking() && self.asked_at.is_none_or(|at| at.elapsed() >= pace)
    }

    fn ask(&mut self, view: &View) {
        (self.has_news, self.asked_at) = (false, Some(Instant::now()));
        let gateways = telling(view);
        self.told.retain(|gateway, _| gateways.contains(&gateway.as_str()));
        for gateway in gateways {
            // One that has gone meanwhile has nothing.
            let Ok(asker) = asker(&self.node, gateway) else { continue };
            if let Ok(response) = asker.start(&GatewayCatalogueRequest::default(), PATIENCE) {
                self.asked.push(Asked { gateway: gateway.to_owned(), response, _asker: asker });
            }
        }
    }

    /// Of a peer that does not answer in time, and all peers of a gateway that does not, it stays as they told before.
    fn take_answers(&mut self) {
        let told = &mut self.told;
        self.asked.retain_mut(|asked| {
            let Poll::Ready(answer) = Pin::new(&mut asked.response).poll(&mut Context::from_waker(Waker::noop())) else { return true };
            let Ok(Ok(catalogue)) = answer.map(|answer| answer.read()) else { return false };
            let before = told.remove(&asked.gateway).unwrap_or_default();
            let now = catalogue.peers.into_iter().map(|peer| {
                let known = before.get(&peer.name).filter(|_| !peer.answered).cloned();
                (peer.name.clone(), known.unwrap_or(peer))
            });
            told.insert(asked.gateway.clone(), now.collect());
            false
        });
    }

    fn join(&mut self) -> bool {
        let mut beyond = Beyond::default();
        self.told.values().flat_map(BTreeMap::values).for_each(|peer| beyond.add(peer));
        let is_new = beyond != self.beyond;
        self.beyond = beyond;
        is_new
    }
}
