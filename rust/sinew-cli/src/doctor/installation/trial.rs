//! A domain of the doctor's own, in which a node publishes: what is wrong with this machine shows there, whatever checks know of.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::rand::{GetRandomFlags, getrandom};
use sinew::raw::Publisher;
use sinew::{ErrorKind, Node, NodeOptions, Qos};

use super::configuration;
use crate::doctor::domain::place::LONGEST;
use crate::doctor::host::Host;
use crate::doctor::process::listener;
use crate::doctor::{Finding, Patient};
use crate::units::bytes;

const TYPE: &str = "sinew/Trial{data:uint8[];}";
const SIZE: usize = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(2);

/// How it went.
pub enum Trial {
    /// The publisher had so many bytes of shared memory.
    Published(u64),
    /// The rules of the configuration are against it.
    Denied(String),
    /// There is no place for it.
    NotTried(String),
    /// Something is wrong.
    Failed(String),
}

/// Tells how it went.
pub fn look(patient: &Patient) -> Option<Finding> {
    match &patient.trial {
        Trial::Published(memory) => {
            Some(Finding::ok(format!("a manager was started, and a publisher had {} of shared memory", bytes(*memory as f64))))
        }
        // Rules for users say nothing about this machine.
        Trial::Denied(why) => Some(Finding::ok(format!("a manager was started; {why}"))),
        Trial::NotTried(why) => Some(Finding::warning(
            format!("whether a node can publish was not tried: {why}"),
            "export TMPDIR=FOLDER, one with a short path in which this user may make files",
        )),
        Trial::Failed(why) => {
            let named = configuration::find(&patient.host).is_some_and(|(path, _)| why.contains(&*path.to_string_lossy()));
            // Of the configuration its own check tells.
            (!named).then(|| {
                Finding::problem(
                    format!("no node could publish in a domain of its own: {why}"),
                    "mend what else is found here; else report what this says",
                )
            })
        }
    }
}

/// Tries it, in a folder that is gone afterwards, as is the manager.
pub fn run(host: &Host, user: u32) -> Trial {
    // Where sockets of domains are comes first: a folder for temporary files may be of a job or a test, and have a long path.
    let runtime = host.variable("XDG_RUNTIME_DIR").or((user == 0).then_some("/run"));
    let places = [runtime, host.variable("TMPDIR"), Some("/tmp")];
    let socket = match socket_in(places.into_iter().flatten().map(Path::new)) {
        Ok(socket) => socket,
        Err(why) => return Trial::NotTried(why),
    };
    let tried = publish(&socket);
    end_manager(host, &socket);
    // Of what is left in such a folder nobody needs to hear.
    let _ = socket.parent().map(std::fs::remove_dir_all);
    match tried {
        Ok(memory) => Trial::Published(memory),
        Err(why) if why.kind() == ErrorKind::Denied => Trial::Denied(why.to_string()),
        Err(why) => Trial::Failed(why.to_string()),
    }
}

/// In a new folder of this user's alone, in the first place where one can be made; else why it cannot in any.
fn socket_in<'a>(places: impl Iterator<Item = &'a Path>) -> Result<PathBuf, String> {
    let mut whys = Vec::new();
    for place in places {
        // Not by the number of the process: one that was killed has left its folder, and in a container all have the same.
        let mut drawn = [0; 8];
        let _ = getrandom(&mut drawn, GetRandomFlags::empty());
        let folder =
            std::path::absolute(place).unwrap_or_else(|_| place.into()).join(format!("sinew-doctor-{:016x}", u64::from_ne_bytes(drawn)));
        let socket = folder.join("trial");
        let length = socket.as_os_str().len();
        if length > LONGEST {
            whys.push(format!("in {} the path of a socket would have {length} bytes, and {LONGEST} are the most", place.display()));
        } else if let Err(why) = DirBuilder::new().mode(0o700).create(&folder) {
            whys.push(format!("no folder can be made in {}: {why}", place.display()));
        } else {
            return Ok(socket);
        }
    }
    Err(whys.join("; "))
}

fn publish(socket: &Path) -> sinew::Result<u64> {
    let options = NodeOptions { domain: socket.to_string_lossy().into_owned(), by_caller: false };
    let node = Node::with_options("sinew-doctor", &options)?;
    let publisher = Publisher::new(&node, "sinew_doctor", TYPE, &Qos::default(), Default::default())?;
    let mut loan = publisher.loan(SIZE)?;
    loan.bytes().fill(1);
    Ok(publisher.statistics().memory_mapped)
}

/// It would end by itself, in some seconds.
fn end_manager(host: &Host, socket: &Path) {
    let manager = listener(host, socket).and_then(|process| Pid::from_raw(i32::try_from(process.pid()).ok()?));
    let Some(manager) = manager else { return };
    // It may be gone meanwhile.
    let _ = kill_process(manager, Signal::TERM);
    let until = Instant::now() + PATIENCE;
    while socket.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_in_the_first_place_that_there_is_and_not_at_all_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, long) = (folder.path().join("missing"), folder.path().join("x".repeat(100)));
        std::fs::create_dir(&long).unwrap();
        let places = [&*missing, &*long, Path::new("relative"), folder.path()];
        let sockets = [(); 2].map(|()| socket_in(places.into_iter()).unwrap());
        assert!(sockets.iter().all(|socket| socket.parent().unwrap().parent() == Some(folder.path()) && socket.parent().unwrap().is_dir()));
        assert_ne!(sockets[0], sockets[1]);
        let why = socket_in(places[..3].iter().copied()).unwrap_err();
        assert!(why.contains("missing: No such file or directory") && why.contains("xxx the path of a socket would have "), "{why}");
    }
}
