//! `sinew trigger`: tells a flight recorder to write what it holds.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use sinew::raw::ClientOptions;
use sinew::{Client, ErrorKind, Ghost};

use crate::cli::Cli;
use crate::completion::Names;
use crate::domain::{View, in_domain, join};
use crate::failure::{Done, Failure};
use crate::output::{NAME, counted, json, out, shown};
use crate::pending::Pending;
use crate::record::USUAL_NAME;
use crate::record::flight::{PREFIX, Request, Response, recorders};
use crate::units::bytes;

/// For `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew trigger
  sinew trigger front --reason 'it shook'

A program does the same by the service sinew/flight/NAME.";

/// Whom to tell.
#[derive(Args, Debug)]
pub struct Trigger {
    /// The flight recorder: what its --name says
    #[arg(default_value = USUAL_NAME, add = Names::Recorders.completer())]
    pub name: String,
    /// For whoever looks at what it wrote
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    pub reason: String,
}

#[derive(Serialize)]
struct Told {
    path: String,
    messages: u64,
    bytes: u64,
}

/// Tells it, and waits until it has written.
pub fn trigger(cli: &Cli, asked: &Trigger) -> Done {
    let node = join(cli, "trigger")?;
    let there = recorders(&View::of(&node)?);
    if !there.contains(&asked.name) {
        return Err(none(cli, &there, &asked.name));
    }
    let service = format!("{PREFIX}{}", asked.name);
    let client = Client::<Request, Response>::new(&node, &service, &ClientOptions { ghost: Ghost::Observer, ..Default::default() });
    let client = client.map_err(|why| match why.kind() {
        ErrorKind::Unavailable => none(cli, &there, &asked.name),
        _ => Failure::from(why),
    })?;
    let request = Request { reason: asked.reason.clone() };
    let response = Pending::new(&service, client.start(&request, None)?, || client.statistics().providers).wait()?;
    let Response { path, messages, bytes: size } = response.read()?;
    let told = Told { path, messages, bytes: size };
    if cli.json {
        return json(&told);
    }
    Ok(writeln!(out(), "{NAME}{}{NAME:#}: {}, {}", shown(&told.path), counted(told.messages, "message"), bytes(told.bytes as f64))?)
}

fn none(cli: &Cli, there: &[String], name: &str) -> Failure {
    let named = if name == USUAL_NAME { String::new() } else { format!(" --name {name}") };
    let hint = if there.is_empty() {
        format!("`sinew record --last 30s{named}{}` starts one", in_domain(cli.domain.as_deref()))
    } else {
        format!("there is: {}", there.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", "))
    };
    Failure::Negative(format!("there is no flight recorder '{name}': {hint}"))
}
