//! A process of a robot: started so that it ends with the launcher, whatever becomes of that. But for one that gets rights by its program, as `sudo`
//! does: of that the kernel forgets it, and the launcher may not signal it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, ioctl_tiocsctty, kill_process_group, set_parent_process_death_signal, setsid};
use rustix::stdio;

use crate::launch::lines::Lines;
use crate::launch::output::Output;
use crate::launch::plan::Plan;
use crate::quiet;

/// A process that is there, or that nobody has heard of yet that it has ended.
pub struct Process {
    /// Its number, which is that of its process group and its session, too.
    pub pid: Pid,
    /// What it writes; none: it was hung up.
    pub output: Option<Output>,
    lines: Lines,
    started: Instant,
}

impl Process {
    /// Starts it. Only for the thread that is there as long as the launcher: when that one ends, the kernel kills what it has started.
    pub fn start(plan: &Plan, columns: u16, with_colours: bool) -> io::Result<Process> {
        let output = Output::new(columns)?;
        let (is_terminal, launcher) = (output.is_terminal(), getpid());
        let mut command = Command::new(&plan.program);
        quiet::only_here(&mut command);
        command.args(&plan.arguments).current_dir(&plan.directory).envs(&plan.environment);
        command.stdin(Stdio::null()).stdout(output.theirs()?).stderr(output.theirs()?);
        // SAFETY: what it calls are system calls and nothing else: no memory is taken, and no lock.
        unsafe { command.pre_exec(move || prepare(is_terminal, launcher)) };
        let pid = Pid::from_child(&command.spawn()?);
        Ok(Process { pid, output: Some(output), lines: Lines::new(with_colours), started: Instant::now() })
    }

    /// Hands over the lines that have come.
    pub fn read(&mut self, mut each: impl FnMut(String)) {
        self.output.iter().for_each(|output| output.take(|bytes| self.lines.feed(bytes, &mut each)));
    }

    /// It has ended: hands over all that has still been written. Whom it has left behind may write more, and need its terminal for that.
    pub fn read_rest(&mut self, mut each: impl FnMut(String)) {
        self.read(&mut each);
        self.lines.rest().into_iter().for_each(each);
    }

    /// The same, and asks whom it has left behind in its group to end. How long it has lived.
    pub fn finish(mut self, each: impl FnMut(String)) -> Duration {
        self.read_rest(each);
        self.signal(Signal::TERM);
        self.started.elapsed()
    }

    /// Sends it to the process and all in its group. Who is stopped goes on, to obey it. False: they are another user's by now, and it was not sent.
    pub fn signal(&self, signal: Signal) -> bool {
        // Of a group of several users' processes a signal reaches those of this user alone, without an error.
        let is_pressed = signal == Signal::INT && self.output.as_ref().is_some_and(|output| output.interrupt(self.pid));
        let is_sent = is_pressed || kill_process_group(self.pid, signal) != Err(Errno::PERM);
        // There may be nobody any more.
        let _ = kill_process_group(self.pid, Signal::CONT);
        is_sent
    }

    /// Takes its terminal away, after what it has written. That it is told so is no matter of users.
    pub fn hang_up(&mut self, each: impl FnMut(String)) {
        self.read(each);
        self.output = None;
    }
}

/// What the new process does before it is the program.
///
/// A session of its own keeps Ctrl-C of the launcher's terminal away from it, and the device of a serial line, which it opens, from becoming its
/// terminal. Its own one is its terminal: when the launcher is gone, the kernel hangs that up, and tells so also those whom the process has started.
fn prepare(is_terminal: bool, launcher: Pid) -> io::Result<()> {
    setsid()?;
    if is_terminal {
        ioctl_tiocsctty(stdio::stdout())?;
    }
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died before.
    if getppid() != Some(launcher) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rustix::process::{WaitOptions, waitpid};

    use super::*;
    use crate::launch::restart::Restart;

    #[test]
    fn what_it_has_written_is_there_when_it_has_ended() {
        let plan = Plan {
            name: "a".to_owned(),
            program: "/bin/sh".into(),
            arguments: ["-c", "echo one; printf two"].map(str::to_owned).into(),
            directory: "/".into(),
            environment: BTreeMap::new(),
            restart: Restart::Never,
            is_required: false,
        };
        let process = Process::start(&plan, 80, false).unwrap();
        waitpid(Some(process.pid), WaitOptions::empty()).unwrap();
        let mut lines = Vec::new();
        process.finish(|line| lines.push(line));
        assert_eq!(lines, ["one", "two"]);
    }
}
