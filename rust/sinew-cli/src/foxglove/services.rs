//! Services of the domain for clients to call.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use foxglove::WebSocketServerHandle;
use foxglove::websocket::service::{Service, ServiceSchema};
use sinew::msg::{Type, schema};
use sinew::raw::{Client, ClientOptions};
use sinew::{Ghost, Node};

use super::channel::schema_of;
use super::publish::check;
use crate::domain::{View, body_of};
use crate::output::shown;
use crate::patterns::Topics;

/// Who gets no answer for so long is told so.
const PATIENCE: Duration = Duration::from_secs(30);

/// Those that clients know.
pub struct Services {
    node: Node,
    topics: Topics,
    known: BTreeMap<String, Bodies>,
}

/// What a service takes and gives.
#[derive(Clone, PartialEq)]
struct Bodies {
    request: Type,
    response: Type,
}

impl Services {
    /// None yet.
    pub fn new(node: &Node, topics: Topics) -> Services {
        Services { node: node.clone(), topics, known: BTreeMap::new() }
    }

    /// Tells clients of those that came, and of those that are gone.
    pub fn follow(&mut self, view: &View, server: &WebSocketServerHandle) {
        let there: BTreeMap<String, Bodies> = view
            .services()
            .into_iter()
            .filter_map(|service| {
                let bodies = Bodies { request: body_of(service.requests?)?, response: body_of(service.responses?)? };
                self.topics.has(service.name).then(|| (service.name.to_owned(), bodies))
            })
            .collect();
        let gone: Vec<String> =
            self.known.iter().filter(|(name, bodies)| there.get(*name) != Some(*bodies)).map(|(name, _)| name.clone()).collect();
        server.remove_services(gone.iter().map(|name| format!("/{name}")));
        self.known.retain(|name, _| !gone.contains(name));
        let new: Vec<_> = there.into_iter().filter(|(name, _)| !self.known.contains_key(name)).collect();
        let services = new.iter().map(|(name, bodies)| self.service(name, bodies));
        match server.add_services(services) {
            Ok(()) => self.known.extend(new),
            Err(why) => log::warn!("clients cannot be told of services: {why}"),
        }
    }

    fn service(&self, name: &str, bodies: &Bodies) -> Service {
        let schema = ServiceSchema::new(shown(&bodies.request.name()));
        let schema = schema.with_request("cdr", schema_of(&bodies.request)).with_response("cdr", schema_of(&bodies.response));
        let called = Called { node: self.node.clone(), name: name.to_owned(), bodies: bodies.clone(), client: Mutex::default() };
        Service::builder(format!("/{name}"), schema).blocking_handler_fn(move |request| called.call(request.payload()))
    }
}

/// A service, with the client that the first call makes, or the first after it was gone.
struct Called {
    node: Node,
    name: String,
    bodies: Bodies,
    client: Mutex<Option<Client>>,
}

impl Called {
    /// Fails with a sentence for the client.
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, String> {
        check(request, &self.bodies.request).map_err(|why| format!("this is no {}: {why}", self.bodies.request.name()))?;
        let client = self.client().map_err(|error| error.to_string())?;
        let response = client.call(&[request], PATIENCE).map_err(|error| error.to_string())?;
        let mut stream = response.to_vec();
        stream.extend_from_slice(schema::padding(&self.bodies.response));
        Ok(stream)
    }

    fn client(&self) -> sinew::Result<Client> {
        let mut client = self.client.lock().expect("nobody panics with it");
        if let Some(client) = client.as_ref().filter(|client| !client.statistics().detached) {
            return Ok(client.clone());
        }
        let (request, response) = (self.bodies.request.to_string(), self.bodies.response.to_string());
        let made = Client::new(
            &self.node,
            &self.name,
            &request,
            &response,
            &ClientOptions { ghost: Ghost::Observer, ..ClientOptions::default() },
        )?;
        Ok(client.insert(made).clone())
    }
}
