//! How many pieces of memory a process may map.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

/// The kernel's own choice.
const USUAL: i64 = 65530;

/// Looks at the limit.
pub fn look(patient: &Patient) -> Option<Finding> {
    judge(&patient.host)
}

fn judge(host: &Host) -> Option<Finding> {
    let most = host.number("/proc/sys/vm/max_map_count")?;
    let found = format!("a process may map {most} pieces of memory");
    Some(if most < USUAL {
        Finding::warning(
            format!("{found}; a node maps some for each publisher that it hears"),
            format!("sudo sysctl -w vm.max_map_count={USUAL}"),
        )
    } else {
        Finding::ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn few_are_told_of() {
        let (_folder, few) = host(&[("/proc/sys/vm/max_map_count", "1000\n")], &[], &[]);
        assert_eq!(judge(&few).unwrap().level(), Level::Warning);
        let (_folder, usual) = host(&[("/proc/sys/vm/max_map_count", "65530\n")], &[], &[]);
        assert_eq!(judge(&usual).unwrap().level(), Level::Ok);
    }
}
