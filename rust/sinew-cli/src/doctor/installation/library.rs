//! Which library this command has loaded.

use std::path::{Path, PathBuf};

use crate::doctor::process::library_in;
use crate::doctor::program::version_in;
use crate::doctor::{Finding, Patient};

/// The version of this command.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Looks where it is from.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(loaded(patient)))
}

/// By its whole name, without links.
pub fn loaded(patient: &Patient) -> Option<PathBuf> {
    library_in(patient.host.lines("/proc/self/maps")).map(|path| path.canonicalize().unwrap_or(path))
}

fn judge(library: Option<PathBuf>) -> Finding {
    let Some(library) = library else { return Finding::ok(format!("this command is version {VERSION}, and the library is part of it")) };
    let folder = &library.parent().unwrap_or(Path::new("/")).to_string_lossy();
    let version = library.file_name().and_then(|name| name.to_str()).and_then(version_in);
    match version {
        Some(version) if version == VERSION => Finding::ok(format!("libsinew {version} in {folder}, and this command of the same version")),
        Some(version) => Finding::problem(
            format!("libsinew is version {version}, in {folder}, and this command {VERSION}"),
            "install both from one version (make install PREFIX=...), and look for another libsinew in LD_LIBRARY_PATH",
        ),
        None => Finding::ok(format!("libsinew in {folder}, whose name does not say its version, and this command of version {VERSION}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn another_version_than_the_commands_is_told_of() {
        assert_eq!(judge(Some(PathBuf::from(format!("/usr/lib/libsinew.so.{VERSION}")))).level(), Level::Ok);
        assert_eq!(judge(Some(PathBuf::from("/usr/lib/libsinew.so.0.0.7"))).level(), Level::Problem);
        assert_eq!(judge(None).level(), Level::Ok);
    }
}
