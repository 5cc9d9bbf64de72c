//! The one log of all processes, on the standard output. Whoever reads it may be slow, or stop it by Ctrl-S: no process waits for that. Then the
//! oldest lines are dropped, and the log says how many.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::launch::told::{Event, Form};
use crate::output::say;

/// So many bytes wait for the reader, at most.
const ROOM: usize = 1 << 20;
/// So many are written at once, about: what is being written cannot be dropped.
const AT_ONCE: usize = 16 << 10;
/// Who has not read anything for so long when all has ended is not waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where lines go.
pub struct Log {
    form: Form,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<String>,
    bytes: usize,
    /// So many were dropped before those.
    lost: u64,
    /// Counts what was written.
    turns: u64,
    is_writing: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// Written in this form by a thread of its own.
    pub fn new(form: Form) -> Log {
        let shared = Arc::new(Shared::default());
        let (written, how) = (Arc::clone(&shared), form.clone());
        thread::spawn(move || write(&written, &how));
        Log { form, shared }
    }

    /// A process has written that. Does not wait.
    pub fn line(&self, process: &str, text: &str) {
        self.push(self.form.line(process, text));
    }

    /// The launcher tells that, of a process or of all. Does not wait.
    pub fn event(&self, process: Option<&str>, event: &Event) {
        self.push(self.form.event(process, event));
    }

    fn push(&self, line: String) {
        let mut queue = self.shared.queue();
        queue.push(line);
        self.shared.changed.notify_all();
    }

    /// Waits until all is written, while somebody reads it.
    pub fn finish(self) {
        let mut queue = self.shared.queue();
        while !queue.is_done() {
            let turns = queue.turns;
            let (waited, _) = self
                .shared
                .changed
                .wait_timeout_while(queue, PATIENCE, |queue| queue.turns == turns && !queue.is_done())
                .unwrap_or_else(PoisonError::into_inner);
            if waited.turns == turns && !waited.is_done() {
                return;
            }
            queue = waited;
        }
    }
}

impl Queue {
    fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.bytes > ROOM && self.lines.len() > 1 {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            self.lost += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.lines.is_empty() && !self.is_writing
    }

    /// What is to be written next, and how many lines are missing before it.
    fn take(&mut self) -> (u64, Vec<String>) {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < AT_ONCE
            && let Some(line) = self.lines.pop_front()
        {
            bytes += line.len();
            taken.push(line);
        }
        self.bytes -= bytes;
        self.is_writing = !taken.is_empty();
        (std::mem::take(&mut self.lost), taken)
    }
}

/// Writes as long as the program runs. A robot does not stop because its log cannot be written: the reader may be gone, or the disk full.
fn write(shared: &Shared, form: &Form) {
    let mut is_told = false;
    loop {
        let mut queue = shared.queue();
        while queue.lines.is_empty() {
            queue = shared.wait(queue);
        }
        let (lost, lines) = queue.take();
        drop(queue);
        let missing = if lost > 0 { form.event(None, &Event::Lost { lines: lost }) } else { String::new() };
        // Not by what leaves colours out, letter by letter: lines have none where nobody would see them.
        let mut to = std::io::stdout().lock();
        let outcome = to.write_all((missing + &lines.concat()).as_bytes()).and_then(|()| to.flush());
        drop(to);
        if let Err(why) = outcome
            && !std::mem::replace(&mut is_told, true)
        {
            say!("the log cannot be written: {why}; the processes go on without it, and Ctrl-C or SIGTERM stops them");
        }
        let mut queue = shared.queue();
        queue.turns += 1;
        queue.is_writing = false;
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_much_the_oldest_is_dropped_and_counted() {
        let mut queue = Queue::default();
        let line = |n: usize| format!("{n:>1023}\n");
        (0..1030).for_each(|n| queue.push(line(n)));
        let (lost, lines) = queue.take();
        assert_eq!((lost, lines.len(), &lines[0]), (6, AT_ONCE >> 10, &line(6)));
        assert_eq!(queue.take().0, 0, "each loss is told once");
        queue.push("x".repeat(2 * ROOM));
        assert_eq!((queue.lines.len(), queue.bytes), (1, 2 * ROOM), "the newest is there, whatever its size");
    }
}
