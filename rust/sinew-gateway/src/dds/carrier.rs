//! DDS as actions have it.

use std::sync::Arc;

use sinew::Node;
use tokio::runtime::Handle;

use super::network::Place;
use super::replier::{Caller, Replier};
use super::requester::{self, Requester};
use super::strangers::Convention;
use crate::bridge::{Due, Key, Look};
use crate::channels::Counts;
use crate::ros2::action::{self, Carrier, Named, OfActions};
use crate::ros2::calls::{Asked, Tasks};
use crate::ros2::types::Types;

impl Carrier for Place {
    type Caller = Caller;
    type Replier = Replier;
    type Server = Convention;
    type Requester = Requester;

    fn node(&self) -> &Node {
        &self.node
    }

    fn runtime(&self) -> &Handle {
        &self.runtime
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
        (name, ty): Named<'_>,
        counts: &Arc<Counts>,
        tasks: &Tasks,
        look: Look,
        asked: impl Fn(Asked<Caller>) -> Answering + Send + Sync + 'static,
    ) -> Result<Replier, String> {
        Replier::open(self, key, (name, ty.pair()), counts, tasks, look, asked)
    }

    fn server(&self, (name, ty): Named<'_>, like: Option<&Convention>) -> (Option<Convention>, Option<String>) {
        requester::server(&self.strangers(), name, ty.pair(), like.copied())
    }

    fn requester(&self, key: &Key, _: &Due, (name, ty): Named<'_>, server: &Convention, look: Look) -> Result<Requester, String> {
        Requester::open(self, key, (name, ty.pair()), *server, look)
    }

    fn closed(&self, key: &Key) {
        self.graph.closed(key);
    }
}

impl action::Requester for Requester {
    /// That it is connected with who reads replies it waits for itself.
    fn is_ready(&self) -> bool {
        Requester::is_ready(self)
    }

    fn forget_lost(&self) {
        Requester::forget_lost(self);
    }

    fn give_up(&self) {
        Requester::give_up(self);
    }

    async fn ask(&self, request: Vec<&[u8]>) -> Result<Vec<u8>, String> {
        let mut asked = Requester::ask(self, request.into_iter())?;
        self.reply(&mut asked).await
    }
}
