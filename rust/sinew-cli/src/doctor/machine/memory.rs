//! How much memory there is for messages: of the machine, and of the groups (containers, services) that this process is in.

use crate::doctor::host::{Host, number_behind};
use crate::doctor::{Finding, Patient};
use crate::units::bytes;

/// With less than this, sinew gives publishers none.
const LEAST: u64 = 64 << 20;
const LITTLE: u64 = 512 << 20;

/// Looks at all of them.
pub fn look(patient: &Patient) -> Option<Finding> {
    judge(&patient.host)
}

fn judge(host: &Host) -> Option<Finding> {
    let of_machine = host.read("/proc/meminfo")?;
    let available = number_behind(&of_machine, "MemAvailable:")? * 1024;
    let mut least = (available, "the machine".to_owned());
    for group in groups(host) {
        let free = group.limit.saturating_sub(group.used);
        if free < least.0 {
            least = (free, format!("the group {} (a container or service), which may have {}", group.name, bytes(group.limit as f64)));
        }
    }
    let (free, whose) = least;
    let found = format!("{} are free, by {whose}", bytes(free as f64));
    Some(match free {
        free if free < LEAST => Finding::problem(
            format!("{found}: publishers get none"),
            "end what takes memory (top -o RES), or raise the limit: docker run --memory, MemoryMax= of a service",
        ),
        free if free < LITTLE => Finding::warning(
            found,
            "give publishers a smaller memory_budget, or raise the limit: docker run --memory, MemoryMax= of a service",
        ),
        _ => Finding::ok(found),
    })
}

struct Group {
    name: String,
    limit: u64,
    used: u64,
}

/// Those with a limit, from the own to the outermost, of both generations.
fn groups(host: &Host) -> Vec<Group> {
    let own = host.read("/proc/self/cgroup").unwrap_or_default();
    let mut groups = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (folder, limit, used, cache) = if kinds.is_empty() {
            ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
        } else if kinds.split(',').any(|kind| kind == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        } else {
            continue;
        };
        // Within a container its own group is where the mount begins, and others cannot be seen.
        let above = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]).filter(|path| !path.contains(".."));
        for group in above {
            let at = format!("{folder}{}", if group == "/" { "" } else { group });
            let number = |file: &str| host.number(format!("{at}/{file}")).and_then(|number| u64::try_from(number).ok());
            let (Some(limit), Some(used)) = (number(limit), number(used)) else { continue };
            let cached = host.read(format!("{at}/memory.stat")).and_then(|text| number_behind(&text, &format!("{cache} "))).unwrap_or(0);
            groups.push(Group {
                name: if group.is_empty() { "/".to_owned() } else { group.to_owned() },
                limit,
                used: used.saturating_sub(cached),
            });
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    const MEMINFO: (&str, &str) = ("/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n");

    #[test]
    fn the_tightest_group_counts() {
        let (_folder, machine) = host(&[MEMINFO], &[], &[]);
        assert_eq!(judge(&machine).unwrap(), Finding::ok("8.19 GB are free, by the machine"));
        let files = [
            MEMINFO,
            ("/proc/self/cgroup", "0::/robot/camera\n"),
            ("/sys/fs/cgroup/robot/memory.max", "200000000\n"),
            ("/sys/fs/cgroup/robot/memory.current", "190000000\n"),
            ("/sys/fs/cgroup/robot/memory.stat", "anon 5\ninactive_file 90000000\n"),
            ("/sys/fs/cgroup/robot/camera/memory.max", "max\n"),
        ];
        let (_folder, contained) = host(&files, &[], &[]);
        let finding = judge(&contained).unwrap();
        assert_eq!(finding.level(), Level::Warning);
        assert!(finding.found().contains("100 MB are free, by the group /robot"), "{finding:?}");
    }

    #[test]
    fn groups_of_the_first_generation_count_too() {
        let files = [
            MEMINFO,
            ("/proc/self/cgroup", "5:cpu:/\n4:memory:/box\n"),
            ("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "50000000\n"),
            ("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "49000000\n"),
        ];
        let (_folder, contained) = host(&files, &[], &[]);
        assert_eq!(judge(&contained).unwrap().level(), Level::Problem);
    }
}
