//! Signals for the launcher, as something that a loop can wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::interrupt::is_ignored;

/// Those that have come.
pub struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
    /// Whether `nohup` has started the launcher: the terminal may go then.
    may_hang_up: bool,
}

impl Signals {
    /// From now on: children that end, and whoever wants the launcher to end. SIGHUP is caught also where `nohup` has had it ignored, since programs that are started would ignore
    /// it, too: by it the kernel ends whom they have started, when the launcher is killed.
    pub fn new() -> io::Result<Signals> {
        let (read, write) = UnixStream::pair()?;
        let may_hang_up = is_ignored(SIGHUP);
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, [SIGCHLD, SIGINT, SIGTERM, SIGHUP])?;
        Ok(Signals { delivery, may_hang_up })
    }

    /// Each of those that have come, and are to be obeyed, is there once.
    pub fn take(&mut self) -> Vec<i32> {
        self.delivery.pending().filter(|signal| *signal != SIGHUP || !self.may_hang_up).collect()
    }
}

impl AsFd for Signals {
    /// Which is readable when some have come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}
