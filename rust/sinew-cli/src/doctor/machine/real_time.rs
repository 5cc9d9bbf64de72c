//! Whether threads of real-time priority leave others some time.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

/// Looks at how they are throttled.
pub fn look(patient: &Patient) -> Option<Finding> {
    judge(&patient.host)
}

fn judge(host: &Host) -> Option<Finding> {
    let runtime = host.number("/proc/sys/kernel/sched_rt_runtime_us")?;
    let period = host.number("/proc/sys/kernel/sched_rt_period_us").unwrap_or(1_000_000).max(1);
    Some(if runtime < 0 {
        Finding::warning(
            "threads of real-time priority may keep a core for ever, so sinew asks for no huge pages, for which the kernel waits for every core",
            "sudo sysctl -w kernel.sched_rt_runtime_us=950000",
        )
    } else {
        let part = runtime as f64 / period as f64 * 100.0;
        Finding::ok(format!("threads of real-time priority get {part:.0} % of a core at most"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn threads_that_are_not_throttled_are_told_of() {
        let (_folder, free) = host(&[("/proc/sys/kernel/sched_rt_runtime_us", "-1\n")], &[], &[]);
        assert_eq!(judge(&free).unwrap().level(), Level::Warning);
        let (_folder, throttled) = host(&[("/proc/sys/kernel/sched_rt_runtime_us", "950000\n")], &[], &[]);
        assert_eq!(judge(&throttled).unwrap(), Finding::ok("threads of real-time priority get 95 % of a core at most"));
    }
}
