//! Whether this process has the machine's clock.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

/// Looks at its time namespace.
pub fn look(patient: &Patient) -> Option<Finding> {
    judge(&patient.host)
}

fn judge(host: &Host) -> Option<Finding> {
    let offsets = host.read("/proc/self/timens_offsets")?;
    let of_clock = offsets.lines().find_map(|line| line.trim().strip_prefix("monotonic"))?;
    let mut numbers = of_clock.split_whitespace().map_while(|number| number.parse::<i64>().ok());
    let (seconds, nanoseconds) = (numbers.next()?, numbers.next()?);
    Some(if (seconds, nanoseconds) == (0, 0) {
        Finding::ok("CLOCK_MONOTONIC is the machine's")
    } else {
        Finding::warning(
            format!(
                "CLOCK_MONOTONIC is {seconds} s from the machine's (a time namespace): latencies, lifespans and leases are wrong between here and outside"
            ),
            "start the container without a time namespace of its own, or all nodes of the domain in the same",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn a_clock_of_its_own_is_told_of() {
        let level = |text| {
            let (_folder, host) = host(&[("/proc/self/timens_offsets", text)], &[], &[]);
            judge(&host).map(|finding| finding.level())
        };
        assert_eq!(level("monotonic           0         0\nboottime            0         0\n"), Some(Level::Ok));
        assert_eq!(level("monotonic       -3600         0\nboottime            0         0\n"), Some(Level::Warning));
        assert_eq!(level("something else"), None);
    }
}
