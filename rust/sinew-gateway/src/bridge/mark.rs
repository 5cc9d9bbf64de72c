//! By what bridges of one domain know each other.
//!
//! Two bridges are to have one mark where their nodes reach one manager, and nowhere else: two domains that counted as one would ignore each other, and in one domain that counted as two messages would go round. Who reaches the same
//! manager has found the same socket. So the mark is where that is, as the kernel knows it: the folder, by device and inode, and the name in it, on this machine since it was started.
//!
//! - The path does not tell: links and mounts give a folder several, and in another container, or with another `XDG_RUNTIME_DIR`, the same one is another folder. Numbers of devices are of the kernel, not of a container, so that
//!   of two folders that are there at the same time one number differs, and where containers share one, none does.
//! - The socket's own inode does not, either: when a manager goes, and the next one listens in its place, bridges stay, and are to know those that come later.
//! - Nor does the user: root may be in the domain of somebody else.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::Settings;

/// Of the domain, which somebody has joined. It has neither ';' nor '='. Fails with half a sentence.
pub(crate) fn mark(settings: &Settings) -> Result<String, String> {
    let said = |name: &str| std::env::var_os(name).filter(|said| !said.is_empty());
    let asked = settings.domain.clone().map(PathBuf::into_os_string).filter(|asked| !asked.is_empty());
    let socket = socket(asked.or_else(|| said("SINEW_DOMAIN")), said("XDG_RUNTIME_DIR"));
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let place =
        place(&socket).map_err(|why| format!("it cannot be seen where the domain is, whose socket is {}: {why}", socket.display()))?;
    Ok(format!("{}/{place}", boot.trim()).replace([';', '='], "_"))
}

/// Where the library finds it (src/os/domain.hpp).
fn socket(domain: Option<OsString>, runtime: Option<OsString>) -> PathBuf {
    let domain = domain.unwrap_or_else(|| "default".into());
    if domain.as_encoded_bytes().contains(&b'/') {
        return domain.into();
    }
    let folder = match (runtime, rustix::process::geteuid()) {
        (Some(runtime), _) => Path::new(&runtime).join("sinew"),
        (None, user) if user.is_root() => "/run/sinew".into(),
        (None, user) => format!("/tmp/sinew-{}", user.as_raw()).into(),
    };
    let mut file = domain;
    file.push(".sock");
    folder.join(file)
}

/// Whatever leads there.
fn place(socket: &Path) -> std::io::Result<String> {
    // A link leads to one. Where there is none, no manager listens at the moment.
    let socket = std::fs::canonicalize(socket).or_else(|_| std::path::absolute(socket))?;
    let folder = std::fs::metadata(socket.parent().unwrap_or(Path::new("/")))?;
    let name = socket.file_name().unwrap_or_default();
    Ok(format!("{:x}/{:x}/{}", folder.dev(), folder.ino(), name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(domain: Option<&str>, runtime: Option<&str>) -> PathBuf {
        socket(domain.map(Into::into), runtime.map(Into::into))
    }

    #[test]
    fn a_domain_is_where_the_library_finds_it() {
        assert_eq!(found(None, Some("/run/user/5")), Path::new("/run/user/5/sinew/default.sock"));
        assert_eq!(found(Some("robot"), Some("/run/user/5")), Path::new("/run/user/5/sinew/robot.sock"));
        assert_eq!(found(Some("/run/robot"), Some("/run/user/5")), Path::new("/run/robot"));
        let own = found(None, None);
        assert!(own.starts_with("/run/sinew") || own.starts_with(format!("/tmp/sinew-{}", rustix::process::geteuid().as_raw())));
    }

    #[test]
    fn a_place_is_the_same_whatever_leads_there_and_whichever_manager_listens() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        std::fs::create_dir(&one).and_then(|()| std::fs::create_dir(&other)).expect("there is room");
        let place_of = |path: PathBuf| place(&path).expect("its folder is there");
        let before = place_of(one.join("default.sock"));
        let listens = std::os::unix::net::UnixListener::bind(one.join("default.sock")).expect("nobody is there");
        std::os::unix::fs::symlink(&one, &link).expect("there is room");
        assert_eq!([place_of(one.join("default.sock")), place_of(link.join("default.sock"))], [before.clone(), before.clone()]);
        std::os::unix::fs::symlink(one.join("default.sock"), other.join("robot.sock")).expect("there is room");
        assert_eq!(place_of(other.join("robot.sock")), before);
        drop(listens);
        assert_ne!(place_of(other.join("default.sock")), before, "it has the same name alone");
        assert_ne!(place_of(one.join("other.sock")), before);
        assert!(place(&folder.path().join("missing/default.sock")).is_err());
    }
}
