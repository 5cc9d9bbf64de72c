//! Files with definitions.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{MAX_TEXT, MAX_WORD};

/// What a path may consist of that a name leads to.
pub(crate) fn is_word(word: &str) -> bool {
    (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// None: there is no such file.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(why),
    };
    let mut text = String::new();
    // What is longer is refused where it is read as a definition.
    file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text)?;
    Ok(Some(text))
}
