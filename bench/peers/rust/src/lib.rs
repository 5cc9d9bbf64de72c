//! What the drivers in Rust have in common, as `../driver.hpp` for those in C++: their command line, what they take down, and what they say to bench/compare.

mod arrivals;
mod run;
mod system;

use std::error::Error;
use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::process::exit;
use std::thread;
use std::time::Duration;

pub use arrivals::Arrivals;
pub use run::Run;
pub use system::now_ns;

use run::Role;
use system::{SECOND, become_fifo, sleep_until};

/// Whatever goes wrong ends the process.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const PATIENCE: i64 = 30 * SECOND;
/// How long a subscriber that sleeps until the next message may take to end, when there is none.
const GRACE: Duration = Duration::from_millis(300);
/// Before who measures is woken, by what a publisher says at its end: the last message shall not wait for a core for that.
const SETTLING: Duration = Duration::from_millis(10);

/// Travels with every payload.
#[derive(Debug, Default, Clone, Copy)]
pub struct Header {
    /// Before the memory was obtained.
    pub began: i64,
    /// When the payload was filled, just before publishing.
    pub sent: i64,
    /// Among those of its publisher, from 0, warm-up included.
    pub number: u64,
    /// Which publisher.
    pub publisher: u64,
}

impl Header {
    /// What no byte of a payload is.
    pub(crate) const ABSENT: u8 = 255;
    /// In bytes.
    pub const SIZE: usize = 32;

    /// What every byte of the payload is.
    pub fn value(&self) -> u8 {
        (self.number % u64::from(Self::ABSENT)) as u8
    }

    /// As it travels.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let words = [self.began.to_ne_bytes(), self.sent.to_ne_bytes(), self.number.to_ne_bytes(), self.publisher.to_ne_bytes()];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    /// What has travelled.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at: usize| std::array::from_fn(|byte| bytes[8 * at + byte]);
        Header {
            began: i64::from_ne_bytes(word(0)),
            sent: i64::from_ne_bytes(word(1)),
            number: u64::from_ne_bytes(word(2)),
            publisher: u64::from_ne_bytes(word(3)),
        }
    }
}

fn say(words: &str) {
    let mut out = io::stdout().lock();
    // Whoever does not listen any more needs no answer.
    let _ = writeln!(out, "{words}").and_then(|()| out.flush());
}

/// Waits for a line of the script; false when it has closed its end.
fn hear() -> Result<bool> {
    Ok(io::stdin().lock().read_line(&mut String::new())? > 0)
}

fn write_samples<const N: usize>(path: &str, samples: &[[i64; N]]) -> Result<()> {
    let bytes: Vec<u8> = samples.as_flattened().iter().flat_map(|time| time.to_ne_bytes()).collect();
    std::fs::write(path, bytes).map_err(|why| format!("cannot write {path}: {why}").into())
}

/// Ends the process with a line on stderr and status 1, from whatever thread.
pub fn fail(why: impl Display) -> ! {
    let program = std::env::args().take(2).collect::<Vec<_>>().join(" ");
    eprintln!("{program}: {why}");
    exit(1)
}

/// Polls until `connected()` holds, then says so.
pub fn connect(mut connected: impl FnMut() -> bool) -> Result<()> {
    let until = now_ns() + PATIENCE;
    while !connected() {
        if now_ns() > until {
            return Err("the other side was not there in time".into());
        }
        thread::sleep(Duration::from_millis(1));
    }
    say("connected");
    Ok(())
}

fn period(rate: f64) -> i64 {
    (SECOND as f64 / rate) as i64
}

/// Waits for the word to begin, then calls `send` for each message when it is due, with all of the header but `sent`. It obtains memory for `run.size_of(number)` bytes, fills it, sets `sent`
/// and publishes. Writes when each began, was sent and had been published. Returns when the script lets the publisher end, after all have taken everything.
pub fn publish_all(run: &Run, mut send: impl FnMut(&mut Header) -> Result<()>) -> Result<()> {
    let mut samples = vec![[-1; 3]; run.messages()]; // touched, so that no page fault is measured
    if !hear()? {
        return Err("the script ended before this cell began".into());
    }
    become_fifo(run.fifo)?;
    // Publishers are evenly spread over a period.
    let start = now_ns();
    let mut due = start;
    if run.rate > 0.0 {
        due += (SECOND as f64 / run.rate * run.index as f64 / run.publishers as f64) as i64;
    }
    let mut published = 0;
    while published < run.messages() && (run.seconds <= 0.0 || ((now_ns() - start) as f64) < run.seconds * SECOND as f64) {
        let number = published as u64;
        if run.rate > 0.0 {
            sleep_until(due);
            due = now_ns().max(due + period(run.rate_of(number)));
        }
        let mut header = Header { began: now_ns(), sent: 0, number, publisher: run.index as u64 };
        send(&mut header)?;
        samples[published] = [header.began, header.sent, now_ns()];
        published += 1;
        if published == run.warm_up {
            say("warm");
        }
    }
    thread::sleep(SETTLING);
    write_samples(&format!("{}/publisher-{}.ns", run.folder, run.index), &samples[..published])?;
    say("published");
    hear()?;
    Ok(())
}

/// The threads of a system may sleep until the next message, when there will be none: then the process ends without them.
fn end_subscriber(arrivals: &Arrivals) -> Result<()> {
    hear()?;
    arrivals.let_end();
    thread::sleep(GRACE);
    arrivals.write()?;
    exit(0)
}

/// Publishes, by `publish_all`, until the script lets it end.
pub type Publish = fn(&Run) -> Result<()>;
/// Subscribes while `arrivals.more()`, or until `arrivals.wait()` returns. Both live until the process ends, so that threads of the system may keep them.
pub type Subscribe = fn(&'static Run, &'static Arrivals) -> Result<()>;

fn be(publish: Publish, subscribe: Subscribe) -> Result<()> {
    let run: &'static Run = Box::leak(Box::new(Run::of_command_line()));
    match run.role {
        Role::Publish => publish(run),
        Role::Subscribe => {
            let arrivals: &'static Arrivals = Box::leak(Box::new(Arrivals::new(run)));
            thread::spawn(|| end_subscriber(arrivals).unwrap_or_else(|why| fail(why)));
            subscribe(run, arrivals)?;
            arrivals.write()
        }
        Role::Both => Err("this system does not carry messages within a process".into()),
    }
}

/// The program: parses the command line and calls one of them.
pub fn drive(publish: Publish, subscribe: Subscribe) {
    be(publish, subscribe).unwrap_or_else(|why| fail(why));
}
