//! How large a file of a process may become: shared memory is one to the kernel.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};
use crate::units::bytes;

/// Smaller than what a publisher may have unless it says otherwise.
const LITTLE: u64 = 1 << 30;

/// Looks at the limit.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(&patient.host))
}

fn judge(host: &Host) -> Finding {
    match host.limit("fsize").soft {
        None => Finding::ok("shared memory may be as large as one wants it"),
        Some(most) if most >= LITTLE => Finding::ok(format!("a piece of shared memory has {} at most", bytes(most as f64))),
        Some(most) => Finding::warning(
            format!(
                "a piece of shared memory has {} at most, since the kernel counts it as a file: larger messages are not published",
                bytes(most as f64)
            ),
            "ulimit -f unlimited in the shell that starts nodes, or LimitFSIZE=infinity of their service",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn a_small_limit_is_told_of() {
        let level = |most| judge(&host(&[], &[], &[("fsize", most)]).1).level();
        assert_eq!((level(1 << 20), level(4 << 30)), (Level::Warning, Level::Ok));
    }
}
