//! What is wrong with a launch file: all of it, each with its place.

use std::path::{Path, PathBuf};

use crate::failure::{Done, Failure};

/// Where something stands in the file: its line and its column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its line.
    pub line: usize,
    /// Its column, in letters.
    pub column: usize,
}

/// What was found so far.
pub struct Findings {
    file: PathBuf,
    found: Vec<(Option<Place>, String)>,
}

impl Findings {
    /// Nothing yet, of this file.
    pub fn new(file: &Path) -> Findings {
        Findings { file: file.to_owned(), found: Vec::new() }
    }

    /// Something is wrong there.
    pub fn add(&mut self, at: Place, text: impl Into<String>) {
        self.found.push((Some(at), text.into()));
    }

    /// Something is wrong with the command line, or with the file as a whole.
    pub fn add_anywhere(&mut self, text: impl Into<String>) {
        self.found.push((None, text.into()));
    }

    /// What came of something that is there: if it is wrong, nothing.
    pub fn take<T>(&mut self, at: Place, outcome: Result<T, String>) -> Option<T> {
        outcome.map_err(|text| self.add(at, text)).ok()
    }

    /// All of it as one failure, in the order of the file.
    pub fn refuse(mut self) -> Done {
        self.found.sort_by_key(|(at, _)| *at);
        let file = self.file.display();
        let told: Vec<String> = self
            .found
            .iter()
            .map(|(at, text)| match at {
                Some(Place { line, column }) => format!("{file}:{line}:{column}: {text}"),
                None => format!("{file}: {text}"),
            })
            .collect();
        match told.as_slice() {
            [] => Ok(()),
            [one] => Err(Failure::Refused(one.clone())),
            all => Err(Failure::Refused(format!("nothing is started, {} things are wrong:\n  {}", all.len(), all.join("\n  ")))),
        }
    }
}

/// Behind "there is no such": which name is meant, and which there are.
pub fn meant<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let near = sinew::msg::nearest(name, names.iter().copied()).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    near + &if names.is_empty() { "there is none".to_owned() } else { format!("there is: {}", names.join(", ")) }
}
