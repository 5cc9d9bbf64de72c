//! The manager: whether one runs, which, and whether it answers.

use std::path::Path;
use std::time::Duration;

use sinew::ErrorKind;

use super::answer::Answer;
use crate::doctor::installation::library::VERSION;
use crate::doctor::process::{Stopped, listener, listeners};
use crate::doctor::program::version_of;
use crate::doctor::{Finding, Patient, neighbours};

/// Looks at what answers at the socket.
pub fn look(patient: &Patient) -> Option<Finding> {
    let (place, answer) = patient.domain.as_ref().ok()?;
    let socket = place.socket.to_string_lossy();
    let again = "use another domain (SINEW_DOMAIN), or have rules that let this user join: manager/README.md, \"Who may join\"";
    // Who sees nobody may have meant another domain.
    let beside =
        || neighbours::beside(&patient.host, Some(&place.socket), patient.user).map(|text| format!("; {text}")).unwrap_or_default();
    Some(match answer {
        Answer::Nobody => {
            Finding::ok(format!("none runs, so nothing is in the domain; the first node starts one, at {socket}{}", beside()))
        }
        Answer::Abandoned => Finding::warning(
            format!("none runs; one that was killed has left its socket, {socket}"),
            format!("none is needed: the next node removes it; or rm '{socket}'"),
        ),
        Answer::NoSocket => Finding::problem(
            format!("{socket} is no socket: no manager can listen there"),
            format!("rm '{socket}', or set SINEW_DOMAIN to another path"),
        ),
        Answer::Closed(why) => Finding::problem(format!("{socket} cannot be connected to: {why}"), again),
        Answer::Foreign(user) => Finding::problem(
            format!("the manager at {socket} is of user {user}: nodes trust one of their own user or of root alone"),
            "use a domain of this user's (SINEW_DOMAIN), or have root start the manager",
        ),
        Answer::Silent(Some((pid, Stopped::BySignal))) => Finding::problem(
            format!("the manager, process {pid}, is stopped: who is connected goes on, but nobody finds anybody"),
            format!("kill -CONT {pid}; or kill -KILL {pid}: the nodes start the next one"),
        ),
        Answer::Silent(Some((pid, Stopped::ByDebugger))) => Finding::problem(
            format!("a debugger has stopped the manager, process {pid}: nobody finds anybody"),
            "let it go on in the debugger",
        ),
        Answer::Silent(None) => Finding::problem(
            format!("what listens at {socket} does not answer"),
            "see which process it is (ss -xlp | grep sinew), and end it: the nodes start the next manager",
        ),
        Answer::Refused(ErrorKind::Incompatible, why) => Finding::problem(
            format!("the manager is another version of sinew: {why}"),
            "end all nodes of the older version, and install one version for all; the manager ends with the last node",
        ),
        Answer::Refused(ErrorKind::Denied, why) => Finding::problem(why, again),
        Answer::Refused(ErrorKind::NameTaken, _) => Finding::warning(
            "what is there was not looked at: this command is called by the number of its process, and so is a node there, as of another container",
            "run it again, so that its number is another; by a shell, where it would be the first process of a container",
        ),
        Answer::Refused(_, why) => Finding::problem(
            format!("it cannot be joined: {why}"),
            "mend what else is found here; else end the manager: the nodes start the next one",
        ),
        Answer::Joined(_) if listeners(&patient.host, &place.socket) > 1 => Finding::problem(
            format!(
                "{} sockets listen at {socket}: it was removed while a manager had it, whose nodes find nobody who came later, and are not found",
                listeners(&patient.host, &place.socket)
            ),
            "see which processes they are (ss -xlp | grep sinew), and end all but the youngest: their nodes come to that; where the others are a container's with the same path, nothing is wrong",
        ),
        Answer::Joined(domain) => {
            let nodes = domain.view.state.nodes.len();
            let beside = if nodes == 0 { beside() } else { String::new() };
            let Some(process) = listener(&patient.host, &place.socket) else {
                return Some(Finding::ok(format!(
                    "one answers at {socket}, whose process cannot be seen from here; {nodes} nodes{beside}"
                )));
            };
            let age = process.age().map(|age| format!(", for {}", lasting(age))).unwrap_or_default();
            let program = process.program();
            // Only a program of this user's is run, to hear its version: what this user runs anyway.
            let is_own = process.user() == Some(u64::from(patient.user));
            let version = program.as_deref().filter(|program| is_own && program.is_absolute()).and_then(version_of);
            judge(
                &format!("process {} answers at {socket}{age}; {nodes} nodes{beside}", process.pid()),
                program.as_deref(),
                version.as_deref(),
            )
        }
    })
}

fn judge(found: &str, program: Option<&Path>, version: Option<&str>) -> Finding {
    let restart = "end the manager (SIGTERM): the nodes start the one that is installed now, and who is connected goes on";
    let name = program.map(|program| program.to_string_lossy()).unwrap_or_default();
    match version {
        Some(version) if version != VERSION => {
            Finding::warning(format!("{found}; it is version {version}, and this command {VERSION}"), restart)
        }
        Some(version) => Finding::ok(format!("{found}; version {version}")),
        None if name.ends_with(" (deleted)") => {
            Finding::warning(format!("{found}; its program has been replaced since it was started"), restart)
        }
        None => Finding::ok(found),
    }
}

fn lasting(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_manager_of_another_version_is_told_of() {
        let program = Path::new("/usr/bin/sinewd");
        assert_eq!(judge("it runs", Some(program), Some(VERSION)).level(), Level::Ok);
        assert_eq!(judge("it runs", Some(program), Some("9.9.9")).level(), Level::Warning);
        assert_eq!(judge("it runs", Some(Path::new("/usr/bin/sinewd (deleted)")), None).level(), Level::Warning);
        assert_eq!(judge("it runs", None, None).level(), Level::Ok);
    }

    #[test]
    fn ages_are_told_in_the_unit_that_fits() {
        let told = [5, 600, 8000, 600_000].map(|seconds| lasting(Duration::from_secs(seconds)));
        assert_eq!(told, ["5 s", "10 min", "2 h", "6 days"]);
    }
}
