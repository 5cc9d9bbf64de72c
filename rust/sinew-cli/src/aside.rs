//! What a recorder, a player or the server for Foxglove prints meanwhile, written by a thread of its own: a terminal may take nothing, as after Ctrl-S, and nothing is to go unrecorded, be played late, or wait to be served for that.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::thread;

use crate::backlog::{Backlog, Piece};
use crate::output::counted;

/// None: whoever prints something writes it, as other verbs do.
static WAITING: OnceLock<Backlog<Printed>> = OnceLock::new();

/// Where something is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// On the standard output.
    Out,
    /// On the standard error.
    Err,
    /// In a line there, in place of what it showed. Of several that wait one after the other only the last is written.
    Line,
}

struct Printed {
    to: To,
    text: Vec<u8>,
}

impl Piece for Printed {
    fn bytes(&self) -> usize {
        self.text.len()
    }

    fn replaces(&self, before: &Printed) -> bool {
        (self.to, before.to) == (To::Line, To::Line)
    }
}

impl To {
    fn write(self, text: &[u8]) -> io::Result<()> {
        match self {
            To::Out => {
                let mut out = io::stdout().lock();
                out.write_all(text).and_then(|()| out.flush())
            }
            To::Err | To::Line => io::stderr().write_all(text),
        }
    }
}

/// From now on nobody who prints something waits for who reads it. `unread` is called once, when the standard output cannot be written.
pub fn begin(unread: impl Fn(io::Error) + Send + 'static) {
    let waiting = WAITING.get_or_init(Backlog::new);
    thread::spawn(move || write(waiting, &unread));
}

/// Writes it, or has it written. Who has closed the standard error does not want to know, and a terminal may go while something is recorded.
pub fn print(to: To, text: Vec<u8>) {
    match WAITING.get() {
        Some(waiting) => waiting.push(Printed { to, text }),
        None => drop(to.write(&text)),
    }
}

/// Waits until all is written, while somebody reads it; whether all is.
pub fn finish() -> bool {
    WAITING.get().is_none_or(Backlog::finish)
}

/// Waits likewise. Whether what is printed next would wait for a terminal that takes nothing.
pub fn is_held_up() -> bool {
    !finish() && io::stdout().is_terminal()
}

/// As long as the program runs.
fn write(waiting: &Backlog<Printed>, unread: &dyn Fn(io::Error)) {
    let mut is_told = false;
    loop {
        let (lost, taken) = waiting.take();
        if lost > 0 {
            let _ = To::Err.write(format!("{} lost here: the reader was too slow\n", counted(lost, "line")).as_bytes());
        }
        for Printed { to, text } in taken {
            if let Err(why) = to.write(&text)
                && to == To::Out
                && !std::mem::replace(&mut is_told, true)
            {
                unread(why);
            }
            waiting.goes_on();
        }
        waiting.written();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_lines_in_place_of_each_other_the_last_waits_and_all_else_in_its_order() {
        let waiting = Backlog::new();
        for (to, text) in [(To::Err, "a"), (To::Line, "1"), (To::Line, "2"), (To::Out, "b"), (To::Line, "3"), (To::Line, "")] {
            waiting.push(Printed { to, text: text.as_bytes().to_vec() });
        }
        let (lost, taken) = waiting.take();
        let texts: Vec<_> = taken.into_iter().map(|printed| String::from_utf8(printed.text).unwrap()).collect();
        assert_eq!((lost, texts), (0, ["a", "2", "b", ""].map(str::to_owned).to_vec()));
    }
}
