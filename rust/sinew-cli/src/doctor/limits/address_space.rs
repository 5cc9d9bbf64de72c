//! How many addresses a process may use.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};
use crate::units::bytes;

/// Looks at the limit.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(&patient.host))
}

fn judge(host: &Host) -> Finding {
    match host.limit("as").soft {
        None => Finding::ok("a process may use all addresses"),
        Some(most) => Finding::warning(
            format!(
                "a process may use addresses for {} only: where there is no room for a publisher's memory, messages are not read in place, or not at all",
                bytes(most as f64)
            ),
            "ulimit -v unlimited in the shell that starts nodes, or LimitAS=infinity of their service",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn a_limit_is_told_of() {
        assert_eq!(judge(&host(&[], &[], &[]).1).level(), Level::Ok);
        assert_eq!(judge(&host(&[], &[], &[("as", 1 << 30)]).1).level(), Level::Warning);
    }
}
