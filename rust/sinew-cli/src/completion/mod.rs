//! What completes a command line: verbs and options as `--help` knows them, and names as the domain has them at that moment.
//!
//! A shell runs a script of its own ([`script`]) when TAB is pressed, which asks the hidden `sinew complete`. That answers within [`names::PATIENCE`], whatever the manager does, and starts none.

mod line;
mod names;

use std::ffi::OsString;
use std::io::Write;

use clap::{Args, CommandFactory, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete as candidates_of};
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::failure::Done;
pub use names::Names;

/// What is printed in place of files: shells complete these better, with `~` and what is to be quoted.
const FILES: &str = ":files";

/// For `--help`.
pub const EXAMPLES: &str = "Examples:\n  sinew complete -- sinew topic ech\n  sinew complete --line 'sinew topic echo ' --word ''";

/// What has been typed so far.
#[derive(Args, Debug)]
pub struct Typed {
    /// The line up to the cursor, as bash has it
    #[arg(long, conflicts_with = "words", allow_hyphen_values = true)]
    pub line: Option<String>,
    /// What bash will replace: the last word of the line, or the end of it behind a = or a :
    #[arg(long, default_value = "", requires = "line", allow_hyphen_values = true)]
    pub word: String,
    /// The words, the last of which is to be completed
    #[arg(last = true)]
    pub words: Vec<String>,
}

/// Prints what the last word may become, each on a line of its own, with a tab before what is said about it.
pub fn complete(typed: &Typed) -> Done {
    let words = typed.line.as_deref().map_or_else(|| typed.words.clone(), line::words);
    let Some(last) = words.last() else { return Ok(()) };
    // Of "--color=al" bash replaces "al".
    let kept = if typed.line.is_some() { last.strip_suffix(typed.word.as_str()).unwrap_or_default() } else { "" };
    let mut text = String::new();
    for candidate in candidates(&words) {
        let value = candidate.get_value().to_string_lossy();
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        if value.ends_with(FILES) {
            text = format!("{FILES}\n");
            break;
        }
        let (value, help) = (value.strip_prefix(kept).unwrap_or(&value), help.lines().next().unwrap_or_default());
        text += &if help.is_empty() { format!("{value}\n") } else { format!("{value}\t{help}\n") };
    }
    // The thread that asks the domain may wait for a manager that is stopped: it ends with the process.
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

fn candidates(words: &[String]) -> Vec<CompletionCandidate> {
    names::ask_in(line::domain_in(words));
    let mut command = with_files(Cli::command());
    let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    // The long ones, which say what they are for.
    if let Some(last) = arguments.last_mut().filter(|last| *last == "-") {
        last.push("-");
    }
    let found = candidates_of(&mut command, arguments, words.len() - 1, None).unwrap_or_default();
    // Where a name is meant, options are in the way of names.
    let is_option = words.last().is_some_and(|word| word.starts_with('-'));
    let is_wanted = |candidate: &CompletionCandidate| is_option || !candidate.get_value().to_string_lossy().starts_with('-');
    found.into_iter().filter(is_wanted).collect()
}

/// The command, which leaves its files to the shell.
fn with_files(command: clap::Command) -> clap::Command {
    let is_file = |arg: &clap::Arg| [ValueHint::AnyPath, ValueHint::FilePath, ValueHint::DirPath].contains(&arg.get_value_hint());
    let files = |_: &std::ffi::OsStr| vec![CompletionCandidate::new(FILES)];
    let command = command.mut_args(|arg| if is_file(&arg) { arg.add(ArgValueCompleter::new(files)) } else { arg });
    command.mut_subcommands(with_files)
}

/// Prints what a shell is to run once.
pub fn script(shell: Shell) -> Done {
    let script = match shell {
        Shell::Bash => include_str!("sinew.bash"),
        Shell::Zsh => include_str!("sinew.zsh"),
        Shell::Fish => include_str!("sinew.fish"),
        other => {
            // These know verbs and options alone.
            // Into memory, as it panics where it cannot write.
            let mut script = Vec::new();
            generate(other, &mut Cli::command(), "sinew", &mut script);
            return print(&script);
        }
    };
    print(script.as_bytes())
}

fn print(script: &[u8]) -> Done {
    let mut out = std::io::stdout();
    out.write_all(script)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What somebody thinks up.
    const FREE: [&str; 6] = ["MESSAGE", "REQUEST", "GOAL", "NAME:=VALUE", "WORDS", "SHELL"];

    #[test]
    fn every_argument_that_is_a_name_or_a_file_is_completed() {
        fn check(command: &clap::Command) {
            for arg in command.get_positionals() {
                let value = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
                let is_completed = arg.get::<ArgValueCompleter>().is_some() || !arg.get_possible_values().is_empty();
                assert!(is_completed || FREE.contains(&value.as_str()), "{} {value}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        let mut command = with_files(Cli::command());
        command.build();
        check(&command);
    }
}
