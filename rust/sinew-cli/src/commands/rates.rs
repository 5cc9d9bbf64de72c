//! `sinew topic hz`, `bw`, `delay`: what flows, from the counters of the domain, to which nobody need subscribe.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew::{DomainCounters, DomainCounts, Id, Latency};

use crate::cli::{Cli, Rates};
use crate::domain::{View, is_of_service, join};
use crate::failure::{Done, Failure};
use crate::output::{Cell, NAME, Table, json_line, out, shown};
use crate::units::{bytes, nanoseconds, three_digits};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// How often.
    Messages,
    /// How much.
    Bytes,
    /// How late.
    Delay,
}

/// Counts of one moment.
struct Moment {
    at: Instant,
    publishers: BTreeMap<Id, (u64, u64)>,
    pairs: BTreeMap<(Id, Id), (u64, u64, Latency)>,
}

impl Moment {
    fn of(counters: &DomainCounters) -> Done<Moment> {
        let DomainCounts { publishers, pairs } = counters.read()?;
        Ok(Moment {
            at: Instant::now(),
            publishers: publishers.into_iter().map(|counts| (counts.publisher, (counts.messages, counts.bytes))).collect(),
            pairs: pairs
                .into_iter()
                .map(|counts| ((counts.publisher, counts.subscriber), (counts.messages, counts.missed, counts.latency)))
                .collect(),
        })
    }
}

/// What flowed on a topic in one interval.
#[derive(Serialize)]
struct Flow<'a> {
    topic: &'a str,
    publishers: usize,
    hz: f64,
    bytes_per_second: f64,
    /// Of those in shared memory: within a process, and to nobody, nothing is written there.
    mean_bytes: Option<f64>,
}

/// How late its messages came to one of its subscribers.
#[derive(Serialize)]
struct Delay<'a> {
    topic: &'a str,
    publisher: &'a str,
    subscriber: &'a str,
    hz: f64,
    missed: u64,
    mean_ns: Option<f64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
}

/// Prints it, interval by interval.
pub fn watch(cli: &Cli, asked: &Rates, of: Of) -> Done {
    if asked.interval < Duration::from_millis(10) {
        return Err(Failure::Failed("an interval has 10ms at least".to_owned()));
    }
    let node = join(cli, "rates")?;
    let view = View::of(&node)?;
    for topic in &asked.topics {
        view.topic(topic)?;
    }
    let counters = node.domain_counters()?;
    let mut before = Moment::of(&counters)?;
    let mut rounds = 0;
    while asked.count.is_none_or(|count| rounds < count) {
        std::thread::sleep((before.at + asked.interval).saturating_duration_since(Instant::now()));
        let now = Moment::of(&counters)?;
        let view = View::of(&node)?;
        if of == Of::Delay {
            print_delays(cli, asked, &view, &before, &now)?
        } else {
            print_flows(cli, asked, &view, &before, &now, of)?
        }
        before = now;
        rounds += 1;
    }
    Ok(())
}

/// Those that are asked for.
fn topics_of<'a>(asked: &Rates, view: &'a View) -> Vec<(Id, &'a str)> {
    let is_asked = |name: &str| asked.topics.iter().any(|topic| topic.strip_prefix('/').unwrap_or(topic) == name);
    let topics =
        view.topics().into_iter().filter(|topic| if asked.topics.is_empty() { !is_of_service(&topic.name) } else { is_asked(&topic.name) });
    topics.map(|topic| (topic.id, topic.name.as_str())).collect()
}

/// What was counted since then; of what was not there then, all.
fn since(now: u64, before: Option<u64>) -> f64 {
    now.saturating_sub(before.unwrap_or(0)) as f64
}

fn print_flows(cli: &Cli, asked: &Rates, view: &View, before: &Moment, now: &Moment, of: Of) -> Done {
    let seconds = (now.at - before.at).as_secs_f64();
    let flows = topics_of(asked, view).into_iter().map(|(id, topic)| {
        let (mut publishers, mut messages, mut size) = (0, 0.0, 0.0);
        for end in view.endpoints(id, true) {
            let then = before.publishers.get(&end.id);
            let (all_messages, all_bytes) = now.publishers.get(&end.id).copied().unwrap_or_default();
            publishers += 1;
            messages += since(all_messages, then.map(|then| then.0));
            size += since(all_bytes, then.map(|then| then.1));
        }
        Flow {
            topic,
            publishers,
            hz: messages / seconds,
            bytes_per_second: size / seconds,
            mean_bytes: (messages > 0.0).then_some(size / messages),
        }
    });
    if cli.json {
        return flows.into_iter().try_for_each(|flow| json_line(&flow));
    }
    let flows: Vec<_> = flows.collect();
    if let [one] = &flows[..]
        && !asked.topics.is_empty()
    {
        return print_flow(one, of);
    }
    let mut table = Table::new(&["topic", "rate", "bandwidth", "mean size", "publishers"]);
    for flow in flows {
        table.row([
            Cell::new(flow.topic).styled(NAME),
            Cell::number(format!("{} Hz", three_digits(flow.hz))),
            Cell::number(format!("{}/s", bytes(flow.bytes_per_second))),
            Cell::number(flow.mean_bytes.map_or_else(String::new, bytes)),
            Cell::number(flow.publishers),
        ]);
    }
    table.print()?;
    Ok(writeln!(out())?)
}

fn print_flow(flow: &Flow<'_>, of: Of) -> Done {
    let mut out = out();
    let mean = match flow.mean_bytes {
        Some(size) => format!("{} each", bytes(size)),
        None if flow.hz > 0.0 => "nothing in shared memory".to_owned(),
        None => "no message".to_owned(),
    };
    let (hz, rate) = (three_digits(flow.hz), bytes(flow.bytes_per_second));
    let topic = shown(flow.topic);
    match of {
        Of::Bytes => writeln!(out, "{NAME}{topic}{NAME:#}: {rate}/s, {mean}, {hz} Hz")?,
        Of::Messages | Of::Delay => writeln!(out, "{NAME}{topic}{NAME:#}: {hz} Hz, {mean}, {rate}/s")?,
    }
    Ok(out.flush()?)
}

fn print_delays(cli: &Cli, asked: &Rates, view: &View, before: &Moment, now: &Moment) -> Done {
    let seconds = (now.at - before.at).as_secs_f64();
    let mut delays = Vec::new();
    for (id, topic) in topics_of(asked, view) {
        for pair in view.pairs(id).filter(|pair| pair.delivery.is_some()) {
            let key = (pair.publisher, pair.subscriber);
            let Some((messages, missed, latency)) = now.pairs.get(&key) else { continue };
            let then = before.pairs.get(&key);
            let earlier = then.map(|then| &then.2);
            let looked_at: f64 =
                (0..Latency::BUCKETS).map(|n| f64::from(latency.buckets[n].wrapping_sub(earlier.map_or(0, |then| then.buckets[n])))).sum();
            let total = since(latency.total_ns, earlier.map(|then| then.total_ns));
            delays.push(Delay {
                topic,
                publisher: view.owner_of(pair.publisher),
                subscriber: view.owner_of(pair.subscriber),
                hz: since(*messages, then.map(|then| then.0)) / seconds,
                missed: since(*missed, then.map(|then| then.1)) as u64,
                mean_ns: (looked_at > 0.0).then_some(total / looked_at),
                p50_ns: latency.quantile_ns(0.5, earlier),
                p99_ns: latency.quantile_ns(0.99, earlier),
            });
        }
    }
    if cli.json {
        return delays.into_iter().try_for_each(|delay| json_line(&delay));
    }
    let mut table = Table::new(&["topic", "from", "to", "rate", "mean", "p50 <", "p99 <", "missed"]);
    let time = |time: Option<f64>| Cell::number(time.map_or_else(|| "-".to_owned(), nanoseconds));
    for delay in &delays {
        table.row([
            Cell::new(delay.topic).styled(NAME),
            Cell::new(delay.publisher),
            Cell::new(delay.subscriber),
            Cell::number(format!("{} Hz", three_digits(delay.hz))),
            time(delay.mean_ns),
            time(delay.p50_ns.map(|ns| ns as f64)),
            time(delay.p99_ns.map(|ns| ns as f64)),
            Cell::number(delay.missed),
        ]);
    }
    if table.is_empty() {
        return Ok(writeln!(out(), "no publisher is connected to a subscriber")?);
    }
    table.print()?;
    Ok(writeln!(out())?)
}
