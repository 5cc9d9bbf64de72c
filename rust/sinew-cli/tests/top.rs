//! How `sinew top` leaves the terminal.

mod common;

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};

use common::{Domain, Running, eventually};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;

const ENTERS: &str = "\x1b[?1049h";
const LEAVES: &str = "\x1b[?1049l";

#[test]
fn the_terminal_is_as_it_was_when_a_signal_ends_it() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let domain = Domain::new();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let slave = || terminal.slave.try_clone().unwrap();
        let mut command = domain.command("top");
        command.stdin(slave()).stdout(slave()).stderr(slave());
        let mut top = Running(command.spawn().unwrap());
        drop(command);
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut looks, text) = (File::from(terminal.master), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(size @ 1..) = looks.read(&mut some) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&some[..size]));
            }
        });
        let has = |what: &str| shown.lock().unwrap().contains(what);
        assert!(eventually(|| has(ENTERS)));
        assert!(!tcgetattr(&terminal.slave).unwrap().local_flags.contains(LocalFlags::ICANON));
        kill(Pid::from_raw(top.0.id().cast_signed()), signal).unwrap();
        assert_eq!(top.0.wait().unwrap().signal(), Some(signal as i32));
        assert!(eventually(|| has(LEAVES)));
        assert!(tcgetattr(&terminal.slave).unwrap().local_flags.contains(LocalFlags::ICANON));
    }
}
