//! The rules that a manager has which a node starts here.

use std::path::PathBuf;

use super::trial::Trial;
use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

const OF_THE_MACHINE: &str = "/etc/sinew/sinewd.json";

/// Looks which file they are in, and whether the manager of the trial took them.
pub fn look(patient: &Patient) -> Option<Finding> {
    let refused = if let Trial::Failed(why) = &patient.trial { Some(why.as_str()) } else { None };
    Some(judge(&patient.host, refused))
}

/// As the manager seeks it, and what has named it.
pub fn find(host: &Host) -> Option<(PathBuf, &'static str)> {
    if let Some(named) = host.variable("SINEW_CONFIG") {
        return Some((std::path::absolute(named).unwrap_or_else(|_| named.into()), "SINEW_CONFIG"));
    }
    let folder =
        host.variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(host.variable("HOME")?).join(".config")));
    let own = folder.filter(|folder| folder.is_absolute()).map(|folder| folder.join("sinew/sinewd.json"));
    let is_there = |path: &PathBuf| host.path(path).symlink_metadata().is_ok();
    own.filter(is_there)
        .map(|path| (path, "its place"))
        .or_else(|| Some((OF_THE_MACHINE.into(), "its place")).filter(|(path, _)| is_there(path)))
}

/// `refused`: what was said when a manager could not be started.
fn judge(host: &Host, refused: Option<&str>) -> Finding {
    let Some((path, by)) = find(host) else { return Finding::ok("none: every node of the user may publish and subscribe to everything") };
    let name = &path.to_string_lossy();
    if host.path(&path).is_dir() || std::fs::File::open(host.path(&path)).is_err() {
        let remedy = if by == "SINEW_CONFIG" {
            format!("ls -l '{name}'; correct its path, or unset SINEW_CONFIG")
        } else {
            format!("chmod u+r '{name}'")
        };
        return Finding::problem(format!("{name}, named by {by}, cannot be read: no node can start a manager"), remedy);
    }
    match refused.filter(|text| text.contains(&*path.to_string_lossy())) {
        // Before that it is told that no manager could be started.
        Some(text) => Finding::problem(
            format!("{name}, named by {by}, is refused: {}", text.rsplit("It says: ").next().unwrap_or(text)),
            "correct what it says; manager/README.md tells what a configuration consists of",
        ),
        None => Finding::ok(format!("{name}, named by {by}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    #[test]
    fn the_file_is_sought_where_the_manager_seeks_it() {
        let files = [("/home/me/.config/sinew/sinewd.json", "{}"), ("/etc/sinew/sinewd.json", "{}")];
        let found = |variables: &[(&str, &str)]| find(&host(&files, variables, &[]).1).map(|(path, _)| path.to_string_lossy().into_owned());
        assert_eq!(found(&[("SINEW_CONFIG", "/a/b"), ("HOME", "/home/me")]).as_deref(), Some("/a/b"));
        assert_eq!(found(&[("HOME", "/home/me")]).as_deref(), Some("/home/me/.config/sinew/sinewd.json"));
        assert_eq!(found(&[("HOME", "/home/me"), ("XDG_CONFIG_HOME", "/elsewhere")]).as_deref(), Some("/etc/sinew/sinewd.json"));
        assert_eq!(find(&host(&[], &[("HOME", "/home/me")], &[]).1), None);
    }

    #[test]
    fn what_cannot_be_read_or_is_refused_is_told_of() {
        let named = [("SINEW_CONFIG", "/robot.json")];
        let missing = judge(&host(&[], &named, &[]).1, None);
        assert!(missing.level() == Level::Problem && missing.found().contains("/robot.json"), "{missing:?}");
        let files = [("/robot.json", "{")];
        assert_eq!(judge(&host(&files, &named, &[]).1, None).level(), Level::Ok);
        assert_eq!(judge(&host(&files, &named, &[]).1, Some("no memory")).level(), Level::Ok);
        let refused = judge(&host(&files, &named, &[]).1, Some("/robot.json:1: no value"));
        assert!(refused.level() == Level::Problem && refused.found().contains("no value"), "{refused:?}");
    }
}
