//! By what bridges of one domain know each other.

use crate::config::Settings;

/// Of this domain, on this machine. It has neither ';' nor '='.
pub(crate) fn mark(settings: &Settings) -> String {
    let domain = settings.domain.clone().or_else(|| std::env::var_os("SINEW_DOMAIN").map(Into::into)).unwrap_or_else(|| "default".into());
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let user = rustix::process::getuid().as_raw();
    format!("{}/{user}/{}", boot.trim(), domain.display()).replace([';', '='], "_")
}
