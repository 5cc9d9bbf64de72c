//! The hash of a type (RIHS01): SHA-256 of its description as JSON, in the only form that there is of it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::interface::{Base, Field, Interface};
use crate::schema::Row;
use crate::types::Number;

/// Numbers of type_description_interfaces/msg/FieldType.
const NESTED: u32 = 1;
const BYTE: u32 = 16;
const STRING: u32 = 17;
const WIDE_STRING: u32 = 18;
/// Of strings that have a bound, how much more they are.
const BOUNDED: u32 = 4;

impl Interface {
    /// As ROS 2 tells it with its topics: "RIHS01_" and 64 digits.
    pub fn hash(&self) -> String {
        let described = |name: &str, fields: &[Field]| {
            let fields: Vec<_> = fields.iter().map(described).collect();
            format!(r#"{{"type_name": "{name}", "fields": [{}]}}"#, fields.join(", "))
        };
        let of = |name: &str| described(name, self.structures().get(name).map(Vec::as_slice).unwrap_or_default());
        let others: Vec<_> = self.structures().keys().filter(|name| *name != self.name()).map(|name| of(name)).collect();
        let json = format!(r#"{{"type_description": {}, "referenced_type_descriptions": [{}]}}"#, of(self.name()), others.join(", "));
        let mut hash = "RIHS01_".to_owned();
        for byte in Sha256::digest(json) {
            let _ = write!(hash, "{byte:02x}"); // to a String it does not fail
        }
        hash
    }
}

/// Names are identifiers, so that nothing in them has to be escaped.
fn described(field: &Field) -> String {
    let (number, bound, nested) = match &field.base {
        Base::Number(number) => (number_of(*number), 0, ""),
        Base::Byte => (BYTE, 0, ""),
        Base::String(bound) => (STRING, *bound, ""),
        Base::WideString(bound) => (WIDE_STRING, *bound, ""),
        Base::Nested(name) => (NESTED, 0, name.as_str()),
    };
    let number = if bound > 0 { number + BOUNDED } else { number };
    let (of_row, capacity) = match field.row {
        Row::One => (0, 0),
        Row::Exactly(length) => (48, u64::from(length)),
        Row::AtMost(most) => (96, most),
        Row::Any => (144, 0),
    };
    let (name, id) = (&field.name, number + of_row);
    format!(
        r#"{{"name": "{name}", "type": {{"type_id": {id}, "capacity": {capacity}, "string_capacity": {bound}, "nested_type_name": "{nested}"}}}}"#
    )
}

fn number_of(number: Number) -> u32 {
    match number {
        Number::Int8 => 2,
        Number::Uint8 => 3,
        Number::Int16 => 4,
        Number::Uint16 => 5,
        Number::Int32 => 6,
        Number::Uint32 => 7,
        Number::Int64 => 8,
        Number::Uint64 => 9,
        Number::Float32 => 10,
        Number::Float64 => 11,
        Number::Bool => 15,
    }
}
