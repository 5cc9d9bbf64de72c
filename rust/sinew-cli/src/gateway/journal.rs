//! What the gateway and the server tell of, line by line, above a line that says how things stand.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use log::{Level, LevelFilter, Log, Metadata, Record};
use serde::Serialize;

use crate::output::{FAINT, WARN, json_line, out, shown};

/// So many lines a second: strangers can cause them.
const MOST: u32 = 20;

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
        && std::io::stdout().is_terminal()
    {
        let mut state = journal.state.lock().expect("nobody panics with it");
        state.is_shown = true;
        // Nobody is there who could be told that it cannot be written.
        let _ = write!(out(), "\r\x1b[K{FAINT}{text}{FAINT:#}").and_then(|()| out().flush());
    }
}

/// What was shown last stays.
pub fn end() {
    if let Some(journal) = JOURNAL.get()
        && std::mem::take(&mut journal.state.lock().expect("nobody panics with it").is_shown)
    {
        let _ = writeln!(out());
    }
}

impl State {
    /// Whether a line may be written: true once more than that, to say that there is more.
    fn may_write(&mut self) -> bool {
        if self.second.is_none_or(|second| second.elapsed() > Duration::from_secs(1)) {
            (self.second, self.lines) = (Some(Instant::now()), 0);
        }
        self.lines = self.lines.saturating_add(1);
        self.lines <= MOST + 1
    }
}

impl Log for Journal {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let most = if metadata.target().starts_with("sinew") { Level::Info } else { Level::Warn };
        metadata.level() <= most
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut state = self.state.lock().expect("nobody panics with it");
        if !state.may_write() {
            return;
        }
        let text = if state.lines > MOST { "there is more to tell than anybody could read".to_owned() } else { record.args().to_string() };
        let is_warning = record.level() <= Level::Warn;
        if self.json {
            #[derive(Serialize)]
            struct Told<'a> {
                level: &'a str,
                text: &'a str,
            }
            let _ = json_line(&Told { level: if is_warning { "warning" } else { "info" }, text: &text });
            return;
        }
        let mut out = out();
        if std::mem::take(&mut state.is_shown) {
            let _ = write!(out, "\r\x1b[K");
        }
        let text = shown(&text);
        let _ = if is_warning { writeln!(out, "{WARN}warning:{WARN:#} {text}") } else { writeln!(out, "{text}") };
        let _ = out.flush();
    }

    fn flush(&self) {}
}
