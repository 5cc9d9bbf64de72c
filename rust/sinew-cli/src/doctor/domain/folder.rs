//! The folder of the domain's socket: who may do what in it.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, access};

use super::answer::Answer;
use super::place::Place;
use crate::doctor::{Finding, Patient};

const STICKY: u32 = 0o1000;

/// Looks at it.
pub fn look(patient: &Patient) -> Option<Finding> {
    let (place, answer) = match &patient.domain {
        Ok((place, answer)) => (place, answer),
        Err(wrong) => return Some(wrong.clone()),
    };
    let folder = place.socket.parent()?;
    Some(match folder.metadata() {
        Ok(found) => judge(place, folder, &found, patient.user, matches!(answer, Answer::Joined(_))),
        Err(why) => missing(place, folder, &why),
    })
}

fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn missing(place: &Place, folder: &Path, why: &std::io::Error) -> Finding {
    let name = &folder.to_string_lossy();
    if why.kind() != std::io::ErrorKind::NotFound {
        return Finding::problem(
            format!("{name} cannot be looked at: {why}"),
            format!("ls -ld '{name}'; it must be of this user, or open to it"),
        );
    }
    if !place.makes_folder {
        return Finding::problem(
            format!("{name} is not there: no node can start a manager"),
            format!("mkdir -m 700 -p '{name}', or set SINEW_DOMAIN to another path"),
        );
    }
    let above = folder.parent().unwrap_or(Path::new("/"));
    if is_writable(above) {
        return Finding::ok(format!("{name}, which the first node will make"));
    }
    let above = &above.to_string_lossy();
    Finding::problem(
        format!("{name} is not there, and cannot be made: {above} is missing, or is not this user's"),
        "export XDG_RUNTIME_DIR=FOLDER, one of this user's, or set SINEW_DOMAIN to the path of a socket in one",
    )
}

fn judge(place: &Place, folder: &Path, found: &Metadata, user: u32, is_joined: bool) -> Finding {
    let (name, mode, owner) = (&folder.to_string_lossy(), found.permissions().mode() & 0o7777, found.uid());
    let is_own = owner == user;
    if !found.is_dir() {
        return Finding::problem(format!("{name} is no folder"), format!("rm '{name}', or set SINEW_DOMAIN to another path"));
    }
    if place.is_among_others && (!is_own || mode & 0o077 != 0) {
        let remedy = if is_own { format!("chmod 700 '{name}'") } else { "export XDG_RUNTIME_DIR=FOLDER, one of this user's".to_owned() };
        return Finding::problem(format!("{name} is not this user's alone (user {owner}, mode {mode:04o}): sinew does not use it"), remedy);
    }
    if !is_joined && !is_writable(folder) {
        return Finding::problem(
            format!("{name} is of user {owner} with mode {mode:04o}: no node of this user can start a manager there"),
            "have its owner start one (sinewd --socket PATH), or use a domain of this user's (SINEW_DOMAIN)",
        );
    }
    if mode & 0o044 != 0 {
        let remedy = if mode & STICKY != 0 {
            "set SINEW_DOMAIN to a path in a folder of its own: mkdir -m 700 FOLDER".to_owned()
        } else {
            format!("chmod go-r '{name}'")
        };
        return Finding::warning(
            format!("others may open {name} (mode {mode:04o}), and hold its lock: meanwhile no manager can be started there"),
            remedy,
        );
    }
    Finding::ok(format!("{name}, of user {owner}, mode {mode:04o}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_folder_that_is_open_to_others_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().metadata().unwrap().uid();
        let level = |mode, is_among_others, user| {
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            let place = Place { socket: folder.path().join("x"), makes_folder: true, is_among_others };
            judge(&place, folder.path(), &folder.path().metadata().unwrap(), user, true).level()
        };
        assert_eq!(level(0o700, true, user), Level::Ok);
        assert_eq!(level(0o711, true, user), Level::Problem);
        assert_eq!(level(0o700, true, user + 1), Level::Problem);
        assert_eq!(level(0o711, false, user), Level::Ok);
        assert_eq!(level(0o755, false, user), Level::Warning);
    }

    #[test]
    fn a_folder_that_is_not_there_and_that_nobody_makes_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let level = |makes_folder, below: &str| {
            let path = folder.path().join(below);
            let place = Place { socket: path.join("x"), makes_folder, is_among_others: false };
            missing(&place, &path, &path.metadata().unwrap_err()).level()
        };
        assert_eq!((level(true, "a"), level(false, "a"), level(true, "a/b")), (Level::Ok, Level::Problem, Level::Problem));
    }
}
