//! Whether the addresses at which messages are read in place are free.

use std::ptr::{self, without_provenance_mut};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::doctor::{Finding, Patient};

const PAGE: usize = 4096;
const GIB: usize = 1 << 30;

/// From where to where windows of publishers lie: where there are 47 bits of address, and where there are fewer (src/os/memory.hpp).
const RANGES: [(usize, usize); 2] = [(0x2000_0000_0000, 0x5000_0000_0000), (64 * GIB, 320 * GIB)];

/// Tries both ends of each.
pub fn look(_: &Patient) -> Option<Finding> {
    let is_free = RANGES.map(|(begin, end)| can_be_mapped(begin) && can_be_mapped(end - PAGE));
    Some(judge(is_free))
}

fn judge(is_free: [bool; 2]) -> Finding {
    match is_free {
        [true, _] => Finding::ok("those of windows are free, from 0x200000000000 to 0x500000000000"),
        [false, true] => Finding::ok("those of windows are free, from 64 to 320 GiB, as this process has few of them"),
        [false, false] => Finding::problem(
            "there is no room for windows: messages cannot be read where they lie, and no manager can start",
            "ulimit -v unlimited; and run without what takes addresses, as sanitizers do",
        ),
    }
}

fn can_be_mapped(address: usize) -> bool {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
    let wanted = without_provenance_mut(address);
    // SAFETY: nothing is mapped over: the kernel refuses an address that is taken, or takes it for a wish.
    let Ok(mapped) = (unsafe { mmap_anonymous(wanted, PAGE, ProtFlags::empty(), flags) }) else { return false };
    // SAFETY: it is this page, of which nobody knows.
    let _ = unsafe { munmap(mapped, PAGE) };
    ptr::eq(mapped, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn an_address_is_free_when_nothing_is_there() {
        let taken = Box::new([0_u8; PAGE]);
        assert!(!can_be_mapped(ptr::from_ref(&*taken).addr() / PAGE * PAGE));
        assert_eq!(judge([false, false]).level(), Level::Problem);
    }
}
