//! Where a process of a robot writes: a terminal of its own, so that what it prints comes at once and in order, also from programs that keep
//! what they print for a pipe until they have some of it, as those of C and Python do.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, ioctl_fionbio, read};
use rustix::ioctl::{IntegerSetter, Opcode, ioctl, opcode};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcgetpgrp, tcsetattr, tcsetwinsize};

/// As many bytes of one process before others have their turn. More of them a terminal or a pipe does not hold.
const TURN: usize = 64 << 10;
/// `TIOCSIG`: a signal as by a key of the terminal.
const PRESS: Opcode = opcode::write::<c_int>(b'T', 0x36);

/// Both ends of it.
pub struct Output {
    ours: OwnedFd,
    /// Kept, so that a process that closes its own does not look like one that has ended.
    theirs: OwnedFd,
    is_terminal: bool,
}

impl Output {
    /// A terminal of so many columns; where there can be none, as without /dev/ptmx, a pipe.
    pub fn new(columns: u16) -> io::Result<Output> {
        let output = terminal(columns).map_or_else(|_| pipe(), Ok)?;
        ioctl_fionbio(&output.ours, true)?;
        Ok(output)
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Another one of the process's end.
    pub fn theirs(&self) -> io::Result<OwnedFd> {
        self.theirs.try_clone()
    }

    /// Presses Ctrl-C: the kernel sends SIGINT to those of this group, whoever's they are. False: they are not in front of a terminal.
    pub fn interrupt(&self, group: Pid) -> bool {
        // SAFETY: it takes a signal, which is one that a key may send.
        let press = || unsafe { ioctl(&self.ours, IntegerSetter::<PRESS>::new_usize(Signal::INT.as_raw() as usize)) };
        self.is_terminal && tcgetpgrp(&self.ours) == Ok(group) && press().is_ok()
    }

    /// Hands over what was written. Does not wait for more, and does not go on for as long as more is written.
    pub fn take(&self, mut with: impl FnMut(&[u8])) {
        let mut buffer = [0; 4096];
        let mut taken = 0;
        while taken < TURN {
            match read(&self.ours, &mut buffer) {
                Ok(0) => return,
                Ok(count) => {
                    with(&buffer[..count]);
                    taken += count;
                }
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

impl AsFd for Output {
    /// Which is readable when something was written.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ours.as_fd()
    }
}

fn terminal(columns: u16) -> io::Result<Output> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    unlockpt(&ours)?;
    // By descriptor, not by its path: /dev/pts may be another one here.
    let theirs = ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    // What is written comes as it was written.
    let mut how = tcgetattr(&theirs)?;
    how.make_raw();
    tcsetattr(&theirs, OptionalActions::Now, &how)?;
    tcsetwinsize(&theirs, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    Ok(Output { ours, theirs, is_terminal: true })
}

fn pipe() -> io::Result<Output> {
    let (ours, theirs) = io::pipe()?;
    Ok(Output { ours: ours.into(), theirs: theirs.into(), is_terminal: false })
}

#[cfg(test)]
mod tests {
    use rustix::io::write;

    use super::*;

    fn said(output: &Output) -> Vec<u8> {
        let mut said = Vec::new();
        output.take(|bytes| said.extend_from_slice(bytes));
        said
    }

    #[test]
    fn what_is_written_comes_as_it_was_written_and_nobody_waits_for_more() {
        for output in [terminal(80).unwrap(), pipe().unwrap()] {
            ioctl_fionbio(&output.ours, true).unwrap();
            assert_eq!(said(&output), b"");
            write(output.theirs().unwrap(), b"one\ntwo\r\n\x03").unwrap();
            assert_eq!(said(&output), b"one\ntwo\r\n\x03");
        }
    }
}
