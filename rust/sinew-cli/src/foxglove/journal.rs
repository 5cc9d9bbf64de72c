//! What the gateway and the server tell of, line by line, above a line that says how things stand. All is printed aside: a terminal that takes nothing would else hold up whoever tells something, and so all clients.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use log::{Level, LevelFilter, Log, Metadata, Record};
use serde::Serialize;

use crate::aside::To;
use crate::output::{FAINT, WARN, print_to, say, show, shown};

/// So many lines a second: strangers can cause them.
const MOST: u32 = 20;
const TOO_MANY: u32 = MOST + 1;

struct Journal {
    json: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    second: Option<Instant>,
    lines: u32,
    /// The line that says how things stand is there.
    is_shown: bool,
}

static JOURNAL: std::sync::OnceLock<Journal> = std::sync::OnceLock::new();

/// From now on.
pub fn start(json: bool) {
    let journal = JOURNAL.get_or_init(|| Journal { json, state: Mutex::default() });
    if log::set_logger(journal).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

/// Says how things stand, in place of what was said before. Only on a terminal.
pub fn show(text: &str) {
    if let Some(journal) = JOURNAL.get()
        && !journal.json
        && std::io::stderr().is_terminal()
    {
        let mut state = journal.state.lock().expect("nobody panics with it");
        state.is_shown = true;
        show!("{FAINT}{text}{FAINT:#}");
    }
}

/// What was shown last stays.
pub fn end() {
    if let Some(journal) = JOURNAL.get()
        && std::mem::take(&mut journal.state.lock().expect("nobody panics with it").is_shown)
    {
        say!("");
    }
}

impl State {
    /// What is written of a line that comes now: where there are too many, that there are more, once a second.
    fn written(&mut self, text: String, now: Instant) -> Option<String> {
        if self.second.is_none_or(|second| now.duration_since(second) > Duration::from_secs(1)) {
            (self.second, self.lines) = (Some(now), 0);
        }
        self.lines = self.lines.saturating_add(1);
        match self.lines {
            0..=MOST => Some(text),
            TOO_MANY => Some("there is more to tell than anybody could read".to_owned()),
            _ => None,
        }
    }
}

/// Whether the server tells that the queue of a client is full, which it does now and then while it is. It does not tell how many messages are lost.
fn is_of_slow(metadata: &Metadata<'_>) -> bool {
    metadata.target().ends_with("::send_lossy")
}

impl Log for Journal {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("sinew") || is_of_slow(metadata);
        metadata.level() <= if is_ours { Level::Info } else { Level::Warn }
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut state = self.state.lock().expect("nobody panics with it");
        let is_slow = is_of_slow(record.metadata());
        let text = match record.args() {
            why if is_slow => format!("a client reads slower than messages come, and loses the oldest: {why}"),
            text => text.to_string(),
        };
        let Some(text) = state.written(text, Instant::now()) else { return };
        let is_warning = record.level() <= Level::Warn || is_slow;
        if self.json {
            #[derive(Serialize)]
            struct Told<'a> {
                level: &'a str,
                text: &'a str,
            }
            if let Ok(told) = serde_json::to_string(&Told { level: if is_warning { "warning" } else { "info" }, text: &text }) {
                print_to(To::Out, format_args!("{told}\n"));
            }
            return;
        }
        if std::mem::take(&mut state.is_shown) {
            show!("");
        }
        let text = shown(&text);
        if is_warning {
            print_to(To::Out, format_args!("{WARN}warning:{WARN:#} {text}\n"));
        } else {
            print_to(To::Out, format_args!("{text}\n"));
        }
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cause_no_more_lines_than_somebody_reads() {
        let (mut state, now) = (State::default(), Instant::now());
        let lines: Vec<String> = (0..1000).filter_map(|n| state.written(n.to_string(), now)).collect();
        assert_eq!((lines.len(), lines[19].as_str()), (21, "19"));
        assert!(lines[20].starts_with("there is more"));
        assert_eq!(state.written("next".to_owned(), now + Duration::from_secs(2)).as_deref(), Some("next"));
    }
}
