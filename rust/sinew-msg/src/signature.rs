//! Reading signatures (spec/types.md, section 3). They come from strangers.

use std::collections::HashSet;
use std::str::FromStr;

use crate::types::{Field, MAX_DEPTH, MAX_MEMBERS, Number, Structure, Type};

/// Bytes of a signature (T3.4).
pub(crate) const MAX_SIGNATURE: usize = 32768;

/// Why a text is not the signature of a type that a message can have, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureError(String);

impl std::fmt::Display for SignatureError {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for SignatureError {}

impl FromStr for Type {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Type, SignatureError> {
        if text.len() > MAX_SIGNATURE {
            return Err(SignatureError(format!("the signature has {} bytes, and {MAX_SIGNATURE} are the most", text.len())));
        }
        let mut reader = Reader { rest: text };
        let ty = reader.ty(1)?;
        if !reader.rest.is_empty() {
            return Err(reader.unexpected("the end"));
        }
        if ty.depth() > MAX_DEPTH {
            return Err(too_deep());
        }
        Ok(ty)
    }
}

fn too_deep() -> SignatureError {
    SignatureError(format!("the signature has a type that is nested more than {MAX_DEPTH} deep"))
}

/// For a terminal: without control characters, and no more than people read.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let shown: String = text.chars().take(MOST).map(|c| if c.is_control() { '?' } else { c }).collect();
    let dots = if text.chars().nth(MOST).is_some() { "..." } else { "" };
    format!("'{shown}{dots}'")
}

/// T2.5, and what compilers spell.
fn is_name(name: &str) -> bool {
    let mut depth = 0usize;
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return false,
            c if c.is_control() => return false,
            _ => {}
        }
    }
    !name.is_empty()
}

/// T2.8.
pub(crate) fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric() || (!c.is_ascii() && !c.is_control()))
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn ty(&mut self, depth: usize) -> Result<Type, SignatureError> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let name = self.name();
        let base = if name.is_empty() && self.take('(') {
            self.variant(depth)?
        } else if self.take('(') {
            self.enumeration(name)?
        } else if self.take('{') {
            self.structure(name, depth)?
        } else if name.is_empty() {
            return Err(self.unexpected("a type"));
        } else if name == "string" {
            Type::String
        } else {
            Type::Number(
                Number::of_name(name).ok_or_else(|| SignatureError(format!("the signature has the unknown type {}", quoted(name))))?,
            )
        };
        self.suffixes(base)
    }

    fn variant(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let mut alternatives = Vec::new();
        loop {
            if alternatives.len() == MAX_MEMBERS {
                return Err(SignatureError(format!("the signature has a variant of more than {MAX_MEMBERS} alternatives")));
            }
            alternatives.push(self.ty(depth + 1)?);
            if !self.take('|') {
                break;
            }
        }
        self.expect(')')?;
        Ok(Type::Variant(alternatives))
    }

    fn enumeration(&mut self, name: &str) -> Result<Type, SignatureError> {
        let of = self.name();
        self.expect(')')?;
        if !is_name(name) {
            return Err(SignatureError(format!("the signature has an enumeration whose name is none: {}", quoted(name))));
        }
        match Number::of_name(of) {
            Some(number) if number.is_integer() => Ok(Type::Enumeration { name: name.to_owned(), number }),
            _ => Err(SignatureError(format!("the signature has an enumeration of {}, which is no integer", quoted(of)))),
        }
    }

    fn structure(&mut self, name: &str, depth: usize) -> Result<Type, SignatureError> {
        if !is_name(name) {
            return Err(SignatureError(format!("the signature has a structure whose name is none: {}", quoted(name))));
        }
        let mut fields = Vec::new();
        let mut names = HashSet::new();
        while !self.take('}') {
            let field = self.name();
            if !is_identifier(field) {
                return Err(SignatureError(format!("{} has a field whose name is no identifier: {}", quoted(name), quoted(field))));
            }
            if !names.insert(field) {
                return Err(SignatureError(format!("{} has two fields named {}", quoted(name), quoted(field))));
            }
            if fields.len() == MAX_MEMBERS {
                return Err(SignatureError(format!("{} has more than {MAX_MEMBERS} fields", quoted(name))));
            }
            self.expect(':')?;
            let ty = self.ty(depth + 1)?;
            self.expect(';')?;
            fields.push(Field { name: field.to_owned(), ty });
        }
        Ok(Type::Structure(Structure { name: name.to_owned(), fields }))
    }

    fn suffixes(&mut self, base: Type) -> Result<Type, SignatureError> {
        let mut ty = base;
        for _ in 0..=MAX_DEPTH {
            if self.take('?') {
                ty = Type::Optional(Box::new(ty));
            } else if self.take('[') {
                ty = self.sequence(ty)?;
            } else {
                return Ok(ty);
            }
        }
        Err(too_deep())
    }

    /// Behind the `[`.
    fn sequence(&mut self, element: Type) -> Result<Type, SignatureError> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.expect(']')?;
        if digits.is_empty() {
            return Ok(Type::Vector(Box::new(element)));
        }
        match digits.parse() {
            Ok(length) if digits.len() == 1 || !digits.starts_with('0') => Ok(Type::Array(Box::new(element), length)),
            _ => Err(SignatureError(format!("the signature has an array whose length is none: {}", quoted(digits)))),
        }
    }

    /// Up to the next delimiter that is not inside template arguments (T3.2).
    fn name(&mut self) -> &'a str {
        let mut depth = 0usize;
        let end = self
            .rest
            .find(|c| {
                match c {
                    '<' => depth += 1,
                    '>' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && "{}()[]?:;|".contains(c)
            })
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), SignatureError> {
        if self.take(c) { Ok(()) } else { Err(self.unexpected(&format!("'{c}'"))) }
    }

    fn unexpected(&self, wanted: &str) -> SignatureError {
        let found = if self.rest.is_empty() { "it ends".to_owned() } else { format!("{} stands there", quoted(self.rest)) };
        SignatureError(format!("the signature cannot be read: where {wanted} is expected {found}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(signature: &str) -> String {
        signature.parse::<Type>().unwrap_err().to_string()
    }

    #[test]
    fn what_is_read_is_written_again_as_it_was() {
        for signature in [
            "uint32",
            "string[]",
            "float64[3]?[]",
            "robot/Image{header:robot/Header{stamp_ns:uint64;frame_id:string;};data:uint8[];}",
            "Nothing{}",
            "robot/Box<string,robot/Point[]>{it:(uint8|string|robot/Color(int16)[2]);}",
            "entry<string,uint8>{key:string;value:uint8;}[]",
        ] {
            assert_eq!(signature.parse::<Type>().unwrap().to_string(), signature);
        }
    }

    #[test]
    fn t3_5_what_does_not_fit_the_grammar_is_refused_with_the_place() {
        assert_eq!(complaint(""), "the signature cannot be read: where a type is expected it ends");
        assert_eq!(complaint("A{x:uint8}"), "the signature cannot be read: where ';' is expected '}' stands there");
        assert_eq!(complaint("uint8]"), "the signature cannot be read: where the end is expected ']' stands there");
        assert_eq!(complaint("(uint8"), "the signature cannot be read: where ')' is expected it ends");
        assert_eq!(complaint("uint8[3"), "the signature cannot be read: where ']' is expected it ends");
        assert_eq!(complaint("A{x:\u{1b}[2J;}"), "the signature has the unknown type '?'");
    }

    #[test]
    fn what_no_message_can_have_is_refused() {
        assert_eq!(complaint("A{width:uint33;}"), "the signature has the unknown type 'uint33'");
        assert_eq!(complaint("A{a:uint8;a:uint8;}"), "'A' has two fields named 'a'");
        assert_eq!(complaint("A{1a:uint8;}"), "'A' has a field whose name is no identifier: '1a'");
        assert_eq!(complaint("A(float32)"), "the signature has an enumeration of 'float32', which is no integer");
        assert_eq!(complaint("uint8[4294967296]"), "the signature has an array whose length is none: '4294967296'");
        assert_eq!(complaint("uint8[03]"), "the signature has an array whose length is none: '03'");
        assert_eq!(complaint("{x:uint8;}"), "the signature has a structure whose name is none: ''");
    }

    #[test]
    fn t1_11_types_are_nested_64_deep_at_most() {
        let nested = |depth: usize| "A{x:".repeat(depth - 1) + "uint8" + &";}".repeat(depth - 1);
        assert!(nested(64).parse::<Type>().is_ok());
        assert_eq!(complaint(&nested(65)), "the signature has a type that is nested more than 64 deep");
        assert!(("uint8".to_owned() + &"[]".repeat(63)).parse::<Type>().is_ok());
        assert!(complaint(&("uint8".to_owned() + &"[]".repeat(64))).contains("64 deep"));
        assert!(complaint(&("uint8".to_owned() + &"?".repeat(30_000))).contains("64 deep"));
        assert!(complaint(&"(".repeat(30_000)).contains("64 deep"));
    }

    #[test]
    fn t3_4_and_t1_9_signatures_are_bounded() {
        let structure = |fields: usize| format!("A{{{}}}", (0..fields).map(|n| format!("f{n}:uint8;")).collect::<String>());
        assert!(structure(128).parse::<Type>().is_ok());
        assert_eq!(complaint(&structure(129)), "'A' has more than 128 fields");
        assert!(complaint(&"a".repeat(32769)).contains("32769 bytes"));
        assert!(complaint(&format!("({}uint8)", "uint8|".repeat(128))).contains("more than 128 alternatives"));
    }
}
