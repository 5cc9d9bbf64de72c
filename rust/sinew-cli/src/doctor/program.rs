//! Versions of programs, which say them themselves.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(3);

/// What a program of sinew answers to `--version`: "0.1.0" of "sinewd 0.1.0". None where it does not.
pub fn version_of(program: &Path) -> Option<String> {
    let mut child =
        Command::new(program).arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            Ok(ended) => break ended.is_some(),
            Err(_) => break false,
        }
    };
    if !ended {
        // It may be gone meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut said = String::new();
    child.stdout.take()?.take(256).read_to_string(&mut said).ok()?;
    said.trim().strip_prefix("sinewd ").map(str::to_owned)
}

/// Of a library's whole name: "0.1.0" of "libsinew.so.0.1.0".
pub fn version_in(name: &str) -> Option<&str> {
    name.strip_prefix("libsinew.so.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_none_of_sinew_has_no_version() {
        assert_eq!(version_of(Path::new("/bin/echo")), None);
        assert_eq!(version_of(Path::new("/nothing/here")), None);
        assert_eq!((version_in("libsinew.so.0.1.0"), version_in("libc.so.6")), (Some("0.1.0"), None));
    }
}
