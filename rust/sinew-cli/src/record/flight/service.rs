//! The service by which a flight recorder is told to write what it holds.

use std::sync::mpsc::Sender;

use serde::{Deserialize, Serialize};
use sinew::{Call, Node, Provider};

use super::Event;
use crate::domain::View;
use crate::failure::{Done, Failure};

/// Before the name of a flight recorder.
pub const PREFIX: &str = "sinew/flight/";

/// Asks it to write what it holds.
#[derive(Serialize, Deserialize)]
#[serde(rename = "sinew/flight/Request")]
pub struct Request {
    /// For people.
    pub reason: String,
}

/// What it wrote.
#[derive(Serialize, Deserialize)]
#[serde(rename = "sinew/flight/Response")]
pub struct Response {
    /// Where the recorder is.
    pub path: String,
    /// In the file.
    pub messages: u64,
    /// Of the file.
    pub bytes: u64,
}

sinew::message!(Request);
sinew::message!(Response);

/// Who waits for the answer.
pub type Caller = Call<Request, Response>;

/// The names of those that are there. A service alone is none: a program that calls one makes it, too, and waits.
pub fn recorders(view: &View) -> Vec<String> {
    let provided = view.services().into_iter().filter(|service| !view.publishing(service.responses).is_empty());
    provided.filter_map(|service| service.name.strip_prefix(PREFIX).map(str::to_owned)).collect()
}

/// Provides it under this name, which no other flight recorder may have.
pub fn provide(node: &Node, name: &str, events: Sender<Event>) -> Done<Provider<Request, Response>> {
    let service = format!("{PREFIX}{name}");
    if recorders(&View::of(node)?).iter().any(|there| there == name) {
        return Err(Failure::Failed(format!("there is a flight recorder '{name}' already: give this one another name by --name")));
    }
    Ok(Provider::new(node, &service, &Default::default(), move |call: Caller| {
        let _ = events.send(Event::Asked(call));
    })?)
}
