//! Definitions in folders.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::interface::{Base, Field, Interface, fields_of};
use crate::schema::{SchemaError, is_word, read, ros2_definitions};
use crate::signature::quoted;

/// What a file of a service or an action has parts for, in their order.
const PARTS: [(&str, &[&str]); 3] = [("msg", &[""]), ("srv", &["_Request", "_Response"]), ("action", &["_Goal", "_Result", "_Feedback"])];
/// Definitions that one type may refer to.
const MOST: usize = 1000;

/// Definitions of ROS 2 as installations of it have them: `FOLDER/PACKAGE/msg/Name.msg`, and so for `srv` and `action`.
#[derive(Clone, Debug, Default)]
pub struct Library {
    folders: Vec<PathBuf>,
}

impl Library {
    /// Where the first that has a definition has the word.
    pub fn new(folders: Vec<PathBuf>) -> Library {
        Library { folders }
    }

    /// The type of this name, `sensor_msgs/msg/Image` or `std_srvs/srv/SetBool_Request`, as its files say it. None: no folder has it. Fails where something is wrong with a file, or something that it refers to is missing.
    pub fn find(&self, name: &str) -> Result<Option<Interface>, SchemaError> {
        let Some(fields) = self.fields(name)? else { return Ok(None) };
        let mut structures = BTreeMap::from([(name.to_owned(), fields)]);
        let mut missing = vec![name.to_owned()];
        while let Some(next) = missing.pop() {
            let nested = structures[&next].iter().filter_map(|field| match &field.base {
                Base::Nested(nested) if !structures.contains_key(nested) => Some(nested.clone()),
                _ => None,
            });
            for nested in nested.collect::<Vec<_>>() {
                if structures.len() >= MOST {
                    return Err(SchemaError::new(format!("{} refers to more than {MOST} others", quoted(name))));
                }
                // What is nowhere is told of with the field that wants it.
                if let Some(fields) = self.fields(&nested)? {
                    structures.insert(nested.clone(), fields);
                    missing.push(nested);
                }
            }
        }
        Interface::complete(name, structures).map(Some)
    }

    /// The names of all types that `find` looks for, in order; what cannot be read is left out.
    pub fn names(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for package in self.folders.iter().flat_map(|folder| entries(folder)) {
            for (kind, ends) in PARTS {
                for file in entries(&package.join(kind)).filter(|file| file.extension().is_some_and(|extension| extension == kind)) {
                    let (Some(package), Some(base)) = (word(package.file_name()), word(file.file_stem())) else { continue };
                    names.extend(ends.iter().map(|end| format!("{package}/{kind}/{base}{end}")));
                }
            }
        }
        names.into_iter().collect()
    }

    /// Those of one structure. None: no folder has it, or it is no name of a type.
    fn fields(&self, name: &str) -> Result<Option<Vec<Field>>, SchemaError> {
        let Some((package, kind, base)) = parts_of(name) else { return Ok(None) };
        let Some((_, ends)) = PARTS.iter().find(|(each, _)| *each == kind) else { return Ok(None) };
        let Some((part, base)) = ends.iter().enumerate().find_map(|(part, end)| Some((part, base.strip_suffix(end)?))) else {
            return Ok(None);
        };
        for folder in &self.folders {
            let path = folder.join(package).join(kind).join(format!("{base}.{kind}"));
            let Some(text) = read(&path).map_err(|why| SchemaError::new(format!("{} cannot be read: {why}", path.display())))? else {
                continue;
            };
            let parts = parts_in(&text);
            if parts.len() != ends.len() {
                let (is, expected) = (parts.len(), ends.len());
                return Err(SchemaError::new(format!(
                    "{} has {is} parts between lines of '---', and {expected} are expected",
                    path.display()
                )));
            }
            let definitions = ros2_definitions(name, &parts[part]).map_err(|why| SchemaError::new(format!("{}: {why}", path.display())))?;
            return definitions.iter().find(|definition| definition.name == name).map(fields_of).transpose();
        }
        Ok(None)
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn word(name: Option<&OsStr>) -> Option<&str> {
    name.and_then(OsStr::to_str).filter(|name| is_word(name))
}

/// Words alone, so that no name leads out of a folder.
fn parts_of(name: &str) -> Option<(&str, &str, &str)> {
    let mut words = name.split('/');
    let parts = (words.next()?, words.next()?, words.next()?);
    (words.next().is_none() && is_word(parts.0) && is_word(parts.1) && is_word(parts.2)).then_some(parts)
}

/// What stands between lines of three dashes or more.
fn parts_in(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        let said = line.split('#').next().unwrap_or_default().trim();
        if said.len() >= 3 && said.bytes().all(|byte| byte == b'-') {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    parts
}
