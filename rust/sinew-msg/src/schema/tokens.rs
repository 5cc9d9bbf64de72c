//! The words of IDL.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `struct`, `uint8`, `Image`
    Word(&'a str),
    /// Whatever begins with a digit.
    Digits(&'a str),
    /// In quotes.
    Text,
    /// `::`
    Scope,
    /// Any other sign.
    Sign(char),
}

/// Those of a text, without comments, directives of a preprocessor, and the lines that MCAP and rosbag2 put between files.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    /// Behind the next one.
    rest: &'a str,
    next: Option<Token<'a>>,
    /// From the next one on, for complaints.
    here: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        let mut tokens = Tokens { rest: text, next: None, here: text };
        while tokens.is_line() {}
        tokens.advance();
        tokens
    }

    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.next
    }

    /// What is not read yet, for people: it may be long.
    pub(super) fn here(&self) -> &'a str {
        self.here
    }

    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        let next = self.next;
        self.advance();
        next
    }

    /// Whether that came next; then it is taken.
    pub(super) fn takes(&mut self, token: Token<'_>) -> bool {
        let is = self.next == Some(token);
        if is {
            self.advance();
        }
        is
    }

    fn advance(&mut self) {
        self.skip();
        self.here = self.rest;
        let Some(first) = self.rest.chars().next() else {
            self.next = None;
            return;
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word_end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (size, token) = match first {
            '0'..='9' => (word_end, Token::Digits(&self.rest[..word_end])),
            c if is_word(c) => (word_end, Token::Word(&self.rest[..word_end])),
            '"' | '\'' => (quoted_size(self.rest, first), Token::Text),
            ':' if self.rest.starts_with("::") => (2, Token::Scope),
            _ => (first.len_utf8(), Token::Sign(first)),
        };
        self.rest = &self.rest[size..];
        self.next = Some(token);
    }

    fn skip(&mut self) {
        loop {
            let trimmed = self.rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
            self.rest = trimmed;
            if let Some(rest) = trimmed.strip_prefix('\n') {
                self.rest = rest;
                while self.is_line() {}
            } else if trimmed.starts_with("//") {
                self.rest = &trimmed[trimmed.find('\n').unwrap_or(trimmed.len())..];
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                self.rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                return;
            }
        }
    }

    /// Whether a line begins here that is not IDL; then it is passed over.
    fn is_line(&mut self) -> bool {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        let line = line.trim();
        let is_rule = line.len() >= 3 && line.bytes().all(|byte| byte == b'=');
        let passes = is_rule || line.starts_with('#') || line.starts_with("IDL:");
        if passes {
            self.rest = rest;
        }
        passes
    }
}

/// Bytes of the quoted text at the begin. Where the other quote is missing, all.
fn quoted_size(text: &str, quote: char) -> usize {
    let mut is_escaped = true; // so the first one is passed over
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_idl_is_passed_over() {
        let rule = "=".repeat(80);
        let text = format!(
            "{rule}\nIDL: a/msg/B\n#include \"c.idl\"\n/* a\n * b */ module a {{ // c\n  x\"\\\"}}}}\" 12 a::b\n{rule}\nIDL: c\n}}"
        );
        let mut tokens = Tokens::new(&text);
        let all: Vec<_> = std::iter::from_fn(|| tokens.take()).collect();
        let expected = [
            Token::Word("module"),
            Token::Word("a"),
            Token::Sign('{'),
            Token::Word("x"),
            Token::Text,
            Token::Digits("12"),
            Token::Word("a"),
            Token::Scope,
            Token::Word("b"),
            Token::Sign('}'),
        ];
        assert_eq!(all, expected);
    }
}
