//! One definition by itself, as a file has it.

use std::fmt;

use crate::schema::{Line, Row, SchemaError, package_and_name};
use crate::signature::{is_identifier, quoted};
use crate::types::{MAX_MEMBERS, Number};

/// What a structure consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// As it is written, with its comments.
    pub text: String,
    /// As they count in the sum: `uint8 DEBUG=1`.
    pub constants: Vec<String>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    /// Its type, as it is written.
    pub written: String,
    /// What it holds one or more of.
    pub base: Base,
    pub row: Row,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// `char` is `uint8`.
    Number(Number),
    /// An `int8` that is meant to be no number.
    Byte,
    String,
    Time,
    Duration,
    /// A structure of this name.
    Nested(String),
}

impl Part {
    /// Of the structure `name`. The text may come from a stranger.
    pub fn read(name: &str, text: String) -> Result<Part, SchemaError> {
        let wrong = |line: &str, what: &str| SchemaError::new(format!("{} has the line {}, {what}", quoted(name), quoted(line)));
        let package = name.split('/').next().unwrap_or_default();
        let (mut constants, mut fields) = (Vec::new(), Vec::<Field>::new());
        for line in text.lines() {
            let said = line.split('#').next().unwrap_or_default().trim();
            if said.replace("<=", "").contains('=') {
                constants.push(constant(line).ok_or_else(|| wrong(said, "which is no constant"))?);
                continue;
            }
            let Some(read) = Line::read(said).map_err(|what| wrong(said, what))? else { continue };
            if fields.len() == MAX_MEMBERS {
                return Err(SchemaError::new(format!("{} has more than {MAX_MEMBERS} fields, the most that sinew takes", quoted(name))));
            }
            if fields.iter().any(|field| field.name == read.name) {
                return Err(SchemaError::new(format!("{} has two fields named {}", quoted(name), quoted(read.name))));
            }
            fields.push(Field::read(package, &read).map_err(|what| {
                let (field, ty) = (quoted(read.name), quoted(read.ty));
                SchemaError::new(format!("{} has the field {field} of the type {ty}, {what}", quoted(name)))
            })?);
        }
        Ok(Part { text, constants, fields })
    }
}

/// The value of a text is all that follows, also what looks like a comment.
fn constant(line: &str) -> Option<String> {
    let (ty, rest) = line.trim_start().split_once(char::is_whitespace)?;
    let rest = if ty == "string" { rest } else { rest.split('#').next().unwrap_or_default() };
    let (name, value) = rest.split_once('=')?;
    let name = name.trim();
    (name.is_ascii() && is_identifier(name)).then(|| format!("{ty} {name}={}", value.trim()))
}

impl Field {
    fn read(package: &str, line: &Line<'_>) -> Result<Field, &'static str> {
        let written = line.written()?;
        if written.bound.is_some() || matches!(written.row, Row::AtMost(_)) {
            return Err("and ROS 1 has no bounds");
        }
        let base = match written.base {
            "byte" => Base::Byte,
            "char" => Base::Number(Number::Uint8),
            "string" => Base::String,
            "time" => Base::Time,
            "duration" => Base::Duration,
            // Alone it is that of std_msgs everywhere.
            "Header" if written.row == Row::One => Base::Nested("std_msgs/Header".to_owned()),
            other => match (Number::of_name(other), package_and_name(other)) {
                (Some(number), _) => Base::Number(number),
                (None, Some(("", name))) => Base::Nested(format!("{package}/{name}")),
                (None, Some((package, name))) => Base::Nested(format!("{package}/{name}")),
                (None, None) => return Err("which is no name of a type"),
            },
        };
        Ok(Field { name: line.name.to_owned(), written: line.ty.to_owned(), base, row: written.row })
    }
}

/// Its type, for people.
impl fmt::Display for Field {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Number(number) => to.write_str(number.name())?,
            Base::Byte => to.write_str("byte")?,
            Base::String => to.write_str("string")?,
            Base::Time => to.write_str("time")?,
            Base::Duration => to.write_str("duration")?,
            Base::Nested(name) => to.write_str(name)?,
        }
        match self.row {
            Row::One => Ok(()),
            Row::Any => to.write_str("[]"),
            Row::AtMost(most) => write!(to, "[<={most}]"),
            Row::Exactly(length) => write!(to, "[{length}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Part, String> {
        Part::read("a/B", text.to_owned()).map_err(|why| why.to_string())
    }

    #[test]
    fn constants_are_read_as_they_count_and_fields_as_they_are() {
        let text = "# Of what it is.\nint32  X = 1 # one\nstring NAME= a # b \nbyte Y=-1\n\n  uint8[] kind # which\nHeader header\r\nC[2] c\nd/E e\n";
        let part = read(text).unwrap();
        assert_eq!(part.constants, ["int32 X=1", "string NAME=a # b", "byte Y=-1"]);
        let fields: Vec<_> = part.fields.iter().map(|field| format!("{field} {}", field.name)).collect();
        assert_eq!(fields, ["uint8[] kind", "std_msgs/Header header", "a/C[2] c", "d/E e"]);
        assert_eq!((part.fields[2].written.as_str(), part.text.as_str()), ("C[2]", text));
    }

    #[test]
    fn what_is_no_definition_is_refused_with_the_line_or_the_field() {
        for (text, complaint) in [
            ("uint8", "'a/B' has the line 'uint8', which is neither a field nor a constant"),
            ("X=1", "'a/B' has the line 'X=1', which is no constant"),
            ("uint8 x y=1", "'a/B' has the line 'uint8 x y=1', which is no constant"),
            ("uint8 x\nuint8 x", "'a/B' has two fields named 'x'"),
            ("string<=3 x", "'a/B' has the field 'x' of the type 'string<=3', and ROS 1 has no bounds"),
            ("uint8[<=3] x", "'a/B' has the field 'x' of the type 'uint8[<=3]', and ROS 1 has no bounds"),
            ("uint8[x] x", "'a/B' has the field 'x' of the type 'uint8[x]', whose length is none"),
            ("a-b x", "'a/B' has the field 'x' of the type 'a-b', which is no name of a type"),
        ] {
            assert_eq!(read(text).unwrap_err(), complaint);
        }
        let many: String = (0..200).map(|n| format!("uint8 f{n}\n")).collect();
        assert_eq!(read(&many).unwrap_err(), "'a/B' has more than 128 fields, the most that sinew takes");
    }
}
