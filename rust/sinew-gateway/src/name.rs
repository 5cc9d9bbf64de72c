//! What peers call a gateway.

use crate::config::Settings;
use crate::security;

/// What its configuration says; else what its certificate does, which was issued for that name; else the name of the machine.
pub fn of(settings: &Settings) -> String {
    let certified = || settings.security.cert_file.as_deref().and_then(security::subject);
    settings.name.clone().or_else(certified).unwrap_or_else(machine)
}

fn machine() -> String {
    rustix::system::uname().nodename().to_str().ok().filter(|name| !name.is_empty()).unwrap_or("gateway").to_owned()
}
