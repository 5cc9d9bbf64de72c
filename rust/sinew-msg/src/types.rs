//! What a message consists of (spec/types.md).

use std::fmt;

/// Structures and containers are nested so deep at most, counting the innermost number or string as one (T1.11).
pub const MAX_DEPTH: usize = 64;
/// Fields of a structure, and alternatives of a variant (T1.9, T1.17).
pub const MAX_MEMBERS: usize = 128;

/// A kind of number (T1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Number {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float32,
    Float64,
}

impl Number {
    /// All of them, in the order of T1.1.
    pub const ALL: [Number; 11] = [
        Number::Bool,
        Number::Int8,
        Number::Int16,
        Number::Int32,
        Number::Int64,
        Number::Uint8,
        Number::Uint16,
        Number::Uint32,
        Number::Uint64,
        Number::Float32,
        Number::Float64,
    ];

    /// As signatures spell it: `uint32`.
    pub fn name(self) -> &'static str {
        match self {
            Number::Bool => "bool",
            Number::Int8 => "int8",
            Number::Int16 => "int16",
            Number::Int32 => "int32",
            Number::Int64 => "int64",
            Number::Uint8 => "uint8",
            Number::Uint16 => "uint16",
            Number::Uint32 => "uint32",
            Number::Uint64 => "uint64",
            Number::Float32 => "float32",
            Number::Float64 => "float64",
        }
    }

    /// Bytes in a stream.
    pub fn size(self) -> usize {
        match self {
            Number::Bool | Number::Int8 | Number::Uint8 => 1,
            Number::Int16 | Number::Uint16 => 2,
            Number::Int32 | Number::Uint32 | Number::Float32 => 4,
            Number::Int64 | Number::Uint64 | Number::Float64 => 8,
        }
    }

    /// Whether it may be what an enumeration is made of.
    pub fn is_integer(self) -> bool {
        !matches!(self, Number::Bool | Number::Float32 | Number::Float64)
    }

    /// The number of that name.
    pub fn of_name(name: &str) -> Option<Number> {
        Number::ALL.into_iter().find(|number| number.name() == name)
    }
}

/// A type of messages, or of a part of one. Its [`Display`](fmt::Display) is the signature (T3), from which it can be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `uint32`
    Number(Number),
    /// `string`: bytes, meant to be UTF-8.
    String,
    /// `robot/Color(uint8)`
    Enumeration {
        /// `robot/Color`
        name: String,
        /// An integer.
        number: Number,
    },
    /// `float32[]`
    Vector(Box<Type>),
    /// `float32[3]`
    Array(Box<Type>, u32),
    /// `string?`: a value or none.
    Optional(Box<Type>),
    /// `robot/Header{stamp_ns:uint64;frame_id:string;}`
    Structure(Structure),
    /// `(uint32|string)`: a value of one of these types.
    Variant(Vec<Type>),
}

/// A structure: fields in the order of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Structure {
    /// With its namespaces: `robot/Header`.
    pub name: String,
    /// Their names differ.
    pub fields: Vec<Field>,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// An identifier.
    pub name: String,
    /// What it holds.
    pub ty: Type,
}

impl Structure {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Type {
    /// As people call it, without what it consists of: `robot/Image`, `float32[3]` (T2).
    pub fn name(&self) -> String {
        match self {
            Type::Number(number) => number.name().to_owned(),
            Type::String => "string".to_owned(),
            Type::Enumeration { name, .. } => name.clone(),
            Type::Vector(element) => element.name() + "[]",
            Type::Array(element, length) => format!("{}[{length}]", element.name()),
            Type::Optional(value) => value.name() + "?",
            Type::Structure(structure) => structure.name.clone(),
            Type::Variant(alternatives) => {
                let names: Vec<_> = alternatives.iter().map(Type::name).collect();
                format!("({})", names.join("|"))
            }
        }
    }

    /// How deep structures and containers are nested in it, counting the innermost number or string as one.
    pub fn depth(&self) -> usize {
        match self {
            Type::Number(_) | Type::String => 1,
            Type::Enumeration { .. } => 2,
            Type::Vector(inner) | Type::Array(inner, _) | Type::Optional(inner) => 1 + inner.depth(),
            Type::Structure(structure) => 1 + structure.fields.iter().map(|field| field.ty.depth()).max().unwrap_or(0),
            Type::Variant(alternatives) => 1 + alternatives.iter().map(Type::depth).max().unwrap_or(0),
        }
    }

    /// The fewest bytes that a value takes in a stream, padding aside.
    pub fn fewest_bytes(&self) -> u64 {
        match self {
            Type::Number(number) | Type::Enumeration { number, .. } => number.size() as u64,
            Type::String | Type::Vector(_) | Type::Optional(_) => 4,
            Type::Array(element, length) => element.fewest_bytes().saturating_mul(u64::from(*length)),
            Type::Structure(structure) => structure.fields.iter().fold(0, |sum: u64, field| sum.saturating_add(field.ty.fewest_bytes())),
            Type::Variant(alternatives) => alternatives.iter().map(Type::fewest_bytes).min().unwrap_or(0).saturating_add(4),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Number(number) => to.write_str(number.name()),
            Type::String => to.write_str("string"),
            Type::Enumeration { name, number } => write!(to, "{name}({})", number.name()),
            Type::Vector(element) => write!(to, "{element}[]"),
            Type::Array(element, length) => write!(to, "{element}[{length}]"),
            Type::Optional(value) => write!(to, "{value}?"),
            Type::Structure(structure) => {
                write!(to, "{}{{", structure.name)?;
                for field in &structure.fields {
                    write!(to, "{}:{};", field.name, field.ty)?;
                }
                to.write_str("}")
            }
            Type::Variant(alternatives) => {
                let mut separator = "(";
                for alternative in alternatives {
                    write!(to, "{separator}{alternative}")?;
                    separator = "|";
                }
                to.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_bytes_of_types_that_no_memory_holds_are_counted_without_overflow() {
        let fewest = |signature: &str| signature.parse::<Type>().unwrap().fewest_bytes();
        assert_eq!(fewest("(uint8[3]|uint8[2])"), 6);
        assert_eq!(fewest("(uint64[4294967295][4294967295])"), u64::MAX);
        assert_eq!(fewest("A{x:uint64[4294967295][4294967295];y:uint8;}"), u64::MAX);
    }
}
