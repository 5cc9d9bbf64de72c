//! Launch files of a test, and what becomes of what they launch.
#![allow(dead_code)] // by each test file, another part

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::{Domain, Running, eventually};

pub const MOMENT: Duration = Duration::from_secs(60);

/// A folder with a launch file, and a domain for what is launched.
pub struct Scene {
    pub domain: Domain,
    pub folder: tempfile::TempDir,
}

impl Scene {
    pub fn new(file: &str) -> Scene {
        let scene = Scene { domain: Domain::new(), folder: tempfile::tempdir().unwrap() };
        fs::write(scene.path("robot.yaml"), file).unwrap();
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn asked(&self, arguments: &str) -> String {
        format!("launch {}{arguments}", self.path("robot.yaml").display())
    }

    /// Started, with its log to be read.
    pub fn launch(&self, arguments: &str) -> Launched {
        Launched::of(Running::new(&mut self.domain.command(&self.asked(arguments))))
    }

    /// Until it ends by itself: the status, the log, and what it says.
    pub fn run(&self, arguments: &str) -> (Option<i32>, String, String) {
        Running::new(&mut self.domain.command(&self.asked(arguments))).end()
    }

    /// What it says when it starts nothing.
    pub fn complaint(&self, arguments: &str) -> String {
        let (status, log, said) = self.run(arguments);
        assert_eq!((status, log.as_str()), (Some(2), ""), "{said}");
        said
    }

    /// A number that a process has written into a file.
    pub fn number(&self, name: &str) -> i32 {
        let read = || fs::read_to_string(self.path(name)).ok().and_then(|text| text.trim().parse().ok());
        assert!(eventually(|| read().is_some()), "{name}");
        read().unwrap()
    }
}

/// One that runs.
pub struct Launched {
    pub running: Running,
    lines: Receiver<String>,
}

impl Launched {
    pub fn of(mut running: Running) -> Launched {
        let (send, lines) = channel();
        let log = BufReader::new(running.0.stdout.take().unwrap());
        std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Launched { running, lines }
    }

    /// The next line of the log with this in it.
    pub fn until(&self, text: &str) -> String {
        let (mut seen, until) = (Vec::new(), Instant::now() + MOMENT);
        loop {
            let line = self
                .lines
                .recv_timeout(until.saturating_duration_since(Instant::now()))
                .unwrap_or_else(|_| panic!("{text} did not come, but\n{}", seen.join("\n")));
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
    }

    /// The next event of this kind, with --json.
    pub fn event(&self, event: &str) -> Value {
        serde_json::from_str(&self.until(&format!("\"event\":\"{event}\""))).unwrap()
    }

    pub fn pid(&self) -> i32 {
        self.running.0.id().cast_signed()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
    }

    /// Waits for its end: the status, the rest of the log, and what it has said.
    pub fn end(self) -> (Option<i32>, String, String) {
        let (mut rest, until) = (Vec::new(), Instant::now() + MOMENT);
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end after\n{}", rest.join("\n")),
            }
        }
        let mut running = self.running;
        running.0.stdout = None;
        let mut said = String::new();
        std::io::Read::read_to_string(&mut running.0.stderr.take().unwrap(), &mut said).unwrap();
        (running.0.wait().unwrap().code(), rest.join("\n"), said)
    }

    /// By Ctrl-C, well.
    pub fn stop(self) -> String {
        self.signal(Signal::SIGINT);
        let (status, rest, said) = self.end();
        assert_eq!((status, said.as_str()), (Some(0), ""), "{rest}");
        rest
    }
}

/// Whether there is such a process, and it has not ended.
pub fn is_there(pid: i32) -> bool {
    // Its name may be no text.
    let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    stat.rfind(") ").is_some_and(|at| !stat[at + 2..].starts_with(['Z', 'X']))
}

pub fn is_gone(pid: i32) -> bool {
    eventually(|| !is_there(pid))
}

/// The number in "camera started, process 4711".
pub fn pid_in(line: &str) -> i32 {
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// A program that somebody has written.
pub fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}
