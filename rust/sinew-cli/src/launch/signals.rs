//! Signals for the launcher, as something that a loop can wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::interrupt::is_ignored;

/// Those that have come.
pub struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// From now on: children that end, and whoever wants the launcher to end. `nohup` is obeyed: the terminal may go then.
    pub fn new() -> io::Result<Signals> {
        let (read, write) = UnixStream::pair()?;
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let signals = [SIGCHLD, SIGINT, SIGTERM].into_iter().chain(hangup);
        Ok(Signals(SignalDelivery::with_pipe(read, write, SignalOnly, signals)?))
    }

    /// Each of those that have come is there once.
    pub fn take(&mut self) -> Vec<i32> {
        self.0.pending().collect()
    }
}

impl AsFd for Signals {
    /// Which is readable when some have come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_read().as_fd()
    }
}
