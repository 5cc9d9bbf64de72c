//! What the gateway is in its domain.

use std::sync::{Mutex, PoisonError};

use sinew::{Node, NodeOptions};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::domain::second;

/// A node, and a second one from when something goes onward (G38).
pub struct Nodes {
    own: Node,
    own_name: String,
    domain: String,
    runtime: Handle,
    second: Mutex<Option<(Node, AbortHandle)>>,
}

impl Nodes {
    /// Whose domain is this. Callbacks of the second one run there.
    pub fn new(own: &Node, domain: String, runtime: Handle) -> Nodes {
        Nodes { own: own.clone(), own_name: own.name(), domain, runtime, second: Mutex::default() }
    }

    /// The first.
    pub fn own(&self) -> &Node {
        &self.own
    }

    /// Its name.
    pub fn own_name(&self) -> &str {
        &self.own_name
    }

    /// The second, which joins the domain when it is asked for first. Blocks until it has.
    pub fn second(&self) -> sinew::Result<Node> {
        let mut there = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((node, _)) = &*there {
            return Ok(node.clone());
        }
        let node = Node::with_options(&second(&self.own_name), &NodeOptions { domain: self.domain.clone(), by_caller: true })?;
        let runs = self.runtime.spawn(run_callbacks(node.clone()));
        *there = Some((node.clone(), runs.abort_handle()));
        Ok(node)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if let Some((_, runs)) = &*self.second.lock().unwrap_or_else(PoisonError::into_inner) {
            runs.abort();
        }
    }
}

/// On the threads that send: no other one is woken on the way.
pub async fn run_callbacks(node: Node) {
    if let Err(why) = node.run().await {
        log::error!("nothing of the domain is heard any more: {why}");
    }
}
