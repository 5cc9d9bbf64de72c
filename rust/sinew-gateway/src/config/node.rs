//! Values of a configuration, each with its place.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::source::{Outcome, Source};
use super::{Error, units};
use crate::rules::Place;

/// A value, and what it is the value of.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    source: &'a Source<'a>,
    what: &'a str,
    value: &'a Value<'a>,
}

/// An object whose keys are known ones, each of them there at most once.
pub struct Table<'a> {
    node: Node<'a>,
    object: &'a Object<'a>,
}

/// JSON, which may have comments, handed to `reader`.
pub fn parse<T>(source: &Source<'_>, text: &str, reader: impl FnOnce(Node<'_>) -> Outcome<T>) -> Outcome<T> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let range = error.range();
        source.error(range.start..range.end, format!("this is not JSON: {}", error.kind().to_string().to_lowercase()))
    })?;
    match &parsed.value {
        Some(value) => reader(Node { source, what: "the configuration", value }),
        None => Err(source.error(0..0, "there is nothing here: a configuration is a JSON object, '{ ... }'")),
    }
}

impl<'a> Node<'a> {
    /// Where it begins.
    pub fn at(&self) -> Place {
        self.source.place(self.value.start())
    }

    pub fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// About this value.
    pub fn error(&self, text: impl Into<String>) -> Box<Error> {
        let range = self.value.range();
        self.source.error(range.start..range.end, text)
    }

    /// It should have been something else.
    pub fn wrong(&self, possible: &str) -> Box<Error> {
        let found = match self.value {
            Value::StringLit(text) => format!("the text \"{}\"", shown(&text.value)),
            Value::NumberLit(number) => format!("the number {}", shown(number.value)),
            Value::BooleanLit(value) => value.value.to_string(),
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::NullKeyword(_) => "null".to_owned(),
        };
        self.error(format!("'{}' is {found}, but has to be {possible}", self.what))
    }

    /// Of any length.
    pub fn text(&self, possible: &str) -> Outcome<&'a str> {
        self.value.as_string_lit().map(|text| &*text.value).ok_or_else(|| self.wrong(possible))
    }

    /// Of 1 to 255 bytes, as names in a domain have, without characters that control a terminal.
    pub fn name(&self) -> Outcome<String> {
        let possible = "a text of 1 to 255 bytes without control characters";
        let text = self.text(possible)?;
        if text.is_empty() || text.len() > 255 || text.chars().any(char::is_control) {
            Err(self.wrong(possible))
        } else {
            Ok(text.to_owned())
        }
    }

    /// One of these.
    pub fn one_of<T>(&self, possible: &[(&'static str, T)]) -> Outcome<T>
    where
        T: Copy,
    {
        let quoted: Vec<_> = possible.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let said = format!("one of {}", quoted.join(", "));
        let text = self.text(&said)?;
        possible.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
            let near = sinew_msg::nearest(text, possible.iter().map(|(name, _)| *name));
            let hint = near.map_or_else(String::new, |near| format!(": did you mean \"{near}\"?"));
            self.wrong(&(said + &hint))
        })
    }

    pub fn boolean(&self) -> Outcome<bool> {
        self.value.as_boolean_lit().map(|value| value.value).ok_or_else(|| self.wrong("true or false"))
    }

    /// Within these bounds.
    pub fn integer(&self, least: i32, most: i32) -> Outcome<i32> {
        let number = self.value.as_number_lit().and_then(|number| number.value.parse().ok());
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| self.wrong(&format!("a whole number from {least} to {most}")))
    }

    /// More than 0.
    pub fn rate(&self) -> Outcome<f64> {
        let number = self.value.as_number_lit().and_then(|number| number.value.parse::<f64>().ok());
        number.filter(|number| number.is_finite() && *number > 0.0).ok_or_else(|| self.wrong("a number of messages a second, more than 0"))
    }

    /// "20 Mbit/s", in bits a second.
    pub fn bandwidth(&self) -> Outcome<u64> {
        let possible = "a text as \"20 Mbit/s\": a number, more than 0, and bit/s, kbit/s, Mbit/s or Gbit/s";
        units::parse(self.text(possible)?, &units::BANDWIDTHS).ok_or_else(|| self.wrong(possible))
    }

    /// "64 MiB", in bytes.
    pub fn size(&self, most: u64) -> Outcome<u64> {
        let possible = "a text as \"64 MiB\": a number, more than 0 and less than 4 GiB, and B, kB, MB, GB, KiB, MiB or GiB";
        let size = units::parse(self.text(possible)?, &units::SIZES).filter(|size| *size <= most);
        size.ok_or_else(|| self.wrong(possible))
    }

    /// Its elements; each of them is called `what`.
    pub fn list(&self, what: &'a str, possible: &str) -> Outcome<Vec<Node<'a>>> {
        let list = self.value.as_array().ok_or_else(|| self.wrong(possible))?;
        Ok(list.elements.iter().map(|value| Node { source: self.source, what, value }).collect())
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.value.as_array().is_some()
    }

    /// Whether it is a text.
    pub fn is_text(&self) -> bool {
        self.value.as_string_lit().is_some()
    }

    /// Whether it is an object with this key.
    pub fn has(&self, key: &str) -> bool {
        self.value.as_object().is_some_and(|object| object.get(key).is_some())
    }

    /// An object that has no other keys than these.
    pub fn table(&self, keys: &[&str]) -> Outcome<Table<'a>> {
        let object = self.value.as_object().ok_or_else(|| self.wrong(&format!("an object with the keys {}", keys.join(", "))))?;
        for (at, property) in object.properties.iter().enumerate() {
            let key = property.name.as_str();
            if !keys.contains(&key) {
                let near = sinew_msg::nearest(key, keys.iter().copied());
                let hint = near.map_or_else(String::new, |near| format!("did you mean '{near}'? "));
                let possible = keys.join(", ");
                return Err(self.about(property, format!("'{}' has no key '{}': {hint}possible are: {possible}", self.what, shown(key))));
            }
            if let Some(first) = object.properties[..at].iter().find(|first| first.name.as_str() == key) {
                let line = self.source.place(first.start()).line;
                return Err(self.about(property, format!("'{key}' is said twice, first in line {line}: leave one of them out")));
            }
        }
        Ok(Table { node: *self, object })
    }

    fn about(&self, property: &ObjectProp<'_>, text: String) -> Box<Error> {
        let range = property.name.range();
        self.source.error(range.start..range.end, text)
    }
}

impl<'a> Table<'a> {
    /// Where it begins.
    pub fn at(&self) -> Place {
        self.node.at()
    }

    /// About all of it; its first character is marked.
    pub fn error(&self, text: impl Into<String>) -> Box<Error> {
        let start = self.object.start();
        self.node.source.error(start..start + 1, text)
    }

    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        let property = self.object.get(key)?;
        Some(Node { source: self.node.source, what: property.name.as_str(), value: &property.value })
    }

    /// What has to be there; `meaning` says what for.
    pub fn need(&self, key: &str, meaning: &str) -> Outcome<Node<'a>> {
        self.get(key).ok_or_else(|| self.error(format!("'{}' has no key '{key}', {meaning}", self.node.what)))
    }

    /// What this makes of the value, if it is there.
    pub fn read<T>(&self, key: &str, reader: impl FnOnce(&Node<'a>) -> Outcome<T>) -> Outcome<Option<T>> {
        self.get(key).map(|node| reader(&node)).transpose()
    }
}

/// Short enough for a sentence, and nothing that controls a terminal.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = text.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        shown += "...";
    }
    shown
}
