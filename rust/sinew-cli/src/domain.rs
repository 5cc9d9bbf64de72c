//! The domain that is asked about, and what there is in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sinew::msg::Type;
use sinew::{
    DomainEndpoint, DomainNode, DomainPair, DomainState, DomainTopic, DomainUpdate, DomainWatch, Ghost, Id, Node, NodeOptions, Qos,
};

use crate::actions::is_of_action;
use crate::cli::Cli;
use crate::failure::{Done, Failure};
use crate::output::{say, shown};

/// Joins the domain, to look at it.
pub fn join(cli: &Cli, verb: &str) -> Done<Node> {
    raise_limit_of_files();
    let name = format!("sinew-{verb}-{}", std::process::id());
    Ok(Node::with_options(&name, &NodeOptions { domain: cli.domain.clone().unwrap_or_default(), by_caller: false })?)
}

/// What is typed after a command so that it asks the same domain.
pub fn in_domain(domain: Option<&str>) -> String {
    let quoted = domain.filter(|domain| !domain.is_empty()).and_then(|domain| shlex::try_quote(domain).ok());
    quoted.map(|domain| format!(" --domain {domain}")).unwrap_or_default()
}

/// Lets the process have as many descriptors as it may: each topic that it hears, and each file that it plays, takes one.
pub fn raise_limit_of_files() {
    let files = getrlimit(Resource::Nofile);
    // What it must do without is told where it is missed.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
}

/// What there is, but for who looks at it.
#[derive(Default)]
pub struct View {
    /// All of it.
    pub state: DomainState,
    /// Nodes that have died since the view before, or lost their manager and come again.
    pub lost: Vec<DomainNode>,
    of_topics: HashMap<Id, OfTopic>,
}

/// Ids of a topic's publishers and subscribers.
#[derive(Default)]
struct OfTopic {
    publishers: Vec<Id>,
    subscribers: Vec<Id>,
    pairs: Vec<(Id, Id)>,
}

/// A service: two topics, and who is on them.
pub struct Service<'a> {
    /// Of it.
    pub name: &'a str,
    /// The topic of requests.
    pub requests: Option<&'a DomainTopic>,
    /// The topic of responses.
    pub responses: Option<&'a DomainTopic>,
}

const REQUESTS: &str = "@request";
const RESPONSES: &str = "@response";

/// The type that users of a service know, of what its requests or responses are wrapped in (spec/services.md).
pub fn body_of(topic: &DomainTopic) -> Option<Type> {
    match topic.signature.parse().ok()? {
        Type::Structure(structure) => structure.field("body").map(|field| field.ty.clone()),
        _ => None,
    }
}

/// What a topic carries.
pub fn type_of(topic: &DomainTopic) -> Done<Type> {
    topic.signature.parse().map_err(|why| Failure::Failed(format!("topic '{}' has a signature that is none: {why}", shown(&topic.name))))
}

/// As the domain calls it: one slash may stand before it, as in ROS.
pub fn canonical(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

/// The service that a topic is half of.
pub fn service_of(topic: &str) -> Option<&str> {
    topic.strip_suffix(REQUESTS).or_else(|| topic.strip_suffix(RESPONSES))
}

/// None: it is none.
pub fn kind_of_ghost(end: &DomainEndpoint) -> Option<String> {
    (end.ghost != Ghost::No).then(|| end.ghost.to_string())
}

/// Whether it is an observer: a topic does not count those.
pub fn looks_on(end: &DomainEndpoint) -> bool {
    end.ghost == Ghost::Observer
}

/// A publisher or subscriber of a topic, for tests.
#[cfg(test)]
pub fn end_on(topic: Id, id: Id, publishes: bool) -> DomainEndpoint {
    DomainEndpoint {
        id,
        node: 1,
        topic: Some(topic),
        memory: 0,
        publishes,
        ghost: Ghost::No,
        reliable: false,
        transient_local: false,
        manual_by_topic: false,
        depth: 8,
        deadline: None,
        lifespan: None,
        lease: None,
    }
}

/// Whether a topic is half of a service.
pub fn is_of_service(topic: &str) -> bool {
    service_of(topic).is_some()
}

/// Whether a topic is half of a service, or belongs to an action: those have verbs of their own.
pub fn is_part(topic: &str) -> bool {
    is_of_service(topic) || is_of_action(topic)
}

impl View {
    /// As it is now.
    pub fn of(node: &Node) -> Done<View> {
        Ok(View::new(node.domain_state()?, &node.name()))
    }

    /// Of all that is there, without the node of this name.
    pub fn new(mut state: DomainState, own: &str) -> View {
        state.nodes.retain(|_, node| node.name != own);
        let mut of_topics: HashMap<Id, OfTopic> = HashMap::new();
        for end in state.endpoints.values() {
            let Some(topic) = end.topic else { continue };
            let of_topic = of_topics.entry(topic).or_default();
            if end.publishes { &mut of_topic.publishers } else { &mut of_topic.subscribers }.push(end.id);
        }
        for key in state.pairs.keys() {
            let topic = state.endpoints.get(&key.0).and_then(|end| end.topic);
            if let Some(topic) = topic {
                of_topics.entry(topic).or_default().pairs.push(*key);
            }
        }
        View { state, lost: Vec::new(), of_topics }
    }

    /// By their names.
    pub fn topics(&self) -> Vec<&DomainTopic> {
        let mut topics: Vec<_> = self.state.topics.values().collect();
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        topics
    }

    /// By their names.
    pub fn nodes(&self) -> Vec<&DomainNode> {
        let mut nodes: Vec<_> = self.state.nodes.values().collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        nodes
    }

    /// Of that name, with or without a slash before it.
    pub fn topic(&self, name: &str) -> Done<&DomainTopic> {
        let names = || self.state.topics.values().map(|topic| topic.name.as_str()).filter(|name| !is_part(name));
        self.state.topic(canonical(name)).ok_or_else(|| not_there("topic", canonical(name), names()))
    }

    /// Likewise.
    pub fn node(&self, name: &str) -> Done<&DomainNode> {
        let name = canonical(name);
        let names = || self.state.nodes.values().map(|node| node.name.as_str());
        self.state.nodes.values().find(|node| node.name == name).ok_or_else(|| not_there("node", name, names()))
    }

    /// The name of a node, which may be gone meanwhile.
    pub fn name_of(&self, node: Id) -> &str {
        self.state.nodes.get(&node).map_or("?", |node| &node.name)
    }

    /// The name of the node of an endpoint.
    pub fn owner_of(&self, endpoint: Id) -> &str {
        self.state.endpoints.get(&endpoint).map_or("?", |endpoint| self.name_of(endpoint.node))
    }

    /// Publishers or subscribers of a topic, in the order in which they came.
    pub fn endpoints(&self, topic: Id, publish: bool) -> impl Iterator<Item = &DomainEndpoint> {
        let of_topic = self.of_topics.get(&topic);
        let ids = of_topic.map_or(&[][..], |of_topic| if publish { &of_topic.publishers } else { &of_topic.subscribers });
        ids.iter().filter_map(|id| self.state.endpoints.get(id))
    }

    /// How many publishers or subscribers a topic has, without those that only look on.
    pub fn counted(&self, topic: Id, publish: bool) -> usize {
        self.endpoints(topic, publish).filter(|end| !looks_on(end)).count()
    }

    /// Whether a topic is there for the sake of the view's own node alone.
    pub fn is_own(&self, topic: Id) -> bool {
        let ends = self.endpoints(topic, true).chain(self.endpoints(topic, false));
        let mut keeping = ends.filter(|end| end.ghost == Ghost::No).peekable();
        keeping.peek().is_some() && keeping.all(|end| !self.state.nodes.contains_key(&end.node))
    }

    /// Whether a topic's publishers keep messages for subscribers that come late. If not all do, who asks for these could not be heard by the others.
    pub fn keeps(&self, topic: Id) -> bool {
        let mut publishers = self.endpoints(topic, true).peekable();
        publishers.peek().is_some() && publishers.all(|publisher| publisher.transient_local)
    }

    /// What an observer has to offer that publishes on a topic, beside what it offers, so that all subscribers hear it.
    pub fn fitting(&self, topic: Id, offered: Qos) -> Qos {
        let shorter = |a: Option<Duration>, b: Option<Duration>| a.into_iter().chain(b).min();
        self.endpoints(topic, false).fold(offered, |qos, subscriber| Qos {
            reliable: qos.reliable || subscriber.reliable,
            transient_local: qos.transient_local || subscriber.transient_local,
            manual_by_topic: qos.manual_by_topic || subscriber.manual_by_topic,
            deadline: shorter(qos.deadline, subscriber.deadline),
            lease: shorter(qos.lease, subscriber.lease),
            ..qos
        })
    }

    /// Those of a topic.
    pub fn pairs(&self, topic: Id) -> impl Iterator<Item = &DomainPair> {
        let keys = self.of_topics.get(&topic).map_or(&[][..], |of_topic| &of_topic.pairs);
        keys.iter().filter_map(|key| self.state.pairs.get(key))
    }

    /// By their names.
    pub fn services(&self) -> Vec<Service<'_>> {
        let mut services: BTreeMap<&str, Service<'_>> = BTreeMap::new();
        for topic in self.state.topics.values() {
            let (requests, responses) = (topic.name.strip_suffix(REQUESTS), topic.name.strip_suffix(RESPONSES));
            let Some(name) = requests.or(responses) else { continue };
            let service = services.entry(name).or_insert(Service { name, requests: None, responses: None });
            *(if requests.is_some() { &mut service.requests } else { &mut service.responses }) = Some(topic);
        }
        services.into_values().collect()
    }

    /// Names of the nodes that publish on the topic, in order, without those that only look on.
    pub fn publishing(&self, topic: Option<&DomainTopic>) -> Vec<String> {
        let Some(topic) = topic else { return Vec::new() };
        let publishers = self.endpoints(topic.id, true).filter(|end| !looks_on(end));
        let names: BTreeSet<_> = publishers.map(|publisher| self.name_of(publisher.node).to_owned()).collect();
        names.into_iter().collect()
    }
}

/// What there is, kept up to date by a watch; a new View is made when something has changed.
pub struct Followed {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    _watch: DomainWatch,
    own: String,
}

#[derive(Default)]
struct Shared {
    state: DomainState,
    has_changed: bool,
    /// Nodes that did not leave.
    lost: Vec<DomainNode>,
}

impl Followed {
    /// As it is now, and from now on.
    pub fn new(node: &Node) -> Done<Followed> {
        Followed::telling(node, || {})
    }

    /// The same, and this is called when something has changed, on an execution thread of the node.
    pub fn telling(node: &Node, tell: impl Fn() + Send + 'static) -> Done<Followed> {
        let shared = Arc::new((Mutex::new(Shared::default()), Condvar::new()));
        let filled = Arc::clone(&shared);
        let watch = node.watch_domain(move |update: DomainUpdate| {
            let is_complete = update.complete;
            let mut shared = filled.0.lock().expect("nobody panics with it");
            shared.has_changed |= is_complete;
            let lost: Vec<DomainNode> = update.lost.iter().filter_map(|id| shared.state.nodes.get(id)).cloned().collect();
            shared.lost.extend(lost);
            shared.state.apply(update);
            drop(shared);
            if is_complete {
                filled.1.notify_all();
                tell();
            }
        })?;
        Ok(Followed { shared, _watch: watch, own: node.name() })
    }

    /// None: it is as before.
    pub fn changed(&self) -> Option<View> {
        self.changed_until(Instant::now())
    }

    /// The same, but it waits for a change.
    pub fn changed_until(&self, moment: Instant) -> Option<View> {
        let (shared, came) = &*self.shared;
        let shared = shared.lock().expect("nobody panics with it");
        let left = moment.saturating_duration_since(Instant::now());
        let (mut shared, _) = came.wait_timeout_while(shared, left, |shared| !shared.has_changed).expect("nobody panics with it");
        std::mem::take(&mut shared.has_changed)
            .then(|| View { lost: std::mem::take(&mut shared.lost), ..View::new(shared.state.clone(), &self.own) })
    }
}

/// What `look` finds, as soon as it is there; until then that fails as what is not there, and what it says is said.
pub fn wait_for<T>(node: &Node, most: Duration, look: impl Fn(&View) -> Done<T>) -> Done<T> {
    let until = Instant::now() + most;
    let followed = Followed::new(node)?;
    let mut view = View::of(node)?;
    let mut is_told = false;
    loop {
        let why_not = match look(&view) {
            Err(Failure::Negative(why)) => why,
            found => return found,
        };
        if !is_told {
            say!("waiting: {why_not}");
            is_told = true;
        }
        view = followed.changed_until(until).filter(|_| Instant::now() < until).ok_or(Failure::Negative(why_not))?;
    }
}

/// As a failure that suggests the nearest name.
pub fn not_there<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let names: Vec<&str> = names.collect();
    let hint = match (sinew::msg::nearest(name, names.iter().copied()), names.len()) {
        (Some(near), _) => format!("did you mean '{near}'?"),
        (None, 0) => format!("there is no {what} at all"),
        (None, _) => format!("`sinew {what} list` lists those that there are"),
    };
    Failure::Negative(format!("there is no {what} '{name}': {hint}"))
}
