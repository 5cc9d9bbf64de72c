//! Whom processes have left behind: those whom they have started, and who come to the launcher, as that is a subreaper, when their parents end.

use std::collections::HashSet;

use rustix::process::{Pid, getpid};

/// The manager of a domain, which the first node starts for all, also for those that nobody has launched here. It ends when the last node has left.
const MANAGER: &str = "sinewd";

/// What of a process is in its line of state.
struct State {
    pid: i32,
    parent: i32,
    group: i32,
    name: String,
    is_dead: bool,
    /// When it was started, in ticks of the kernel's: a number may be given to another process.
    started: u64,
}

/// Whom the launcher has before it starts anybody: what the shell that became the launcher has started, as in `helper & exec sinew launch`, and theirs.
pub struct Before(HashSet<(i32, u64)>);

impl Before {
    /// As it is now.
    pub fn now() -> Before {
        Before(left(&states(), own(), |_| false).into_iter().map(|state| (state.pid, state.started)).collect())
    }
}

/// Who is there, at a moment.
pub struct There(Vec<State>);

impl There {
    /// As it is now.
    pub fn now() -> There {
        There(states())
    }

    /// Those of a process group.
    pub fn of(&self, group: Pid) -> impl Iterator<Item = Pid> {
        let group = group.as_raw_nonzero().get();
        self.0.iter().filter(move |state| state.group == group && !state.is_dead).filter_map(|state| Pid::from_raw(state.pid))
    }
}

/// One whom processes have left behind.
pub struct Orphan {
    /// Its number.
    pub pid: Pid,
    /// Whose it is: the launcher's, where who has started it has ended.
    pub parent: Option<Pid>,
}

/// All of them, and all whom they have started, each behind its parent; without those `known`, and who was there before. Those `given_up` are none either, but whom they have started is.
pub fn orphans(known: &[Pid], given_up: &HashSet<Pid>, before: &Before) -> Vec<Orphan> {
    let known: Vec<i32> = known.iter().map(|pid| pid.as_raw_nonzero().get()).collect();
    let is_other = |state: &State| known.contains(&state.pid) || before.0.contains(&(state.pid, state.started));
    let orphan = |state: &State| Some(Orphan { pid: Pid::from_raw(state.pid)?, parent: Pid::from_raw(state.parent) });
    left(&states(), own(), is_other).into_iter().filter_map(orphan).filter(|orphan| !given_up.contains(&orphan.pid)).collect()
}

fn own() -> i32 {
    getpid().as_raw_nonzero().get()
}

fn states() -> Vec<State> {
    let pids = std::fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    // A name may be any bytes, and ends after 15 of them, also within a letter.
    pids.filter_map(|pid| state(pid, &String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/stat")).ok()?))).collect()
}

/// "4711 (name) S 1 ...", in which the name may be anything.
fn state(pid: i32, line: &str) -> Option<State> {
    let (begin, end) = (line.find('(')?, line.rfind(')')?);
    let mut words = line[end + 1..].split_whitespace();
    let is_dead = matches!(words.next()?, "Z" | "X");
    let (parent, group) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(State { pid, parent, group, name: line.get(begin + 1..end)?.to_owned(), is_dead, started: words.nth(16)?.parse().ok()? })
}

fn left(states: &[State], launcher: i32, is_other: impl Fn(&State) -> bool) -> Vec<&State> {
    let is_left = |state: &&State| state.parent == launcher && !state.is_dead && state.name != MANAGER && !is_other(state);
    let mut left: Vec<&State> = states.iter().filter(is_left).collect();
    let mut next = 0;
    while let Some(parent) = left.get(next).map(|state| state.pid) {
        let is_new = |state: &&State| state.parent == parent && !state.is_dead && left.iter().all(|known| known.pid != state.pid);
        let more: Vec<&State> = states.iter().filter(is_new).collect();
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
        let behind = "0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5000 0 0";
        let states: Vec<State> = lines.iter().map(|line| state(line[..2].parse().unwrap(), &format!("{line} {behind}")).unwrap()).collect();
        let left = |known: &[i32]| left(&states, 10, |state| known.contains(&state.pid)).iter().map(|state| state.pid).collect::<Vec<_>>();
        assert_eq!(left(&[11]), [13, 14]);
        assert_eq!(left(&[]), [11, 13, 12, 14]);
        assert!(states.iter().all(|state| state.started == 5000));
        assert_eq!(There(states).of(Pid::from_raw(13).unwrap()).collect::<Vec<_>>(), [13, 14].map(|pid| Pid::from_raw(pid).unwrap()));
    }
}
