//! `sinew top` on a terminal: how it leaves that, and what does not end it.

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};

use common::{Domain, Running, eventually};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;
use sinew::{GatewayStatus, Publisher};

const ENTERS: &str = "\x1b[?1049h";
const LEAVES: &str = "\x1b[?1049l";

/// It, on a terminal of its own, as soon as that is its.
struct Shown {
    top: Running,
    slave: OwnedFd,
    keys: File,
    shown: Arc<Mutex<String>>,
}

impl Shown {
    fn new(domain: &Domain, arguments: &str) -> Shown {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let slave = || terminal.slave.try_clone().unwrap();
        let mut command = domain.command(arguments);
        command.stdin(slave()).stdout(slave()).stderr(slave());
        let top = Running(command.spawn().unwrap());
        drop(command);
        let shown = Arc::new(Mutex::new(String::new()));
        let (keys, text) = (File::from(terminal.master), Arc::clone(&shown));
        let mut looks = keys.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(size @ 1..) = looks.read(&mut some) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&some[..size]));
            }
        });
        let shown = Shown { top, slave: terminal.slave, keys, shown };
        assert!(eventually(|| shown.has(ENTERS)));
        shown
    }

    fn text(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    fn has(&self, what: &str) -> bool {
        self.text().contains(what)
    }

    /// How often it has waited for a key, or for the next interval.
    fn waits(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.top.0.id())).unwrap();
        status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap().trim().parse().unwrap()
    }
}

#[test]
fn the_terminal_is_as_it_was_when_a_signal_ends_it() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let domain = Domain::new();
        let mut shown = Shown::new(&domain, "top");
        assert!(!tcgetattr(&shown.slave).unwrap().local_flags.contains(LocalFlags::ICANON));
        kill(Pid::from_raw(shown.top.0.id().cast_signed()), signal).unwrap();
        assert_eq!(shown.top.0.wait().unwrap().signal(), Some(signal as i32));
        assert!(eventually(|| shown.has(LEAVES)));
        assert!(tcgetattr(&shown.slave).unwrap().local_flags.contains(LocalFlags::ICANON));
    }
}

#[test]
fn it_goes_on_when_the_last_gateway_goes_while_it_is_paused() {
    let domain = Domain::new();
    let (watch, node) = (domain.node("watch"), domain.node("gateway"));
    let gateway = Publisher::<GatewayStatus>::new(&node, GatewayStatus::TOPIC, &GatewayStatus::qos()).unwrap();
    gateway.publish(&GatewayStatus { node: node.name(), ..GatewayStatus::default() }).unwrap();
    let mut shown = Shown::new(&domain, "top --interval 100ms");
    shown.keys.write_all(b" ").unwrap();
    assert!(eventually(|| shown.has("paused")));
    drop((gateway, node));
    assert!(eventually(|| watch.domain_state().unwrap().topic(GatewayStatus::TOPIC).is_none()));
    let before = shown.waits();
    assert!(eventually(|| shown.waits() > before + 9 || shown.top.0.try_wait().unwrap().is_some()));
    shown.keys.write_all(b"q").unwrap();
    assert_eq!(shown.top.0.wait().unwrap().code(), Some(0), "{}", shown.text());
}

#[test]
fn who_has_no_terminal_is_told_what_to_type_for_the_same_domain() {
    let domain = Domain::new();
    for asked in [String::new(), format!(" --domain {}", domain.path())] {
        let wanted = format!("error: top is for a terminal; `sinew top --json{asked}` tells the same to programs\n");
        assert_eq!(domain.complaint(&format!("top{asked}")), (1, wanted));
    }
}
