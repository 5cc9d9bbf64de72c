//! Printing.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use serde::{Serialize, Serializer};

use crate::aside::{self, To};
use crate::failure::Done;

/// Of titles.
pub const TITLE: Style = Style::new().bold();
/// Of names of topics and nodes.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// Of what is as it should be, and costs nothing.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Of what costs something.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Of what is broken.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Of what matters less.
pub const FAINT: Style = Style::new().dimmed();

/// Where output goes: without colours where nobody would see them.
pub fn out() -> anstream::AutoStream<std::io::StdoutLock<'static>> {
    anstream::stdout().lock()
}

/// Text there, in one piece: others write there, too. What cannot be written is left out.
pub fn print_to(to: To, text: std::fmt::Arguments<'_>) {
    let choice = match to {
        To::Out => anstream::AutoStream::choice(&std::io::stdout()),
        To::Err | To::Line => anstream::AutoStream::choice(&std::io::stderr()),
    };
    let mut whole = anstream::AutoStream::new(Vec::<u8>::new(), choice);
    if write!(whole, "{text}").is_ok() {
        aside::print(to, whole.into_inner());
    }
}

/// A line on the standard error, by [`print_to`].
macro_rules! say {
    ($($words:tt)*) => { $crate::output::print_to($crate::aside::To::Err, format_args!("{}\n", format_args!($($words)*))) };
}
pub(crate) use say;

/// By [`print_to`], what a line of a terminal shows in place of what it did.
macro_rules! show {
    ($($words:tt)*) => { $crate::output::print_to($crate::aside::To::Line, format_args!("\r\x1b[K{}", format_args!($($words)*))) };
}
pub(crate) use show;

/// "1 topic", "2 topics".
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// For a terminal: what a stranger has chosen may not control it.
pub fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The same of a text of several lines.
pub fn shown_lines(text: &str) -> String {
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}

/// One document, for people who may read it, too.
pub fn json(document: &impl Serialize) -> Done {
    let mut out = out();
    serde_json::to_writer_pretty(&mut out, document)?;
    Ok(writeln!(out)?)
}

/// One of several, on a line of its own, at once.
pub fn json_line(document: &impl Serialize) -> Done {
    let mut out = out();
    serde_json::to_writer(&mut out, document)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// A path in a document, which is text: the name of a file need not be.
pub fn path_as_text<S: Serializer>(path: &impl AsRef<Path>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.as_ref().to_string_lossy())
}

/// What goes on, in a line of the standard error that is written again and again. Only a terminal gets it.
pub struct Progress {
    is_terminal: bool,
    shown_at: Option<Instant>,
    latest: String,
}

impl Progress {
    /// Nothing yet.
    pub fn new() -> Progress {
        Progress { is_terminal: std::io::stderr().is_terminal(), shown_at: None, latest: String::new() }
    }

    /// In place of what was there, but not more often than somebody could read it.
    pub fn show(&mut self, text: &str) {
        const NOT_BEFORE: Duration = Duration::from_millis(100);
        text.clone_into(&mut self.latest);
        if self.is_terminal && self.shown_at.is_none_or(|at| at.elapsed() >= NOT_BEFORE) {
            show!("{text}");
            self.shown_at = Some(Instant::now());
        }
    }
}

impl Drop for Progress {
    /// The last of it stays.
    fn drop(&mut self) {
        if self.is_terminal && self.shown_at.is_some() {
            show!("{}\n", self.latest);
        }
    }
}

/// Columns, as wide as what is in them.
#[derive(Default)]
pub struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// Text of one column.
pub struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    /// Without a style, to the left.
    pub fn new(text: impl AsRef<str>) -> Cell {
        Cell { text: shown(text.as_ref()), style: Style::new(), right: false }
    }

    /// A number, to the right.
    pub fn number(text: impl ToString) -> Cell {
        Cell { text: text.to_string(), style: Style::new(), right: true }
    }

    /// The same in this style.
    pub fn styled(self, style: Style) -> Cell {
        Cell { style, ..self }
    }
}

impl Table {
    /// With these titles.
    pub fn new(head: &[&'static str]) -> Table {
        Table { head: head.to_vec(), rows: Vec::new() }
    }

    /// Another row, of as many cells as there are titles.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints it.
    pub fn print(&self) -> Done {
        let mut out = out();
        self.write(&mut out, "")
    }

    /// The same to somewhere, each line behind what is before it.
    pub fn write(&self, out: &mut impl Write, before: &str) -> Done {
        let mut widths: Vec<usize> = self.head.iter().map(|title| title.len()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.chars().count());
            }
        }
        let is_right = |n: usize| self.rows.iter().all(|row| row[n].right) && !self.rows.is_empty();
        let titles: Vec<Cell> =
            self.head.iter().enumerate().map(|(n, title)| Cell { text: (*title).to_owned(), style: TITLE, right: is_right(n) }).collect();
        for row in std::iter::once(&titles).chain(&self.rows) {
            write!(out, "{before}")?;
            let last = row.len() - 1;
            for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width - cell.text.chars().count());
                let style = cell.style;
                let (left, right) = if cell.right { (padding.as_str(), "") } else { ("", padding.as_str()) };
                let (right, gap) = if n == last { ("", "") } else { (right, "  ") };
                write!(out, "{left}{style}{}{style:#}{right}{gap}", cell.text)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let mut table = Table::new(&["topic", "messages"]);
        table.row([Cell::new("camera/image"), Cell::number(5)]);
        table.row([Cell::new("a"), Cell::number(1234)]);
        let mut written = Vec::new();
        table.write(&mut anstream::StripStream::new(&mut written), "  ").unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "  topic         messages\n  camera/image         5\n  a                 1234\n");
    }

    #[test]
    fn names_that_strangers_choose_do_not_control_the_terminal() {
        assert_eq!(shown("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}
