//! The machine as a process sees it: files of the kernel, limits and variables. Tests give it others.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit};

use crate::quiet::is_of_user;
use crate::renamed;

/// What checks look at.
#[derive(Default)]
pub struct Host {
    /// "/", below which everything is.
    root: PathBuf,
    /// Of the environment.
    variables: BTreeMap<String, String>,
    limits: BTreeMap<&'static str, Limit>,
}

/// How much may be taken; none: as much as there is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// In force; may be raised to the other.
    pub soft: Option<u64>,
    /// Only root raises it.
    pub hard: Option<u64>,
}

/// No file of the kernel that is read here is longer, but those of strangers may be.
const LONGEST: u64 = 1 << 20;

const LIMITS: [(&str, Resource); 5] = [
    ("nofile", Resource::Nofile),
    ("as", Resource::As),
    ("memlock", Resource::Memlock),
    ("rtprio", Resource::Rtprio),
    ("fsize", Resource::Fsize),
];

impl Host {
    /// This one.
    pub fn this() -> Host {
        let of = |Rlimit { current, maximum }| Limit { soft: current, hard: maximum };
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let renamed = renamed::taken().map(|name| (renamed::VARIABLE.into(), name.clone()));
        Host {
            root: PathBuf::from("/"),
            variables: std::env::vars_os()
                .chain(renamed)
                .map(|(name, value)| (text(name), text(value)))
                .filter(|(name, _)| is_of_user(name))
                .collect(),
            limits: LIMITS.into_iter().map(|(name, resource)| (name, of(getrlimit(resource)))).collect(),
        }
    }

    /// Where a file is, by its path from the root.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path.as_ref().strip_prefix("/").unwrap_or(path.as_ref()))
    }

    /// The text of a file, as far as it can be read and is not too long.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path)).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The number that a file consists of.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<i64> {
        self.read(path)?.trim().parse().ok()
    }

    /// The lines of a file, as far as they can be read, and not more than some.
    pub fn lines(&self, path: impl AsRef<Path>) -> impl Iterator<Item = String> {
        let file = File::open(self.path(path)).ok().map(|file| BufReader::new(file.take(64 * LONGEST)));
        file.into_iter().flat_map(|file| file.split(b'\n').map_while(Result::ok)).map(|line| String::from_utf8_lossy(&line).into_owned())
    }

    /// Of the environment; none where it is empty, too.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Names of those that begin so.
    pub fn variables(&self, beginning: &str) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str).filter(move |name| name.starts_with(beginning))
    }

    /// Of this process.
    pub fn limit(&self, name: &str) -> Limit {
        self.limits.get(name).copied().unwrap_or_default()
    }
}

/// The number behind a word in lines such as "MemAvailable:   123 kB".
pub fn number_behind(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// One of which only this is known. Files are found as long as the folder is there.
    pub fn host(files: &[(&str, &str)], variables: &[(&str, &str)], limits: &[(&'static str, u64)]) -> (tempfile::TempDir, Host) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let limit = |limit| Limit { soft: Some(limit), hard: Some(limit) };
        let host = Host {
            root,
            variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            limits: limits.iter().map(|(name, most)| (*name, limit(*most))).collect(),
        };
        for (path, text) in files {
            let path = host.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (folder, host)
    }

    #[test]
    fn numbers_are_found_behind_their_names() {
        assert_eq!(number_behind("MemTotal: 5 kB\nMemAvailable:   123 kB\n", "MemAvailable:"), Some(123));
        assert_eq!(number_behind("MemTotal: 5 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn a_file_that_never_ends_is_read_no_further() {
        assert_eq!(Host::this().read("/dev/zero").map(|text| text.len() as u64), Some(LONGEST));
    }
}
