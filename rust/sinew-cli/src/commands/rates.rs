//! `sinew topic hz`, `bw`, `delay`: what flows, from the counters of the domain, to which nobody need subscribe.

use std::io::Write;
use std::time::Instant;

use serde::Serialize;
use sinew::Id;

use crate::beyond::Beyond;
use crate::cli::{Cli, Rates};
use crate::domain::{Followed, View, canonical, is_part, join};
use crate::failure::Done;
use crate::flow::{Moment, TopicFlow};
use crate::output::{Cell, NAME, Table, json_line, out, shown};
use crate::periods::{Listener, Periods};
use crate::units::{bytes, nanoseconds, three_digits};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// How often.
    Messages,
    /// How often, and how regularly.
    Periods,
    /// How much.
    Bytes,
    /// How late.
    Delay,
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
    /// Where it was asked for, and two messages were heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<Periods>,
    /// Why nothing is written; none: somebody gets it.
    #[serde(skip)]
    unread: Option<&'static str>,
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
    let node = join(cli, "rates")?;
    let followed = Followed::new(&node)?;
    let mut view = View::of(&node)?;
    for topic in &asked.topics {
        view.topic(topic).map_err(|why| Beyond::or_elsewhere(cli, &node, &view, topic, why))?;
    }
    let counters = node.domain_counters()?;
    let mut listener = (of == Of::Periods).then(|| Listener::new(&node));
    let mut before = Moment::of(&counters, None)?;
    let mut rounds = 0;
    while asked.count.is_none_or(|count| rounds < count) {
        if let Some(listener) = &mut listener {
            listener.follow(&view, asked.topics.iter().map(|topic| canonical(topic)))?;
        }
        std::thread::sleep((before.at + asked.interval).saturating_duration_since(Instant::now()));
        let now = Moment::of(&counters, Some(&before))?;
        if let Some(changed) = followed.changed() {
            view = changed;
        }
        if of == Of::Delay {
            print_delays(cli, asked, &view, &before, &now)?
        } else {
            print_flows(cli, asked, flows_of(asked, &view, &before, &now, listener.as_mut()), of)?
        }
        before = now;
        rounds += 1;
    }
    Ok(())
}

/// Those that are asked for.
fn topics_of<'a>(asked: &Rates, view: &'a View) -> Vec<(Id, &'a str)> {
    let is_asked = |name: &str| asked.topics.iter().any(|topic| canonical(topic) == name);
    let topics =
        view.topics().into_iter().filter(|topic| if asked.topics.is_empty() { !is_part(&topic.name) } else { is_asked(&topic.name) });
    topics.map(|topic| (topic.id, topic.name.as_str())).collect()
}

fn flows_of<'a>(asked: &Rates, view: &'a View, before: &Moment, now: &Moment, mut listener: Option<&mut Listener<'_>>) -> Vec<Flow<'a>> {
    let flows = topics_of(asked, view).into_iter().map(|(id, topic)| {
        let TopicFlow { publishers, hz, bytes_per_second, mean_bytes, .. } = now.topic(view, id, before);
        let period = listener.as_mut().and_then(|listener| listener.take(topic));
        Flow { topic, publishers, hz, bytes_per_second, mean_bytes, period, unread: unread(view, id) }
    });
    flows.collect()
}

fn print_flows(cli: &Cli, asked: &Rates, flows: Vec<Flow<'_>>, of: Of) -> Done {
    if cli.json {
        return flows.into_iter().try_for_each(|flow| json_line(&flow));
    }
    if let [one] = &flows[..]
        && !asked.topics.is_empty()
    {
        return print_flow(one, of);
    }
    let titles = ["topic", "rate", "bandwidth", "mean size", "publishers", "shortest", "longest", "std dev"];
    let titles = if of == Of::Periods { &titles } else { &titles[..5] };
    let mut table = Table::new(titles);
    let time = |time: Option<f64>| Cell::number(time.map_or_else(|| "-".to_owned(), nanoseconds));
    for flow in flows {
        let period = flow.period;
        let cells = [
            Cell::new(flow.topic).styled(NAME),
            Cell::number(format!("{} Hz", three_digits(flow.hz))),
            Cell::number(format!("{}/s", bytes(flow.bytes_per_second))),
            Cell::number(match flow.mean_bytes {
                Some(size) => bytes(size),
                None if flow.hz > 0.0 => flow.unread.unwrap_or_default().to_owned(),
                None => String::new(),
            }),
            Cell::number(flow.publishers),
            time(period.map(|period| period.min_ns as f64)),
            time(period.map(|period| period.max_ns as f64)),
            time(period.map(|period| period.stddev_ns)),
        ];
        table.row(cells.into_iter().take(titles.len()));
    }
    table.print()?;
    Ok(writeln!(out())?)
}

/// Whether anybody gets a topic's messages: also who only looks on does.
fn unread(view: &View, topic: Id) -> Option<&'static str> {
    if view.endpoints(topic, false).next().is_none() {
        Some("nobody subscribes")
    } else if view.pairs(topic).all(|pair| pair.delivery.is_none()) {
        Some("no subscriber is connected")
    } else {
        None
    }
}

fn mean_said(flow: &Flow<'_>) -> String {
    match flow.mean_bytes {
        Some(size) => format!("{} each", bytes(size)),
        None if flow.hz == 0.0 => "no message".to_owned(),
        None => flow.unread.map_or("nothing in shared memory".to_owned(), |why| format!("{why}, so nothing is written")),
    }
}

fn print_flow(flow: &Flow<'_>, of: Of) -> Done {
    let mut out = out();
    let mean = mean_said(flow);
    let (hz, rate) = (three_digits(flow.hz), bytes(flow.bytes_per_second));
    let topic = shown(flow.topic);
    match of {
        Of::Bytes => write!(out, "{NAME}{topic}{NAME:#}: {rate}/s, {mean}, {hz} Hz")?,
        _ => write!(out, "{NAME}{topic}{NAME:#}: {hz} Hz, {mean}, {rate}/s")?,
    }
    if let Some(Periods { min_ns, max_ns, stddev_ns, .. }) = flow.period {
        let [min, max, stddev] = [min_ns as f64, max_ns as f64, stddev_ns].map(nanoseconds);
        write!(out, "; {min} to {max} apart, std dev {stddev}")?;
    }
    writeln!(out)?;
    Ok(out.flush()?)
}

fn print_delays(cli: &Cli, asked: &Rates, view: &View, before: &Moment, now: &Moment) -> Done {
    let mut delays = Vec::new();
    for (id, topic) in topics_of(asked, view) {
        for pair in view.pairs(id).filter(|pair| pair.delivery.is_some()) {
            let flow = now.pair((pair.publisher, pair.subscriber), before);
            delays.push(Delay {
                topic,
                publisher: view.owner_of(pair.publisher),
                subscriber: view.owner_of(pair.subscriber),
                hz: flow.hz,
                missed: flow.lost,
                mean_ns: flow.latency.mean_ns(),
                p50_ns: flow.latency.quantile_ns(0.5),
                p99_ns: flow.latency.quantile_ns(0.99),
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

#[cfg(test)]
mod tests {
    use sinew::{DomainPair, DomainState};

    use super::*;
    use crate::domain::end_on;

    /// Of a topic with a publisher, and a subscriber that is connected, or is not.
    fn said(hz: f64, subscriber: Option<bool>) -> String {
        let mut state = DomainState::default();
        state.endpoints.insert(2, end_on(5, 2, true));
        if let Some(is_connected) = subscriber {
            let delivery = is_connected.then_some(sinew::raw::Delivery::Pointer);
            state.endpoints.insert(3, end_on(5, 3, false));
            state.pairs.insert((2, 3), DomainPair { publisher: 2, subscriber: 3, delivery, why: String::new() });
        }
        let unread = unread(&View::new(state, ""), 5);
        mean_said(&Flow { topic: "t", publishers: 1, hz, bytes_per_second: 0.0, mean_bytes: None, period: None, unread })
    }

    #[test]
    fn of_messages_that_nobody_gets_it_is_said_why_nothing_is_written() {
        assert_eq!(said(29.0, None), "nobody subscribes, so nothing is written");
        assert_eq!(said(29.0, Some(false)), "no subscriber is connected, so nothing is written");
        assert_eq!(said(29.0, Some(true)), "nothing in shared memory", "it goes by pointer");
        assert_eq!(said(0.0, None), "no message");
    }
}
