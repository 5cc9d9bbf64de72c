//! Whether the processor is kept slow.

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

const FOLDER: &str = "/sys/devices/system/cpu/cpu0/cpufreq";

/// Looks at who governs its frequency.
pub fn look(patient: &Patient) -> Option<Finding> {
    judge(&patient.host)
}

fn judge(host: &Host) -> Option<Finding> {
    let governor = host.read(format!("{FOLDER}/scaling_governor"))?;
    let driver = host.read(format!("{FOLDER}/scaling_driver")).unwrap_or_default();
    let (governor, driver) = (governor.trim(), driver.trim());
    // With drivers that govern themselves, "powersave" is as fast as it is asked to be.
    Some(if governor == "powersave" && !driver.contains("pstate") {
        Finding::warning(
            "it is kept at its lowest frequency (powersave)",
            "sudo cpupower frequency-set -g schedutil, or performance for the least latency",
        )
    } else {
        Finding::ok(format!("its frequency is governed by {governor} of {driver}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn a_processor_that_is_kept_slow_is_told_of() {
        let level = |governor, driver| {
            let files = [
                ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor),
                ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", driver),
            ];
            let (_folder, host) = host(&files, &[], &[]);
            judge(&host).unwrap().level()
        };
        assert_eq!(level("powersave\n", "acpi-cpufreq\n"), Level::Warning);
        assert_eq!(level("powersave\n", "intel_pstate\n"), Level::Ok);
        assert_eq!(level("performance\n", "acpi-cpufreq\n"), Level::Ok);
    }
}
