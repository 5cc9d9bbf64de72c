//! Where the domain's manager listens, or would: as the library finds it (src/os/domain.hpp), but making no folder.

use std::path::{Path, PathBuf};

use crate::doctor::Finding;
use crate::doctor::host::Host;

/// Of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path of its socket.
    pub socket: PathBuf,
    /// Its folder is made by the first node: the domain has a name, not a path.
    pub makes_folder: bool,
    /// Its folder is in one where everybody may make some.
    pub is_among_others: bool,
}

/// What the address of a socket has room for.
pub const LONGEST: usize = 107;

/// Of the domain that was asked for, or else of what SINEW_DOMAIN says.
pub fn place(host: &Host, asked: Option<&str>, user: u32) -> Result<Place, Finding> {
    let wanted = asked.filter(|domain| !domain.is_empty()).or(host.variable("SINEW_DOMAIN")).unwrap_or("default");
    let place = if wanted.contains('/') {
        Place { socket: std::path::absolute(wanted).unwrap_or_else(|_| wanted.into()), makes_folder: false, is_among_others: false }
    } else {
        named(host, wanted, user)?
    };
    let length = place.socket.as_os_str().len();
    if length > LONGEST {
        let found = format!("{} has {length} bytes, and the path of a socket {LONGEST} at most", &place.socket.to_string_lossy());
        return Err(Finding::problem(found, "set SINEW_DOMAIN to a shorter name, or to a path with a '/' in it"));
    }
    Ok(place)
}

fn named(host: &Host, name: &str, user: u32) -> Result<Place, Finding> {
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
        let found = format!("'{}' is no name of a domain", name);
        return Err(Finding::problem(found, "use letters, digits and _ - . alone, or the path of a socket, which has a '/'"));
    }
    let (folder, is_among_others) = match host.variable("XDG_RUNTIME_DIR") {
        Some(folder) if !folder.starts_with('/') => {
            let found = format!("XDG_RUNTIME_DIR is '{}', which is no absolute path: no node can join", folder);
            return Err(Finding::problem(found, "unset XDG_RUNTIME_DIR, or export XDG_RUNTIME_DIR=/run/user/$(id -u)"));
        }
        Some(folder) => (Path::new(folder).join("sinew"), false),
        None if user == 0 => (PathBuf::from("/run/sinew"), false),
        None => (PathBuf::from(format!("/tmp/sinew-{user}")), true),
    };
    Ok(Place { socket: folder.join(format!("{name}.sock")), makes_folder: true, is_among_others })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    fn of(variables: &[(&str, &str)], asked: Option<&str>, user: u32) -> Result<String, Level> {
        let found = place(&host(&[], variables, &[]).1, asked, user);
        found.map(|place| place.socket.to_string_lossy().into_owned()).map_err(|finding| finding.level())
    }

    #[test]
    fn it_is_where_the_library_finds_it() {
        let runtime = [("XDG_RUNTIME_DIR", "/run/user/5"), ("SINEW_DOMAIN", "left")];
        assert_eq!(of(&runtime, None, 5).as_deref(), Ok("/run/user/5/sinew/left.sock"));
        assert_eq!(of(&runtime, Some("right"), 5).as_deref(), Ok("/run/user/5/sinew/right.sock"));
        assert_eq!(of(&[], None, 0).as_deref(), Ok("/run/sinew/default.sock"));
        assert_eq!(of(&[], None, 5).as_deref(), Ok("/tmp/sinew-5/default.sock"));
        assert_eq!(of(&[], Some("/run/robot.sock"), 5).as_deref(), Ok("/run/robot.sock"));
    }

    #[test]
    fn what_the_library_refuses_is_a_problem() {
        assert_eq!(of(&[("XDG_RUNTIME_DIR", "run")], None, 5), Err(Level::Problem));
        assert_eq!(of(&[], Some("my domain"), 5), Err(Level::Problem));
        assert_eq!(of(&[], Some(&format!("/{}", "x".repeat(107))), 5), Err(Level::Problem));
    }
}
