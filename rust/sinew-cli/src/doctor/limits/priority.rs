//! Whether threads may have a real-time priority.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

/// Looks at the limit, which matters to execution threads with `Scheduling::fifo` or `round_robin` alone.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(&patient.host, rustix::process::geteuid().is_root()))
}

fn judge(host: &Host, is_root: bool) -> Finding {
    Finding::ok(match host.limit("rtprio").soft {
        _ if is_root => "threads may have real-time priorities, as root's".to_owned(),
        None => "threads may have every real-time priority".to_owned(),
        Some(0) => {
            "threads have no real-time priority here; those that are to have one need rtprio in /etc/security/limits.d, or CAP_SYS_NICE"
                .to_owned()
        }
        Some(most) => format!("threads may have real-time priorities up to {most}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::host::tests::host;

    #[test]
    fn it_says_which() {
        assert!(judge(&host(&[], &[], &[("rtprio", 0)]).1, false).found().contains("limits.d"));
        assert!(judge(&host(&[], &[], &[("rtprio", 80)]).1, false).found().contains("up to 80"));
        assert!(judge(&host(&[], &[], &[("rtprio", 0)]).1, true).found().contains("root"));
    }
}
