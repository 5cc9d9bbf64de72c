//! Whom processes have left behind: those whom they have started, and who come to the launcher, as that is a subreaper, when their parents end.

use rustix::process::{Pid, getpid};

/// The manager of a domain, which the first node starts for all, also for those that nobody has launched here. It ends when the last node has left.
const MANAGER: &str = "sinewd";

/// What of a process is in its line of state.
struct State {
    pid: i32,
    parent: i32,
    name: String,
    is_dead: bool,
}

/// All of them, and all whom they have started; without those `known`.
pub fn orphans(known: &[Pid]) -> Vec<Pid> {
    let known: Vec<i32> = known.iter().map(|pid| pid.as_raw_nonzero().get()).collect();
    let states: Vec<State> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| state(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect();
    left(&states, getpid().as_raw_nonzero().get(), &known).into_iter().filter_map(Pid::from_raw).collect()
}

/// "4711 (name) S 1 ...", in which the name may be anything.
fn state(pid: i32, line: &str) -> Option<State> {
    let (begin, end) = (line.find('(')?, line.rfind(')')?);
    let mut words = line[end + 1..].split_whitespace();
    let is_dead = matches!(words.next()?, "Z" | "X");
    Some(State { pid, parent: words.next()?.parse().ok()?, name: line.get(begin + 1..end)?.to_owned(), is_dead })
}

fn left(states: &[State], launcher: i32, known: &[i32]) -> Vec<i32> {
    let mut left: Vec<i32> = states
        .iter()
        .filter(|state| state.parent == launcher && !state.is_dead && state.name != MANAGER && !known.contains(&state.pid))
        .map(|state| state.pid)
        .collect();
    let mut next = 0;
    while let Some(&parent) = left.get(next) {
        let more = states.iter().filter(|state| state.parent == parent && !state.is_dead && !left.contains(&state.pid));
        let more: Vec<i32> = more.map(|state| state.pid).collect();
        left.extend(more);
        next += 1;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orphans_and_their_children_are_left_behind_but_no_manager_and_nobody_s_own() {
        let lines = [
            "10 (sinew) S 1 10",
            "11 (camera) S 10 11",
            "12 (helper) S 11 11",
            "13 (sh (x) S 1) S 10 13",
            "14 (sleep) S 13 13",
            "15 (sinewd) S 10 15",
            "16 (gone) Z 10 16",
            "17 (else) S 1 17",
        ];
        let states: Vec<State> = lines.iter().map(|line| state(line[..2].parse().unwrap(), line).unwrap()).collect();
        assert_eq!(left(&states, 10, &[11]), [13, 14]);
        assert_eq!(left(&states, 10, &[]), [11, 13, 12, 14]);
    }
}
