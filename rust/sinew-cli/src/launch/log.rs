//! The one log of all processes, on the standard output. Whoever reads it may be slow, or stop it by Ctrl-S: no process waits for that. Then the
//! oldest lines are dropped, and the log says how many.

use std::io::Write;
use std::sync::Arc;
use std::thread;

use crate::backlog::Backlog;
use crate::launch::told::{Event, Form};
use crate::output::say;

/// Where lines go.
pub struct Log {
    form: Form,
    lines: Arc<Backlog<String>>,
}

impl Log {
    /// Written in this form by a thread of its own.
    pub fn new(form: Form) -> Log {
        let lines = Arc::new(Backlog::new());
        let (written, how) = (Arc::clone(&lines), form.clone());
        thread::spawn(move || write(&written, &how));
        Log { form, lines }
    }

    /// A process has written that. Does not wait.
    pub fn line(&self, process: &str, text: &str) {
        self.lines.push(self.form.line(process, text));
    }

    /// The launcher tells that, of a process or of all. Does not wait.
    pub fn event(&self, process: Option<&str>, event: &Event) {
        self.lines.push(self.form.event(process, event));
    }

    /// Waits until all is written, while somebody reads it.
    pub fn finish(self) {
        self.lines.finish();
    }
}

/// Writes as long as the program runs. A robot does not stop because its log cannot be written: the reader may be gone, or the disk full.
fn write(lines: &Backlog<String>, form: &Form) {
    let mut is_told = false;
    loop {
        let (lost, taken) = lines.take();
        let missing = if lost > 0 { form.event(None, &Event::Lost { lines: lost }) } else { String::new() };
        // Not by what leaves colours out, letter by letter: lines have none where nobody would see them.
        let mut to = std::io::stdout().lock();
        let outcome = to.write_all((missing + &taken.concat()).as_bytes()).and_then(|()| to.flush());
        drop(to);
        if let Err(why) = outcome
            && !std::mem::replace(&mut is_told, true)
        {
            say!("the log cannot be written: {why}; the processes go on without it, and Ctrl-C or SIGTERM stops them");
        }
        lines.written();
    }
}
