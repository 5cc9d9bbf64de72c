//! `sinew domain state`, `watch`.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc;

use serde::Serialize;
use sinew::{DomainEndpoint, DomainPair, DomainState, DomainUpdate, Id};

use crate::cli::Cli;
use crate::doctor::neighbours::tell_if_empty;
use crate::domain::{View, join, kind_of_ghost, looks_on};
use crate::failure::Done;
use crate::output::{BAD, Cell, FAINT, GOOD, NAME, TITLE, Table, json, json_line, out, shown};

#[derive(Serialize)]
struct State<'a> {
    nodes: Vec<Node<'a>>,
    topics: Vec<Topic<'a>>,
    endpoints: Vec<Endpoint>,
    pairs: Vec<Pair<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    id: Id,
    name: &'a str,
    pid: i64,
    uid: u32,
    gid: u32,
    container: &'a str,
}

#[derive(Serialize)]
struct Topic<'a> {
    id: Id,
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    signature: &'a str,
}

#[derive(Serialize)]
struct Endpoint {
    id: Id,
    node: Id,
    topic: Option<Id>,
    publishes: bool,
    ghost: Option<String>,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Pair<'a> {
    publisher: Id,
    subscriber: Id,
    delivery: Option<String>,
    why: &'a str,
}

impl<'a> Pair<'a> {
    fn of(pair: &'a DomainPair) -> Pair<'a> {
        let delivery = pair.delivery.map(|delivery| delivery.to_string());
        Pair { publisher: pair.publisher, subscriber: pair.subscriber, delivery, why: &pair.why }
    }
}

/// Shows everything.
pub fn state(cli: &Cli) -> Done {
    let node = join(cli, "domain-state")?;
    let view = View::of(&node)?;
    let state = &view.state;
    if cli.json {
        return json(&State {
            nodes: (state.nodes.values())
                .map(|node| Node { id: node.id, name: &node.name, pid: node.pid, uid: node.uid, gid: node.gid, container: &node.container })
                .collect(),
            topics: (state.topics.values())
                .map(|topic| Topic { id: topic.id, name: &topic.name, type_name: &topic.type_name, signature: &topic.signature })
                .collect(),
            endpoints: (state.endpoints.values())
                .map(|end| Endpoint {
                    id: end.id,
                    node: end.node,
                    topic: end.topic,
                    publishes: end.publishes,
                    ghost: kind_of_ghost(end),
                    memory_bytes: end.memory,
                })
                .collect(),
            pairs: state.pairs.values().map(Pair::of).collect(),
        });
    }
    tell_if_empty(cli, &view);
    let mut table = Table::new(&["node", "process", "user"]);
    for node in view.nodes() {
        table.row([Cell::new(&node.name).styled(NAME), Cell::number(node.pid), Cell::number(node.uid)]);
    }
    table.print()?;
    let mut out = out();
    for topic in view.topics() {
        writeln!(out, "\n{TITLE}{}{TITLE:#} {FAINT}{}{FAINT:#}", shown(&topic.name), shown(&topic.type_name))?;
        for (title, publish) in [("published by", true), ("subscribed by", false)] {
            let name = |end: &DomainEndpoint| format!("{}{}", view.name_of(end.node), if looks_on(end) { " (looks on)" } else { "" });
            let names: Vec<_> = view.endpoints(topic.id, publish).map(name).collect();
            if !names.is_empty() {
                writeln!(out, "  {title} {}", shown(&names.join(", ")))?;
            }
        }
        for pair in view.pairs(topic.id) {
            let (from, to) = (shown(view.owner_of(pair.publisher)), shown(view.owner_of(pair.subscriber)));
            match pair.delivery {
                Some(delivery) => writeln!(out, "  {from} -> {to}: {delivery}")?,
                None => writeln!(out, "  {from} -> {to}: {BAD}not connected{BAD:#}: {}", shown(&pair.why))?,
            }
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Change {
    change: &'static str,
    what: &'static str,
    name: String,
}

/// Tells of what comes and goes.
pub fn watch(cli: &Cli, all: bool) -> Done {
    let node = join(cli, "domain-watch")?;
    let (sender, updates) = mpsc::channel::<DomainUpdate>();
    let _watch = node.watch_domain(move |update| drop(sender.send(update)))?;
    let mut names = BTreeMap::new();
    let mut state = DomainState::default();
    let mut is_begun = all;
    while let Ok(update) = updates.recv() {
        let is_complete = update.complete;
        if update.anew {
            // A new manager has told nothing yet of what was there with the one before.
            is_begun = is_begun || !names.is_empty();
        }
        state.apply(update);
        if !is_complete {
            continue;
        }
        let now = names_of(&state);
        let changes = differences(&names, &now);
        names = now;
        if is_begun {
            changes.iter().try_for_each(|change| tell(cli, change))?;
        }
        is_begun = true;
    }
    Ok(())
}

/// By them changes are known, also from one manager to the next.
fn names_of(state: &DomainState) -> BTreeMap<(&'static str, String), usize> {
    let mut names = BTreeMap::new();
    let mut count = |what, name| *names.entry((what, name)).or_insert(0) += 1;
    let node_of = |id: &Id| state.nodes.get(id).map_or("?", |node| node.name.as_str());
    state.nodes.values().for_each(|node| count("node", node.name.clone()));
    state.topics.values().for_each(|topic| count("topic", format!("{} ({})", topic.name, topic.type_name)));
    for end in state.endpoints.values() {
        let topic = end.topic.and_then(|topic| state.topics.get(&topic)).map_or("?", |topic| &topic.name);
        count(if end.publishes { "publisher" } else { "subscriber" }, format!("{topic} of {}", node_of(&end.node)));
    }
    names
}

fn differences(before: &BTreeMap<(&'static str, String), usize>, now: &BTreeMap<(&'static str, String), usize>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut compare = |one: &BTreeMap<(&'static str, String), usize>, other: &BTreeMap<_, usize>, change| {
        for (key, count) in one {
            let more = count.saturating_sub(other.get(key).copied().unwrap_or(0));
            changes.extend((0..more).map(|_| Change { change, what: key.0, name: key.1.clone() }));
        }
    };
    compare(before, now, "gone");
    compare(now, before, "new");
    changes
}

fn tell(cli: &Cli, change: &Change) -> Done {
    if cli.json {
        return json_line(change);
    }
    let mut out = out();
    let (sign, style) = if change.change == "new" { ('+', GOOD) } else { ('-', BAD) };
    writeln!(out, "{style}{sign}{style:#} {} {}", change.what, shown(&change.name))?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_and_goes_is_told_by_name_and_as_often() {
        let before = BTreeMap::from([(("node", "a".to_owned()), 1), (("publisher", "t of a".to_owned()), 2)]);
        let now = BTreeMap::from([(("node", "b".to_owned()), 1), (("publisher", "t of a".to_owned()), 1)]);
        let told: Vec<_> =
            differences(&before, &now).into_iter().map(|change| format!("{} {} {}", change.change, change.what, change.name)).collect();
        assert_eq!(told, ["gone node a", "gone publisher t of a", "new node b"]);
    }
}
