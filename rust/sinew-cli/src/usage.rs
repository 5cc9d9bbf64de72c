//! Arguments that are none, and what is said of them.

use clap::Parser;
use clap::error::{ContextKind, ContextValue, Error};

use crate::cli::Cli;

/// What is asked for. Where that is nothing, it says why, and the process ends with status 2.
pub fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| told(error).exit())
}

/// Of an option that is none clap says how it would be a value, which no verb has a use for.
fn told(mut error: Error) -> Error {
    let is_noise = |told: &ContextValue| matches!(told, ContextValue::StyledStrs(tips) if tips.iter().any(|tip| tip.to_string().contains(" as a value, use ")));
    if error.get(ContextKind::Suggested).is_some_and(is_noise) {
        error.remove(ContextKind::Suggested);
    }
    error
}
