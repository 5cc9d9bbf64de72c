//! Programs in C and C++ that tests build of sources of their own.

use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs what builds them, in this folder.
pub fn build(command: &mut Command, folder: &Path) {
    let output = command.current_dir(folder).output().expect("it can be run");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// That ends when nothing more can be read from its standard input.
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it was built");
        let input = child.stdin.take();
        Running { child, input }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input = None;
        // Fast DDS leaves files where it is killed.
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
