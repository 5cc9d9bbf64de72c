//! What can go wrong.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a recording cannot be written or read, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BagError(String);

/// What this crate returns.
pub type Result<T> = std::result::Result<T, BagError>;

impl BagError {
    pub(crate) fn new(text: impl Into<String>) -> BagError {
        BagError(text.into())
    }

    pub(crate) fn cannot(what: &str, path: &Path, why: &io::Error) -> BagError {
        BagError(format!("{} cannot be {what}: {why}", path.display()))
    }
}

impl fmt::Display for BagError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for BagError {}
