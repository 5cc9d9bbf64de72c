//! How many descriptors a process may have open.

use crate::doctor::host::{Host, Limit};
use crate::doctor::{Finding, Patient};

/// A node has about a dozen, and up to four for each pair.
const LEAST: u64 = 64;
const LITTLE: u64 = 1024;

/// Looks at the limit.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(&patient.host))
}

fn judge(host: &Host) -> Finding {
    let Limit { soft, hard } = host.limit("nofile");
    let Some(soft) = soft else { return Finding::ok("as many as the machine has") };
    let remedy = if hard.is_none_or(|hard| hard >= LITTLE) {
        "ulimit -n 4096 in the shell that starts nodes, or LimitNOFILE= of their service".to_owned()
    } else {
        "as root, raise nofile in /etc/security/limits.d and log in again, or LimitNOFILE= of the service".to_owned()
    };
    let found =
        format!("a process may open {soft}; a node needs about 12, and up to 4 for each publisher or subscriber that it is connected to");
    match soft {
        soft if soft < LEAST => Finding::problem(found, remedy),
        soft if soft < LITTLE => Finding::warning(found, remedy),
        _ => Finding::ok(format!("a process may open {soft}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn few_are_told_of() {
        let level = |most| judge(&host(&[], &[], &[("nofile", most)]).1).level();
        assert_eq!((level(20), level(256), level(1024)), (Level::Problem, Level::Warning, Level::Ok));
        assert_eq!(judge(&host(&[], &[], &[]).1).level(), Level::Ok);
    }
}
