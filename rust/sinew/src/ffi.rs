//! What calls of the library need: texts, times, closures.

use std::ffi::{CString, c_void};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// As C wants it.
pub(crate) fn c_text(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::new(ErrorKind::InvalidArgument, format!("{text:?} has a NUL in it, which no name or text may have")))
}

/// A waiting time; none is for ever.
pub(crate) fn timeout_ns(timeout: impl Into<Option<Duration>>) -> i64 {
    timeout.into().map_or(-1, nanoseconds)
}

/// Beyond 292 years it makes no difference.
pub(crate) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

pub(crate) fn duration(nanoseconds: i64) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().filter(|nanoseconds| *nanoseconds > 0).map(Duration::from_nanos)
}

/// What belongs to callbacks, given to the library as their `context`.
pub(crate) fn context_of<T: Send>(state: T) -> *mut c_void {
    Box::into_raw(Box::new(state)).cast()
}

/// The library's `release` of what context_of() made.
///
/// # Safety
/// Called once, when no callback runs nor will run.
pub(crate) unsafe extern "C" fn release<T: Send>(context: *mut c_void) {
    // SAFETY: context_of() has made it of such a box.
    drop(unsafe { Box::from_raw(context.cast::<T>()) });
}
