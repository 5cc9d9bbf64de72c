//! What is in other domains, as gateways of this one tell.

use std::collections::BTreeMap;
use std::time::Duration;

use sinew::msg::Type;
use sinew::raw::ClientOptions;
use sinew::{Client, GatewayCatalogue, GatewayCatalogueRequest, GatewayPeerCatalogue, Ghost, Node, Qos};

use crate::cli::Cli;
use crate::domain::{Service, View, canonical, in_domain};
use crate::failure::Failure;
use crate::gateways::topic_of;
use crate::output::shown;

/// A gateway answers within two seconds, whatever its peers do.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// Asks a gateway.
pub type Asker = Client<GatewayCatalogueRequest, GatewayCatalogue>;

/// A topic or a service of another domain, which comes here when somebody here subscribes, or calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Far {
    /// The type of the topic, or of the service's requests.
    pub signature: String,
    /// The type of the service's responses.
    pub response: String,
    /// What all publishers there offer.
    pub offered: Qos,
    /// The peers that have it.
    pub at: Vec<String>,
}

/// All that gateways of this domain know of.
#[derive(Default, PartialEq)]
pub struct Beyond {
    /// By their names.
    pub topics: BTreeMap<String, Far>,
    /// By their names.
    pub services: BTreeMap<String, Far>,
}

impl Beyond {
    /// Asks all gateways of the domain, one after the other. Nothing without any; those that do not answer have nothing.
    pub fn of(node: &Node, view: &View) -> Beyond {
        let mut beyond = Beyond::default();
        for gateway in telling(view) {
            let _ = beyond.ask(node, gateway);
        }
        beyond
    }

    fn ask(&mut self, node: &Node, gateway: &str) -> sinew::Result<()> {
        let answer = asker(node, gateway)?.call(&GatewayCatalogueRequest::default(), PATIENCE)?;
        answer.read()?.peers.iter().for_each(|peer| self.add(peer));
        Ok(())
    }

    /// What one peer has, too.
    pub fn add(&mut self, peer: &GatewayPeerCatalogue) {
        for entry in &peer.entries {
            let of_kind = if entry.kind == "topic" { &mut self.topics } else { &mut self.services };
            let far = of_kind.entry(entry.name.clone()).or_insert_with(|| Far {
                signature: entry.signature.clone(),
                response: entry.response.clone(),
                offered: Qos { depth: 0, reliable: true, transient_local: true, ..Qos::default() },
                at: Vec::new(),
            });
            far.offered = Qos {
                depth: far.offered.depth.max(entry.depth),
                keep_all: far.offered.keep_all || entry.depth == 0,
                reliable: far.offered.reliable && entry.reliable,
                transient_local: far.offered.transient_local && entry.transient_local,
                ..Qos::default()
            };
            if !far.at.contains(&peer.name) {
                far.at.push(peer.name.clone());
            }
        }
    }

    /// Why a topic that is not here cannot be shown: another domain has it, or else `why`.
    pub fn or_elsewhere(cli: &Cli, node: &Node, view: &View, topic: &str, why: Failure) -> Failure {
        match Beyond::of(node, view).topic(topic) {
            Some((name, far)) => Failure::Negative(format!(
                "topic '{0}' is at {1}, and comes here while somebody here subscribes, as `sinew topic echo {0}{2}` does",
                shown(name),
                far.places(),
                in_domain(cli.domain.as_deref())
            )),
            None => why,
        }
    }

    /// A topic of another domain, with or without a slash before it.
    pub fn topic(&self, name: &str) -> Option<(&str, &Far)> {
        self.topics.get_key_value(canonical(name)).map(|(name, far)| (name.as_str(), far))
    }
}

/// The nodes of gateways of the domain that can be asked.
pub fn telling(view: &View) -> Vec<&str> {
    let Some(topic) = topic_of(view) else { return Vec::new() };
    let services = view.services();
    // In a Zenoh network that is none of ROS 2 nobody could tell: a gateway to one has no such service, and a call would wait for it.
    let is_provided = |gateway: &&str| {
        let name = GatewayCatalogue::service(gateway);
        services.iter().any(|service: &Service<'_>| service.name == name && !view.publishing(service.responses).is_empty())
    };
    let gateways = view.endpoints(topic.id, true).filter(|publisher| publisher.ghost == Ghost::No);
    gateways.map(|publisher| view.name_of(publisher.node)).filter(is_provided).collect()
}

/// To ask the gateway whose node this is. A ghost: other clients of a service gateways have their peers told of.
pub fn asker(node: &Node, gateway: &str) -> sinew::Result<Asker> {
    let options = ClientOptions { ghost: Ghost::Observer, ..ClientOptions::default() };
    Client::new(node, &GatewayCatalogue::service(gateway), &options)
}

impl Far {
    /// What the topic carries, or requests of the service. Fails with a sentence about the type.
    pub fn ty(&self) -> Result<Type, String> {
        parsed(&self.signature)
    }

    /// The name of that, which may be all that is known of it.
    pub fn type_name(&self) -> String {
        name_of(&self.signature)
    }

    /// Likewise, of responses of the service.
    pub fn response_name(&self) -> String {
        name_of(&self.response)
    }

    /// What responses of the service are.
    pub fn response_ty(&self) -> Result<Type, String> {
        parsed(&self.response)
    }

    /// "base", "base, pit".
    pub fn places(&self) -> String {
        shown(&self.at.join(", "))
    }
}

fn name_of(signature: &str) -> String {
    signature.parse().map_or_else(|_| signature.to_owned(), |ty: Type| ty.name())
}

fn parsed(signature: &str) -> Result<Type, String> {
    signature.parse().map_err(|why| {
        if signature.contains('{') {
            format!("a gateway tells of a type that is none: {why}")
        } else {
            let name = shown(signature);
            format!("nothing is known of the type {name} but its name: a folder that has its definition is to stand in \"definitions\" of the bridge")
        }
    })
}
