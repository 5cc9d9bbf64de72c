//! Lines of the library's log are no part of what the command prints, and would break pictures: it logs where SINEW_LOG asks for it, and only there.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// The variable that says what is logged.
pub const VARIABLE: &str = "SINEW_LOG";

/// The command has set it, not the user. Relaxed: written before there are threads.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// Has nothing logged, unless the variable asks for it. Before anything else, as threads may look at variables at any time.
pub fn begin() {
    if std::env::var_os(VARIABLE).is_some() {
        return;
    }
    // SAFETY: this is the only thread.
    unsafe { std::env::set_var(VARIABLE, "off") };
    IS_OURS.store(true, Ordering::Relaxed);
}

/// Whether the variable is one of the user's environment.
pub fn is_of_user(name: &str) -> bool {
    name != VARIABLE || !IS_OURS.load(Ordering::Relaxed)
}

/// Programs that the command starts log as those that the user starts.
pub fn only_here(command: &mut Command) {
    if !is_of_user(VARIABLE) {
        command.env_remove(VARIABLE);
    }
}
