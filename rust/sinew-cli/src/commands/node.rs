//! `sinew node list`, `info`, `kill-connection`.

use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew::DomainNode;

use crate::actions::{self, Action, is_of_action};
use crate::cli::Cli;
use crate::doctor::neighbours::tell_if_empty;
use crate::domain::{Followed, Service, View, canonical, is_part, join};
use crate::failure::{Done, Failure};
use crate::output::{Cell, NAME, TITLE, Table, json, out, shown};

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    pid: Option<i64>,
    uid: u32,
    gid: u32,
    container: &'a str,
}

impl<'a> Listed<'a> {
    fn of(node: &'a DomainNode) -> Listed<'a> {
        Listed { name: &node.name, pid: (node.pid != 0).then_some(node.pid), uid: node.uid, gid: node.gid, container: &node.container }
    }
}

/// Lists nodes.
pub fn list(cli: &Cli, verbose: bool) -> Done {
    let node = join(cli, "node-list")?;
    let view = View::of(&node)?;
    tell_if_empty(cli, &view);
    let nodes: Vec<Listed> = view.nodes().into_iter().map(Listed::of).collect();
    if cli.json {
        return json(&nodes);
    }
    if !verbose {
        let mut out = out();
        for node in nodes {
            writeln!(out, "{}", shown(node.name))?;
        }
        return Ok(());
    }
    let mut table = Table::new(&["node", "process", "user", "container"]);
    for node in nodes {
        let pid = node.pid.map_or("?".to_owned(), |pid| pid.to_string());
        table.row([Cell::new(node.name).styled(NAME), Cell::number(pid), Cell::number(node.uid), Cell::new(node.container)]);
    }
    table.print()
}

#[derive(Serialize)]
struct Node<'a> {
    #[serde(flatten)]
    node: Listed<'a>,
    publishes: Vec<Topic<'a>>,
    subscribes: Vec<Topic<'a>>,
    provides: Vec<&'a str>,
    calls: Vec<&'a str>,
    action_servers: Vec<&'a str>,
    action_clients: Vec<&'a str>,
}

#[derive(Serialize)]
struct Topic<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
}

/// Shows one node.
pub fn info(cli: &Cli, name: &str) -> Done {
    let node = join(cli, "node-info")?;
    let view = View::of(&node)?;
    let asked = view.node(name)?;
    let has = |topic, publish| view.endpoints(topic, publish).any(|endpoint| endpoint.node == asked.id);
    let topics = |publish| {
        let own = view.topics().into_iter().filter(|topic| !is_part(&topic.name) && has(topic.id, publish));
        own.map(|topic| Topic { name: &topic.name, type_name: &topic.type_name }).collect()
    };
    let (services, actions) = (view.services(), actions::of(&view));
    let is_asked = |nodes: Vec<String>| nodes.contains(&asked.name);
    let named = |publishes: &dyn Fn(&Service<'_>) -> bool| {
        let own = services.iter().filter(|service| !is_of_action(service.name) && publishes(service));
        own.map(|service| service.name).collect()
    };
    let actions_of =
        |takes_part: &dyn Fn(&Action<'_>) -> bool| actions.iter().filter(|action| takes_part(action)).map(|action| action.name).collect();
    let told = Node {
        node: Listed::of(asked),
        publishes: topics(true),
        subscribes: topics(false),
        provides: named(&|service| is_asked(view.publishing(service.responses))),
        calls: named(&|service| is_asked(view.publishing(service.requests))),
        action_servers: actions_of(&|action| is_asked(action.servers(&view))),
        action_clients: actions_of(&|action| is_asked(action.clients(&view))),
    };
    if cli.json {
        return json(&told);
    }
    let mut out = out();
    writeln!(out, "{TITLE}node{TITLE:#}       {NAME}{}{NAME:#}", shown(told.node.name))?;
    writeln!(
        out,
        "{TITLE}process{TITLE:#}    {}",
        told.node.pid.map_or("in a container that cannot be seen into".to_owned(), |pid| pid.to_string())
    )?;
    writeln!(out, "{TITLE}user{TITLE:#}       {}", told.node.uid)?;
    if !told.node.container.is_empty() {
        writeln!(out, "{TITLE}container{TITLE:#}  {}", shown(told.node.container))?;
    }
    for (title, topics) in [("publishes", &told.publishes), ("subscribes", &told.subscribes)] {
        let mut table = Table::new(&[title, "type"]);
        for topic in topics {
            table.row([Cell::new(topic.name).styled(NAME), Cell::new(topic.type_name)]);
        }
        if !table.is_empty() {
            writeln!(out)?;
            table.write(&mut out, "")?;
        }
    }
    let named = [
        ("provides", &told.provides),
        ("calls", &told.calls),
        ("executes goals of", &told.action_servers),
        ("sends goals to", &told.action_clients),
    ];
    for (title, names) in named {
        let mut table = Table::new(&[title]);
        for name in names {
            table.row([Cell::new(name).styled(NAME)]);
        }
        if !table.is_empty() {
            writeln!(out)?;
            table.write(&mut out, "")?;
        }
    }
    Ok(())
}

/// So long a node has to register again.
const PATIENCE: Duration = Duration::from_secs(10);
const NOW_AND_THEN: Duration = Duration::from_millis(5);

/// Ends a node's connection with the manager, and waits until it has registered again.
pub fn kill_connection(cli: &Cli, name: &str) -> Done {
    let (node, name) = (join(cli, "kill-connection")?, canonical(name));
    let followed = Followed::new(&node)?;
    let before = View::of(&node)?.node(name)?.clone();
    node.disconnect(name)?;
    let until = Instant::now() + PATIENCE;
    loop {
        let view = followed.changed();
        let again = view.as_ref().and_then(|view| view.nodes().into_iter().find(|node| node.name == name && node.id != before.id));
        if let Some(again) = again {
            return match cli.json {
                true => json(&Listed::of(again)),
                false => Ok(writeln!(out(), "{NAME}{}{NAME:#} has registered again", shown(name))?),
            };
        }
        if Instant::now() > until {
            let seconds = PATIENCE.as_secs();
            let why = format!(
                "node '{}' has not registered again within {seconds} s: its process {} may be stopped, or has ended",
                shown(name),
                before.pid
            );
            return Err(Failure::Failed(why));
        }
        std::thread::sleep(NOW_AND_THEN);
    }
}
