//! Network namespaces of a test, which go with it.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Namespaces, with nothing but loopback in them at first.
pub struct Net {
    prefix: String,
    names: Vec<String>,
}

impl Net {
    /// None: they cannot be made here, which was said.
    pub fn new(count: usize) -> Option<Net> {
        if !rustix::process::geteuid().is_root() || Command::new("ip").arg("-V").output().is_err() {
            eprintln!("skipped: namespaces need root, and the command ip");
            return None;
        }
        remove_left_behind();
        let prefix = format!("gwt{}_{}_", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let names: Vec<String> = (0..count).map(|at| format!("{prefix}{at}")).collect();
        let net = Net { prefix, names };
        let probe = Command::new("ip").args(["netns", "add", &format!("{}probe", net.prefix)]).output().expect("there is ip");
        if !probe.status.success() {
            eprintln!("skipped: namespaces cannot be made here: {}", String::from_utf8_lossy(&probe.stderr));
            return None;
        }
        for name in &net.names {
            run(&["netns", "add", name]);
            run(&["-n", name, "link", "set", "lo", "up"]);
        }
        Some(net)
    }

    pub fn name(&self, at: usize) -> &str {
        &self.names[at]
    }

    /// A cable between two: `link` is what the interface is called in both.
    pub fn cable(&self, a: usize, b: usize, link: &str) {
        let (one, two) = (&self.names[a], &self.names[b]);
        run(&["link", "add", link, "netns", one, "type", "veth", "peer", "name", link, "netns", two]);
        for name in [one, two] {
            // Addresses at once, without waiting for others that may have the same.
            run(&["-n", name, "link", "set", link, "addrgenmode", "none"]);
            run(&["-n", name, "link", "set", link, "up"]);
        }
        for (at, name) in [(a, one), (b, two)] {
            run(&["-n", name, "addr", "add", &format!("fe80::{}/64", at + 1), "dev", link, "nodad"]);
        }
    }

    /// What `ip` is told in one of them.
    pub fn ip(&self, at: usize, arguments: &[&str]) {
        run(&[&["-n", &self.names[at]], arguments].concat());
    }

    /// Pulls it out.
    pub fn cut(&self, at: usize, link: &str) {
        run(&["-n", &self.names[at], "link", "del", link]);
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        remove(&self.prefix);
    }
}

fn run(arguments: &[&str]) {
    let done = Command::new("ip").args(arguments).output().expect("there is ip");
    assert!(done.status.success(), "ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&done.stderr));
}

fn all() -> Vec<String> {
    let listed = Command::new("ip").args(["netns", "list"]).output().map(|done| done.stdout).unwrap_or_default();
    String::from_utf8_lossy(&listed).lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

fn remove(prefix: &str) {
    for name in all().iter().filter(|name| name.starts_with(prefix)) {
        let _ = Command::new("ip").args(["netns", "del", name]).output();
    }
}

/// Of processes that were killed.
fn remove_left_behind() {
    for name in all() {
        let Some(pid) = name.strip_prefix("gwt").and_then(|rest| rest.split('_').next()).and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
            remove(&name);
        }
    }
}
