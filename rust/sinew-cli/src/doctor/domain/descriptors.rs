//! How many descriptors nodes have open, of how many.

use crate::doctor::process::{Process, listener};
use crate::doctor::{Finding, Patient};

/// Looks at each process, and at the manager, which raises its own limit.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    let (place, _) = patient.domain.as_ref().ok()?;
    let of_nodes = domain.processes().into_iter().filter_map(|(pid, names)| {
        let (open, soft, _) = Process::of(&patient.host, pid).descriptors()?;
        Some((open, soft, format!("{}, process {pid}", names)))
    });
    let of_manager = listener(&patient.host, &place.socket).and_then(|manager| {
        let (open, _, hard) = manager.descriptors()?;
        Some((open, hard, format!("the manager, process {}", manager.pid())))
    });
    Some(judge(of_nodes.chain(of_manager).collect()))
}

fn judge(processes: Vec<(u64, u64, String)>) -> Finding {
    let most = processes.iter().map(|(open, _, _)| *open).max().unwrap_or(0);
    let scarce: Vec<_> = processes.into_iter().filter(|(open, limit, _)| open.saturating_mul(5) >= limit.saturating_mul(4)).collect();
    if scarce.is_empty() {
        return Finding::ok(format!("no process has more than {most} open, and all may have more"));
    }
    let told = scarce.into_iter().map(|(open, limit, who)| format!("{} has {open} of {limit} open", &who));
    Finding::warning(
        "some may open few more: then they are connected to nobody else",
        "ulimit -n 4096 in the shell that starts them, or LimitNOFILE= of their service",
    )
    .with(told.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn those_that_have_almost_all_open_are_told_of() {
        let of = |open| judge(vec![(open, 100, "camera".to_owned()), (50, 4096, "viewer".to_owned())]);
        assert_eq!(of(79).level(), Level::Ok);
        assert_eq!((of(80).level(), of(80).each().0), (Level::Warning, &["camera has 80 of 100 open".to_owned()][..]));
    }
}
