//! What a subscriber takes down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::run::Run;
use crate::system::{become_fifo, contains, now_ns};
use crate::{Header, Result, fail, say, write_samples};

const LOST: i64 = -1;
const DAMAGED: i64 = -2;

struct Books {
    /// Began, sent, readable, read, in ns: those of the first publisher, then of the next.
    samples: Vec<[i64; 4]>,
    outstanding: usize,
}

/// What one subscriber takes down. Threads of the system may call `add`, while another waits.
pub struct Arrivals {
    run: &'static Run,
    books: Mutex<Books>,
    complete: AtomicBool,
    may_end: OnceLock<()>,
}

impl Arrivals {
    pub(crate) fn new(run: &'static Run) -> Self {
        let books = Books { samples: vec![[0, 0, LOST, LOST]; run.publishers * run.messages()], outstanding: run.publishers };
        Arrivals { run, books: Mutex::new(books), complete: AtomicBool::new(false), may_end: OnceLock::new() }
    }

    /// To be called first thing when the payload is readable: the clock is read here.
    pub fn add(&self, header: &Header, payload: &[u8]) {
        let readable = now_ns();
        let absent = !self.run.reads_all() || !contains(payload, Header::ABSENT);
        let read = now_ns();

        if let Err(why) = become_fifo(self.run.fifo) {
            fail(&*why);
        }
        let (publisher, number) = (header.publisher as usize, header.number as usize);
        if publisher >= self.run.publishers || number >= self.run.messages() {
            fail("a message of another cell came");
        }
        let value = header.value();
        let whole = payload.len() == self.run.size_of(header.number)
            && [0, payload.len() / 2, payload.len() - 1].iter().all(|&at| payload[at] == value);
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.samples[publisher * self.run.messages() + number] =
            [header.began, header.sent, if absent && whole { readable } else { DAMAGED }, read];
        if number + 1 == self.run.messages() {
            books.outstanding -= 1;
            if books.outstanding == 0 {
                self.complete.store(true, Ordering::Release);
                say(&format!("complete {}", self.run.index));
            }
        }
    }

    /// Whether to go on receiving. Once all is there it blocks until the script lets the subscriber end, so that what this holds is still there when memory is looked at, and is false.
    pub fn more(&self) -> bool {
        if self.complete.load(Ordering::Acquire) {
            self.wait();
        }
        self.may_end.get().is_none()
    }

    /// Blocks until the script lets the subscriber end.
    pub fn wait(&self) {
        self.may_end.wait();
    }

    /// The script lets it end, whether all is there or not.
    pub(crate) fn let_end(&self) {
        self.may_end.get_or_init(|| ());
    }

    /// Writes the samples into the folder of the run.
    pub(crate) fn write(&self) -> Result<()> {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        write_samples(&format!("{}/subscriber-{}.ns", self.run.folder, self.run.index), &books.samples)
    }
}
