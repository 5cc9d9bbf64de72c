//! What can go wrong.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a recording cannot be written or read, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BagError {
    text: String,
    errno: Option<i32>,
}

/// What this crate returns.
pub type Result<T> = std::result::Result<T, BagError>;

impl BagError {
    pub(crate) fn new(text: impl Into<String>) -> BagError {
        BagError { text: text.into(), errno: None }
    }

    pub(crate) fn cannot(what: &str, path: &Path, why: &io::Error) -> BagError {
        BagError { text: format!("{} cannot be {what}: {why}", path.display()), errno: why.raw_os_error() }
    }

    /// What the system has said, where it is that: else something is wrong with what is in the file.
    pub fn errno(&self) -> Option<i32> {
        self.errno
    }
}

impl fmt::Display for BagError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

impl std::error::Error for BagError {}
