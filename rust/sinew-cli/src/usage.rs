//! Arguments that are none, and what is said of them.

use std::ffi::OsString;

use clap::Parser;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error};

use crate::cli::Cli;

/// Verbs that others have: behind which one, or none, and what does it here.
const ELSEWHERE: [(&str, &str, &str); 31] = [
    ("", "echo", "sinew topic echo"),
    ("", "pub", "sinew topic pub"),
    ("", "hz", "sinew topic hz"),
    ("", "bw", "sinew topic bw"),
    ("", "delay", "sinew topic delay"),
    ("", "list", "sinew topic list, sinew node list, sinew service list"),
    ("", "info", "sinew topic info, sinew node info, sinew service info"),
    ("", "call", "sinew service call"),
    ("", "state", "sinew domain state"),
    ("", "watch", "sinew domain watch"),
    ("", "status", "sinew gateway status"),
    ("", "interface", "sinew type show"),
    ("", "msg", "sinew type show"),
    ("", "srv", "sinew type show"),
    ("", "wtf", "sinew doctor"),
    ("", "rosbag", "sinew record, sinew play, sinew bag info"),
    ("", "rqt_graph", "sinew graph"),
    ("", "run", "programs are run as they are, or several together by `sinew launch`"),
    ("", "param", "there are no parameters: programs have arguments and variables, which `sinew launch` gives them"),
    ("", "pkg", "there are no packages: programs are files, and types are known from the domain (`sinew type show`)"),
    ("", "component", "there are no components: nodes that share a process are made in it"),
    ("", "lifecycle", "nodes have no states: who is there takes part"),
    ("", "multicast", "nodes of one machine meet in its memory: `sinew doctor` says whether they can"),
    ("", "daemon", "nothing is to be started: the first node starts what all need"),
    ("bag", "record", "sinew record"),
    ("bag", "play", "sinew play"),
    ("bag", "reindex", "nothing needs it: what is in a file is whole at any time"),
    ("bag", "convert", "play it by `sinew play` while `sinew record` runs beside it"),
    ("node", "kill", "end its process, or `sinew node kill-connection` lets it register again"),
    ("service", "find", "sinew service list --verbose"),
    ("service", "type", "sinew service info"),
];

/// What is asked for. Where that is nothing, it says why, and the process ends with status 2.
pub fn parse() -> Cli {
    let words: Vec<OsString> = std::env::args_os().collect();
    Cli::try_parse_from(&words).unwrap_or_else(|error| told(error, &words).exit())
}

fn told(mut error: Error, words: &[OsString]) -> Error {
    // Of an option that is none clap says how it would be a value, which no verb has a use for.
    let is_noise = |told: &ContextValue| matches!(told, ContextValue::StyledStrs(tips) if tips.iter().any(|tip| tip.to_string().contains(" as a value, use ")));
    if error.get(ContextKind::Suggested).is_some_and(is_noise) {
        error.remove(ContextKind::Suggested);
    }
    let Some(ContextValue::String(verb)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    // Behind the program, which may be called as the verb is.
    let Some(at) = (1..words.len()).find(|at| words[*at] == verb.as_str()) else { return error };
    if verb == "help" {
        return help(words, at).unwrap_or(error);
    }
    let before = words[at - 1].to_string_lossy();
    if let Some(hint) = hint(&before, verb) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    }
    error
}

/// `sinew topic help echo` is `sinew topic echo --help`. As verbs of clap these would be all verbs once more in completions.
fn help(words: &[OsString], at: usize) -> Option<Error> {
    let option = OsString::from("--help");
    let others = words.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, word)| word);
    let error = Cli::try_parse_from(others.chain([&option])).err()?;
    Some(told(error, &[words[..at].to_vec(), words[at + 1..].to_vec()].concat()))
}

fn hint(before: &str, verb: &str) -> Option<String> {
    let fits = |of: &str| if of.is_empty() { !ELSEWHERE.iter().any(|(of, ..)| *of == before) } else { of == before };
    let (.., here) = ELSEWHERE.iter().find(|(of, name, _)| *name == verb && fits(of))?;
    Some(if here.starts_with("sinew ") { format!("here it is `{}`", here.replace(", ", "`, `")) } else { (*here).to_owned() })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn what_is_elsewhere_is_a_verb_here_and_was_none() {
        for (of, verb, here) in ELSEWHERE {
            let mut parent = Cli::command();
            if !of.is_empty() {
                parent = parent.find_subcommand(of).unwrap().clone();
            }
            assert!(parent.find_subcommand(verb).is_none(), "{of} {verb}");
            for each in here.split(", ").filter(|each| each.starts_with("sinew ") && !each.contains(" --")) {
                let all = Cli::command();
                let found = each.split(' ').skip(1).try_fold(&all, |command, word| command.find_subcommand(word));
                assert!(found.is_some(), "{each}");
            }
        }
    }

    #[test]
    fn a_hint_is_that_of_the_verb_before() {
        assert_eq!(hint("bag", "record").as_deref(), Some("here it is `sinew record`"));
        assert_eq!(hint("sinew", "rosbag").as_deref(), Some("here it is `sinew record`, `sinew play`, `sinew bag info`"));
        assert_eq!(hint("bag", "echo"), None);
        assert_eq!(hint("sinew", "fly"), None);
    }
}
