//! What answers at the domain's socket. Nobody is made to: a node that joins would start a manager where none runs, so the socket is asked first.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use sinew::{DomainCounts, DomainNode, ErrorKind, Id, Node, NodeOptions, PairCounts, PublisherCounts};

use super::place::Place;
use crate::doctor::host::Host;
use crate::doctor::process::{Stopped, listener};
use crate::domain::View;
use crate::flow::counts_of_pairs;

const PATIENCE: Duration = Duration::from_secs(2);
const INTRODUCTION: Duration = Duration::from_millis(200);

/// What was found there.
pub enum Answer {
    /// Nothing.
    Nobody,
    /// A socket at which nobody listens any more.
    Abandoned,
    /// Something else.
    NoSocket,
    /// It was not let in by the kernel.
    Closed(String),
    /// It does not answer: a manager that is stopped, if that can be seen.
    Silent(Option<(i64, Stopped)>),
    /// It is of a user whom nobody here trusts.
    Foreign(u32),
    /// It was not let in by the manager.
    Refused(ErrorKind, String),
    /// What there is.
    Joined(Box<Domain>),
}

/// What there is in the domain.
pub struct Domain {
    /// But for this command.
    pub view: View,
    /// What is counted.
    pub publishers: HashMap<Id, PublisherCounts>,
    /// What is counted.
    pub pairs: HashMap<(Id, Id), PairCounts>,
    /// The manager numbers processes as this one does.
    pub sees_processes: bool,
}

impl Domain {
    /// Processes of nodes, with the names of their nodes.
    pub fn processes(&self) -> Vec<(i64, String)> {
        let mut processes: Vec<(i64, String)> = Vec::new();
        let mut nodes: Vec<&DomainNode> = self.view.nodes();
        nodes.retain(|node| self.sees_processes && node.pid > 0);
        nodes.sort_by_key(|node| node.pid);
        for node in nodes {
            match processes.last_mut().filter(|(pid, _)| *pid == node.pid) {
                Some((_, names)) => *names = format!("{names}, {}", node.name),
                None => processes.push((node.pid, node.name.clone())),
            }
        }
        processes
    }
}

/// Asks at the socket, and joins where a manager listens.
pub fn ask(host: &Host, place: &Place, user: u32) -> Answer {
    match knock(&place.socket) {
        Ok(owner) if owner != user && owner != 0 => return Answer::Foreign(owner),
        Ok(_) => {}
        Err(Errno::NOENT) => return Answer::Nobody,
        Err(Errno::CONNREFUSED) => {
            let is_socket = place.socket.symlink_metadata().is_ok_and(|file| file.file_type().is_socket());
            return if is_socket { Answer::Abandoned } else { Answer::NoSocket };
        }
        Err(Errno::AGAIN | Errno::TIMEDOUT) => return Answer::Silent(stopped(host, &place.socket)),
        Err(why) => return Answer::Closed(std::io::Error::from(why).to_string()),
    }
    if let Some(stopped) = stopped(host, &place.socket) {
        return Answer::Silent(Some(stopped));
    }
    match join(&place.socket) {
        Ok(domain) => Answer::Joined(Box::new(domain)),
        Err(why) if why.kind() == ErrorKind::Unavailable => Answer::Silent(None),
        Err(why) => Answer::Refused(why.kind(), why.to_string()),
    }
}

/// Who began to listen there.
pub fn knock(path: &Path) -> Result<u32, Errno> {
    let socket: OwnedFd = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket_peercred(&socket)?.uid.as_raw())
}

fn stopped(host: &Host, socket: &Path) -> Option<(i64, Stopped)> {
    let manager = listener(host, socket)?;
    Some((manager.pid(), manager.stopped()?))
}

fn join(socket: &Path) -> sinew::Result<Domain> {
    let name = format!("sinew-doctor-{}", std::process::id());
    let node = Node::with_options(&name, &NodeOptions { domain: socket.to_string_lossy().into_owned(), by_caller: false })?;
    let (mut state, name) = (node.domain_state()?, node.name());
    if state.pairs.values().any(|pair| pair.delivery.is_none()) {
        // Who has just come is about to be introduced.
        std::thread::sleep(INTRODUCTION);
        state = node.domain_state()?;
    }
    let own = state.nodes.values().find(|node| node.name == name);
    let sees_processes = own.is_some_and(|own| own.pid == i64::from(std::process::id()));
    let DomainCounts { publishers, pairs } = node.domain_counters()?.read()?;
    Ok(Domain {
        view: View::new(state, &name),
        publishers: publishers.into_iter().map(|counts| (counts.publisher, counts)).collect(),
        pairs: counts_of_pairs(pairs),
        sees_processes,
    })
}
