//! One line of a definition of ROS.

use crate::signature::is_identifier;

/// A field as it is written: its type, and its name.
pub(crate) struct Line<'a> {
    pub ty: &'a str,
    pub name: &'a str,
}

/// The type of a field in its parts: of `string<=10[3]` they are `string`, 10, and 3.
pub(crate) struct Written<'a> {
    pub base: &'a str,
    /// The characters of a string at most.
    #[cfg_attr(not(any(feature = "ros1", feature = "ros2")), expect(dead_code, reason = "types of sinew have no bounds"))]
    pub bound: Option<u64>,
    pub row: Row,
}

/// How many there are of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    One,
    Any,
    AtMost(u64),
    Exactly(u32),
}

impl<'a> Line<'a> {
    /// Nothing where it is a constant, or empty. Else what is wrong with it.
    pub fn read(line: &'a str) -> Result<Option<Line<'a>>, &'static str> {
        let mut line = line;
        while let Some(annotated) = line.strip_prefix('@') {
            let (annotation, rest) = annotated.split_once(char::is_whitespace).unwrap_or((annotated, ""));
            if annotation != "key" {
                return Err("whose annotation sinew does not know");
            }
            line = rest.trim_start();
        }
        if line.is_empty() {
            return Ok(None);
        }
        let (ty, rest) = line.split_once(char::is_whitespace).ok_or("which is neither a field nor a constant")?;
        let rest = rest.trim_start();
        let (name, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()));
        if !is_identifier(name) {
            return Err("which has no name of a field");
        }
        if rest.trim_start().starts_with('=') {
            return Ok(None);
        }
        // What follows a space is what the field is when nobody says.
        if rest.is_empty() || rest.starts_with(char::is_whitespace) {
            Ok(Some(Line { ty, name }))
        } else {
            Err("which has no name of a field")
        }
    }

    /// Else what is wrong with it.
    pub fn written(&self) -> Result<Written<'a>, &'static str> {
        let (base, row) = match self.ty.split_once('[') {
            Some((base, row)) => (base, Some(row.strip_suffix(']').ok_or("whose brackets are not closed")?)),
            None => (self.ty, None),
        };
        let (base, bound) = match base.split_once("<=") {
            Some((base @ ("string" | "wstring"), bound)) => (base, Some(count(bound).ok_or("whose bound is none")?)),
            Some(_) => return Err("whose bound is none"),
            None => (base, None),
        };
        let row = match row {
            None => Row::One,
            Some("") => Row::Any,
            Some(length) => match length.strip_prefix("<=") {
                Some(most) => Row::AtMost(count(most).ok_or("whose length is none")?),
                None => {
                    let length = count(length).ok_or("whose length is none")?;
                    Row::Exactly(u32::try_from(length).map_err(|_| "whose length no message can have")?)
                }
            },
        };
        Ok(Written { base, bound, row })
    }
}

/// What is larger than any number is the largest.
fn count(digits: &str) -> Option<u64> {
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| digits.parse().unwrap_or(u64::MAX))
}
