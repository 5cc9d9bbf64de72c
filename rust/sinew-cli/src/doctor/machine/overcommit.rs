//! Whether the kernel promises no more memory than it has.

use crate::doctor::host::{Host, number_behind};
use crate::doctor::{Finding, Patient};
use crate::units::bytes;

const LITTLE: u64 = 1 << 30;

/// Looks at its policy, and how much it may still promise.
pub fn look(patient: &Patient) -> Option<Finding> {
    judge(&patient.host)
}

fn judge(host: &Host) -> Option<Finding> {
    if host.number("/proc/sys/vm/overcommit_memory")? != 2 {
        return Some(Finding::ok("memory is granted as long as there is some"));
    }
    let meminfo = host.read("/proc/meminfo")?;
    let (limit, promised) = (number_behind(&meminfo, "CommitLimit:")?, number_behind(&meminfo, "Committed_AS:")?);
    let left = limit.saturating_sub(promised) * 1024;
    let found = format!("memory is granted only as far as all can use theirs (vm.overcommit_memory is 2): {} are left", bytes(left as f64));
    Some(if left < LITTLE {
        Finding::warning(found, "sudo sysctl -w vm.overcommit_ratio=90, or vm.overcommit_memory=0")
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
    fn a_kernel_that_has_promised_almost_all_is_told_of() {
        let level = |mode, promised: &str| {
            let meminfo = format!("CommitLimit:  8000000 kB\nCommitted_AS: {promised} kB\n");
            let (_folder, host) = host(&[("/proc/sys/vm/overcommit_memory", mode), ("/proc/meminfo", &meminfo)], &[], &[]);
            judge(&host).unwrap().level()
        };
        assert_eq!((level("0\n", "7900000"), level("2\n", "7900000"), level("2\n", "100")), (Level::Ok, Level::Warning, Level::Ok));
    }
}
