//! What there is in a domain.

use std::collections::{BTreeMap, HashSet};
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

use sinew_sys as sys;

use crate::error::{Result, check, text_at};
use crate::ffi::{c_text, context_of, duration, release};
use crate::ghost::Ghost;
use crate::node::Node;
use crate::raw::Delivery;

/// The id of a node, topic or endpoint: unique among all three, and never used again while the manager lives.
pub type Id = u64;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainNode {
    /// Of it.
    pub id: Id,
    /// Unique while it is there.
    pub name: String,
    /// The container's name, or the first digits of its id; empty: none, or unknown.
    pub container: String,
    /// As the manager sees it; 0: in a container that it cannot see into.
    pub pid: i64,
    /// The user's.
    pub uid: u32,
    /// The group's.
    pub gid: u32,
}

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainTopic {
    /// Of it.
    pub id: Id,
    /// Those of the service "sum" are "sum@request" and "sum@response".
    pub name: String,
    /// "robot/Image".
    pub type_name: String,
    /// "robot/Image{width:uint32;...}": what [`raw::Subscriber::new`](crate::raw::Subscriber::new) wants.
    pub signature: String,
    /// Of the structure of the type (spec/types.md, section 4).
    pub hash: [u8; 16],
}

/// A publisher or a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainEndpoint {
    /// Of it.
    pub id: Id,
    /// Whose it is.
    pub node: Id,
    /// None: it is a ghost whose topic is gone.
    pub topic: Option<Id>,
    /// Of a publisher: bytes of shared memory that it has mapped.
    pub memory: u64,
    /// It is a publisher.
    pub publishes: bool,
    /// It is only there as long as others are.
    pub ghost: Ghost,
    /// As [`Qos::reliable`](crate::Qos::reliable).
    pub reliable: bool,
    /// As [`Qos::transient_local`](crate::Qos::transient_local).
    pub transient_local: bool,
    /// As [`Qos::manual_by_topic`](crate::Qos::manual_by_topic).
    pub manual_by_topic: bool,
    /// As [`Qos::depth`](crate::Qos::depth); 0: keep all.
    pub depth: u32,
    /// As [`Qos::deadline`](crate::Qos::deadline).
    pub deadline: Option<Duration>,
    /// As [`Qos::lifespan`](crate::Qos::lifespan).
    pub lifespan: Option<Duration>,
    /// As [`Qos::lease`](crate::Qos::lease).
    pub lease: Option<Duration>,
}

/// A publisher and a subscriber of one topic. It goes with either of them, or when either is on no topic any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainPair {
    /// An endpoint.
    pub publisher: Id,
    /// An endpoint.
    pub subscriber: Id,
    /// How messages come; none: it is not connected.
    pub delivery: Option<Delivery>,
    /// Why not by [`Delivery::Native`] or [`Delivery::Pointer`], or not connected, as a sentence.
    pub why: String,
}

/// What has come or changed, as it is now, and what is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainUpdate {
    /// Forget what updates before have told: this begins from nothing, as the first one does.
    pub anew: bool,
    /// With this, everything has been told. There may be some updates before the first that is complete.
    pub complete: bool,
    /// New ones, or changed.
    pub nodes: Vec<DomainNode>,
    /// New ones, or changed.
    pub topics: Vec<DomainTopic>,
    /// New ones, or changed.
    pub endpoints: Vec<DomainEndpoint>,
    /// New ones, or changed.
    pub pairs: Vec<DomainPair>,
    /// Nodes, topics and endpoints that are gone; of some nothing may have been told.
    pub gone: Vec<Id>,
    /// Of those, nodes that did not leave: they have died, or lost their manager and come again.
    pub lost: Vec<Id>,
}

/// What there is in a domain.
///
/// ```no_run
/// # let node = sinew::Node::new("viewer")?;
/// for topic in node.domain_state()?.topics.values() {
///     println!("{}: {}", topic.name, topic.type_name);
/// }
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainState {
    /// By their ids.
    pub nodes: BTreeMap<Id, DomainNode>,
    /// By their ids.
    pub topics: BTreeMap<Id, DomainTopic>,
    /// By their ids.
    pub endpoints: BTreeMap<Id, DomainEndpoint>,
    /// By the ids of publisher and subscriber.
    pub pairs: BTreeMap<(Id, Id), DomainPair>,
}

impl DomainState {
    /// Brings it up to date; begins from nothing where the update does.
    pub fn apply(&mut self, update: DomainUpdate) {
        if update.anew {
            *self = DomainState::default();
        }
        self.nodes.extend(update.nodes.into_iter().map(|node| (node.id, node)));
        self.topics.extend(update.topics.into_iter().map(|topic| (topic.id, topic)));
        // A ghost that is on no topic any more is there, but in no pair.
        let mut gone: HashSet<Id> = update.endpoints.iter().filter(|end| end.topic.is_none()).map(|end| end.id).collect();
        self.endpoints.extend(update.endpoints.into_iter().map(|endpoint| (endpoint.id, endpoint)));
        self.pairs.extend(update.pairs.into_iter().map(|pair| ((pair.publisher, pair.subscriber), pair)));
        for id in &update.gone {
            self.nodes.remove(id);
            self.topics.remove(id);
            self.endpoints.remove(id);
        }
        gone.extend(update.gone);
        if !gone.is_empty() {
            self.pairs.retain(|(publisher, subscriber), _| !gone.contains(publisher) && !gone.contains(subscriber));
        }
    }

    /// The topic of this name.
    pub fn topic(&self, name: &str) -> Option<&DomainTopic> {
        self.topics.values().find(|topic| topic.name == name)
    }
}

impl Node {
    /// What there is now. Blocks until the manager has told everything: under a millisecond, and some microseconds for each endpoint and pair.
    pub fn domain_state(&self) -> Result<DomainState> {
        let mut everything = ptr::null_mut();
        // SAFETY: the node is there.
        check(unsafe { sys::sinew_domain_get(self.0.raw(), &mut everything) })?;
        // SAFETY: it is ours, and released once, behind its last use.
        let update = unsafe {
            let update = update_of(everything);
            sys::sinew_domain_release(everything);
            update
        };
        let mut state = DomainState::default();
        state.apply(update);
        Ok(state)
    }

    /// Ends the connection of the node of this name with the manager, as if that had died: it registers again, and all its pairs are introduced anew, while those that are connected go on. For nodes that others see wrongly, and for
    /// tests. [`ErrorKind::Denied`](crate::ErrorKind) for another user's, unless this is the manager's or root; [`ErrorKind::InvalidArgument`](crate::ErrorKind) where there is no such node. Does not wait for what comes of it.
    pub fn disconnect(&self, name: &str) -> Result<()> {
        let name = c_text(name)?;
        // SAFETY: the node is there, and the text lives until it returns.
        check(unsafe { sys::sinew_node_disconnect(self.0.raw(), name.as_ptr()) })
    }

    /// Calls `callback` with what there is, and then with every change, on execution thread 0, as long as the watch lives. Changes that follow each other quickly, or come while the callback runs, are told together. A node may have
    /// 16 watches. A panic in the callback ends the process.
    pub fn watch_domain(&self, callback: impl FnMut(DomainUpdate) + Send + 'static) -> Result<DomainWatch> {
        let callback: OnUpdate = Mutex::new(Box::new(callback));
        let asked = sys::sinew_domain_watch_options {
            struct_size: size_of::<sys::sinew_domain_watch_options>() as u32,
            execution_thread: 0,
            on_update: Some(on_update),
            context: context_of(callback),
            release: Some(release::<OnUpdate>),
        };
        let mut watch = ptr::null_mut();
        // SAFETY: the context belongs to the library from here on, which fits.
        check(unsafe { sys::sinew_domain_watch_create(self.0.raw(), &asked, &mut watch) })?;
        Ok(DomainWatch { watch, _node: self.clone() })
    }
}

/// See [`Node::watch_domain`].
pub struct DomainWatch {
    watch: *mut sys::sinew_domain_watch,
    _node: Node,
}

// SAFETY: any thread may end it.
unsafe impl Send for DomainWatch {}
// SAFETY: nothing can be done with a reference.
unsafe impl Sync for DomainWatch {}

type OnUpdate = Mutex<Box<dyn FnMut(DomainUpdate) + Send>>;

unsafe extern "C" fn on_update(context: *mut c_void, update: *const sys::sinew_domain_update) {
    // SAFETY: the library gives what it was given, and an update that lives as long as this runs.
    let (on_update, update) = unsafe { (&*context.cast::<OnUpdate>(), update_of(update)) };
    on_update.lock().expect("a panic ends the process")(update);
}

impl Drop for DomainWatch {
    /// Waits for a running callback, unless called in it.
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { sys::sinew_domain_watch_destroy(self.watch) }
    }
}

impl fmt::Debug for DomainWatch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("DomainWatch").finish_non_exhaustive()
    }
}

/// # Safety
/// The update is there.
unsafe fn update_of(update: *const sys::sinew_domain_update) -> DomainUpdate {
    // SAFETY: as the caller has promised; indices are less than the counts, and texts live as long as the update.
    unsafe {
        DomainUpdate {
            anew: sys::sinew_domain_update_is_anew(update),
            complete: sys::sinew_domain_update_is_complete(update),
            nodes: (0..sys::sinew_domain_update_node_count(update)).map(|n| node_of(sys::sinew_domain_update_node(update, n))).collect(),
            topics: (0..sys::sinew_domain_update_topic_count(update))
                .map(|n| topic_of(sys::sinew_domain_update_topic(update, n)))
                .collect(),
            endpoints: (0..sys::sinew_domain_update_endpoint_count(update))
                .map(|n| endpoint_of(&sys::sinew_domain_update_endpoint(update, n)))
                .collect(),
            pairs: (0..sys::sinew_domain_update_pair_count(update)).map(|n| pair_of(sys::sinew_domain_update_pair(update, n))).collect(),
            gone: (0..sys::sinew_domain_update_gone_count(update)).map(|n| sys::sinew_domain_update_gone(update, n)).collect(),
            lost: (0..sys::sinew_domain_update_lost_count(update)).map(|n| sys::sinew_domain_update_lost(update, n)).collect(),
        }
    }
}

/// # Safety
/// Its texts are there.
unsafe fn node_of(node: sys::sinew_domain_node) -> DomainNode {
    // SAFETY: as the caller has promised.
    let (name, container) = unsafe { (text_at(node.name), text_at(node.container)) };
    DomainNode { id: node.id, name, container, pid: node.pid, uid: node.uid, gid: node.gid }
}

/// # Safety
/// Its texts are there.
unsafe fn topic_of(topic: sys::sinew_domain_topic) -> DomainTopic {
    // SAFETY: as the caller has promised.
    let (name, type_name, signature) = unsafe { (text_at(topic.name), text_at(topic.type_), text_at(topic.signature)) };
    DomainTopic { id: topic.id, name, type_name, signature, hash: topic.hash }
}

fn endpoint_of(endpoint: &sys::sinew_domain_endpoint) -> DomainEndpoint {
    DomainEndpoint {
        id: endpoint.id,
        node: endpoint.node,
        topic: (endpoint.topic != 0).then_some(endpoint.topic),
        memory: endpoint.memory,
        publishes: endpoint.publishes,
        ghost: Ghost::told(endpoint.ghost),
        reliable: endpoint.reliable,
        transient_local: endpoint.transient_local,
        manual_by_topic: endpoint.manual_by_topic,
        depth: endpoint.depth,
        deadline: duration(endpoint.deadline_ns),
        lifespan: duration(endpoint.lifespan_ns),
        lease: duration(endpoint.lease_ns),
    }
}

/// # Safety
/// Its text is there.
unsafe fn pair_of(pair: sys::sinew_domain_pair) -> DomainPair {
    // SAFETY: as the caller has promised.
    let why = unsafe { text_at(pair.why) };
    let delivery = pair.connected.then(|| Delivery::of(pair.delivery));
    DomainPair { publisher: pair.publisher, subscriber: pair.subscriber, delivery, why }
}
