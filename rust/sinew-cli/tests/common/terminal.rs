//! Terminals of a test that take nothing, as after Ctrl-S.
#![allow(dead_code)] // by each test file, another part

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Action, tcflow};

/// One of them, which no other test's processes get.
pub struct Stopped {
    ours: OwnedFd,
    theirs: OwnedFd,
}

impl Stopped {
    pub fn new() -> Stopped {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = ioctl_tiocgptpeer(&ours, flags).unwrap();
        tcflow(&theirs, Action::OOff).unwrap();
        Stopped { ours, theirs }
    }

    /// The end at which processes are.
    pub fn theirs(&self) -> OwnedFd {
        self.theirs.try_clone().unwrap()
    }

    /// As somebody at its keyboard.
    pub fn press(&self, keys: &str) {
        assert_eq!(rustix::io::write(&self.ours, keys.as_bytes()), Ok(keys.len()));
    }

    /// From now on it takes something, as after Ctrl-Q.
    pub fn go_on(&self) {
        tcflow(&self.theirs, Action::OOn).unwrap();
    }

    /// What it shows when its processes have ended.
    pub fn shown(self) -> String {
        drop(self.theirs);
        let mut shown = Vec::new();
        // Ends with an error when nobody has the other end any more.
        let _ = File::from(self.ours).read_to_end(&mut shown);
        String::from_utf8(shown).unwrap()
    }
}
