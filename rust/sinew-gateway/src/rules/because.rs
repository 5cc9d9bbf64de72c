//! Which rule decides, and where it stands.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::Names;
use crate::protocol::Kind;

/// A place in a configuration. Shown as "FILE:LINE:COLUMN".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As it was named.
    pub file: Arc<Path>,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

/// Why a decision is as it is. Shown as a sentence without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// The rule's; of what is missing, the place where it could be.
    pub at: Place,
    /// The number of the ruleset in its configuration, from 1, and its tag.
    pub ruleset: Option<(usize, Option<String>)>,
    /// Which of its rules.
    pub deciding: Deciding,
}

/// What has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deciding {
    /// The exception of this number, from 1, for these names.
    Exception(usize, Names),
    /// No exception fits the name.
    BaseRule,
    /// The ruleset has no rules for channels of this kind.
    NoRules(Kind),
    /// There is none for the peer's tag, and none for all.
    NoRuleset,
}

impl Default for Place {
    fn default() -> Place {
        Place { file: Path::new("").into(), line: 1, column: 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

impl fmt::Display for Names {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Names::Is(text) => write!(to, "name '{text}'"),
            Names::StartsWith(text) => write!(to, "starts_with '{text}'"),
            Names::Contains(text) => write!(to, "contains '{text}'"),
        }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.deciding {
            Deciding::Exception(number, names) => write!(to, "exception {number} ({names})")?,
            Deciding::BaseRule => write!(to, "the base rule, as no exception fits,")?,
            Deciding::NoRules(Kind::Topic) => write!(to, "no 'topics', so none goes either way,")?,
            Deciding::NoRules(Kind::Service) => write!(to, "no 'services', so none goes either way,")?,
            Deciding::NoRuleset => write!(to, "no ruleset for the peer's tag, and none without a tag, so nothing goes either way")?,
        }
        match &self.ruleset {
            Some((number, Some(tag))) => write!(to, " in ruleset {number}, which is for the tag '{tag}'"),
            Some((number, None)) => write!(to, " in ruleset {number}, which is for peers whose tag has none"),
            None => Ok(()),
        }
    }
}
