//! Whether processes can be watched.

use rustix::io::Errno;
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use crate::doctor::{Finding, Patient};

/// Watches this one.
pub fn look(_: &Patient) -> Option<Finding> {
    Some(judge(pidfd_open(getpid(), PidfdFlags::empty()).map(drop)))
}

fn judge(opened: Result<(), Errno>) -> Finding {
    match opened {
        Ok(()) => Finding::ok("the death of a peer is seen, also where a child of it has its sockets (pidfd)"),
        Err(why) => Finding::warning(
            format!("the death of a peer is not seen as long as a child of it has its sockets: pidfd_open is refused ({why})"),
            "allow pidfd_open in the container's seccomp profile, or use a kernel of 5.3 or later",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn it_goes_on_without() {
        assert_eq!((judge(Ok(())).level(), judge(Err(Errno::PERM)).level()), (Level::Ok, Level::Warning));
    }
}
