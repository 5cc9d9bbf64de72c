//! Which kernel it is.

use rustix::system::uname;

use crate::doctor::{Finding, Patient};

/// Tested with this, and newer.
const TESTED: (u32, u32) = (5, 10);
/// Has seals for memory that others only read.
const LEAST: (u32, u32) = (5, 1);
/// Makes huge pages where it is asked to.
const HUGE_PAGES: (u32, u32) = (6, 1);

/// Looks at its version.
pub fn look(_: &Patient) -> Option<Finding> {
    let release = uname();
    Some(judge(&release.release().to_string_lossy()))
}

fn judge(release: &str) -> Finding {
    let remedy = "install a kernel of 5.10 or later, as Debian 12 has one";
    match version_of(release) {
        None => Finding::warning(format!("Linux {release}, whose version is not understood"), remedy),
        Some(version) if version < LEAST => Finding::problem(
            format!("Linux {release} cannot seal shared memory: sinew needs 5.1, and is tested with 5.10 and later"),
            remedy,
        ),
        Some(version) if version < TESTED => Finding::warning(format!("Linux {release}; sinew is tested with 5.10 and later"), remedy),
        Some(version) if version < HUGE_PAGES => {
            Finding::ok(format!("Linux {release}; large messages would be faster with 6.1, which has huge pages for them"))
        }
        Some(_) => Finding::ok(format!("Linux {release}, which has huge pages for large messages")),
    }
}

/// Of "6.1.0-18-amd64".
fn version_of(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn old_kernels_are_told_of() {
        assert_eq!(judge("4.19.0-21-amd64").level(), Level::Problem);
        assert_eq!(judge("5.4.0").level(), Level::Warning);
        assert_eq!(judge("5.10.0-21-arm64").level(), Level::Ok);
        assert_eq!(judge("6.18.44").level(), Level::Ok);
        assert_eq!(judge("mine").level(), Level::Warning);
    }
}
