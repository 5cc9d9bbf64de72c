//! The text of a configuration, and places in it.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::rules::Place;

/// Bytes of a configuration at most.
pub const MAX_SIZE: u64 = 256 * 1024;
/// Characters of a line that are shown beside a mistake.
const SHOWN: usize = 120;

/// A configuration that cannot be used. Shown with the line that it is about, and a caret below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where.
    pub at: Place,
    /// What is wrong, and what is possible, in a sentence.
    pub text: String,
    excerpt: Option<Excerpt>,
}

/// What is read of a configuration, or why it cannot be.
pub type Outcome<T> = Result<T, Box<Error>>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    line: String,
    before: usize,
    marked: usize,
}

/// The text, and what its lines are.
pub struct Source<'a> {
    file: Arc<Path>,
    text: &'a str,
    lines: Vec<usize>,
}

/// The bytes of the file, which are to be a text of no more than [`MAX_SIZE`].
pub fn read(file: &Path) -> Outcome<String> {
    let fail = |text: String| Box::new(Error { at: Place { file: file.into(), line: 1, column: 1 }, text, excerpt: None });
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|opened| opened.take(MAX_SIZE + 1).read_to_end(&mut bytes));
    opened.map_err(|error| fail(format!("the configuration cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(fail(format!("the configuration has more than {MAX_SIZE} bytes, which are the most")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned() + "\u{fffd}";
        Source::new(file, &text).error(valid..valid + 1, "this is not UTF-8, which a configuration has to be")
    })
}

impl<'a> Source<'a> {
    pub fn new(file: &Path, text: &'a str) -> Source<'a> {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { file: file.into(), text, lines }
    }

    /// Where the file is, for paths that are relative to it.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// Of the byte at `at`.
    pub fn place(&self, at: usize) -> Place {
        let line = self.lines.partition_point(|&start| start <= at);
        let before = self.text.get(self.lines[line - 1]..at).unwrap_or_default();
        Place { file: self.file.clone(), line, column: before.chars().count() + 1 }
    }

    /// Of these bytes.
    pub fn error(&self, range: Range<usize>, text: impl Into<String>) -> Box<Error> {
        let at = self.place(range.start);
        let start = self.lines[at.line - 1];
        let line = self.text[start..].lines().next().unwrap_or_default();
        let marked = self.text.get(range).map_or(1, |marked| marked.lines().next().unwrap_or_default().chars().count().max(1));
        // Of a line that is long, what is around the mistake.
        let skipped = if line.chars().count() > SHOWN { (at.column - 1).saturating_sub(SHOWN / 2) } else { 0 };
        let shown: String = line.chars().skip(skipped).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let before = at.column - 1 - skipped;
        let marked = marked.min(SHOWN.saturating_sub(before)).max(1);
        Box::new(Error { at, text: text.into(), excerpt: Some(Excerpt { line: shown, before, marked }) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.at, self.text)?;
        let Some(Excerpt { line, before, marked }) = &self.excerpt else { return Ok(()) };
        let number = self.at.line.to_string();
        let (margin, carets) = (" ".repeat(number.len()), " ".repeat(*before) + &"^".repeat(*marked));
        write!(to, "\n  {number} | {line}\n  {margin} | {carets}")
    }
}

impl std::error::Error for Error {}
