//! Who holds the lock of the socket's folder, which starting a manager takes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{major, minor};

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

/// Whoever starts a manager has it for a shorter time.
const PATIENCE: Duration = Duration::from_millis(500);

/// Looks who does, and once more where somebody does.
pub fn look(patient: &Patient) -> Option<Finding> {
    let (place, _) = patient.domain.as_ref().ok()?;
    let folder = place.socket.parent()?;
    let Some(first) = holder(&patient.host, folder) else { return Some(Finding::ok("nobody holds it")) };
    std::thread::sleep(PATIENCE);
    if holder(&patient.host, folder) != Some(first) {
        return Some(Finding::ok("somebody held it for a moment, to start a manager"));
    }
    let name = &folder.to_string_lossy();
    Some(Finding::problem(
        format!("process {first} holds the lock of {name} (0: in a container that cannot be seen into): no manager can be started there"),
        format!("lslocks | grep {first}; end or continue that process: kill -CONT {first}"),
    ))
}

fn holder(host: &Host, folder: &Path) -> Option<i64> {
    let found = folder.metadata().ok()?;
    let wanted = format!("{:02x}:{:02x}:{}", major(found.dev()), minor(found.dev()), found.ino());
    host.lines("/proc/locks").find_map(|line| {
        // "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"; who waits has "->" behind the number.
        let words: Vec<&str> = line.split_whitespace().collect();
        (words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&wanted.as_str())).then(|| words[4].parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use rustix::fs::{FlockOperation, flock};

    use super::*;

    #[test]
    fn who_holds_the_lock_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let this = Host::this();
        assert_eq!(holder(&this, folder.path()), None);
        let opened = std::fs::File::open(folder.path()).unwrap();
        flock(&opened, FlockOperation::LockExclusive).unwrap();
        assert_eq!(holder(&this, folder.path()), Some(i64::from(std::process::id())));
    }
}
