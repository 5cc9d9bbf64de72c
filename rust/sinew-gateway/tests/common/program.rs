//! `sinew-gateway` as a process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::machine::Machine;
use super::{PATIENCE, until};

/// That runs, until it is dropped.
pub struct Program {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Program {
    /// The same as [`Program::run`], until it comes to this point.
    pub fn dying_at(point: &str, machine: &Machine, config: &Path, domain: &str) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew-gateway"));
        machine.within(|| Program::start(command.env("SINEW_GATEWAY_DIES_AT", point).arg("run").arg(config), domain))
    }

    /// Where a variable of the environment says something else.
    pub fn told(variable: &str, value: &Path, config: &Path, domain: &str) -> Program {
        Program::start(Command::new(env!("CARGO_BIN_EXE_sinew-gateway")).env(variable, value).arg("run").arg(config), domain)
    }

    /// On this machine, with this configuration, in this domain.
    pub fn run(machine: &Machine, config: &Path, domain: &str) -> Program {
        machine.within(|| Program::start(Command::new(env!("CARGO_BIN_EXE_sinew-gateway")).arg("run").arg(config), domain))
    }

    /// With these arguments.
    pub fn with(arguments: &[&str], domain: &str) -> Program {
        Program::start(Command::new(env!("CARGO_BIN_EXE_sinew-gateway")).args(arguments), domain)
    }

    /// The same, in a network namespace that has a name.
    pub fn run_in(namespace: &str, config: &Path, domain: &str) -> Program {
        let mut command = Command::new("ip");
        Program::start(command.args(["netns", "exec", namespace, env!("CARGO_BIN_EXE_sinew-gateway"), "run"]).arg(config), domain)
    }

    fn start(command: &mut Command, domain: &str) -> Program {
        let mut child = command
            .env("SINEW_DOMAIN", domain)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built");
        let said = Arc::new(Mutex::new(Vec::new()));
        let (heard, stderr) = (Arc::clone(&said), child.stderr.take().expect("it is a pipe"));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                heard.lock().expect("nobody panics with it").push(line);
            }
        });
        Program { child, said }
    }

    /// All that it has said so far.
    pub fn said(&self) -> String {
        self.said.lock().expect("nobody panics with it").join("\n")
    }

    /// Waits until it has.
    pub fn says(&self, text: &str) {
        let begin = std::time::Instant::now();
        while !self.said().contains(text) {
            assert!(begin.elapsed() < super::PATIENCE, "it does not say '{text}', but:\n{}", self.said());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Where it listens, when it does.
    pub fn address(&self) -> SocketAddr {
        self.says("listens at");
        let said = self.said();
        let line = said.lines().find(|line| line.contains("listens at")).expect("it was said");
        line.rsplit(' ').next().and_then(|address| address.trim().parse().ok()).expect("an address")
    }

    /// Bytes of memory that it has, shared ones included.
    pub fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
    }

    /// Descriptors that it has open, and its threads.
    pub fn holds(&self) -> (usize, usize) {
        let count = |what: &str| std::fs::read_dir(format!("/proc/{}/{what}", self.child.id())).expect("it runs").count();
        (count("fd"), count("task"))
    }

    /// Waits until it holds no more than that.
    pub fn lets_go(&self, most: (usize, usize)) {
        let begin = Instant::now();
        loop {
            let now = self.holds();
            if now.0 <= most.0 && now.1 <= most.1 {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "it holds {now:?} descriptors and threads, where {most:?} are the most");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn signal(&self, signal: &str) {
        let done = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status().expect("there is kill");
        assert!(done.success());
    }

    /// The signal that it was ended by, if it has ended.
    pub fn killed_by(&mut self) -> Option<i32> {
        self.child.try_wait().expect("it is a child").and_then(|status| status.signal())
    }

    /// How it ended.
    pub fn end(mut self) -> Option<i32> {
        let child = Mutex::new(&mut self.child);
        until("it ends", || child.lock().expect("nobody panics with it").try_wait().expect("it is a child").is_some());
        self.child.wait().expect("it is a child").code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs it to its end.
pub fn output(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew-gateway")).args(arguments).output().expect("it was built")
}
