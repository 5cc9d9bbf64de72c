//! What actions need of that which carries services of ROS 2: DDS, or Zenoh.

use std::sync::Arc;

use sinew::Node;
use tokio::runtime::Handle;

use super::feedbacks::OfActions;
use crate::bridge::{Due, Key, Look};
use crate::channels::Counts;
use crate::ros2::calls::{Asked, Caller, Tasks};
use crate::ros2::types::{RosService, Types};

/// A service of ROS 2, by its name there.
pub type Named<'a> = (&'a str, &'a RosService);

/// Where services of ROS 2 are, for one bridge.
pub trait Carrier: Clone + Send + Sync + 'static {
    /// Who waits for a reply.
    type Caller: Caller;
    /// Answers calls, until it is dropped.
    type Replier: Send;
    /// Where a server is found, or in which way. Where that is another one, so must who asks it be.
    type Server: Clone + PartialEq + Send;
    /// Asks a server.
    type Requester: Requester;

    /// In the domain.
    fn node(&self) -> &Node;

    /// Where tasks run.
    fn runtime(&self) -> &Handle;

    /// As ROS 2 knows them.
    fn types(&self) -> &Types;

    /// What was told of goals.
    fn feedbacks(&self) -> &OfActions;

    /// `asked` is what is done with each request; what is none is refused before. `look` is called when somebody comes or goes who reads replies, where that is known.
    fn replier<Answering: Future<Output = ()> + Send + 'static>(
        &self,
        key: &Key,
        service: Named<'_>,
        counts: &Arc<Counts>,
        tasks: &Tasks,
        look: Look,
        asked: impl Fn(Asked<Self::Caller>) -> Answering + Send + Sync + 'static,
    ) -> Result<Self::Replier, String>;

    /// A server that fits: as `like`, while there is one, so that who asks it need not be another. None: there is none; and, where there is one that does not, why.
    fn server(&self, service: Named<'_>, like: Option<&Self::Server>) -> (Option<Self::Server>, Option<String>);

    /// `look` is called when a server comes or goes, where [`server`](Carrier::server) does not tell it.
    fn requester(&self, key: &Key, due: &Due, service: Named<'_>, server: &Self::Server, look: Look) -> Result<Self::Requester, String>;

    /// Until the feedback of an action that has come is told in the domain, where it lies in a queue before.
    fn caught_up(&self, _action: &str) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Nothing there is for this any more.
    fn closed(&self, key: &Key);
}

/// Asks a server, until it gives up.
pub trait Requester: Send + Sync + 'static {
    /// Whether a server gets what is asked.
    fn is_ready(&self) -> bool;

    /// Somebody may have gone: whoever waits for a reply of those alone is told that there will be none.
    fn forget_lost(&self);

    /// Whoever waits for a reply is told that there will be none.
    fn give_up(&self);

    /// Sends the request that the parts, joined, are, and waits for the reply. Fails with a sentence.
    fn ask(&self, request: Vec<&[u8]>) -> impl Future<Output = Result<Vec<u8>, String>> + Send;
}
