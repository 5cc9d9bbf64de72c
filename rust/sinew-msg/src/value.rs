//! Messages from text: JSON or YAML is read as a [`Value`], which is written as the CDR stream of a type.
//!
//! A field that is left out is zero, empty, or none, as a C++ object has it when it is made; a variant is its first alternative then. What does not fit the type is an error that says where, what is given there, and what is expected.
//!
//! - An enumeration is its number, a map the list of its entries, a variant the list of the number of its alternative and the value.
//! - An optional is its value or null. One that holds an optional is null or a list of that one.
//! - A float may be the strings "NaN", "Infinity" and "-Infinity", too, which JSON has no numbers for.
//!
//! ```
//! use sinew_msg::{Type, value::Value};
//!
//! let pose: Type = "robot/Pose{x:float32;frame_id:string;covariance:float32[2];}".parse()?;
//! let stream = Value::from_yaml("frame_id: map\nx: 1.5")?.to_stream(&pose)?;
//! assert_eq!(stream, [0, 1, 0, 0, 0, 0, 0xc0, 0x3f, 4, 0, 0, 0, b'm', b'a', b'p', 0, 0, 0, 0, 0, 0, 0, 0, 0]);
//!
//! let complaint = Value::from_json(r#"{"frame_id": 7}"#)?.to_stream(&pose).unwrap_err().to_string();
//! assert_eq!(complaint, "field 'frame_id': 7 is given, and string is expected");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parse;
mod write;

use std::fmt;

use crate::signature::quoted;

/// A value as texts have them, whatever type it is meant for.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number, exact also where no `f64` is.
    Integer(i128),
    /// Any other number.
    Real(f64),
    /// A string.
    Text(String),
    /// Values one behind the other.
    List(Vec<Value>),
    /// Values with names, in the order of the text.
    Map(Vec<(String, Value)>),
}

/// As complaints call it: no more than people read.
impl fmt::Display for Value {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => to.write_str("null"),
            Value::Bool(value) => write!(to, "{value}"),
            Value::Integer(value) => write!(to, "{value}"),
            Value::Real(value) => write!(to, "{value:?}"),
            Value::Text(value) => to.write_str(&quoted(value)),
            Value::List(values) => write!(to, "a list of {}", values.len()),
            Value::Map(_) => to.write_str("a mapping"),
        }
    }
}

/// Why a text is no value, or a value none of a type, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// Where in the value: `header.stamp_ns`.
    path: String,
    why: String,
}

impl ValueError {
    fn new(why: String) -> ValueError {
        ValueError { path: String::new(), why }
    }

    /// The same, seen from outside of a field, element or alternative.
    fn inside(mut self, step: &str) -> ValueError {
        let dot = if self.path.is_empty() || self.path.starts_with(['[', '<']) { "" } else { "." };
        self.path = format!("{step}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { to.write_str(&self.why) } else { write!(to, "field '{}': {}", self.path, self.why) }
    }
}

impl std::error::Error for ValueError {}
