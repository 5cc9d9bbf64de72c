//! Which program a node starts as the manager.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::library::{VERSION, loaded};
use crate::doctor::program::version_of;
use crate::doctor::{Finding, Patient};

/// Seeks it, as the library does, and asks it for its version.
pub fn look(patient: &Patient) -> Option<Finding> {
    let found = find(patient);
    let version = found.as_deref().and_then(version_of);
    Some(judge(found.as_deref(), version.as_deref()))
}

/// Beside the library, or else by PATH.
pub fn find(patient: &Patient) -> Option<PathBuf> {
    let beside = loaded(patient).and_then(|library| library.parent().map(Path::to_owned));
    let places = beside.iter().flat_map(|folder| ["../bin", "", "../../bin"].map(|place| folder.join(place)));
    let path = patient.host.variable("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect::<Vec<_>>();
    let programs = places.chain(in_path).map(|folder| folder.join("sinewd"));
    programs.filter(|program| program.is_file() && access(program, Access::EXEC_OK).is_ok()).find_map(|program| program.canonicalize().ok())
}

fn judge(program: Option<&Path>, version: Option<&str>) -> Finding {
    let remedy = "install library, manager and command from one version: make install PREFIX=...";
    let Some(program) = program else {
        return Finding::problem(
            "sinewd is neither beside the library nor in PATH: no node can start a manager",
            format!("{remedy}; or add its folder to PATH"),
        );
    };
    let program = &program.to_string_lossy();
    match version {
        Some(version) if version == VERSION => Finding::ok(format!("{program}, version {VERSION}")),
        Some(version) => Finding::problem(format!("{program} is version {}, and this command {VERSION}", version), remedy),
        None => Finding::problem(format!("{program} does not say its version: it does not run here, or is no sinewd"), remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_program_that_is_not_there_or_another_version_is_told_of() {
        let program = Path::new("/usr/bin/sinewd");
        assert_eq!(judge(Some(program), Some(VERSION)).level(), Level::Ok);
        assert_eq!(judge(Some(program), Some("9.9.9")).level(), Level::Problem);
        assert_eq!(judge(Some(program), None).level(), Level::Problem);
        assert_eq!(judge(None, None).level(), Level::Problem);
    }
}
