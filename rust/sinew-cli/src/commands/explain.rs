//! `sinew explain`: who reads whom which way, and why.

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use sinew::PairCounts;
use sinew::raw::Delivery;

use crate::beyond::Beyond;
use crate::cli::Cli;
use crate::domain::{View, join};
use crate::failure::Done;
use crate::flow::counts_of_pairs;
use crate::output::{BAD, GOOD, NAME, TITLE, WARN, json, out, shown};
use crate::units::{bytes, nanoseconds};

#[derive(Serialize)]
struct Pair<'a> {
    publisher: &'a str,
    subscriber: &'a str,
    delivery: Option<String>,
    why: &'a str,
    received: u64,
    missed: u64,
    withdrawn: u64,
    expired: u64,
    skipped: u64,
    over_quota: u64,
    bytes_copied: u64,
    held: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
}

#[derive(Serialize)]
struct Publisher<'a> {
    node: &'a str,
    published: u64,
    bytes: u64,
    bytes_copied: u64,
    bytes_exported: u64,
    refused: u64,
    withdrawn: u64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Explained<'a> {
    topic: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    publishers: Vec<Publisher<'a>>,
    pairs: Vec<Pair<'a>>,
}

/// Explains one topic.
pub fn explain(cli: &Cli, name: &str) -> Done {
    let node = join(cli, "explain")?;
    let view = View::of(&node)?;
    let topic = view.topic(name).map_err(|why| Beyond::or_elsewhere(cli, &node, &view, name, why))?;
    let counts = node.domain_counters()?.read()?;
    let of_publishers: HashMap<_, _> = counts.publishers.iter().map(|counts| (counts.publisher, counts)).collect();
    let of_pairs = counts_of_pairs(counts.pairs);

    let publishers = view.endpoints(topic.id, true).map(|end| {
        let counted = of_publishers.get(&end.id);
        Publisher {
            node: view.name_of(end.node),
            published: counted.map_or(0, |counts| counts.messages),
            bytes: counted.map_or(0, |counts| counts.bytes),
            bytes_copied: counted.map_or(0, |counts| counts.bytes_copied),
            bytes_exported: counted.map_or(0, |counts| counts.bytes_exported),
            refused: counted.map_or(0, |counts| counts.refused),
            withdrawn: counted.map_or(0, |counts| counts.withdrawn),
            memory_bytes: end.memory,
        }
    });
    let pairs = view.pairs(topic.id).map(|pair| {
        let counted = of_pairs.get(&(pair.publisher, pair.subscriber));
        let count = |of: fn(&PairCounts) -> u64| counted.map_or(0, of);
        Pair {
            publisher: view.owner_of(pair.publisher),
            subscriber: view.owner_of(pair.subscriber),
            delivery: pair.delivery.map(|delivery| delivery.to_string()),
            why: &pair.why,
            received: count(|counts| counts.messages),
            missed: count(|counts| counts.missed),
            withdrawn: count(|counts| counts.withdrawn),
            expired: count(|counts| counts.expired),
            skipped: count(|counts| counts.skipped),
            over_quota: count(|counts| counts.over_quota),
            bytes_copied: count(|counts| counts.bytes_copied),
            held: count(|counts| counts.held),
            p50_ns: counted.and_then(|counts| counts.latency.quantile_ns(0.5)),
            p99_ns: counted.and_then(|counts| counts.latency.quantile_ns(0.99)),
        }
    });
    let told = Explained { topic: &topic.name, type_name: &topic.type_name, publishers: publishers.collect(), pairs: pairs.collect() };
    if cli.json { json(&told) } else { print(&told) }
}

fn print(told: &Explained<'_>) -> Done {
    let mut out = out();
    writeln!(out, "{TITLE}topic{TITLE:#}  {NAME}{}{NAME:#}, {}", shown(told.topic), shown(told.type_name))?;
    for publisher in &told.publishers {
        let (published, size) = (publisher.published, bytes(publisher.bytes as f64));
        writeln!(out, "\n{NAME}{}{NAME:#} has published {published} messages, {size}", shown(publisher.node))?;
        let memory = bytes(publisher.memory_bytes as f64);
        let copied = bytes(publisher.bytes_copied as f64);
        writeln!(out, "  has {memory} of shared memory, and copied {copied} while publishing")?;
        if publisher.bytes_exported > 0 {
            writeln!(out, "  copied {} for readers of other users", bytes(publisher.bytes_exported as f64))?;
        }
        if publisher.refused + publisher.withdrawn > 0 {
            let (refused, withdrawn) = (publisher.refused, publisher.withdrawn);
            writeln!(out, "  {BAD}short of memory{BAD:#}: {refused} messages were not published, {withdrawn} taken back")?;
        }
    }
    for pair in &told.pairs {
        print_pair(&mut out, pair)?;
    }
    if told.pairs.is_empty() {
        let missing = if told.publishers.is_empty() { "nobody publishes" } else { "nobody subscribes" };
        writeln!(out, "\n{missing}")?;
    }
    Ok(())
}

fn print_pair(out: &mut impl Write, pair: &Pair<'_>) -> Done {
    let free = [Delivery::Native, Delivery::Pointer].map(|delivery| delivery.to_string());
    let style = match &pair.delivery {
        None => BAD,
        Some(delivery) if free.contains(delivery) => GOOD,
        Some(_) => WARN,
    };
    let way = pair.delivery.as_deref().unwrap_or("not connected");
    writeln!(out, "\n{NAME}{}{NAME:#} -> {NAME}{}{NAME:#}: {style}{way}{style:#}", shown(pair.publisher), shown(pair.subscriber))?;
    if !pair.why.is_empty() {
        writeln!(out, "  {}", shown(pair.why))?;
    }
    if pair.delivery.is_none() {
        return Ok(());
    }
    let latency = match (pair.p50_ns, pair.p99_ns) {
        (Some(p50), Some(p99)) => format!(", half within {}, 99 % within {}", nanoseconds(p50 as f64), nanoseconds(p99 as f64)),
        _ => String::new(),
    };
    writeln!(out, "  received {}{latency}; copied {}; holds {}", pair.received, bytes(pair.bytes_copied as f64), pair.held)?;
    let losses = [
        (pair.missed - pair.withdrawn.min(pair.missed), "pushed out by newer ones"),
        (pair.withdrawn, "withdrawn by a publisher without memory"),
        (pair.expired, "too old"),
        (pair.over_quota, "copied as it holds too much"),
        (pair.skipped, "not wanted"),
    ];
    let said: Vec<_> = losses.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !said.is_empty() {
        writeln!(out, "  {WARN}{}{WARN:#}", said.join(", "))?;
    }
    Ok(())
}
