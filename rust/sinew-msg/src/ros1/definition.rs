//! What a message of ROS 1 consists of.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use md5::{Digest, Md5};

use super::part::{Base, Field, Part};
use crate::schema::{self, SchemaError};
use crate::signature::quoted;
use crate::types::{MAX_DEPTH, Type};

/// A definition with all those that it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    name: String,
    /// By their names. This one is there, too.
    parts: BTreeMap<String, Part>,
}

impl Definition {
    /// From its text and, behind that, those of what it refers to, as publishers tell it (`message_definition`). Which may be strangers.
    pub fn read(name: &str, text: &str) -> Result<Definition, SchemaError> {
        schema::check_size(name, text)?;
        let mut texts = vec![(name, String::new())];
        let mut is_title = false;
        for line in text.lines() {
            let said = line.trim();
            if said.len() >= 3 && said.bytes().all(|byte| byte == b'=') {
                is_title = true;
            } else if !is_title {
                if let Some((_, text)) = texts.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            } else if !said.is_empty() {
                let title = said.strip_prefix("MSG:").map(str::trim);
                let title = title
                    .ok_or_else(|| SchemaError::new(format!("where a line 'MSG: PACKAGE/NAME' is expected stands {}", quoted(said))))?;
                texts.push((title, String::new()));
                is_title = false;
            }
        }
        let mut parts = BTreeMap::new();
        for (name, text) in texts {
            if !matches!(schema::package_and_name(name), Some((package, base)) if package.len() + 1 + base.len() == name.len()) {
                return Err(SchemaError::new(format!("{} is no name of a type: it is to be like 'sensor_msgs/Image'", quoted(name))));
            }
            if !parts.contains_key(name) {
                parts.insert(name.to_owned(), Part::read(name, text)?);
            }
        }
        Definition::complete(name, parts)
    }

    /// As ROS 1 would have such a type, without constants. None: it can have none like it, as it has variants.
    pub fn of(ty: &Type) -> Option<Definition> {
        let described = schema::ros1(ty)?;
        Definition::read(&described.name, &described.text).ok()
    }

    /// If all that these refer to is among them, and none contains itself.
    pub(super) fn complete(name: &str, parts: BTreeMap<String, Part>) -> Result<Definition, SchemaError> {
        let definition = Definition { name: name.to_owned(), parts };
        definition.height(name, 1, &mut HashMap::new())?;
        Ok(definition)
    }

    /// `sensor_msgs/Image`
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn fields(&self, name: &str) -> &[Field] {
        self.parts.get(name).map(|part| part.fields.as_slice()).unwrap_or_default()
    }

    /// By which ROS 1 tells whether two ends have the same type: 32 digits.
    pub fn md5sum(&self) -> String {
        self.sum(&self.name, &mut HashMap::new())
    }

    fn sum<'a>(&'a self, name: &'a str, known: &mut HashMap<&'a str, String>) -> String {
        if let Some(sum) = known.get(name) {
            return sum.clone();
        }
        let Some(part) = self.parts.get(name) else { return String::new() };
        let mut lines = part.constants.clone();
        for field in &part.fields {
            lines.push(match &field.base {
                // Whatever there is a row of, or not: so it has been from the first version on.
                Base::Nested(nested) => format!("{} {}", self.sum(nested, known), field.name),
                _ => format!("{} {}", field.written, field.name),
            });
        }
        let mut sum = String::new();
        for byte in Md5::digest(lines.join("\n")) {
            let _ = write!(sum, "{byte:02x}"); // to a String it does not fail
        }
        known.insert(name, sum.clone());
        sum
    }

    /// All of it, as publishers tell it.
    pub fn text(&self) -> String {
        let mut text = self.parts.get(&self.name).map(|part| part.text.clone()).unwrap_or_default();
        for (name, part) in self.parts.iter().filter(|(name, _)| **name != self.name) {
            let _ = write!(text, "\n{}\nMSG: {name}\n{}", "=".repeat(80), part.text); // likewise
        }
        text
    }

    /// How many structures are in one another in it.
    fn height(&self, name: &str, depth: usize, known: &mut HashMap<String, usize>) -> Result<usize, SchemaError> {
        if let Some(height) = known.get(name).filter(|height| depth + **height <= MAX_DEPTH + 1) {
            return Ok(*height);
        }
        if depth > MAX_DEPTH {
            return Err(SchemaError::new(format!("{} contains itself, or is nested more than {MAX_DEPTH} deep", quoted(&self.name))));
        }
        let mut highest = 0;
        for field in self.fields(name) {
            let Base::Nested(nested) = &field.base else { continue };
            if !self.parts.contains_key(nested) {
                return Err(SchemaError::new(format!(
                    "{} has the field {} of the type {}, of which there is no definition",
                    quoted(name),
                    quoted(&field.name),
                    quoted(nested)
                )));
            }
            highest = highest.max(self.height(nested, depth + 1, known)?);
        }
        known.insert(name.to_owned(), highest + 1);
        Ok(highest + 1)
    }
}
