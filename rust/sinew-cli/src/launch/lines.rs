//! Bytes that a process writes, as lines that cannot do anything to the terminal in which they are shown.

use anstyle_parse::{DefaultCharAccumulator, Params, Parser, Perform};

/// A line that is longer is shown as several.
const LONGEST: usize = 8 << 10;
/// In place of what is no letter.
const UNKNOWN: char = '\u{fffd}';

/// What of a line has come.
pub struct Lines {
    /// Bytes of a letter that has not come as a whole.
    begun: Vec<u8>,
    parser: Parser<DefaultCharAccumulator>,
    line: Line,
}

impl Lines {
    /// Nothing yet. Colours are left out where nobody would see them.
    pub fn new(with_colours: bool) -> Lines {
        Lines { begun: Vec::new(), parser: Parser::default(), line: Line { with_colours, ..Line::default() } }
    }

    /// These have come, too: the lines that end in them. What is no UTF-8 is shown as such.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(String)) {
        self.begun.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.begun);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.feed_text(chunk.valid(), &mut each);
            let is_begun = std::str::from_utf8(chunk.invalid()).is_err_and(|why| why.error_len().is_none());
            if is_begun && chunks.peek().is_none() {
                self.begun = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.feed_text(UNKNOWN.encode_utf8(&mut [0; 4]), &mut each);
            }
        }
    }

    fn feed_text(&mut self, text: &str, mut each: impl FnMut(String)) {
        for byte in text.bytes() {
            self.parser.advance(&mut self.line, byte);
            if byte == b'\n' {
                // What was begun and not finished does not swallow the lines that follow.
                self.parser = Parser::default();
                each(self.line.take());
            } else if self.line.text.len() >= LONGEST {
                each(self.line.take());
            }
        }
    }

    /// No more will come: what there is of a line.
    pub fn rest(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.begun).is_empty() {
            self.line.print(UNKNOWN);
        }
        self.parser = Parser::default();
        let rest = self.line.take();
        (!rest.is_empty()).then_some(rest)
    }
}

/// The line that is being written, as a terminal would show it.
#[derive(Default)]
struct Line {
    text: String,
    with_colours: bool,
    is_coloured: bool,
    /// What comes next is written over what is there.
    is_returned: bool,
}

impl Line {
    fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        if std::mem::take(&mut self.is_coloured) {
            text += "\x1b[0m";
        }
        self.is_returned = false;
        text
    }
}

impl Perform for Line {
    fn print(&mut self, letter: char) {
        if std::mem::take(&mut self.is_returned) {
            self.text.clear();
        }
        // Some terminals obey these, too.
        if !letter.is_control() {
            self.text.push(letter);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\t' => self.print_tab(),
            b'\r' => self.is_returned = true,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], is_cut: bool, action: u8) {
        if action != b'm' || !intermediates.is_empty() || is_cut || !self.with_colours {
            return;
        }
        let params: Vec<String> = params.iter().map(|param| param.iter().map(ToString::to_string).collect::<Vec<_>>().join(":")).collect();
        self.text += &format!("\x1b[{}m", params.join(";"));
        self.is_coloured = true;
    }
}

impl Line {
    fn print_tab(&mut self) {
        if std::mem::take(&mut self.is_returned) {
            self.text.clear();
        }
        self.text.push('\t');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(with_colours: bool, bytes: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        let mut lines = Lines::new(with_colours);
        for part in bytes.chunks(3) {
            lines.feed(part, |line| all.push(line));
        }
        all.extend(lines.rest());
        all
    }

    #[test]
    fn lines_end_where_they_end_whatever_pieces_they_come_in() {
        assert_eq!(lines(true, b"one\n\ntwo\r\nthree"), ["one", "", "two", "three"]);
        assert_eq!(lines(true, "grüße\tan 世界\n".as_bytes()), ["grüße\tan 世界"]);
        assert_eq!(lines(true, b"10 %\r20 %\rdone\n"), ["done"], "as on a terminal");
    }

    #[test]
    fn of_what_controls_a_terminal_only_colours_are_left() {
        assert_eq!(lines(true, b"\x1b[2J\x1b[31;1mred\x1b[K\x1b]0;title\x07 \x08\x07\x1bc!\n"), ["\u{1b}[31;1mred !\u{1b}[0m"]);
        assert_eq!(lines(true, b"\x1b[38:2:1:2:3mx\n"), ["\u{1b}[38:2:1:2:3mx\u{1b}[0m"]);
        assert_eq!(lines(false, b"\x1b[31mred\x1b[0m\n"), ["red"]);
        assert_eq!(lines(true, "\u{9b}2Jx\n".as_bytes()), ["2Jx"]);
        assert_eq!(lines(true, b"\x1b]0;never ends\nbut this is there\n"), ["", "but this is there"]);
    }

    #[test]
    fn what_is_no_text_is_shown_as_far_as_it_is() {
        assert_eq!(lines(true, b"caf\xe9 \xff!\n21 \xb0C\xe4"), ["caf\u{fffd} \u{fffd}!", "21 \u{fffd}C\u{fffd}"]);
    }

    #[test]
    fn a_line_without_an_end_is_shown_in_parts() {
        let all = lines(true, &vec![b'x'; 2 * LONGEST + 5]);
        assert_eq!(all.iter().map(String::len).collect::<Vec<_>>(), [LONGEST, LONGEST, 5]);
    }
}
