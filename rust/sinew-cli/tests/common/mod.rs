//! What tests of the command have in common: a domain of their own, and the command in it.
#![allow(dead_code)] // by each test file, another part

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use sinew::{Node, NodeOptions};

pub const IMAGE: &str = "robot/Image{header:robot/Header{stamp_ns:uint64;frame_id:string;};width:uint32;data:uint8[];}";

/// A domain that nobody else is in.
pub struct Domain(tempfile::TempDir);

impl Domain {
    pub fn new() -> Domain {
        Domain(tempfile::tempdir().expect("there is room for a folder"))
    }

    pub fn path(&self) -> String {
        self.0.path().join("domain").to_str().expect("a path is a text").to_owned()
    }

    pub fn node(&self, name: &str) -> Node {
        Node::with_options(name, &NodeOptions { domain: self.path(), by_caller: false }).expect("a manager is started")
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments.split(' ')).env("SINEW_DOMAIN", self.path()).env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the command was built")
    }

    /// What it prints when it succeeds.
    pub fn text(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it prints text")
    }

    pub fn json(&self, arguments: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(&format!("{arguments} --json"))).expect("it prints JSON")
    }

    /// The exit status and what it says when it fails.
    pub fn complaint(&self, arguments: &str) -> (i32, String) {
        let output = self.run(arguments);
        (output.status.code().expect("it ends by itself"), String::from_utf8(output.stderr).expect("it says text"))
    }
}

/// A command that goes on, but not longer than its test.
pub struct Running(pub Child);

impl Running {
    /// Starts it; what it is told and says is the test's.
    pub fn new(command: &mut Command) -> Running {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(command.spawn().expect("the command was built"))
    }

    /// Waits for its end: the exit status, what it has printed, and what it has said.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.0.stdin.take());
        let (mut out, mut err) = (String::new(), String::new());
        self.0.stdout.take().expect("nobody has taken it").read_to_string(&mut out).expect("it prints text");
        self.0.stderr.take().expect("nobody has taken it").read_to_string(&mut err).expect("it says text");
        (self.0.wait().expect("it is a child").code(), out, err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As Ctrl-C does.
pub fn interrupt(running: &Running) {
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", running.0.id())]).status().expect("there is a shell");
    assert!(killed.success());
}

/// Whether a process that was sent SIGSTOP has stopped, which it does when its turn comes.
pub fn is_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rfind(") ").is_some_and(|at| stat[at + 2..].starts_with('T'))
}

/// The process of the manager of a domain, by the path of its socket.
pub fn manager(path: &str) -> i32 {
    let is_it = |pid: &i32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split('\0').next().is_some_and(|program| program.ends_with("sinewd")) && line.split('\0').any(|word| word == path)
    };
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.find(is_it).expect("a node has started one")
}

/// Whether it comes to be.
pub fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}
