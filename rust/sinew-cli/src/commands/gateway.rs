//! `sinew gateway status`.

use std::io::Write;
use std::time::{Duration, Instant};

use sinew::{DomainNode, GatewayChannel, GatewayPeer, Ghost};

use crate::cli::Cli;
use crate::domain::{View, join};
use crate::failure::{Done, Failure};
use crate::gateways::{Gateways, LOSSY, Told, rates_of, topic_of};
use crate::output::{BAD, Cell, FAINT, GOOD, NAME, TITLE, Table, WARN, json, out, shown};
use crate::units::{bytes, nanoseconds, three_digits};

/// What each gateway has told last is there at once.
const PATIENCE: Duration = Duration::from_secs(2);
/// A gateway that told nothing for so long hangs, or was stopped.
const LATE: Duration = Duration::from_secs(3);

/// Shows how all gateways of the domain stand.
pub fn status(cli: &Cli) -> Done {
    let node = join(cli, "gateway-status")?;
    let view = View::of(&node)?;
    let Some(topic) = topic_of(&view) else {
        return Err(Failure::Negative("there is no gateway in this domain: `sinew-gateway run FILE` is one".to_owned()));
    };
    let mut gateways: Vec<&DomainNode> = view
        .endpoints(topic.id, true)
        .filter(|publisher| publisher.ghost == Ghost::No)
        .filter_map(|publisher| view.state.nodes.get(&publisher.node))
        .collect();
    let mut told = Gateways::default();
    told.follow(&node, &view)?;
    let until = Instant::now() + PATIENCE;
    while told.told.len() < gateways.len() && Instant::now() < until {
        told.take(&view, until.saturating_duration_since(Instant::now()))?;
    }
    gateways.retain(|gateway| !told.told.contains_key(&gateway.name));
    let told: Vec<&Told> = told.told.values().collect();
    let printed = if cli.json { json(&told) } else { print_all(&told) };
    if gateways.is_empty() {
        return printed;
    }
    let silent: Vec<String> = gateways.iter().map(|node| format!("process {} (node {})", node.pid, shown(&node.name))).collect();
    Err(Failure::Failed(format!("no word from the gateway of {}: it is stopped, or hangs", silent.join(", nor of "))))
}

fn print_all(told: &[&Told]) -> Done {
    for (n, told) in told.iter().enumerate() {
        if n > 0 {
            writeln!(out())?;
        }
        print(told)?;
    }
    Ok(())
}

fn print(told: &Told) -> Done {
    let (status, mut out) = (&told.status, out());
    let (name, address, node) = (shown(&status.name), shown(&status.address), shown(&status.node));
    let listens = if address.is_empty() { String::new() } else { format!(" listens at {address},") };
    writeln!(out, "{TITLE}gateway{TITLE:#} {NAME}{name}{NAME:#}{listens} as node {node}")?;
    let age = Duration::from_nanos(told.age_ns);
    if age > LATE {
        let seconds = age.as_secs();
        writeln!(out, "{BAD}it has told nothing for {seconds} s: it is stopped, or it hangs; what follows is as old{BAD:#}")?;
    }
    if status.peers.is_empty() {
        return Ok(writeln!(out, "no peers")?);
    }
    let mut peers = Table::new(&["peer", "address", "round trip", "out", "in", "loss"]);
    for peer in &status.peers {
        peers.row(cells_of(peer));
    }
    writeln!(out)?;
    peers.write(&mut out, "")?;
    let mut channels = Table::new(&["channel", "kind", "way", "peer", "rate", "bandwidth", "messages", "lost", "state"]);
    for peer in &status.peers {
        for channel in &peer.channels {
            channels.row(cells_of_channel(peer, channel));
        }
    }
    if !channels.is_empty() {
        writeln!(out)?;
        channels.write(&mut out, "")?;
    }
    Ok(())
}

fn cells_of(peer: &GatewayPeer) -> [Cell; 6] {
    let tag = if peer.tag.is_empty() { String::new() } else { format!(" (tag {})", peer.tag) };
    let name = Cell::new(format!("{}{tag}", peer.name)).styled(NAME);
    if !peer.connected {
        let nothing = || Cell::number("-");
        return [name, Cell::new("not connected").styled(BAD), nothing(), nothing(), nothing(), nothing()];
    }
    [
        name,
        Cell::new(&peer.address),
        Cell::number(nanoseconds(peer.round_trip_ns as f64)),
        Cell::number(format!("{}/s", bytes(peer.sent_bytes_per_s))),
        Cell::number(format!("{}/s", bytes(peer.received_bytes_per_s))),
        Cell::number(format!("{} %", three_digits(100.0 * peer.loss))).styled(if peer.loss > LOSSY { WARN } else { FAINT }),
    ]
}

fn cells_of_channel(peer: &GatewayPeer, channel: &GatewayChannel) -> [Cell; 9] {
    let style = match channel.state.as_str() {
        "open" => GOOD,
        "refused" => BAD,
        _ => FAINT,
    };
    let [rate, bandwidth] = rates_of(channel);
    let state = if channel.why.is_empty() { channel.state.clone() } else { format!("{}: {}", channel.state, channel.why) };
    [
        Cell::new(&channel.name).styled(NAME),
        Cell::new(&channel.kind),
        Cell::new(if channel.outgoing { "out" } else { "in" }),
        Cell::new(&peer.name),
        Cell::number(rate),
        Cell::number(bandwidth),
        Cell::number(channel.messages),
        Cell::number(channel.lost),
        Cell::new(state).styled(style),
    ]
}
