//! Providing services with streams.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Mutex;

use sinew_msg::stream::{Malformed, Reader};
use sinew_sys as sys;

use super::frame::{extents_at, info_at};
use super::{MessageInfo, extents_of};
use crate::error::{Result, check};
use crate::ffi::{c_text, context_of, release};
use crate::ghost::Ghost;
use crate::node::Node;

/// How a provider is to be.
#[derive(Clone, Debug, Default)]
pub struct ProviderOptions {
    /// Bytes of shared memory for responses at most, until clients let go of them; 0: 1 GiB.
    pub memory_budget: u64,
    /// Calls that it has taken, and not answered when it goes away, end with [`ErrorKind::Lost`](crate::ErrorKind); else others answer them.
    pub at_most_once: bool,
    /// Only there as long as others are.
    pub ghost: Ghost,
    /// The thread that the callback runs on: 0 to 1022.
    pub execution_thread: u32,
}

/// Provides a service. Calls that were not answered when it is dropped stay to be ended.
pub struct Provider {
    provider: *mut sys::sinew_provider,
    _node: Node,
}

// SAFETY: "Functions are thread-safe", of providers all.
unsafe impl Send for Provider {}
// SAFETY: likewise.
unsafe impl Sync for Provider {}

type OnRequest = Mutex<Box<dyn FnMut(Call) + Send>>;

unsafe extern "C" fn on_request(context: *mut c_void, call: *mut sys::sinew_call) {
    // SAFETY: the library gives what it was given, and a call that is ours to end.
    let on_request = unsafe { &*context.cast::<OnRequest>() };
    on_request.lock().expect("a panic ends the process")(Call(call));
}

impl Provider {
    /// Provides `service`, whose requests and responses are of the types of these signatures, from now on. Blocks until the manager has agreed. Each call is given to `on_request`, on an execution thread of the node, one at a time; it, or
    /// somebody later, ends the call. A panic in it ends the process.
    pub fn new(
        node: &Node,
        service: &str,
        request: &str,
        response: &str,
        options: &ProviderOptions,
        callback: impl FnMut(Call) + Send + 'static,
    ) -> Result<Provider> {
        let (service, request, response) = (c_text(service)?, c_text(request)?, c_text(response)?);
        let callback: OnRequest = Mutex::new(Box::new(callback));
        let asked = sys::sinew_provider_options {
            struct_size: size_of::<sys::sinew_provider_options>() as u32,
            execution_thread: options.execution_thread,
            memory_budget: options.memory_budget,
            at_most_once: options.at_most_once,
            ghost: options.ghost.in_c(),
            on_request: Some(on_request),
            context: context_of(callback),
            release: Some(release::<OnRequest>),
        };
        let mut provider = ptr::null_mut();
        // SAFETY: what is given lives until it returns; the context belongs to the library from here on, which fits.
        check(unsafe {
            sys::sinew_provider_create(node.0.raw(), service.as_ptr(), request.as_ptr(), response.as_ptr(), &asked, &mut provider)
        })?;
        Ok(Provider { provider, _node: node.clone() })
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> ProviderStatistics {
        let mut told = sys::sinew_provider_statistics::default();
        // SAFETY: the provider is there. It fails in the child of a fork alone, and then there is nothing to tell.
        let _ = unsafe { sys::sinew_provider_get_statistics(self.provider, &mut told) };
        ProviderStatistics {
            answered: told.answered,
            failed: told.threw,
            cancelled: told.cancelled,
            undelivered: told.undelivered,
            excess: told.excess,
            rejected: told.rejected,
            running: told.running,
            bytes_copied: told.bytes_copied,
            clients: told.clients,
            detached: told.detached,
        }
    }
}

impl Drop for Provider {
    /// Waits for its running callback, unless called in it.
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { sys::sinew_provider_destroy(self.provider) }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Provider").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

/// A request that is to be answered, on any thread, at once or later. A client has at most 256 of them with a provider, one of another user 8. One that is dropped fails, and the text says that there is no answer.
pub struct Call(*mut sys::sinew_call);

// SAFETY: "on any thread", says the header of ending it.
unsafe impl Send for Call {}
// SAFETY: what borrows it only reads.
unsafe impl Sync for Call {}

impl Call {
    /// The parts of the request, which joined are the stream.
    pub fn extents(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        // SAFETY: the request is there as long as the call, which the result borrows.
        unsafe { extents_at(sys::sinew_call_request(self.0)) }
    }

    /// To read the request where it lies.
    pub fn reader(&self) -> std::result::Result<Reader<'_>, Malformed> {
        Reader::new(&self.extents().collect::<Vec<_>>())
    }

    /// Where the request is from: `publisher` is the name of the client's node.
    pub fn info(&self) -> MessageInfo {
        // SAFETY: the request is there as long as the call.
        unsafe { info_at(sys::sinew_call_request(self.0)) }
    }

    /// Nobody waits for the response any more: the call was cancelled, has taken too long, or the client has gone. It is to be ended nevertheless.
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: the call is there.
        unsafe { sys::sinew_call_is_cancelled(self.0) }
    }

    /// Sends the response, which the parts, joined, are. Where that fails, the client is told, if it is there.
    pub fn answer(self, response: &[&[u8]]) -> Result<()> {
        let this = ManuallyDrop::new(self);
        let extents = extents_of(response);
        // SAFETY: the parts live until it returns; the call is gone with this.
        check(unsafe { sys::sinew_call_answer(this.0, extents.as_ptr(), extents.len()) })
    }

    /// The call ends with [`ErrorKind::Failed`](crate::ErrorKind) and the text, of which 64 KiB are sent.
    pub fn fail(self, text: &str) -> Result<()> {
        let text = c_text(&text.replace('\0', "\u{fffd}"))?;
        let this = ManuallyDrop::new(self);
        // SAFETY: the call is gone with this.
        check(unsafe { sys::sinew_call_fail(this.0, text.as_ptr()) })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // SAFETY: it was not ended.
        unsafe { sys::sinew_call_release(self.0) }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Call").field("info", &self.info()).finish_non_exhaustive()
    }
}

/// Counts of a provider since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderStatistics {
    /// Requests.
    pub answered: u64,
    /// Requests that were answered with an error.
    pub failed: u64,
    /// Requests nobody waited for any more when they had been executed, or before.
    pub cancelled: u64,
    /// Responses whose client did not take those before.
    pub undelivered: u64,
    /// Requests of clients that had more here than they may; dropped.
    pub excess: u64,
    /// Requests that could not be read, or that there was no memory to receive; their clients were told.
    pub rejected: u64,
    /// Requests received and not answered.
    pub running: u64,
    /// Of responses, for other processes of this user.
    pub bytes_copied: u64,
    /// Connected now.
    pub clients: u64,
    /// It is a ghost, and its service is gone.
    pub detached: bool,
}
