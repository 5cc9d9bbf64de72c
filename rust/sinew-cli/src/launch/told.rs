//! How the log looks: `[camera] text`, in which `[launch]` is the launcher itself, or JSON.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::launch::file::OWN_NAME;
use crate::launch::restart::{End, is_failure};
use crate::output::{BAD, FAINT, TITLE, counted};

/// What the launcher tells itself.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A process is there.
    Started {
        /// Its number.
        pid: i32,
    },
    /// A process could not be started.
    NotStarted {
        /// Why.
        why: String,
    },
    /// A process has ended.
    Ended {
        /// How.
        #[serde(flatten)]
        end: End,
    },
    /// It will be started again.
    Restarting {
        /// After so many seconds.
        after_s: f64,
    },
    /// All are asked to end.
    Stopping {
        /// Why.
        why: String,
    },
    /// A process has not ended, and gets another signal.
    Signalled {
        /// This one.
        signal: String,
    },
    /// A process has not ended, and this user may not signal it.
    NotSignalled {
        /// By this one.
        signal: String,
    },
    /// The terminal of such a process is gone.
    HungUp,
    /// A process, or one that was left behind, cannot be made to end.
    GivenUp {
        /// Its number.
        pid: i32,
    },
    /// Those whom processes have left behind are asked to end, or made to.
    LeftBehind {
        /// Their numbers.
        pids: Vec<i32>,
        /// By this one.
        signal: String,
    },
    /// Some of these may not be signalled by this user.
    LeftAlone {
        /// Their numbers.
        pids: Vec<i32>,
        /// By this one.
        signal: String,
    },
    /// The reader was slow.
    Lost {
        /// So many lines are missing.
        lines: u64,
    },
}

impl Event {
    /// It will be started again then.
    pub fn restarting(after: Duration) -> Event {
        Event::Restarting { after_s: after.as_secs_f64() }
    }

    fn sentence(&self) -> String {
        match self {
            Event::Started { pid } => format!("started, process {pid}"),
            Event::NotStarted { why } => format!("cannot be started: {why}"),
            Event::Ended { end } => end.to_string(),
            Event::Restarting { after_s } => format!("is started again in {after_s} s"),
            Event::Stopping { why } => format!("stopping all: {why}"),
            Event::Signalled { signal } => format!("has not ended: {signal} is sent"),
            Event::NotSignalled { signal } => format!("has not ended, and this user may not send it {signal}"),
            Event::HungUp => "has no terminal any more".to_owned(),
            Event::GivenUp { pid } => format!("process {pid} is given up, and is still there"),
            Event::LeftBehind { pids, signal } => format!("{signal} is sent to what was left behind: process {}", listed(pids)),
            Event::LeftAlone { pids, signal } => {
                format!("this user may not send {signal} to what was left behind: process {}", listed(pids))
            }
            Event::Lost { lines } => format!("{} lost here: the reader of this log was too slow", counted(*lines, "line")),
        }
    }

    /// Something that somebody will look for in a long log.
    fn is_bad(&self) -> bool {
        match self {
            Event::Ended { end } => is_failure(Some(*end)),
            Event::NotStarted { .. } | Event::Signalled { .. } | Event::NotSignalled { .. } | Event::GivenUp { .. } => true,
            Event::LeftAlone { .. } | Event::Lost { .. } => true,
            Event::Started { .. } | Event::Restarting { .. } | Event::Stopping { .. } => false,
            Event::HungUp | Event::LeftBehind { .. } => false,
        }
    }
}

fn listed(pids: &[i32]) -> String {
    let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
    pids.join(", ")
}

/// How lines look.
#[derive(Clone)]
pub struct Form {
    is_json: bool,
    with_colours: bool,
    /// Letters of the longest name.
    width: usize,
}

#[derive(Serialize)]
struct Told<'a> {
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'a str>,
    #[serde(flatten)]
    event: Option<&'a Event>,
}

impl Form {
    /// For processes with these names. Colours are left out where nobody would see them.
    pub fn new<'a>(is_json: bool, with_colours: bool, names: impl Iterator<Item = &'a str>) -> Form {
        Form { is_json, with_colours, width: names.map(str::len).chain([OWN_NAME.len()]).max().unwrap_or_default() }
    }

    /// Columns before what a process writes.
    pub fn margin(&self) -> usize {
        self.width + "[] ".len()
    }

    /// A process has written that.
    pub fn line(&self, process: &str, text: &str) -> String {
        if self.is_json {
            return json(Some(process), Some(text), None);
        }
        self.behind(process, style(process), text)
    }

    /// The launcher tells that, of a process or of all.
    pub fn event(&self, process: Option<&str>, event: &Event) -> String {
        if self.is_json {
            return json(process, None, Some(event));
        }
        let style = if !self.with_colours {
            Style::new()
        } else if event.is_bad() {
            BAD
        } else {
            FAINT
        };
        let of = process.map(|process| format!("{process} ")).unwrap_or_default();
        self.behind(OWN_NAME, TITLE, &format!("{style}{of}{}{style:#}", event.sentence()))
    }

    fn behind(&self, name: &str, style: Style, text: &str) -> String {
        let style = if self.with_colours { style } else { Style::new() };
        let padding = " ".repeat(self.width - name.len());
        format!("{style}[{name}]{style:#}{padding} {text}\n")
    }
}

fn json(process: Option<&str>, line: Option<&str>, event: Option<&Event>) -> String {
    let told = Told { time: jiff::Timestamp::now().to_string(), process, line, event };
    serde_json::to_string(&told).expect("texts and numbers can be written") + "\n"
}

/// The same for a name whenever it is launched, and whatever beside.
fn style(name: &str) -> Style {
    const COLOURS: [AnsiColor; 10] = [
        AnsiColor::Cyan,
        AnsiColor::Green,
        AnsiColor::Yellow,
        AnsiColor::Blue,
        AnsiColor::Magenta,
        AnsiColor::BrightCyan,
        AnsiColor::BrightGreen,
        AnsiColor::BrightYellow,
        AnsiColor::BrightBlue,
        AnsiColor::BrightMagenta,
    ];
    // FNV-1a, which spreads short names well.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    COLOURS[(hash % COLOURS.len() as u64) as usize].on_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_wide_as_the_longest_and_the_launcher_has_one() {
        let form = Form::new(false, false, ["camera", "lidar"].into_iter());
        assert_eq!(form.line("lidar", "x"), "[lidar]  x\n");
        assert_eq!(form.line("camera", "x"), "[camera] x\n");
        assert_eq!(form.event(Some("lidar"), &Event::Ended { end: End::Signal(9) }), "[launch] lidar was ended by SIGKILL\n");
        assert_eq!(form.event(None, &Event::Lost { lines: 1 }), "[launch] 1 line lost here: the reader of this log was too slow\n");
        let coloured = Form::new(false, true, ["camera", "lidar"].into_iter());
        assert!(coloured.line("lidar", "x").starts_with("\u{1b}["), "{}", coloured.line("lidar", "x"));
    }

    #[test]
    fn as_json_each_is_an_object() {
        let form = Form::new(true, false, ["camera"].into_iter());
        let told = |line: String| -> serde_json::Value { serde_json::from_str(&line).unwrap() };
        let line = told(form.line("camera", "\"x\""));
        assert_eq!((&line["process"], &line["line"]), (&"camera".into(), &"\"x\"".into()));
        assert!(line["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
        let ended = told(form.event(Some("camera"), &Event::Ended { end: End::Status(3) }));
        assert_eq!((&ended["event"], &ended["status"], &ended["signal"]), (&"ended".into(), &3.into(), &serde_json::Value::Null));
        assert_eq!(told(form.event(None, &Event::restarting(Duration::from_millis(500))))["after_s"], 0.5);
    }
}
