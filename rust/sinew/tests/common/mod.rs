//! What tests have in common: a domain of their own, with its manager.
#![allow(dead_code)] // by each test file, another part

use std::time::{Duration, Instant};

use sinew::{Node, NodeOptions};

/// A domain that nobody else is in.
pub struct Domain(tempfile::TempDir);

impl Domain {
    pub fn new() -> Domain {
        Domain(tempfile::tempdir().expect("there is room for a folder"))
    }

    pub fn options(&self) -> NodeOptions {
        NodeOptions { domain: self.0.path().join("domain").to_str().expect("a path is a text").to_owned(), by_caller: false }
    }

    pub fn node(&self, name: &str) -> Node {
        Node::with_options(name, &self.options()).expect("a manager is started")
    }

    pub fn node_by_caller(&self, name: &str) -> Node {
        Node::with_options(name, &NodeOptions { by_caller: true, ..self.options() }).expect("a manager is started")
    }
}

/// Long enough for the slowest machine.
pub const LONG: Duration = Duration::from_secs(30);

/// Whether it comes to be.
pub fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + LONG;
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}
