//! The nodes of the domain, and what goes over of what they have, as tools of ROS 2 list them: by liveliness tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zenoh::liveliness::LivelinessToken;
use zenoh::{Session, Wait};

use super::attachment::Gid;
use super::token::{Author, End, Kind};
use crate::bridge::{Key, Way};
use crate::domain::Local;
use crate::protocol;
use crate::ros2::qos::Qos;
use crate::zenoh::said;

/// By the names of the nodes. None: it could not be declared.
type Tokens = BTreeMap<String, (Gid, Option<LivelinessToken>)>;

/// The gid that messages or calls of a channel are to have: that of a token of it that is there. Other bridges of the domain know by it that they are of one.
#[derive(Clone)]
pub struct OwnGid(Arc<Mutex<Gid>>);

impl OwnGid {
    fn new(gid: Gid) -> OwnGid {
        OwnGid(Arc::new(Mutex::new(gid)))
    }

    /// As it is now.
    pub fn get(&self) -> Gid {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, gid: Gid) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = gid;
    }
}

/// What is told. Shared between the thread that opens channels, and these.
pub struct Graph {
    session: Session,
    author: Author,
    /// Of the bridge, for what nobody is known to have.
    own: String,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    local: Arc<Local>,
    /// By their names, with their numbers.
    nodes: BTreeMap<String, (u64, Option<LivelinessToken>)>,
    /// The three services of an action have one key.
    ends: BTreeMap<Key, Vec<Declared>>,
    /// Of what was closed, and may be opened anew at once.
    leaving: BTreeMap<Key, Vec<Declared>>,
    /// The last that was given.
    number: u64,
}

/// What a channel has there, with the tokens of the nodes whose that is.
struct Declared {
    end: End,
    told: Tokens,
    gid: OwnGid,
}

impl Graph {
    /// Of nobody so far. `own` is the bridge's node.
    pub fn new(session: Session, author: Author, own: String) -> Graph {
        Graph { session, author, own, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These are the nodes now, and what they have.
    pub fn follow(&self, local: &Arc<Local>) {
        let mut all = self.all();
        all.local = Arc::clone(local);
        let there: BTreeSet<&String> = local.nodes.iter().collect();
        all.nodes.retain(|name, _| there.contains(name));
        for name in &local.nodes {
            self.number(&mut all, name);
        }
        let keys: Vec<Key> = all.ends.keys().cloned().collect();
        for key in keys {
            self.renew(&mut all, &key);
        }
    }

    /// Something goes over, or will when somebody there is for it.
    pub fn opened(&self, key: &Key, (name, ty, hash): (&str, &str, &str), qos: Qos) -> OwnGid {
        let end = End { kind: kind(key), name: name.to_owned(), ty: ty.to_owned(), hash: hash.to_owned(), qos };
        let gid = OwnGid::new(Gid::of(&self.author.zid));
        let mut all = self.all();
        all.ends.entry(key.clone()).or_default().push(Declared { end, told: Tokens::new(), gid: gid.clone() });
        self.renew(&mut all, key);
        if let Some(leaving) = all.leaving.get_mut(key) {
            leaving.retain(|declared| declared.end.name != name);
        }
        gid
    }

    /// It does not any more. Its tokens stay until it is [`opened`](Graph::opened) anew, or all have [`gone`](Graph::gone) that are to: where what is offered changes, nobody there is to believe that the topic has gone, and forget what was kept of it.
    pub fn closed(&self, key: &Key) {
        let mut all = self.all();
        if let Some(ends) = all.ends.remove(key) {
            all.leaving.insert(key.clone(), ends);
        }
    }

    /// What was closed is not opened anew.
    pub fn gone(&self) {
        self.all().leaving.clear();
    }

    /// Nothing is told any more.
    pub fn clear(&self) {
        *self.all() = All::default();
    }

    /// Tells of each node that has it, and no longer of those that had.
    fn renew(&self, all: &mut All, key: &Key) {
        let Some(mut ends) = all.ends.remove(key) else { return };
        let owners = owners(&all.local, key, &self.own);
        for Declared { end, told, gid } in &mut ends {
            for owner in &owners {
                if told.contains_key(owner) {
                    continue;
                }
                let node = self.number(all, owner);
                all.number += 1;
                let token = self.author.token((owner, node), Some((all.number, end)));
                told.insert(owner.clone(), (Gid::of(&token), self.declared(&token)));
            }
            let mut stay = told.iter().filter(|(owner, _)| owners.contains(owner)).map(|(_, (gid, _))| *gid);
            // Before its token goes, as others forget it then.
            if !stay.clone().any(|each| each == gid.get())
                && let Some(other) = stay.next()
            {
                gid.set(other);
            }
            told.retain(|owner, _| owners.contains(owner));
        }
        all.ends.insert(key.clone(), ends);
    }

    /// Of a node, which is told of where it was not.
    fn number(&self, all: &mut All, name: &str) -> u64 {
        if let Some((number, _)) = all.nodes.get(name) {
            return *number;
        }
        all.number += 1;
        let number = all.number;
        let token = self.author.token((name, number), None);
        all.nodes.insert(name.to_owned(), (number, self.declared(&token)));
        number
    }

    fn declared(&self, token: &str) -> Option<LivelinessToken> {
        let declared = self.session.liveliness().declare_token(token).wait();
        declared.map_err(|why| log::warn!("ROS 2 does not know of '{token}': {}", said(&why))).ok()
    }
}

/// What goes out its publishers have, or its provider; what comes in its subscribers, or those who call.
fn owners(local: &Local, key: &Key, own: &str) -> Vec<String> {
    let (kind, name, way) = key;
    let channel = local.channels.get(&(*kind, name.clone()));
    let named = channel.map(|channel| if *way == Way::Out { &channel.havers } else { &channel.wanters });
    named.filter(|named| !named.is_empty()).cloned().unwrap_or_else(|| vec![own.to_owned()])
}

fn kind((kind, _, way): &Key) -> Kind {
    match (kind, way) {
        (protocol::Kind::Topic, Way::Out) => Kind::Publisher,
        (protocol::Kind::Topic, Way::In) => Kind::Subscription,
        (protocol::Kind::Service, Way::Out) => Kind::Server,
        (protocol::Kind::Service, Way::In) => Kind::Client,
    }
}
