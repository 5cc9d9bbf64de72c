//! `sinew topic list`, `info`, `find`.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use sinew::{DomainEndpoint, DomainTopic};

use crate::beyond::Beyond;
use crate::cli::Cli;
use crate::doctor::neighbours::tell_if_empty;
use crate::domain::{View, is_part, join, kind_of_ghost};
use crate::failure::{Done, Failure};
use crate::output::{BAD, Cell, NAME, TITLE, Table, json, out, shown};
use crate::typed::short;
use crate::units::{bytes, nanoseconds};

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    publishers: usize,
    subscribers: usize,
    /// Peers of gateways that have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at: Vec<String>,
}

/// Lists topics.
pub fn list(cli: &Cli, verbose: bool, parts: bool) -> Done {
    let node = join(cli, "topic-list")?;
    let view = View::of(&node)?;
    let beyond = Beyond::of(&node, &view);
    let mut all: Vec<Listed> =
        view.topics().into_iter().filter(|topic| parts || !is_part(&topic.name)).map(|topic| listed(&view, topic)).collect();
    for topic in &mut all {
        topic.at = beyond.topic(topic.name).map(|(_, far)| far.at.clone()).unwrap_or_default();
    }
    let far: BTreeMap<&String, String> = beyond
        .topics
        .iter()
        .filter(|(name, _)| view.state.topic(name).is_none() && (parts || !is_part(name)))
        .map(|(name, far)| (name, far.type_name()))
        .collect();
    for (name, type_name) in &far {
        all.push(Listed { name, type_name, publishers: 0, subscribers: 0, at: beyond.topics[*name].at.clone() });
    }
    all.sort_by(|a, b| a.name.cmp(b.name));
    tell_if_empty(cli, &view);
    print(cli, &all, verbose)
}

fn listed<'a>(view: &View, topic: &'a DomainTopic) -> Listed<'a> {
    Listed {
        name: &topic.name,
        type_name: &topic.type_name,
        publishers: view.counted(topic.id, true),
        subscribers: view.counted(topic.id, false),
        at: Vec::new(),
    }
}

fn print(cli: &Cli, topics: &[Listed<'_>], verbose: bool) -> Done {
    if cli.json {
        return json(&topics);
    }
    if !verbose {
        let mut out = out();
        for topic in topics {
            writeln!(out, "{}", shown(topic.name))?;
        }
        return Ok(());
    }
    let is_alone = topics.iter().all(|topic| topic.at.is_empty());
    let titles = ["topic", "type", "publishers", "subscribers", "peers"];
    let titles = if is_alone { &titles[..4] } else { &titles };
    let mut table = Table::new(titles);
    for topic in topics {
        let cells = [
            Cell::new(topic.name).styled(NAME),
            Cell::new(topic.type_name),
            Cell::number(topic.publishers),
            Cell::number(topic.subscribers),
            Cell::new(topic.at.join(", ")),
        ];
        table.row(cells.into_iter().take(titles.len()));
    }
    table.print()
}

/// Prints the name of a topic's type.
pub fn type_of_one(cli: &Cli, name: &str) -> Done {
    let node = join(cli, "topic-type")?;
    let view = View::of(&node)?;
    let type_name = match view.topic(name) {
        Err(failure) => Beyond::of(&node, &view).topic(name).map(|(_, far)| far.type_name()).ok_or(failure)?,
        Ok(topic) => topic.type_name.clone(),
    };
    if cli.json {
        return json(&type_name);
    }
    Ok(writeln!(out(), "{}", shown(&type_name))?)
}

/// Lists the topics of a type.
pub fn find(cli: &Cli, type_name: &str) -> Done {
    let node = join(cli, "topic-find")?;
    let view = View::of(&node)?;
    let wanted = short(type_name);
    let is_wanted = |topic: &DomainTopic| short(&topic.type_name) == wanted || topic.type_name.rsplit('/').next() == Some(type_name);
    let found: Vec<Listed> = view.topics().into_iter().filter(|topic| is_wanted(topic)).map(|topic| listed(&view, topic)).collect();
    if found.is_empty() {
        let names = view.state.topics.values().map(|topic| topic.type_name.as_str());
        let hint = sinew::msg::nearest(type_name, names).map(|near| format!(": did you mean '{near}'?")).unwrap_or_default();
        return Err(Failure::Negative(format!("no topic carries '{type_name}'{hint}")));
    }
    print(cli, &found, false)
}

#[derive(Serialize)]
struct Topic<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    signature: &'a str,
    hash: String,
    publishers: Vec<Endpoint<'a>>,
    subscribers: Vec<Endpoint<'a>>,
    not_connected: Vec<Unconnected<'a>>,
}

/// Two that do not fit, or have not met.
#[derive(Serialize)]
struct Unconnected<'a> {
    publisher: &'a str,
    subscriber: &'a str,
    why: &'a str,
}

/// A publisher or subscriber as JSON has it.
#[derive(Serialize)]
pub struct Endpoint<'a> {
    node: &'a str,
    ghost: Option<String>,
    qos: Qos,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Qos {
    history: String,
    depth: u32,
    reliability: &'static str,
    durability: &'static str,
    liveliness: &'static str,
    deadline_ns: Option<u128>,
    lifespan_ns: Option<u128>,
    lease_ns: Option<u128>,
}

impl<'a> Endpoint<'a> {
    fn of(view: &'a View, endpoint: &DomainEndpoint) -> Endpoint<'a> {
        Endpoint {
            node: view.name_of(endpoint.node),
            ghost: kind_of_ghost(endpoint),
            qos: Qos {
                history: if endpoint.depth == 0 { "keep_all" } else { "keep_last" }.to_owned(),
                depth: endpoint.depth,
                reliability: if endpoint.reliable { "reliable" } else { "best_effort" },
                durability: if endpoint.transient_local { "transient_local" } else { "volatile" },
                liveliness: if endpoint.manual_by_topic { "manual_by_topic" } else { "automatic" },
                deadline_ns: endpoint.deadline.map(|time| time.as_nanos()),
                lifespan_ns: endpoint.lifespan.map(|time| time.as_nanos()),
                lease_ns: endpoint.lease.map(|time| time.as_nanos()),
            },
            memory_bytes: endpoint.publishes.then_some(endpoint.memory),
        }
    }

    /// Reliability always, as by it most of those do not fit that do not; else what differs from what everybody has.
    fn policies(&self) -> String {
        let qos = &self.qos;
        let mut said = vec![if qos.depth == 0 { "keep all".to_owned() } else { format!("keep last {}", qos.depth) }];
        let usual = ["volatile", "automatic"];
        let policies = [qos.reliability, qos.durability, qos.liveliness];
        said.extend(policies.iter().filter(|policy| !usual.contains(policy)).map(|policy| policy.replace('_', " ")));
        for (name, time) in [("deadline", qos.deadline_ns), ("lifespan", qos.lifespan_ns), ("lease", qos.lease_ns)] {
            said.extend(time.map(|time| format!("{name} {}", nanoseconds(time as f64))));
        }
        said.extend(self.ghost.iter().map(|kind| if kind == "observer" { "looks on".to_owned() } else { format!("ghost ({kind})") }));
        said.join(", ")
    }
}

/// Shows one topic.
pub fn info(cli: &Cli, name: &str) -> Done {
    let node = join(cli, "topic-info")?;
    let view = View::of(&node)?;
    let topic = match view.topic(name) {
        Err(Failure::Negative(why)) => return info_of_far(cli, &Beyond::of(&node, &view), name).unwrap_or(Err(Failure::Negative(why))),
        found => found?,
    };
    let ends = |publish| view.endpoints(topic.id, publish).map(|endpoint| Endpoint::of(&view, endpoint)).collect();
    let told = Topic {
        name: &topic.name,
        type_name: &topic.type_name,
        signature: &topic.signature,
        hash: topic.hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        publishers: ends(true),
        subscribers: ends(false),
        not_connected: (view.pairs(topic.id).filter(|pair| pair.delivery.is_none()))
            .map(|pair| Unconnected {
                publisher: view.owner_of(pair.publisher),
                subscriber: view.owner_of(pair.subscriber),
                why: &pair.why,
            })
            .collect(),
    };
    if cli.json {
        return json(&told);
    }
    let mut out = out();
    writeln!(out, "{TITLE}topic{TITLE:#}  {NAME}{}{NAME:#}", shown(told.name))?;
    writeln!(out, "{TITLE}type{TITLE:#}   {}", shown(told.type_name))?;
    for (title, ends, counted) in
        [("publishers", &told.publishers, view.counted(topic.id, true)), ("subscribers", &told.subscribers, view.counted(topic.id, false))]
    {
        let looking = ends.len() - counted;
        let more = if looking > 0 { format!(" (+{looking} looking on)") } else { String::new() };
        writeln!(out, "{TITLE}{title}{TITLE:#}  {counted}{more}")?;
        let mut table =
            Table::new(if title == "publishers" { &["node", "quality of service", "memory"] } else { &["node", "quality of service"] });
        for end in ends {
            let memory = end.memory_bytes.map(|memory| Cell::number(bytes(memory as f64)));
            table.row([Cell::new(end.node).styled(NAME), Cell::new(end.policies())].into_iter().chain(memory));
        }
        if !table.is_empty() {
            table.write(&mut out, "  ")?;
        }
    }
    for Unconnected { publisher, subscriber, why } in &told.not_connected {
        let (from, to) = (shown(publisher), shown(subscriber));
        writeln!(out, "\n{NAME}{from}{NAME:#} -> {NAME}{to}{NAME:#}: {BAD}not connected{BAD:#}")?;
        if !why.is_empty() {
            writeln!(out, "  {}", shown(why))?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct FarTopic<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: String,
    signature: &'a str,
    at: &'a [String],
}

/// Of one that another domain has. None: nobody tells of it.
fn info_of_far(cli: &Cli, beyond: &Beyond, name: &str) -> Option<Done> {
    let (name, far) = beyond.topic(name)?;
    let told = || {
        let told = FarTopic { name, type_name: far.type_name(), signature: &far.signature, at: &far.at };
        if cli.json {
            return json(&told);
        }
        let mut out = out();
        writeln!(out, "{TITLE}topic{TITLE:#}  {NAME}{}{NAME:#}", shown(name))?;
        writeln!(out, "{TITLE}type{TITLE:#}   {}", shown(&told.type_name))?;
        writeln!(out, "{TITLE}at{TITLE:#}     {}; it comes here while somebody here subscribes", far.places())?;
        Ok(())
    };
    Some(told())
}
