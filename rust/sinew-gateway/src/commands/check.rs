//! `sinew-gateway check`: whether a configuration is valid, what it says, and which of its rules decides.

mod told;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::config::{Error, Settings, Transport, Zenoh};
use crate::protocol::Kind;
use crate::rules::{Decision, Symbol};
use told::{Mistake, Rule, Summary, quoted_tag};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew-gateway check robot.json
  sinew-gateway check robot.json --topic camera/image --peer-tag base
  sinew-gateway check robot.json --service arm/move --peer base.json

Exit status: 0 when the configuration is valid, and what was asked about is let through at least one way; 1 when a configuration is not valid; 3 when it is not let through.";

/// Check a configuration, and tell which rule decides
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// The configuration
    pub file: PathBuf,
    /// Which way this topic goes
    #[arg(long, value_name = "NAME", group = "channel")]
    pub topic: Option<String>,
    /// Who may provide this service
    #[arg(long, value_name = "NAME", group = "channel")]
    pub service: Option<String>,
    /// To and from a peer with this tag; without, a peer that has none. A network of others has its own: `zenoh`, `ros2`, `ros1`
    #[arg(long, value_name = "TAG", requires = "channel", conflicts_with = "peer")]
    pub peer_tag: Option<String>,
    /// To and from the gateway with this configuration, whose rules count, too
    #[arg(long, value_name = "FILE")]
    pub peer: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How a check has ended.
#[derive(Debug)]
pub enum Verdict {
    /// Valid, and let through, where that was asked; exit status 0.
    Good,
    /// Valid, but what was asked about is not let through; exit status 3.
    NotLetThrough,
    /// Not valid; exit status 1. Without `--json` nothing has been said of it yet.
    Invalid(Box<Error>),
}

/// The whole document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake: Option<Mistake<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<Summary<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<Summary<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<Channel<'a>>,
}

/// What was asked about.
#[derive(Serialize)]
struct Channel<'a> {
    kind: &'static str,
    name: &'a str,
    peer_tag: &'a str,
    local: Rule<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<Rule<'a>>,
    combined: &'static str,
}

/// Reads the files and writes to `out` what was asked for. Errors are of writing.
pub fn check(asked: &Check, out: &mut dyn Write) -> io::Result<Verdict> {
    let read = Settings::read(&asked.file).and_then(|local| Ok((local, asked.peer.as_deref().map(Settings::read).transpose()?)));
    let (local, peer) = match read {
        Ok(read) => read,
        Err(error) => {
            if asked.json {
                json(&Document { valid: false, mistake: Some(Mistake::of(&error)), configuration: None, peer: None, channel: None }, out)?;
            }
            return Ok(Verdict::Invalid(error));
        }
    };
    let Some((kind, name)) = channel(asked) else {
        let summaries =
            (Summary::of(&asked.file, &local), asked.peer.as_deref().zip(peer.as_ref()).map(|(file, peer)| Summary::of(file, peer)));
        if asked.json {
            json(&Document { valid: true, mistake: None, configuration: Some(summaries.0), peer: summaries.1, channel: None }, out)?;
        } else {
            summaries.0.tell(out)?;
            summaries.1.map_or(Ok(()), |peer| writeln!(out).and_then(|()| peer.tell(out)))?;
        }
        return Ok(Verdict::Good);
    };

    let peer_tag = peer.as_ref().map_or(asked.peer_tag.as_deref().unwrap_or(local.transport.tag()), |peer| &peer.tag);
    let ours = local.rules.decide(kind, name, peer_tag);
    let theirs = peer.as_ref().map(|peer| peer.rules.decide(kind, name, &local.tag));
    let combined = theirs.as_ref().map_or(ours.symbol, |theirs| ours.symbol.combined(theirs.symbol));
    if asked.json {
        let channel = Channel {
            kind: called(kind),
            name,
            peer_tag,
            local: Rule::of(&ours),
            peer: theirs.as_ref().map(Rule::of),
            combined: combined.name(),
        };
        json(&Document { valid: true, mistake: None, configuration: None, peer: None, channel: Some(channel) }, out)?;
    } else {
        let is_ros = matches!(&local.transport, Transport::Ros2(_) | Transport::Ros1(_) | Transport::Zenoh(Zenoh { ros2: Some(_), .. }));
        explain(kind, name, (peer_tag, !is_ros), (&ours, theirs.as_ref()), combined, out)?;
    }
    Ok(if combined == Symbol::None { Verdict::NotLetThrough } else { Verdict::Good })
}

fn channel(asked: &Check) -> Option<(Kind, &str)> {
    let topic = asked.topic.as_deref().map(|name| (Kind::Topic, name));
    topic.or_else(|| asked.service.as_deref().map(|name| (Kind::Service, name)))
}

fn called(kind: Kind) -> &'static str {
    match kind {
        Kind::Topic => "topic",
        Kind::Service => "service",
    }
}

fn explain(
    kind: Kind,
    name: &str,
    (peer_tag, has_rules): (&str, bool),
    (ours, theirs): (&Decision, Option<&Decision>),
    combined: Symbol,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{} '{name}', peer with {}: {combined}, {}", called(kind), quoted_tag(peer_tag), meaning(kind, combined))?;
    tell(if theirs.is_some() { "here" } else { "rule" }, ours, out)?;
    match theirs {
        Some(theirs) => tell("peer", theirs, out),
        None if ours.symbol == Symbol::None || !has_rules => Ok(()),
        None => writeln!(out, "  The peer's own rules may restrict it; --peer FILE tells."),
    }
}

fn tell(whose: &str, decision: &Decision, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {whose}  {} by {}", decision.symbol, decision.because)?;
    writeln!(out, "        {}", decision.because.at)?;
    let traffic = told::traffic(&decision.traffic);
    if decision.symbol == Symbol::None || traffic.is_empty() { Ok(()) } else { writeln!(out, "        {}", traffic.join(", ")) }
}

/// Table 5.1, as a half sentence.
fn meaning(kind: Kind, symbol: Symbol) -> &'static str {
    match (symbol, kind) {
        (Symbol::None, _) => "it does not go over",
        (Symbol::Both, Kind::Topic) => "messages go both ways",
        (Symbol::Out, Kind::Topic) => "messages go from here to the peer only",
        (Symbol::In, Kind::Topic) => "messages come from the peer only",
        (Symbol::Both, Kind::Service) => "either side may provide it",
        (Symbol::Out, Kind::Service) => "only this side may provide it",
        (Symbol::In, Kind::Service) => "only the peer may provide it",
    }
}

fn json(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}
