//! `sinew-gateway`: connects the domain of this machine with those of others.

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use sinew_gateway::commands::certs::{Certs, certs};
use sinew_gateway::commands::check::{Check, Verdict, check};
use sinew_gateway::commands::ros1::{AskedRos1, ros1};
use sinew_gateway::commands::ros2::{AskedRos2, ros2};
use sinew_gateway::commands::run::{Run, run};

/// Connects the domain of this machine with those of others.
#[derive(Parser)]
#[command(name = "sinew-gateway", version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Run),
    Ros2(AskedRos2),
    Ros1(AskedRos1),
    Check(Check),
    Certs(Certs),
    /// Print what completes this command in a shell
    #[command(
        after_help = "Examples:\n  sinew-gateway completions bash > ~/.local/share/bash-completion/completions/sinew-gateway\n  sinew-gateway completions fish > ~/.config/fish/completions/sinew-gateway.fish"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(asked) => match run(&asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => failed(&why),
        },
        Command::Ros2(asked) => match ros2(&asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => failed(&why),
        },
        Command::Ros1(asked) => match ros1(&asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => failed(&why),
        },
        Command::Certs(asked) => match certs(&asked, &mut io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => failed(&why),
        },
        Command::Check(asked) => match check(&asked, &mut io::stdout().lock()) {
            Ok(Verdict::Good) => ExitCode::SUCCESS,
            Ok(Verdict::NotLetThrough) => ExitCode::from(3),
            Ok(Verdict::Invalid(error)) => failed(&error.to_string()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => failed(&format!("the output cannot be written: {error}")),
        },
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "sinew-gateway", &mut io::stdout());
            ExitCode::SUCCESS
        }
    }
}

fn failed(text: &str) -> ExitCode {
    eprintln!("error: {text}");
    ExitCode::from(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }
}
