//! What is asked of the kernel and the C library, as the drivers in C++ do it.

use std::cell::Cell;
use std::io;

use crate::Result;

pub(crate) const SECOND: i64 = 1_000_000_000;

/// CLOCK_MONOTONIC in nanoseconds.
pub fn now_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * SECOND + time.tv_nsec
}

/// Absolute times, without making up for what came too late: a publisher that cannot keep up goes on as fast as it can.
pub(crate) fn sleep_until(due: i64) {
    let time = libc::timespec { tv_sec: due / SECOND, tv_nsec: due % SECOND };
    // SAFETY: `time` is there to be read, and nobody wants to know what remains.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) } == libc::EINTR {}
}

/// By the `memchr` of the C library, which all drivers read with.
pub(crate) fn contains(bytes: &[u8], byte: u8) -> bool {
    // SAFETY: it reads nothing but the slice.
    !unsafe { libc::memchr(bytes.as_ptr().cast(), byte.into(), bytes.len()) }.is_null()
}

/// Gives the calling thread this priority at SCHED_FIFO, unless it is 0.
pub(crate) fn become_fifo(priority: i32) -> Result<()> {
    thread_local!(static IS: Cell<bool> = const { Cell::new(false) });
    if priority == 0 || IS.replace(true) {
        return Ok(());
    }
    let wanted = libc::sched_param { sched_priority: priority };
    // SAFETY: `wanted` is there to be read.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &wanted) } != 0 {
        return Err(format!("SCHED_FIFO, which needs root: {}", io::Error::last_os_error()).into());
    }
    Ok(())
}
