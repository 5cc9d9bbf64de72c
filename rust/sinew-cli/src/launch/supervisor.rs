//! The loop that keeps the processes: it starts them, hands what they write to the log, starts again who has failed, and stops all.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP};

use crate::failure::{Done, Failure};
use crate::launch::log::Log;
use crate::launch::orphans::{Before, Orphan, There, orphans};
use crate::launch::plan::Plan;
use crate::launch::process::Process;
use crate::launch::restart::{BackOff, End, is_failure, signal_name};
use crate::launch::signals::Signals;
use crate::launch::stop::Stop;
use crate::launch::told::Event;

/// The domain has heard by then that a process has died, and for a while. A flight recorder that is told to end at once could not tell who died before and who was told to end, too.
const NEWS: Duration = Duration::from_millis(200);

/// All processes of a launch file. Everything happens on the thread of [`Supervisor::run`].
pub struct Supervisor {
    kept: Vec<Kept>,
    log: Log,
    columns: u16,
    with_colours: bool,
    signals: Signals,
    stop: Stop,
    before: Before,
    /// Those left behind, or who may be so, who have got the signal of this step.
    asked: HashSet<Pid>,
    /// Those that this user may not even kill.
    refused: HashSet<Pid>,
    /// Those for whom nobody waits any more.
    given_up: HashSet<Pid>,
    /// What has become of those who failed for good.
    failed: Vec<String>,
}

/// A process that is to be there.
struct Kept {
    plan: Plan,
    back_off: BackOff,
    state: State,
}

/// Whether it is.
enum State {
    /// It is to be started then.
    Due(Instant),
    Running(Box<Process>),
    /// It has ended for good, since all are stopped. Whom it has left behind ends as it wants to, and may write meanwhile.
    Left(Box<Process>),
    /// It has ended for good.
    Over,
}

impl Supervisor {
    /// Starts nothing yet.
    pub fn new(plans: Vec<Plan>, log: Log, columns: u16, with_colours: bool) -> Done<Supervisor> {
        let signals = Signals::new().map_err(|why| Failure::Failed(format!("signals cannot be watched: {why}")))?;
        set_child_subreaper(Some(getpid())).map_err(|why| Failure::Failed(format!("the processes' own ones cannot be kept: {why}")))?;
        let kept = plans.into_iter().map(|plan| Kept { plan, back_off: BackOff::new(), state: State::Due(Instant::now()) }).collect();
        let (stop, before, failed) = (Stop::default(), Before::now(), Vec::new());
        let (asked, refused, given_up) = Default::default();
        Ok(Supervisor { kept, log, columns, with_colours, signals, stop, before, asked, refused, given_up, failed })
    }

    /// Until all have ended for good.
    pub fn run(mut self) -> Done {
        loop {
            self.start_due();
            if self.kept.iter().all(|kept| matches!(kept.state, State::Left(_) | State::Over)) && self.is_alone() {
                break;
            }
            let (is_signalled, written) = self.wait();
            for n in written {
                let Kept { plan, state: State::Running(process) | State::Left(process), .. } = &mut self.kept[n] else { continue };
                process.read(|line| self.log.line(&plan.name, &line));
            }
            if is_signalled {
                self.obey_signals();
            }
            if self.stop.due().is_some_and(|due| due <= Instant::now()) {
                self.step();
            }
        }
        for Kept { plan, state, .. } in &mut self.kept {
            if let State::Left(process) = state {
                process.read_rest(|line| self.log.line(&plan.name, &line));
            }
        }
        self.log.finish();
        if self.failed.is_empty() { Ok(()) } else { Err(Failure::Failed(self.failed.join("; "))) }
    }

    fn start_due(&mut self) {
        for n in 0..self.kept.len() {
            let Kept { plan, state, .. } = &mut self.kept[n];
            if !matches!(state, State::Due(when) if *when <= Instant::now()) {
                continue;
            }
            match Process::start(plan, self.columns, self.with_colours) {
                Ok(process) => {
                    self.log.event(Some(&plan.name), &Event::Started { pid: process.pid.as_raw_nonzero().get() });
                    *state = State::Running(Box::new(process));
                }
                Err(why) => {
                    self.log.event(Some(&plan.name), &Event::NotStarted { why: why.to_string() });
                    self.ended(n, None, Duration::ZERO);
                }
            }
        }
    }

    /// Until something happens: whether there are signals, and which processes have written something.
    fn wait(&self) -> (bool, Vec<usize>) {
        let due = self.kept.iter().filter_map(|kept| if let State::Due(when) = kept.state { Some(when) } else { None });
        let timeout = due.chain(self.stop.due()).min().map(|due| due.saturating_duration_since(Instant::now()));
        // More than that nobody waits for.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let running = self.kept.iter().enumerate().filter_map(|(n, kept)| match &kept.state {
            State::Running(process) | State::Left(process) => Some((n, process.output.as_ref()?.as_fd())),
            _ => None,
        });
        let (numbers, outputs): (Vec<usize>, Vec<_>) = running.unzip();
        let signals = self.signals.as_fd();
        let mut polled: Vec<_> = [signals].into_iter().chain(outputs).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // It needs memory of the kernel, which may be there in a moment.
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
        let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
        let is_signalled = ready.next().unwrap_or_default();
        (is_signalled, numbers.into_iter().zip(ready).filter(|(_, is_ready)| *is_ready).map(|(n, _)| n).collect())
    }

    fn obey_signals(&mut self) {
        for signal in self.signals.take() {
            match signal {
                SIGCHLD => self.reap(),
                _ if !self.stop.has_begun() => self.begin_stop(&signal_name(signal)),
                // A terminal that goes may say so twice: by the kernel and by its shell.
                SIGHUP => {}
                _ if self.stop.has_just_sent(Instant::now()) => {}
                _ => self.step(),
            }
        }
    }

    /// Hears who has ended, also of those left behind.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            // The number may be another's from now on.
            [&mut self.asked, &mut self.refused, &mut self.given_up].into_iter().for_each(|pids| _ = pids.remove(&pid));
            let of = |kept: &Kept| matches!(&kept.state, State::Running(process) if process.pid == pid);
            if let Some(n) = self.kept.iter().position(of) {
                self.has_ended(n, status);
            }
        }
    }

    fn has_ended(&mut self, n: usize, status: WaitStatus) {
        let kept = &mut self.kept[n];
        let State::Running(mut process) = std::mem::replace(&mut kept.state, State::Over) else { return };
        let end = End::of(status);
        if self.stop.has_begun() {
            process.read_rest(|line| self.log.line(&kept.plan.name, &line));
            self.log.event(Some(&kept.plan.name), &Event::Ended { end });
            // Its group has got the signal of this step with it, and has its time.
            kept.state = State::Left(process);
            return;
        }
        let lived = process.finish(|line| self.log.line(&kept.plan.name, &line));
        self.log.event(Some(&kept.plan.name), &Event::Ended { end });
        self.ended(n, Some(end), lived);
    }

    /// Decides what becomes of a process that has ended, or could not be started.
    fn ended(&mut self, n: usize, end: Option<End>, lived: Duration) {
        let Kept { plan, back_off, state } = &mut self.kept[n];
        *state = State::Over;
        if self.stop.has_begun() {
            return;
        }
        if plan.restart.follows(end) {
            let after = back_off.after(lived);
            self.log.event(Some(&plan.name), &Event::restarting(after));
            *state = State::Due(Instant::now() + after);
            return;
        }
        let how = end.map_or_else(|| "could not be started".to_owned(), |end| end.to_string());
        if is_failure(end) {
            self.failed.push(format!("{} {how}", plan.name));
        }
        if plan.is_required {
            let why = format!("{}, which is required, {how}", plan.name);
            std::thread::sleep(NEWS);
            self.begin_stop(&why);
        }
    }

    fn begin_stop(&mut self, why: &str) {
        self.log.event(None, &Event::Stopping { why: why.to_owned() });
        for kept in &mut self.kept {
            if matches!(kept.state, State::Due(_)) {
                kept.state = State::Over;
            }
        }
        self.step();
    }

    /// Sends the next signal to all that are there.
    fn step(&mut self) {
        if self.stop.signal() == Some(Signal::KILL) {
            self.give_up();
        }
        let signal = self.stop.step(Instant::now());
        // Before the signal: who comes after it has not got it.
        let there = There::now();
        self.asked.clear();
        for Kept { plan, state, .. } in &mut self.kept {
            let State::Running(process) = state else { continue };
            let (is_sent, name) = (process.signal(signal), signal_name(signal.as_raw()));
            if !is_sent {
                self.log.event(Some(&plan.name), &Event::NotSignalled { signal: name });
            } else if signal != Signal::INT {
                self.log.event(Some(&plan.name), &Event::Signalled { signal: name });
            }
            if !is_sent && signal == Signal::KILL {
                process.hang_up(|line| self.log.line(&plan.name, &line));
                self.log.event(Some(&plan.name), &Event::HungUp);
                self.refused.insert(process.pid);
            }
            // When it has ended they are left behind, and not to get it again. But whom this user may not kill has to be found out.
            if is_sent && signal != Signal::KILL {
                self.asked.extend(there.of(process.pid));
            }
        }
        self.ask_orphans(signal);
    }

    /// Waits no longer for those that are there though they were to be killed: this user may not do that, or the kernel holds them, as at a disk that does not answer.
    fn give_up(&mut self) {
        // Who has ended meanwhile may not have been heard of yet.
        self.reap();
        let orphans = orphans(&self.known(), &self.given_up, &self.before);
        let mut given_up = Vec::new();
        for Kept { plan, state, .. } in &mut self.kept {
            if let State::Running(process) = state {
                given_up.push((Some(&plan.name), process.pid));
                *state = State::Over;
            }
        }
        let orphans = orphans.into_iter().map(|orphan| orphan.pid);
        given_up.extend(orphans.filter(|orphan| self.asked.contains(orphan)).map(|orphan| (None, orphan)));
        for (name, process) in given_up {
            let pid = process.as_raw_nonzero().get();
            self.log.event(name.map(String::as_str), &Event::GivenUp { pid });
            let who = name.map(|name| format!("{name}, ")).unwrap_or_default();
            let why = if self.refused.contains(&process) { "and this user may not end it" } else { "though SIGKILL was sent" };
            self.failed.push(format!("{who}process {pid} has not ended, {why}"));
            self.given_up.insert(process);
        }
    }

    /// Whether nobody is left behind, either. Who is, is asked to end.
    fn is_alone(&mut self) -> bool {
        let signal = self.stop.signal().unwrap_or_else(|| self.stop.step(Instant::now()));
        !self.ask_orphans(signal)
    }

    /// Sends it once to those left behind. Whether there are some.
    fn ask_orphans(&mut self, signal: Signal) -> bool {
        let orphans = orphans(&self.known(), &self.given_up, &self.before);
        let (mut sent, mut refused) = (Vec::new(), Vec::new());
        let mut passed = self.asked.clone();
        for &Orphan { pid, parent } in &orphans {
            // Who was asked before may start others to end as it wants to: they are its own as long as it is there.
            if passed.contains(&pid) || parent.is_some_and(|parent| passed.contains(&parent)) {
                passed.insert(pid);
                continue;
            }
            self.asked.insert(pid);
            match kill_process(pid, signal) {
                Ok(()) => sent.push(pid),
                Err(Errno::PERM) => refused.push(pid),
                // It is gone meanwhile.
                Err(_) => {}
            }
            let _ = kill_process(pid, Signal::CONT);
        }
        let (name, numbers) = (signal_name(signal.as_raw()), |pids: &[Pid]| pids.iter().map(|pid| pid.as_raw_nonzero().get()).collect());
        if !sent.is_empty() {
            self.log.event(None, &Event::LeftBehind { pids: numbers(&sent), signal: name.clone() });
        }
        if !refused.is_empty() {
            self.log.event(None, &Event::LeftAlone { pids: numbers(&refused), signal: name });
        }
        if signal == Signal::KILL {
            self.refused.extend(refused);
        }
        !orphans.is_empty()
    }

    /// Who is no orphan, though a child of the launcher's.
    fn known(&self) -> Vec<Pid> {
        let running = self.kept.iter().filter_map(|kept| if let State::Running(process) = &kept.state { Some(process.pid) } else { None });
        // Whom those start that this user may not end, it may not end, either.
        running.chain(self.given_up.intersection(&self.refused).copied()).collect()
    }
}
