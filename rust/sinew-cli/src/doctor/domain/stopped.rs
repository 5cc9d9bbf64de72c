//! Nodes whose processes are stopped.

use crate::doctor::process::{Process, Stopped};
use crate::doctor::{Finding, Patient};

/// Looks at the state of each.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    if !domain.sees_processes {
        return Some(Finding::ok("processes cannot be looked at: the manager is in another container, or this command is"));
    }
    let processes = domain.processes();
    let count = processes.len();
    let is_stopped = |(pid, names): (i64, String)| Some((pid, names, Process::of(&patient.host, pid).stopped()?));
    let stopped: Vec<_> = processes.into_iter().filter_map(is_stopped).collect();
    if stopped.is_empty() {
        return Some(Finding::ok("none is stopped"));
    }
    let pids = stopped.iter().take(20).map(|(pid, _, _)| pid.to_string()).collect::<Vec<_>>().join(" ");
    let told = stopped.iter().map(|(pid, names, by)| {
        let by = if *by == Stopped::ByDebugger { ", by a debugger" } else { "" };
        format!("{}, process {pid}{by}", names)
    });
    Some(
        Finding::problem(
            format!("stopped, so that they neither publish nor receive: {} of {count}", stopped.len()),
            format!("kill -CONT {pids}"),
        )
        .with(told.collect::<Vec<_>>()),
    )
}
