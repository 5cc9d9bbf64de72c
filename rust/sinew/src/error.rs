//! What can go wrong.

use std::ffi::{CStr, c_char};
use std::fmt;

use sinew_sys as sys;

/// Why something failed: what the caller can do about it, and a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

/// What the caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call itself is wrong (a bad name, a bad option): fix the call.
    InvalidArgument,
    /// Another node of the domain has this name: choose another, or set `SINEW_NODE`.
    NameTaken,
    /// The topic carries another type: the text names the first field that differs.
    TypeMismatch,
    /// The other side speaks another version of sinew.
    Incompatible,
    /// No manager could be reached or started, it does not answer, or the topic that a ghost is for is not there.
    Unavailable,
    /// This user or group may not take part in this domain, or not in this topic: the text says which rule.
    Denied,
    /// A limit or the machine's memory is used up: free something, or raise the limit.
    Exhausted,
    /// The node was destroyed, or there is no manager at the moment: the node seeks one, try again.
    Disconnected,
    /// A system call failed; the text has errno.
    System,
    /// The publisher's memory, or the machine's, is used up. Not published; counted.
    NoMemory,
    /// A reliable keep-all subscriber did not catch up in time. Not published; counted.
    WouldBlock,
    /// What was given, or came, is no stream of the type. Not published.
    InvalidMessage,
    /// The node is destroyed, or the ghost's topic is gone.
    Closed,
    /// The provider answered with an error: the text is what it said.
    Failed,
    /// No answer came in time. The provider sees the call as cancelled.
    Timeout,
    /// By the caller, or the client was destroyed.
    Cancelled,
    /// A provider that executes no request twice has gone, or a message was lost. The request was executed, or not.
    Lost,
    /// Something that a later version of the library says.
    Unknown,
}

/// What this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Error {
        Error { kind, text: text.into() }
    }

    /// What the last function that failed on this thread said.
    pub(crate) fn last(status: sys::sinew_status) -> Error {
        // SAFETY: the text lives until the next function fails on this thread.
        Error::new(kind_of(status), unsafe { text_at(sys::sinew_last_error()) })
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<sinew_msg::stream::Malformed> for Error {
    fn from(why: sinew_msg::stream::Malformed) -> Error {
        Error::new(ErrorKind::InvalidMessage, why.to_string())
    }
}

pub(crate) fn kind_of(status: sys::sinew_status) -> ErrorKind {
    match status as u32 {
        sys::SINEW_INVALID_ARGUMENT => ErrorKind::InvalidArgument,
        sys::SINEW_NAME_TAKEN => ErrorKind::NameTaken,
        sys::SINEW_TYPE_MISMATCH => ErrorKind::TypeMismatch,
        sys::SINEW_INCOMPATIBLE => ErrorKind::Incompatible,
        sys::SINEW_UNAVAILABLE => ErrorKind::Unavailable,
        sys::SINEW_DENIED => ErrorKind::Denied,
        sys::SINEW_EXHAUSTED => ErrorKind::Exhausted,
        sys::SINEW_DISCONNECTED => ErrorKind::Disconnected,
        sys::SINEW_SYSTEM => ErrorKind::System,
        sys::SINEW_NO_MEMORY => ErrorKind::NoMemory,
        sys::SINEW_WOULD_BLOCK => ErrorKind::WouldBlock,
        sys::SINEW_INVALID_MESSAGE => ErrorKind::InvalidMessage,
        sys::SINEW_CLOSED => ErrorKind::Closed,
        sys::SINEW_FAILED => ErrorKind::Failed,
        sys::SINEW_TIMEOUT => ErrorKind::Timeout,
        sys::SINEW_CANCELLED => ErrorKind::Cancelled,
        sys::SINEW_LOST => ErrorKind::Lost,
        _ => ErrorKind::Unknown,
    }
}

pub(crate) fn check(status: sys::sinew_status) -> Result<()> {
    if status as u32 == sys::SINEW_OK { Ok(()) } else { Err(Error::last(status)) }
}

/// A copy of a text of the library.
///
/// # Safety
/// It is null, or ends with a NUL and stays as it is meanwhile.
pub(crate) unsafe fn text_at(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller has promised.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
