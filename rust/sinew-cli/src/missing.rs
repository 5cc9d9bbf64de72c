//! Topics that are called by their names and are not there: it may be a slip of the pen, which is worth a word before somebody waits for it.

use sinew::Node;

use crate::beyond::Beyond;
use crate::domain::{View, is_part, service_of};
use crate::output::{say, shown};

/// Says of a topic that it is not there yet, and which one may be meant.
pub fn tell(view: &View, name: &str) {
    let names = view.state.topics.values().map(|topic| topic.name.as_str()).filter(|name| !is_part(name));
    let waits = match sinew::msg::nearest(name, names) {
        Some(near) => format!("did you mean '{}'? Waiting for it", shown(near)),
        None => "waiting for it".to_owned(),
    };
    say!("no topic '{}' yet: {waits}", shown(name));
}

/// The same of all that are neither here nor, as gateways tell, elsewhere.
pub fn tell_all<'a>(node: &Node, view: &View, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.filter(|name| !is_there(view, name)).collect();
    if names.is_empty() {
        return;
    }
    let beyond = Beyond::of(node, view);
    names.into_iter().filter(|name| beyond.topic(name).is_none()).for_each(|name| tell(view, name));
}

/// As a topic, or as a service that has some.
pub fn is_there(view: &View, name: &str) -> bool {
    view.state.topics.values().any(|topic| topic.name == name || service_of(&topic.name) == Some(name))
}
