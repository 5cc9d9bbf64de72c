//! A domain of the doctor's own, in which a node publishes: what is wrong with this machine shows there, whatever checks know of.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sinew::raw::Publisher;
use sinew::{ErrorKind, Node, NodeOptions, Qos};

use super::configuration;
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
pub fn run(host: &Host) -> Trial {
    let folder = std::env::temp_dir().join(format!("sinew-doctor-{}", std::process::id()));
    if let Err(why) = DirBuilder::new().mode(0o700).create(&folder) {
        return Trial::Failed(format!("the folder {} cannot be made: {why}", folder.display()));
    }
    let socket = folder.join("trial");
    let tried = publish(&socket);
    end_manager(host, &socket);
    // Of what is left in a folder for temporary files nobody needs to hear.
    let _ = std::fs::remove_dir_all(&folder);
    match tried {
        Ok(memory) => Trial::Published(memory),
        Err(why) if why.kind() == ErrorKind::Denied => Trial::Denied(why.to_string()),
        Err(why) => Trial::Failed(why.to_string()),
    }
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
