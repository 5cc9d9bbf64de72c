//! Nodes of other users, in other containers, and with other clocks.

use std::collections::BTreeSet;

use crate::doctor::process::Process;
use crate::doctor::{Finding, Patient};

/// Looks who there is.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    let clock = |pid: i64| Process::of(&patient.host, pid).namespace("time");
    let own = clock(i64::from(std::process::id()));
    let has_another = |(pid, names): (i64, String)| {
        (clock(pid).is_some_and(|of_process| Some(of_process) != own)).then(|| format!("{}, process {pid}", &names))
    };
    let others: Vec<String> = domain.processes().into_iter().filter_map(has_another).collect();
    if !others.is_empty() {
        return Some(
            Finding::problem(
                "some have another clock (a time namespace): latencies, lifespans and leases between them and the others are wrong",
                "start their containers without a time namespace of their own",
            )
            .with(others),
        );
    }
    let nodes = domain.view.state.nodes.values();
    let users: BTreeSet<u32> = nodes.clone().map(|node| node.uid).collect();
    let containers: BTreeSet<&str> = nodes.clone().map(|node| node.container.as_str()).filter(|container| !container.is_empty()).collect();
    let hidden = nodes.filter(|node| node.pid == 0).count();
    let mut told = Vec::new();
    if users.len() > 1 {
        let users: Vec<String> = users.iter().map(ToString::to_string).collect();
        told.push(format!("there are nodes of the users {}, between whom messages are copied", users.join(", ")));
    }
    if !containers.is_empty() {
        let containers: Vec<&str> = containers.into_iter().take(20).collect();
        told.push(format!("some are in containers ({}), which read in place as others do", containers.join(", ")));
    }
    if hidden > 0 {
        told.push(format!("{hidden} are in containers that cannot be seen into"));
    }
    Some(Finding::ok(if told.is_empty() { "all nodes are of one user, outside of containers".to_owned() } else { told.join("; ") }))
}
