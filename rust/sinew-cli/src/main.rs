//! The `sinew` command: what there is in a domain, what flows in it, and why.

mod actions;
mod aside;
mod backlog;
mod beyond;
mod catalogues;
mod cli;
mod clock;
mod commands;
mod completion;
mod doctor;
mod documents;
mod domain;
mod failure;
mod flow;
mod foxglove;
mod gateways;
mod graph;
mod interrupt;
mod launch;
mod misfits;
mod missing;
mod output;
mod patterns;
mod pending;
mod periods;
mod picture;
mod play;
mod quiet;
mod record;
mod recordings;
mod renamed;
mod taken;
mod top;
mod typed;
mod units;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    quiet::begin();
    let cli = usage::parse();
    renamed::begin(&cli.command);
    cli.color.write_global();
    let status = match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    };
    aside::finish();
    status
}
