//! How much memory a process may lock.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};
use crate::units::bytes;

/// Looks at the limit, which matters to publishers with `lock_memory` alone.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(&patient.host))
}

fn judge(host: &Host) -> Finding {
    Finding::ok(match host.limit("memlock").soft {
        None => "a process may lock all of its memory".to_owned(),
        Some(most) => format!(
            "a process may lock {}; who publishes with lock_memory needs its memory_budget (ulimit -l, LimitMEMLOCK=)",
            bytes(most as f64)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::host::tests::host;

    #[test]
    fn it_says_how_much() {
        assert!(judge(&host(&[], &[], &[("memlock", 8_388_608)]).1).found().contains("may lock 8.39 MB"));
    }
}
