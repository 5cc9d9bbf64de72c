//! Other processes, as far as the kernel shows them to this one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::doctor::host::{Host, number_behind};

/// Of which not more is known than its number.
#[derive(Clone, Copy)]
pub struct Process<'a> {
    host: &'a Host,
    pid: i64,
}

impl<'a> Process<'a> {
    /// Of this number.
    pub fn of(host: &'a Host, pid: i64) -> Process<'a> {
        Process { host, pid }
    }

    /// Its number.
    pub fn pid(self) -> i64 {
        self.pid
    }

    fn file(self, name: &str) -> String {
        format!("/proc/{}/{name}", self.pid)
    }

    /// What stands behind its name, which may be anything, in its line of state: 'S' and so on comes first.
    fn stat(self) -> Option<String> {
        let stat = self.host.read(self.file("stat"))?;
        Some(stat[stat.rfind(')')? + 1..].trim().to_owned())
    }

    /// It has been stopped, by a signal or a debugger; which of them.
    pub fn stopped(self) -> Option<Stopped> {
        match self.stat()?.chars().next()? {
            'T' => Some(Stopped::BySignal),
            't' => Some(Stopped::ByDebugger),
            _ => None,
        }
    }

    /// How long it has been there.
    pub fn age(self) -> Option<Duration> {
        let ticks: u64 = self.stat()?.split_whitespace().nth(19)?.parse().ok()?;
        let up: f64 = self.host.read("/proc/uptime")?.split_whitespace().next()?.parse().ok()?;
        let begun = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        Duration::try_from_secs_f64((up - begun).max(0.0)).ok()
    }

    /// How many descriptors it has open, and how many it may have, at most: as it is, and where it raises its own limit.
    pub fn descriptors(self) -> Option<(u64, u64, u64)> {
        let open = std::fs::read_dir(self.host.path(self.file("fd"))).ok()?.count() as u64;
        let limits = self.host.read(self.file("limits"))?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap_or(u64::MAX));
        Some((open, numbers.next()?, numbers.next()?))
    }

    /// The program that it runs; " (deleted)" stands behind what is not there any more.
    pub fn program(self) -> Option<PathBuf> {
        std::fs::read_link(self.host.path(self.file("exe"))).ok()
    }

    /// The library of sinew that it has loaded, likewise.
    pub fn library(self) -> Option<PathBuf> {
        library_in(self.host.lines(self.file("maps")))
    }

    /// A namespace of it, as `time:[4026531834]`.
    pub fn namespace(self, kind: &str) -> Option<PathBuf> {
        std::fs::read_link(self.host.path(self.file(&format!("ns/{kind}")))).ok()
    }

    /// The user it runs as.
    pub fn user(self) -> Option<u64> {
        number_behind(&self.host.read(self.file("status"))?, "Uid:")
    }

    /// Which of its descriptors are this socket.
    fn has_socket(self, inode: &str) -> bool {
        let wanted = PathBuf::from(format!("socket:[{inode}]"));
        let descriptors = std::fs::read_dir(self.host.path(self.file("fd"))).into_iter().flatten().flatten();
        descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok()).any(|target| target == wanted)
    }
}

/// By whom a process is stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// SIGSTOP, or the keyboard.
    BySignal,
    /// One has attached to it.
    ByDebugger,
}

/// Of lines of /proc/PID/maps.
pub fn library_in(mut lines: impl Iterator<Item = String>) -> Option<PathBuf> {
    let is_library = |path: &str| Path::new(path).file_name().is_some_and(|name| name.to_string_lossy().starts_with("libsinew.so"));
    lines.find_map(|line| line.find('/').map(|at| line[at..].to_owned()).filter(|path| is_library(path))).map(PathBuf::from)
}

/// Who listens at a socket: who connects is told only who began to, which is the node that started the manager.
pub fn listener<'a>(host: &'a Host, socket: &Path) -> Option<Process<'a>> {
    let inode = listening(host, socket).next()?;
    let processes = std::fs::read_dir(host.path("/proc")).ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.map(|pid| Process::of(host, pid)).find(|process| process.has_socket(&inode))
}

/// How many listen there: more than one where the name was taken from the first, or in a container where another socket has it.
pub fn listeners(host: &Host, socket: &Path) -> usize {
    listening(host, socket).count()
}

/// The numbers of the sockets that do.
fn listening(host: &Host, socket: &Path) -> impl Iterator<Item = String> {
    const LISTENS: &str = "00010000";
    let end = format!(" {}", socket.to_string_lossy());
    host.lines("/proc/net/unix").filter_map(move |line| {
        let words: Vec<&str> = line.split_whitespace().take(7).collect();
        (line.ends_with(&end) && words.get(3) == Some(&LISTENS)).then(|| words.get(6).map(|inode| (*inode).to_owned()))?
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::doctor::host::tests::host;

    #[test]
    fn who_listens_is_found_by_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let this = Host::this();
        assert_eq!(listener(&this, &path).map(Process::pid), Some(i64::from(std::process::id())));
        assert!(listener(&this, &folder.path().join("another")).is_none());
        assert_eq!(listeners(&this, &path), 1);
        std::fs::remove_file(&path).unwrap();
        let _other = UnixListener::bind(&path).unwrap();
        assert_eq!(listeners(&this, &path), 2);
    }

    #[test]
    fn a_process_is_known_by_its_files() {
        let stat = "7 (a) T (b) T 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5000 0 0";
        let (_folder, host) = host(
            &[
                ("/proc/7/stat", stat),
                ("/proc/uptime", "60.5 1.0\n"),
                ("/proc/7/limits", "Max open files    64   4096   files\n"),
                ("/proc/7/fd/0", ""),
            ],
            &[],
            &[],
        );
        let process = Process::of(&host, 7);
        assert_eq!(process.stopped(), Some(Stopped::BySignal));
        assert_eq!(process.age(), Some(Duration::from_secs_f64(10.5)));
        assert_eq!(process.descriptors(), Some((1, 64, 4096)));
        assert_eq!(Process::of(&host, 8).stopped(), None);
    }

    #[test]
    fn the_library_is_what_is_mapped_under_its_name() {
        let lines = ["7f-8f r-xp 0 08:01 5 /usr/lib/libsinew_helper.so", "7f-8f r--p 0 08:01 6 /opt/a b/libsinew.so.0.1.0 (deleted)"];
        assert_eq!(library_in(lines.into_iter().map(str::to_owned)), Some(PathBuf::from("/opt/a b/libsinew.so.0.1.0 (deleted)")));
    }
}
