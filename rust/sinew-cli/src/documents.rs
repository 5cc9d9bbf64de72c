//! Messages in a text, one behind the other: a line of JSON each, or YAML with `---` between.

use std::io::{self, BufRead, Read};

use sinew::msg::value::Value;

/// Bytes of the text of one message at most.
const MOST: u64 = 256 << 20;

/// The value of one text: JSON where it is that, else YAML. An empty text is a mapping without fields.
pub fn parse(text: &str) -> Result<Value, String> {
    if is_empty(text) {
        return Ok(Value::Map(Vec::new()));
    }
    // JSON first, which YAML takes in, but for some texts, as those with letters in two escapes.
    Value::from_json(text).or_else(|_| Value::from_yaml(text)).map_err(|why| why.to_string())
}

/// Nothing but comments.
fn is_empty(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'))
}

/// Reads them while they come: a line of JSON is there at its end, YAML at the next `---`.
pub struct Documents<R> {
    from: R,
    /// What was read of the next one.
    text: String,
    has_ended: bool,
}

impl<R: BufRead> Documents<R> {
    /// All that are in there.
    pub fn new(from: R) -> Documents<R> {
        Documents { from, text: String::new(), has_ended: false }
    }

    fn read_next(&mut self) -> Result<Option<Value>, String> {
        loop {
            let Some(line) = self.read_line().map_err(|why| why.to_string())? else {
                self.has_ended = true;
                return self.take();
            };
            if let Some(begin) = line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)) {
                let before = self.take();
                self.text = begin.to_owned();
                match before {
                    Ok(None) => continue,
                    before => return before,
                }
            }
            if line.starts_with('{')
                && is_empty(&self.text)
                && let Ok(value) = Value::from_json(&line)
            {
                self.text.clear();
                return Ok(Some(value));
            }
            self.text += &line;
        }
    }

    /// With its end, where it has one. None: there is no more.
    fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let room = MOST - self.text.len() as u64; // read_line() has seen to it
        (&mut self.from).take(room + 1).read_line(&mut line)?;
        if line.len() as u64 > room {
            return Err(io::Error::other(format!("it has more than {MOST} bytes")));
        }
        Ok((!line.is_empty()).then_some(line))
    }

    fn take(&mut self) -> Result<Option<Value>, String> {
        let text = std::mem::take(&mut self.text);
        if is_empty(&text) { Ok(None) } else { parse(&text).map(Some) }
    }
}

impl<R: BufRead> Iterator for Documents<R> {
    type Item = Result<Value, String>;

    fn next(&mut self) -> Option<Result<Value, String>> {
        if self.has_ended {
            return None;
        }
        let next = self.read_next();
        self.has_ended |= next.is_err();
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Result<Value, String>> {
        Documents::new(text.as_bytes()).collect()
    }

    fn numbers(text: &str) -> Vec<Value> {
        all(text).into_iter().map(|each| each.expect("it is a document")).collect()
    }

    fn x(n: i128) -> Value {
        Value::Map(vec![("x".to_owned(), Value::Integer(n))])
    }

    #[test]
    fn documents_of_yaml_end_at_the_next_or_at_the_end() {
        assert_eq!(numbers("x: 1\n---\nx: 2\n"), [x(1), x(2)]);
        assert_eq!(numbers("---\n# the first\nx: 1\n--- {x: 2}\n---\n\n---\nx: 3"), [x(1), x(2), x(3)], "what is empty is none");
        assert_eq!(numbers("{x:\n 1}"), [x(1)]);
        assert_eq!(numbers("x: |\n  ---\n"), [Value::Map(vec![("x".to_owned(), Value::Text("---\n".to_owned()))])]);
        assert_eq!(numbers("# nothing\n\n"), []);
    }

    #[test]
    fn every_line_of_json_is_one() {
        assert_eq!(numbers("{\"x\": 1}\n{\"x\": 2}\n\n{\"x\": 3}"), [x(1), x(2), x(3)]);
        assert_eq!(numbers("{\n\"x\": 1\n}\n---\n{\"x\": 2}\nx: 3"), [x(1), x(2), x(3)]);
    }

    #[test]
    fn a_line_of_json_is_there_before_the_next_one_comes() {
        /// Fails when it is asked for more than a line.
        struct OneLine(Option<&'static [u8]>);
        impl Read for OneLine {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                unreachable!("read_until() uses fill_buf()")
            }
        }
        impl BufRead for OneLine {
            fn fill_buf(&mut self) -> io::Result<&[u8]> {
                Ok(self.0.expect("nobody asks for a second line"))
            }
            fn consume(&mut self, amount: usize) {
                self.0 = self.0.map(|line| &line[amount..]).filter(|line| !line.is_empty());
            }
        }
        assert_eq!(Documents::new(OneLine(Some(b"{\"x\": 1}\n"))).next(), Some(Ok(x(1))));
    }

    #[test]
    fn what_is_none_ends_them() {
        let found = all("x: 1\n---\nx: [\n---\nx: 3\n");
        assert_eq!((found.len(), &found[0]), (2, &Ok(x(1))));
        assert!(found[1].as_ref().unwrap_err().starts_with("the YAML cannot be read: "), "{found:?}");
        assert!(Documents::new(&b"\xff\n"[..]).next().unwrap().unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn an_empty_text_has_no_fields_and_letters_of_two_escapes_are_read() {
        assert_eq!(parse(" \n"), Ok(Value::Map(Vec::new())));
        assert_eq!(parse(r#""\ud83e\uddbe""#), Ok(Value::Text("\u{1f9be}".to_owned())));
    }
}
