//! Whether memory can be shared as sinew shares it.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create};
use rustix::io::Errno;

use crate::doctor::{Finding, Patient};

/// Makes some, and seals it as a publisher does.
pub fn look(_: &Patient) -> Option<Finding> {
    let readers = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
    let made = memfd_create("sinew-doctor", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).and_then(|memory| {
        ftruncate(&memory, 4096)?;
        fcntl_add_seals(&memory, readers)?;
        fcntl_get_seals(&memory)
    });
    Some(judge(made.map(|seals| seals.contains(readers))))
}

fn judge(sealed: Result<bool, Errno>) -> Finding {
    let found = |why: &str| format!("memory for messages cannot be made and sealed here: {why}");
    match sealed {
        Ok(true) => Finding::ok("it can be made and sealed (memfd); neither /dev/shm nor its size matters"),
        Ok(false) => {
            Finding::problem(found("the kernel took the seals and forgot them"), "run on Linux, not on something that imitates it")
        }
        Err(Errno::PERM | Errno::ACCESS | Errno::NOSYS) => Finding::problem(
            found("the system call is refused"),
            "allow memfd_create and fcntl(F_ADD_SEALS) in the container's seccomp profile: docker run --security-opt seccomp=PROFILE.json, or try =unconfined",
        ),
        Err(Errno::INVAL) => Finding::problem(found("the kernel does not know these seals"), "install a kernel of 5.10 or later"),
        Err(why) => Finding::problem(found(&why.to_string()), "free memory and descriptors: see 'memory' and 'descriptors'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_container_that_refuses_it_is_told_of() {
        assert_eq!(judge(Ok(true)).level(), Level::Ok);
        let refused = judge(Err(Errno::PERM));
        assert!(refused.level() == Level::Problem && refused.remedy().is_some_and(|remedy| remedy.contains("seccomp")));
    }
}
