//! Definitions in folders.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::definition::Definition;
use super::part::{Base, Part};
use crate::schema::{SchemaError, check_size, is_word, read};
use crate::signature::quoted;

/// Definitions that one may refer to.
const MOST: usize = 1000;

/// Definitions of ROS 1 as installations of it have them: `FOLDER/PACKAGE/msg/Name.msg`.
#[derive(Clone, Debug, Default)]
pub struct Library {
    folders: Vec<PathBuf>,
}

impl Library {
    /// Where the first that has a definition has the word.
    pub fn new(folders: Vec<PathBuf>) -> Library {
        Library { folders }
    }

    /// That of this name, `sensor_msgs/Image`, with what it refers to. None: no folder has it. Fails where something is wrong with a file, or something that it refers to is missing.
    pub fn find(&self, name: &str) -> Result<Option<Definition>, SchemaError> {
        let Some(part) = self.part(name)? else { return Ok(None) };
        let mut parts = BTreeMap::from([(name.to_owned(), part)]);
        let mut missing = vec![name.to_owned()];
        while let Some(next) = missing.pop() {
            let nested = parts[&next].fields.iter().filter_map(|field| match &field.base {
                Base::Nested(nested) if !parts.contains_key(nested) => Some(nested.clone()),
                _ => None,
            });
            for nested in nested.collect::<Vec<_>>() {
                if parts.len() >= MOST {
                    return Err(SchemaError::new(format!("{} refers to more than {MOST} others", quoted(name))));
                }
                // What is nowhere is told of with the field that wants it.
                if let Some(part) = self.part(&nested)? {
                    parts.insert(nested.clone(), part);
                    missing.push(nested);
                }
            }
        }
        Definition::complete(name, parts).map(Some)
    }

    /// None: no folder has it, or it is no name of a type.
    fn part(&self, name: &str) -> Result<Option<Part>, SchemaError> {
        // Words alone, so that no name leads out of a folder.
        let words = name.split_once('/').filter(|(package, base)| is_word(package) && is_word(base));
        let Some((package, base)) = words else { return Ok(None) };
        for folder in &self.folders {
            let path = folder.join(package).join("msg").join(format!("{base}.msg"));
            let wrong = |why: &dyn std::fmt::Display| SchemaError::new(format!("{}: {why}", path.display()));
            if let Some(text) = read(&path).map_err(|why| wrong(&why))? {
                check_size(name, &text).map_err(|why| wrong(&why))?;
                return Part::read(name, text).map(Some).map_err(|why| wrong(&why));
            }
        }
        Ok(None)
    }
}
