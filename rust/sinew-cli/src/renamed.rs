//! SINEW_NODE names the node of a program. Verbs that only look at a domain have names of their own all the same: with that one they would be refused
//! while the node is there that it is meant for, and this while they are.

use std::ffi::OsString;
use std::sync::OnceLock;

use crate::cli::{Command, ServiceCommand, TopicCommand};
use crate::commands::action::ActionCommand;

/// The variable.
pub const VARIABLE: &str = "SINEW_NODE";

/// What it was.
static TAKEN: OnceLock<OsString> = OnceLock::new();

/// Takes it out for these verbs. Before there are threads, as those may look at variables at any time.
pub fn begin(command: &Command) {
    if !looks_on(command) {
        return;
    }
    if let Some(name) = std::env::var_os(VARIABLE) {
        // SAFETY: this is the only thread.
        unsafe { std::env::remove_var(VARIABLE) };
        let _ = TAKEN.set(name);
    }
}

/// What was taken out.
pub fn taken() -> Option<&'static OsString> {
    TAKEN.get()
}

fn looks_on(command: &Command) -> bool {
    match command {
        Command::Topic(of) => {
            use TopicCommand::{Bw, Delay, Find, Hz, Info, List, Type};
            matches!(of, List { .. } | Info { .. } | Type(_) | Find { .. } | Hz(_) | Bw(_) | Delay(_))
        }
        Command::Service(of) => matches!(of, ServiceCommand::List { .. } | ServiceCommand::Info { .. }),
        Command::Action(of) => matches!(of, ActionCommand::List { .. } | ActionCommand::Info { .. }),
        Command::Node(_) | Command::Type(_) | Command::Domain(_) | Command::Gateway(_) | Command::Explain(_) | Command::Graph(_) => true,
        Command::Doctor | Command::Top { .. } | Command::Complete(_) => true,
        _ => false,
    }
}
