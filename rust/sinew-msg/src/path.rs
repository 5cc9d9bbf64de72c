//! Where in a message something is: `header.stamp_ns`, `ranges[3]`, `results[0]<1>.name`.
//!
//! A path goes to fields by `.` and their names, to elements of vectors and arrays by `[` and a number from 0, and to an alternative of a variant by `<` and its number. What an optional holds is meant where the path goes on behind it.
//!
//! ```
//! use sinew_msg::{Type, path::Path};
//!
//! let scan: Type = "robot/Scan{header:robot/Header{stamp_ns:uint64;};ranges:float32[];}".parse()?;
//! assert_eq!(Path::new(&scan, "ranges[3]")?.target().name(), "float32");
//!
//! let complaint = Path::new(&scan, "header.stamp").unwrap_err().to_string();
//! assert_eq!(complaint, "robot/Header has no field 'stamp': did you mean 'stamp_ns'? it has: stamp_ns");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use crate::names::unknown_field;
use crate::signature::quoted;
use crate::stream::{Malformed, Reader};
use crate::types::Type;

/// Why a text is no path in a type, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError(String);

impl fmt::Display for PathError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for PathError {}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(usize),
    Element(u64),
    /// Into an optional.
    Value,
    Alternative(usize),
}

/// Where in messages of a type something is.
#[derive(Clone, Debug)]
pub struct Path {
    whole: Type,
    steps: Vec<Step>,
    text: String,
}

impl Path {
    /// Reads a path. An empty one is the whole message.
    pub fn new(whole: &Type, text: &str) -> Result<Path, PathError> {
        let mut parser = Parser { text, rest: text, here: whole, steps: Vec::new() };
        while !parser.rest.is_empty() {
            parser.step()?;
        }
        Ok(Path { whole: whole.clone(), steps: parser.steps, text: text.to_owned() })
    }

    /// What lies there.
    pub fn target(&self) -> &Type {
        self.steps.iter().fold(&self.whole, |ty, step| inner(ty, step))
    }

    /// Moves a reader from the begin of a message to what lies there. Nothing where this message does not have it: a vector is too short, an optional is empty, a variant has another alternative.
    pub fn find(&self, reader: &mut Reader<'_>) -> Result<Option<&Type>, Malformed> {
        let mut here = &self.whole;
        for step in &self.steps {
            if !pass(reader, here, step)? {
                return Ok(None);
            }
            here = inner(here, step);
        }
        Ok(Some(here))
    }

    /// Whether it is the whole message.
    pub fn is_whole(&self) -> bool {
        self.steps.is_empty()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

fn inner<'t>(ty: &'t Type, step: &Step) -> &'t Type {
    match (ty, step) {
        (Type::Structure(structure), Step::Field(n)) => &structure.fields[*n].ty,
        (Type::Variant(alternatives), Step::Alternative(n)) => &alternatives[*n],
        (Type::Vector(inner) | Type::Array(inner, _) | Type::Optional(inner), _) => inner,
        _ => unreachable!("the steps of a path were made for its type"),
    }
}

/// To the begin of what the step goes to. False where it is not there.
fn pass(reader: &mut Reader<'_>, ty: &Type, step: &Step) -> Result<bool, Malformed> {
    match (ty, step) {
        (Type::Structure(structure), Step::Field(n)) => {
            structure.fields[..*n].iter().try_for_each(|field| reader.skip_value(&field.ty))?;
            Ok(true)
        }
        (Type::Vector(element), Step::Element(n)) => {
            let count = reader.count(element)?;
            if *n < count {
                reader.skip_values(element, *n)?;
            }
            Ok(*n < count)
        }
        (Type::Array(element, _), Step::Element(n)) => {
            reader.skip_values(element, *n)?;
            Ok(true)
        }
        (Type::Optional(_), Step::Value) => reader.has_value(),
        (Type::Variant(alternatives), Step::Alternative(n)) => Ok(reader.chosen(alternatives)? == *n),
        _ => unreachable!("the steps of a path were made for its type"),
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    here: &'a Type,
    steps: Vec<Step>,
}

impl<'a> Parser<'a> {
    fn step(&mut self) -> Result<(), PathError> {
        while let Type::Optional(value) = self.here {
            self.go(Step::Value, value);
        }
        if self.rest.starts_with('[') {
            self.element()
        } else if self.rest.starts_with('<') {
            self.alternative()
        } else {
            self.field()
        }
    }

    fn go(&mut self, step: Step, to: &'a Type) {
        self.steps.push(step);
        self.here = to;
    }

    fn field(&mut self) -> Result<(), PathError> {
        let before = self.before();
        let name = match self.rest.strip_prefix('.') {
            Some(rest) if !before.is_empty() => rest,
            None if before.is_empty() => self.rest,
            _ => return Err(self.unreadable()),
        };
        let (name, rest) = name.split_at(name.find(['.', '[', '<']).unwrap_or(name.len()));
        if name.is_empty() {
            return Err(self.unreadable());
        }
        let structure = match self.here {
            Type::Structure(structure) => structure,
            Type::Vector(_) | Type::Array(..) => return Err(self.refused(&format!("has elements and no fields: {before}[0], for one"))),
            Type::Variant(_) => return Err(self.refused(&format!("has alternatives and no fields: {before}<0>, for one"))),
            _ => return Err(self.refused("has no fields")),
        };
        let found = structure.fields.iter().position(|field| field.name == name);
        let found = found.ok_or_else(|| PathError(unknown_field(structure, name)))?;
        self.rest = rest;
        self.go(Step::Field(found), &structure.fields[found].ty);
        Ok(())
    }

    fn element(&mut self) -> Result<(), PathError> {
        let (wanted, rest) = self.number(']')?;
        let element = match self.here {
            Type::Vector(element) => element,
            Type::Array(element, length) if wanted < u64::from(*length) => element,
            Type::Array(_, length) => {
                return Err(self.refused(&format!("has {length} elements, counted from 0, and none of the number {wanted}")));
            }
            _ => return Err(self.refused("has no elements")),
        };
        self.rest = rest;
        self.go(Step::Element(wanted), element);
        Ok(())
    }

    fn alternative(&mut self) -> Result<(), PathError> {
        let (wanted, rest) = self.number('>')?;
        let Type::Variant(alternatives) = self.here else { return Err(self.refused("has no alternatives")) };
        let found = usize::try_from(wanted).ok().and_then(|n| Some((n, alternatives.get(n)?)));
        let Some((n, chosen)) = found else {
            return Err(self.refused(&format!("has {} alternatives, counted from 0, and none of the number {wanted}", alternatives.len())));
        };
        self.rest = rest;
        self.go(Step::Alternative(n), chosen);
        Ok(())
    }

    /// Behind a bracket, and what follows behind its end.
    fn number(&self, end: char) -> Result<(u64, &'a str), PathError> {
        let (digits, rest) = self.rest[1..].split_once(end).ok_or_else(|| self.unreadable())?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.unreadable());
        }
        Ok((digits.parse().map_err(|_| self.unreadable())?, rest))
    }

    /// What is read already.
    fn before(&self) -> &'a str {
        &self.text[..self.text.len() - self.rest.len()]
    }

    fn unreadable(&self) -> PathError {
        PathError(format!("the path {} cannot be read from {} on", quoted(self.text), quoted(self.rest)))
    }

    fn refused(&self, what: &str) -> PathError {
        let name = self.here.name();
        PathError(match self.before() {
            "" => format!("{name} {what}"),
            before => format!("'{before}' is {name}, which {what}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THINGS: &str = "Things{p:Point{x:uint8;y:uint8;};list:Point{x:uint8;y:uint8;}[];pair:uint8[2];maybe:Point{x:uint8;y:uint8;}?;either:(uint8|Point{x:uint8;y:uint8;});}";

    /// p 1 2, list of 3 4 and 5 6, pair 7 8, maybe 9 10, either 1: 11 12.
    const STREAM: [u8; 36] =
        [0, 1, 0, 0, 1, 2, 0, 0, 2, 0, 0, 0, 3, 4, 5, 6, 7, 8, 0, 0, 1, 0, 0, 0, 9, 10, 0, 0, 1, 0, 0, 0, 11, 12, 0, 0];

    fn complaint(text: &str) -> String {
        Path::new(&THINGS.parse().unwrap(), text).unwrap_err().to_string()
    }

    fn found(path: &str) -> Option<u8> {
        let path = Path::new(&THINGS.parse().unwrap(), path).unwrap();
        let mut reader = Reader::new(&[&STREAM]).unwrap();
        path.find(&mut reader).unwrap().map(|ty| {
            assert_eq!(ty, path.target());
            reader.number().unwrap()
        })
    }

    #[test]
    fn a_path_leads_to_what_lies_there() {
        assert_eq!(found("p.y"), Some(2));
        assert_eq!(found("list[1].x"), Some(5));
        assert_eq!(found("pair[1]"), Some(8));
        assert_eq!(found("maybe.y"), Some(10));
        assert_eq!(found("either<1>.x"), Some(11));
        assert!(Path::new(&THINGS.parse().unwrap(), "").unwrap().is_whole());
        assert_eq!(Path::new(&"uint8[][]".parse().unwrap(), "[1][2]").unwrap().target().name(), "uint8");
    }

    #[test]
    fn what_a_message_does_not_have_is_not_found_in_it() {
        assert_eq!(found("list[2].x"), None);
        assert_eq!(found("either<0>"), None);
        let path = Path::new(&"A{x:uint8?[];}".parse().unwrap(), "x[0]").unwrap();
        assert_eq!(path.find(&mut Reader::new(&[&[0, 1, 0, 0, 0, 0, 0, 0]]).unwrap()), Ok(None));
    }

    #[test]
    fn a_path_is_not_looked_for_behind_the_end_of_a_stream() {
        let path = Path::new(&THINGS.parse().unwrap(), "either<1>.x").unwrap();
        for length in 4..32 {
            assert!(path.find(&mut Reader::new(&[&STREAM[..length]]).unwrap()).is_err(), "{length}");
        }
    }

    #[test]
    fn a_step_that_the_type_does_not_have_is_refused_with_what_it_has() {
        assert_eq!(complaint("q"), "Things has no field 'q': it has: p, list, pair, maybe, either");
        assert_eq!(complaint("p.z"), "Point has no field 'z': it has: x, y");
        assert_eq!(complaint("p.x.y"), "'p.x' is uint8, which has no fields");
        assert_eq!(complaint("p[0]"), "'p' is Point, which has no elements");
        assert_eq!(complaint("list.x"), "'list' is Point[], which has elements and no fields: list[0], for one");
        assert_eq!(complaint("either.x"), "'either' is (uint8|Point), which has alternatives and no fields: either<0>, for one");
        assert_eq!(complaint("pair[2]"), "'pair' is uint8[2], which has 2 elements, counted from 0, and none of the number 2");
        assert_eq!(complaint("either<2>"), "'either' is (uint8|Point), which has 2 alternatives, counted from 0, and none of the number 2");
        assert_eq!(complaint("[0]"), "Things has no elements");
        assert_eq!(complaint("<0>"), "Things has no alternatives");
    }

    #[test]
    fn what_is_no_path_is_refused_with_the_place() {
        assert_eq!(complaint("p..x"), "the path 'p..x' cannot be read from '..x' on");
        assert_eq!(complaint(".p"), "the path '.p' cannot be read from '.p' on");
        assert_eq!(complaint("pair[0]x"), "the path 'pair[0]x' cannot be read from 'x' on");
        for text in ["pair[", "pair[]", "pair[-1]", "pair[+1]", "pair[1", "either<>", "p.", "list[99999999999999999999]"] {
            assert!(complaint(text).contains("cannot be read"), "{text}");
        }
    }
}
