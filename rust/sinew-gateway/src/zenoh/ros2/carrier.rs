//! Zenoh as actions have it.

use std::sync::Arc;
use std::time::Duration;

use sinew::Node;
use tokio::runtime::Handle;

use super::network::Place;
use super::replier::{Caller, Replier, service_qos};
use super::requester::{self, Client, Requester};
use crate::bridge::{Due, Key, Look};
use crate::channels::Counts;
use crate::ros2::action::{self, Carrier, Named, OfActions};
use crate::ros2::calls::{Asked, Tasks};
use crate::ros2::types::Types;

/// A goal takes as long as it takes; Zenoh wants a time.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

impl Carrier for Place {
    type Caller = Caller;
    type Replier = Replier;
    /// Its key.
    type Server = String;
    type Requester = Requester;

    fn node(&self) -> &Node {
        &self.zenoh.node
    }

    fn runtime(&self) -> &Handle {
        &self.zenoh.runtime
    }

    fn types(&self) -> &Types {
        &self.types
    }

    fn feedbacks(&self) -> &OfActions {
        &self.actions
    }

    fn replier<Answering: Future<Output = ()> + Send + 'static>(
        &self,
        key: &Key,
        service: Named<'_>,
        counts: &Arc<Counts>,
        tasks: &Tasks,
        _: Look,
        asked: impl Fn(Asked<Caller>) -> Answering + Send + Sync + 'static,
    ) -> Result<Replier, String> {
        Replier::open(self, key, service, counts, tasks, asked)
    }

    /// All of a type have one key.
    fn server(&self, service: Named<'_>, _: Option<&String>) -> (Option<String>, Option<String>) {
        requester::server(self, service)
    }

    fn requester(&self, key: &Key, due: &Due, (name, ty): Named<'_>, server: &String, _: Look) -> Result<Requester, String> {
        let gid = self.graph.opened(key, (name, &ty.dds, &ty.hash), service_qos());
        Ok(Requester {
            name: name.to_owned(),
            at: server.clone(),
            client: Arc::new(Client::new(gid)),
            ty: Arc::new(ty.clone()),
            place: self.clone(),
            priority: due.traffic.priority,
            longest: LONGEST,
        })
    }

    async fn caught_up(&self, action: &str) {
        if let Some(waiting) = self.feedback_of(action) {
            waiting.settled().await;
        }
    }

    fn closed(&self, key: &Key) {
        self.graph.closed(key);
    }
}

impl action::Requester for Requester {
    /// A server whose token is there gets what is asked.
    fn is_ready(&self) -> bool {
        true
    }

    /// Zenoh ends what is asked of who has gone.
    fn forget_lost(&self) {}

    /// Likewise.
    fn give_up(&self) {}

    async fn ask(&self, request: Vec<&[u8]>) -> Result<Vec<u8>, String> {
        Requester::ask(self, request.concat()).await
    }
}
