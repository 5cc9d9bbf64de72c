//! What somebody in the domain wants, or has. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use sinew::msg::Type;
use sinew::{DomainEndpoint, DomainState, DomainTopic, GatewayCatalogueRequest, Ghost, Id, signature_of};

use super::onward::{is_onward, passes_on};
use crate::channels::DEEPEST;
use crate::protocol::{Kind, Offer};
use crate::rules::Decision;

const REQUESTS: &str = "@request";
const RESPONSES: &str = "@response";

/// Who looks at a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Looking {
    /// A bridge, which brings what anybody wants, also a gateway that sends it onward.
    #[default]
    Bridge,
    /// The gateway that is this node.
    Gateway(String),
}

/// The topics and services of a domain, by who is there for them: ghosts aside, but for observers that publish, and what gateways and bridges tell the domain of their peers, which is for nobody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// By what they are and their names.
    pub channels: BTreeMap<(Kind, String), LocalChannel>,
    /// The names of all nodes.
    pub nodes: Vec<String>,
}

/// A topic or a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalChannel {
    /// The type of the topic, or of the service's requests.
    pub signature: String,
    /// The type of the service's responses; of a topic empty.
    pub response: String,
    /// Of the topic, or of the service's requests. What was gone and has come again has another one, and who was a ghost there is to become one anew.
    pub topic: Id,
    /// What all of its subscribers together ask for; of a service, somebody calls it. None: there is nobody.
    pub wanted: Option<Offer>,
    /// How many messages that were kept those want together who ask for any; 0: all of them. None: nobody asks for any.
    pub wanted_kept: Option<u32>,
    /// What may be said of each of its publishers, and as many messages as all of them together keep for those who come late; of a service, somebody provides it. None: there is nobody.
    pub had: Option<Offer>,
    /// The same, where what others have brought counts, too, and may be sent onward (G38); of a service, and for a bridge, as `had`.
    pub brought: Option<Offer>,
    /// The names of the nodes that want it, in their order, each once.
    pub wanters: Vec<String>,
    /// The names of the nodes that have it, likewise.
    pub havers: Vec<String>,
}

impl Local {
    /// Of a whole state.
    pub fn of(state: &DomainState, looking: &Looking) -> Local {
        let mut ends: HashMap<Id, Ends> = HashMap::new();
        for end in state.endpoints.values() {
            let Some(topic) = end.topic else { continue };
            let ends = ends.entry(topic).or_default();
            match (end.publishes, end.ghost) {
                (true, Ghost::No) => ends.publishers.push(end),
                // What it publishes a person there wants sent. Of a service nobody could tell who provides it from who looks on.
                (true, Ghost::Observer) if !state.topics.get(&topic).is_some_and(is_of_service) => ends.publishers.push(end),
                (true, Ghost::Carrier) if looking.sends_onward(owner(state, end)) => ends.carriers.push(end),
                (false, Ghost::No) if looking.counts(owner(state, end)) => ends.subscribers.push(end),
                _ => {}
            }
        }
        let names: HashMap<&str, &str> = state.topics.values().map(|topic| (topic.name.as_str(), topic.signature.as_str())).collect();
        let catalogue = signature_of::<GatewayCatalogueRequest>().unwrap_or_default();
        let catalogue = name_of(&catalogue);
        let mut channels = BTreeMap::new();
        for topic in state.topics.values() {
            let Some(Ends { publishers, carriers, subscribers }) = ends.get(&topic.id) else { continue };
            if topic.name.ends_with(RESPONSES) {
                continue;
            }
            if let Some(service) = topic.name.strip_suffix(REQUESTS) {
                let responses = names.get(format!("{service}{RESPONSES}").as_str());
                let (Some(request), Some(response)) = (body_of(&topic.signature), responses.and_then(|signature| body_of(signature)))
                else {
                    continue;
                };
                // What others have let one gateway know, they have let nobody else know.
                if name_of(&request) == catalogue {
                    continue;
                }
                let present = |ends: &[&DomainEndpoint]| (!ends.is_empty()).then(Offer::default);
                let channel = LocalChannel {
                    signature: request,
                    response,
                    topic: topic.id,
                    wanted: present(publishers),
                    wanted_kept: None,
                    had: present(subscribers),
                    brought: present(subscribers),
                    wanters: owners(state, publishers),
                    havers: owners(state, subscribers),
                };
                channels.insert((Kind::Service, service.to_owned()), channel);
            } else {
                let channel = LocalChannel {
                    signature: topic.signature.clone(),
                    response: String::new(),
                    topic: topic.id,
                    wanted: asked(subscribers),
                    wanted_kept: subscribers.iter().filter(|end| end.transient_local).map(|end| end.depth).reduce(deeper),
                    had: offered(publishers),
                    brought: offered(&[publishers.as_slice(), carriers].concat()),
                    wanters: owners(state, subscribers),
                    havers: owners(state, publishers),
                };
                channels.insert((Kind::Topic, topic.name.clone()), channel);
            }
        }
        Local { channels, nodes: state.nodes.values().map(|node| node.name.clone()).collect() }
    }
}

impl LocalChannel {
    /// What is offered to a peer for which the rules have decided so. None: nobody has it, or they do not let it out.
    pub fn had_for(&self, decision: &Decision) -> Option<&Offer> {
        let had = if decision.traffic.onward { &self.brought } else { &self.had };
        had.as_ref().filter(|_| decision.symbol.lets_out())
    }
}

/// Those of a topic.
#[derive(Default)]
struct Ends<'a> {
    publishers: Vec<&'a DomainEndpoint>,
    /// Who publish what is not of this domain.
    carriers: Vec<&'a DomainEndpoint>,
    subscribers: Vec<&'a DomainEndpoint>,
}

impl Looking {
    /// Whether what a carrier of this node publishes may be sent onward: neither what the gateway itself has brought, nor what was sent onward once.
    fn sends_onward(&self, node: &str) -> bool {
        matches!(self, Looking::Gateway(own) if passes_on(own, node))
    }

    /// Whether it counts that this node subscribes. What a gateway wants for its peers is no reason for another one to ask its own for it: two that do so for each other would never end.
    fn counts(&self, node: &str) -> bool {
        *self == Looking::Bridge || !is_onward(node)
    }
}

fn owner<'a>(state: &'a DomainState, end: &DomainEndpoint) -> &'a str {
    state.nodes.get(&end.node).map_or("", |node| node.name.as_str())
}

fn is_of_service(topic: &DomainTopic) -> bool {
    topic.name.ends_with(REQUESTS) || topic.name.ends_with(RESPONSES)
}

/// The type that users of a service know, of what its requests or responses are wrapped in (spec/services.md).
fn body_of(signature: &str) -> Option<String> {
    match signature.parse().ok()? {
        Type::Structure(structure) => structure.field("body").map(|field| field.ty.to_string()),
        _ => None,
    }
}

/// Of a type.
fn name_of(signature: &str) -> &str {
    signature.split_once('{').map_or(signature, |(name, _)| name)
}

/// The names of their nodes.
fn owners(state: &DomainState, ends: &[&DomainEndpoint]) -> Vec<String> {
    let names: BTreeSet<&String> = ends.iter().filter_map(|end| Some(&state.nodes.get(&end.node)?.name)).collect();
    names.into_iter().cloned().collect()
}

/// What satisfies all of them.
fn asked(subscribers: &[&DomainEndpoint]) -> Option<Offer> {
    let shorter = |a: Option<Duration>, b: Option<Duration>| a.into_iter().chain(b).min();
    subscribers.iter().map(|end| offer_of(end)).reduce(|a, b| Offer {
        depth: deeper(a.depth, b.depth),
        reliable: a.reliable || b.reliable,
        transient_local: a.transient_local || b.transient_local,
        deadline: shorter(a.deadline, b.deadline),
        lifespan: None,
        lease: shorter(a.lease, b.lease),
    })
}

/// What may be said of all of them.
fn offered(publishers: &[&DomainEndpoint]) -> Option<Offer> {
    let longer = |a: Option<Duration>, b: Option<Duration>| a.zip(b).map(|(a, b)| a.max(b));
    let offer = publishers.iter().map(|end| offer_of(end)).reduce(|a, b| Offer {
        depth: if a.depth == 0 || b.depth == 0 { a.depth | b.depth } else { a.depth.max(b.depth) },
        reliable: a.reliable && b.reliable,
        transient_local: a.transient_local && b.transient_local,
        deadline: longer(a.deadline, b.deadline),
        lifespan: longer(a.lifespan, b.lifespan),
        lease: longer(a.lease, b.lease),
    })?;
    // Who comes late is to get what each of them has kept.
    let depth = if offer.transient_local { kept(publishers) } else { offer.depth };
    Some(Offer { depth, ..offer })
}

/// The depth that does for both.
pub fn deeper(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { 0 } else { a.max(b) }
}

fn kept(publishers: &[&DomainEndpoint]) -> u32 {
    let together = |sum: u32, depth: u32| if sum == 0 || depth == 0 { 0 } else { sum.saturating_add(depth).min(DEEPEST) };
    publishers.iter().map(|end| end.depth).reduce(together).unwrap_or_default()
}

fn offer_of(end: &DomainEndpoint) -> Offer {
    Offer {
        depth: end.depth,
        reliable: end.reliable,
        transient_local: end.transient_local,
        deadline: end.deadline,
        lifespan: if end.publishes { end.lifespan } else { None },
        lease: end.lease,
    }
}
