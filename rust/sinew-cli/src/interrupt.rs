//! Being interrupted.

use std::io;
use std::process;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls this when the process is to end, which it does not by itself then; the second time it does, at once.
pub fn on_interrupt(call: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        let mut signals = signals.forever();
        if signals.next().is_some() {
            call();
        }
        if let Some(signal) = signals.next() {
            process::exit(128 + signal);
        }
    });
    Ok(())
}
