//! What programs of ROS 1 have, as those are told who look for it in the domain. What a master answers may be anything.

use std::collections::{BTreeMap, BTreeSet};

use sinew::GatewayEntry;

use super::names::{self, Own};
use super::types::Types;
use super::xml::Value;
use crate::peers::printable;
use crate::protocol::Kind;

/// Topics that somebody publishes who is no bridge of the same domain, by what a master answers: which nodes publish and subscribe to what (`state`), and of which types that is (`types`).
pub fn entries(state: &Value, types: &Value, own: &Own, known: &Types) -> Vec<GatewayEntry> {
    let Some([published, ..]) = state.list() else { return Vec::new() };
    let types: BTreeMap<&str, &str> = pairs(types).filter_map(|(topic, ty)| Some((topic, ty.text()?))).collect();
    let mut signatures = BTreeMap::<&str, String>::new();
    let mut entries = Vec::new();
    for (topic, nodes) in pairs(published) {
        let is_news = nodes.list().unwrap_or_default().iter().filter_map(Value::text).any(|node| !own.is_of_us(node));
        let (Some(name), Some(ty), true) = (names::name(topic), types.get(topic).copied(), is_news) else { continue };
        // Of a type without a definition nothing is known but its name.
        let signature = signatures.entry(ty).or_insert_with(|| known.signature(ty).unwrap_or_else(|| printable(ty)));
        entries.push(GatewayEntry {
            name: name.to_owned(),
            kind: Kind::Topic.name().to_owned(),
            signature: signature.clone(),
            // A master knows neither how much publishers keep, nor whether they latch.
            depth: 1,
            reliable: true,
            ..GatewayEntry::default()
        });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Nodes that subscribe to a topic, by the same.
pub fn subscribers<'a>(state: &'a Value, topic: &str) -> BTreeSet<&'a str> {
    let Some([_, subscribed, ..]) = state.list() else { return BTreeSet::new() };
    let nodes = pairs(subscribed).filter(|(each, _)| *each == topic).flat_map(|(_, nodes)| nodes.list().unwrap_or_default());
    nodes.filter_map(Value::text).collect()
}

/// Those in a list that are a text and something else.
fn pairs(list: &Value) -> impl Iterator<Item = (&str, &Value)> {
    list.list().unwrap_or_default().iter().filter_map(|pair| match pair.list()? {
        [Value::Text(text), other] => Some((text.as_str(), other)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: impl IntoIterator<Item = Value>) -> Value {
        Value::List(values.into_iter().collect())
    }

    fn pair(text: &str, other: Value) -> Value {
        list([text.into(), other])
    }

    fn own() -> Own {
        Own::new("here", [1; 4])
    }

    fn told(published: &Value, types: &Value) -> Vec<(String, String)> {
        let state = list([published.clone(), list([pair("/read", list(["/n".into()]))]), list([])]);
        let entries = entries(&state, types, &own(), &Types::default());
        entries.into_iter().map(|entry| (entry.name, entry.signature)).collect()
    }

    #[test]
    fn what_others_publish_is_told_and_what_bridges_of_the_domain_do_is_not() {
        let nodes = |names: &[&str]| list(names.iter().map(|name| Value::from(*name)));
        let (ours, another) = (Own::new("here", [2; 4]).name, Own::new("there", [3; 4]).name);
        let published = list([
            pair("/front/image", nodes(&["/camera"])),
            pair("/both", nodes(&[&ours, "/camera"])),
            pair("/echo", nodes(&[&ours])),
            pair("/far", nodes(&[&another])),
            pair("/untyped", nodes(&["/camera"])),
            pair("/no name", nodes(&["/camera"])),
        ]);
        let names = ["/front/image", "/both", "/echo", "/far", "/no name", "/read"];
        let types = list(names.map(|topic| pair(topic, "their_msgs/Thing".into())));
        let expected = ["both", "far", "front/image"].map(|name| (name.to_owned(), "their_msgs/Thing".to_owned()));
        assert_eq!(told(&published, &types), expected);
    }

    #[test]
    fn an_answer_that_is_none_has_nothing() {
        for nonsense in
            [Value::Other, Value::Int(1), "".into(), list([]), list([Value::Other]), list(vec![list([]); 3]), pair("/a", Value::Other)]
        {
            assert!(told(&nonsense, &nonsense).is_empty());
            assert!(entries(&nonsense, &nonsense, &own(), &Types::default()).is_empty());
        }
    }
}
