//! Which libraries of sinew nodes have loaded.

use std::path::Path;

use crate::doctor::installation::library::loaded;
use crate::doctor::process::Process;
use crate::doctor::program::version_in;
use crate::doctor::{Finding, Patient};

/// Compares each with that of this command.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    let own = loaded(patient)?;
    let with_library =
        domain.processes().into_iter().filter_map(|(pid, names)| Some((pid, names, Process::of(&patient.host, pid).library()?)));
    let (mut same, mut others) = (0, Vec::new());
    for (pid, names, library) in with_library {
        match difference(&own, &library) {
            None => same += 1,
            Some(difference) => others.push(format!("{}, process {pid}: {difference}", &names)),
        }
    }
    Some(if others.is_empty() {
        Finding::ok(format!("processes that can be looked at have this command's version: {same}"))
    } else {
        Finding::warning(
            format!("processes with another library than this command: {} of {}", others.len(), others.len() + same),
            "restart them, with the library that is installed now; programs of different versions before 1.0 do not speak with each other",
        )
        .with(others)
    })
}

/// In what the other is not as it should be. Two of one version may lie in different places, as in a container.
fn difference(own: &Path, other: &Path) -> Option<String> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let other_name = name(other);
    if let Some(replaced) = other_name.strip_suffix(" (deleted)") {
        return Some(format!("{}, which has been replaced since it was loaded", replaced));
    }
    match (version_in(&name(own)), version_in(&other_name)) {
        (Some(one), Some(two)) if one != two => Some(format!("{}, not {one}", &other.to_string_lossy())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_another_version_or_that_were_replaced_are_told_of() {
        let own = Path::new("/usr/lib/libsinew.so.0.1.0");
        assert_eq!(difference(own, own), None);
        assert_eq!(difference(own, Path::new("/opt/lib/libsinew.so.0.1.0")), None);
        assert!(difference(own, Path::new("/opt/lib/libsinew.so.0.2.0")).is_some_and(|told| told.contains("0.2.0, not 0.1.0")));
        assert!(difference(own, Path::new("/usr/lib/libsinew.so.0.1.0 (deleted)")).is_some_and(|told| told.contains("replaced")));
    }
}
