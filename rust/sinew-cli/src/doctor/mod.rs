//! `sinew doctor`: what is as it should be on this machine and in its domain, what is not, and what to do about it.

mod domain;
mod finding;
mod host;
mod installation;
mod limits;
mod machine;
pub mod neighbours;
mod process;
mod program;

use std::path::PathBuf;

pub use finding::{Finding, Level};

use domain::answer::{Answer, Domain, ask, knock};
use domain::place::{Place, place};
use host::Host;
use installation::trial::{self, Trial};

/// What is looked at.
pub struct Patient {
    host: Host,
    user: u32,
    trial: Trial,
    asked: Option<String>,
    domain: Result<(Place, Answer), Finding>,
}

impl Patient {
    /// This machine and the domain that was asked for. Looks where a manager must be asked, once for all checks.
    pub fn this(domain: Option<&str>) -> Patient {
        let (host, user) = (Host::this(), rustix::process::geteuid().as_raw());
        let found = place(&host, domain, user).map(|place| {
            let answer = ask(&host, &place, user);
            (place, answer)
        });
        Patient { trial: trial::run(&host, user), host, user, asked: domain.map(str::to_owned), domain: found }
    }

    /// What there is in the domain, where it could be joined.
    fn joined(&self) -> Option<&Domain> {
        match &self.domain {
            Ok((_, Answer::Joined(domain))) => Some(domain),
            _ => None,
        }
    }
}

/// The socket of a domain, where one listens whom the library would trust. Nobody is asked, and no manager is started.
pub fn where_a_manager_listens(domain: Option<&str>) -> Option<PathBuf> {
    let (host, user) = (Host::this(), rustix::process::geteuid().as_raw());
    let place = place(&host, domain, user).ok()?;
    let owner = knock(&place.socket).ok()?;
    (owner == user || owner == 0).then_some(place.socket)
}

/// A part of the whole.
pub struct Check {
    /// With which others it is told.
    pub section: &'static str,
    /// What it is about.
    pub name: &'static str,
    /// None: there is nothing to look at.
    pub look: fn(&Patient) -> Option<Finding>,
}

const fn check(section: &'static str, name: &'static str, look: fn(&Patient) -> Option<Finding>) -> Check {
    Check { section, name, look }
}

/// All of them, in the order in which they are told.
pub const CHECKS: [Check; 31] = [
    check("machine", "kernel", machine::kernel::look),
    check("machine", "shared memory", machine::shared_memory::look),
    check("machine", "addresses", machine::addresses::look),
    check("machine", "memory", machine::memory::look),
    check("machine", "overcommit", machine::overcommit::look),
    check("machine", "peers", machine::watching::look),
    check("machine", "clock", machine::clock::look),
    check("machine", "real time", machine::real_time::look),
    check("machine", "processor", machine::processor::look),
    check("limits", "descriptors", limits::descriptors::look),
    check("limits", "address space", limits::address_space::look),
    check("limits", "mappings", limits::mappings::look),
    check("limits", "file size", limits::file_size::look),
    check("limits", "locked memory", limits::locked::look),
    check("limits", "priorities", limits::priority::look),
    check("installation", "library", installation::library::look),
    check("installation", "manager", installation::manager_program::look),
    check("installation", "environment", installation::environment::look),
    check("installation", "configuration", installation::configuration::look),
    check("installation", "trial", installation::trial::look),
    check("domain", "folder", domain::folder::look),
    check("domain", "lock", domain::lock::look),
    check("domain", "manager", domain::manager::look),
    check("domain", "processes", domain::stopped::look),
    check("domain", "libraries", domain::libraries::look),
    check("domain", "descriptors", domain::descriptors::look),
    check("domain", "pairs", domain::pairs::look),
    check("domain", "losses", domain::losses::look),
    check("domain", "holders", domain::holders::look),
    check("domain", "publishers", domain::publishers::look),
    check("domain", "strangers", domain::strangers::look),
];
