//! Calling services with streams.

use std::ffi::{c_char, c_void};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sinew_sys as sys;

use super::{Frame, extents_of};
use crate::error::{Error, Result, check, kind_of, text_at};
use crate::ffi::{c_text, timeout_ns};
use crate::ghost::Ghost;
use crate::node::Node;

/// How a client is to be.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// Only there as long as others are.
    pub ghost: Ghost,
    /// Bytes of shared memory for requests on their way at most; 0: 1 GiB.
    pub memory_budget: u64,
}

/// Calls a service. It need not have a provider: calls wait for one. Cheap to clone: all clones are one client.
#[derive(Clone)]
pub struct Client(Arc<Handle>);

struct Handle {
    client: *mut sys::sinew_client,
    _node: Node,
}

// SAFETY: "Functions are thread-safe", of clients all.
unsafe impl Send for Handle {}
// SAFETY: likewise.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { sys::sinew_client_destroy(self.client) }
    }
}

impl Client {
    /// A client of `service`, whose requests and responses are of the types of these signatures. Blocks until the manager has agreed. [`ErrorKind::TypeMismatch`](crate::ErrorKind) where the service has others.
    pub fn new(node: &Node, service: &str, request: &str, response: &str, options: &ClientOptions) -> Result<Client> {
        let (service, request, response) = (c_text(service)?, c_text(request)?, c_text(response)?);
        let asked = sys::sinew_client_options {
            struct_size: size_of::<sys::sinew_client_options>() as u32,
            ghost: options.ghost.in_c(),
            memory_budget: options.memory_budget,
        };
        let mut client = ptr::null_mut();
        // SAFETY: what is given lives until it returns.
        check(unsafe {
            sys::sinew_client_create(node.0.raw(), service.as_ptr(), request.as_ptr(), response.as_ptr(), &asked, &mut client)
        })?;
        Ok(Client(Arc::new(Handle { client, _node: node.clone() })))
    }

    /// Calls the service and waits for the response, at most `timeout`; none is for ever. The parts, joined, are the request. Not on the execution thread that is to answer.
    pub fn call(&self, request: &[&[u8]], timeout: impl Into<Option<Duration>>) -> Result<Frame> {
        let extents = extents_of(request);
        let mut response = ptr::null_mut();
        // SAFETY: the parts live until it returns.
        check(unsafe { sys::sinew_client_call(self.0.client, extents.as_ptr(), extents.len(), timeout_ns(timeout), &mut response) })?;
        // SAFETY: it is ours from now on.
        Ok(unsafe { Frame::of(response) })
    }

    /// The same without waiting: what is returned is a future of any runtime. The call is made at once; dropping the future cancels it.
    pub fn start(&self, request: Vec<u8>, timeout: impl Into<Option<Duration>>) -> Result<Response> {
        let shared = Arc::new(Shared { state: Mutex::new(State { ended: None, waker: None }), request });
        let extents = extents_of(&[&shared.request]);
        let context = Arc::into_raw(Arc::clone(&shared)).cast_mut().cast::<c_void>();
        let mut number = 0;
        // SAFETY: the request lives in what the callback gets, which is called once if this succeeds, and else not.
        let started = check(unsafe {
            let (extents, count) = (extents.as_ptr(), extents.len());
            sys::sinew_client_call_async(self.0.client, extents, count, timeout_ns(timeout), Some(on_response), context, &mut number)
        });
        if let Err(error) = started {
            // SAFETY: nobody else has it.
            drop(unsafe { Arc::from_raw(context.cast::<Shared>()) });
            return Err(error);
        }
        Ok(Response { client: self.clone(), shared, number })
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> ClientStatistics {
        let mut told = sys::sinew_client_statistics::default();
        // SAFETY: the client is there. It fails in the child of a fork alone, and then there is nothing to tell.
        let _ = unsafe { sys::sinew_client_get_statistics(self.0.client, &mut told) };
        ClientStatistics {
            calls: told.calls,
            answered: told.answered,
            failed: told.failed,
            resent: told.resent,
            strays: told.strays,
            rejected: told.rejected,
            pending: told.pending,
            bytes_copied: told.bytes_copied,
            providers: told.providers,
            detached: told.detached,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Client").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

/// A response that is to come.
#[must_use = "dropping it cancels the call"]
pub struct Response {
    client: Client,
    shared: Arc<Shared>,
    number: u64,
}

struct Shared {
    state: Mutex<State>,
    request: Vec<u8>,
}

struct State {
    ended: Option<Result<Frame>>,
    waker: Option<Waker>,
}

unsafe extern "C" fn on_response(context: *mut c_void, status: sys::sinew_status, response: *mut sys::sinew_frame, error: *const c_char) {
    // SAFETY: start() has given it away, for this one call.
    let shared = unsafe { Arc::from_raw(context.cast::<Shared>()) };
    let ended = if status as u32 == sys::SINEW_OK {
        // SAFETY: it is ours from now on.
        Ok(unsafe { Frame::of(response) })
    } else {
        // SAFETY: the text lives as long as this runs.
        Err(Error::new(kind_of(status), unsafe { text_at(error) }))
    };
    let waker = {
        let mut state = shared.state.lock().expect("nobody panics with it");
        state.ended = Some(ended);
        state.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Future for Response {
    type Output = Result<Frame>;
    fn poll(self: Pin<&mut Response>, context: &mut Context<'_>) -> Poll<Result<Frame>> {
        let mut state = self.shared.state.lock().expect("nobody panics with it");
        match state.ended.take() {
            Some(ended) => Poll::Ready(ended),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        // SAFETY: the client is there. Of a call that has ended it does nothing.
        unsafe { sys::sinew_client_cancel(self.client.0.client, self.number) }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Response").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Counts of a client since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientStatistics {
    /// Calls made.
    pub calls: u64,
    /// Of them.
    pub answered: u64,
    /// With an error.
    pub failed: u64,
    /// Requests that went to another provider, because the one before has gone without an answer.
    pub resent: u64,
    /// Responses to nothing that was asked, or not of whom was asked; dropped.
    pub strays: u64,
    /// Responses that could not be read, or that there was no memory to receive; their calls have failed.
    pub rejected: u64,
    /// Calls that wait now.
    pub pending: u64,
    /// Of requests, for other processes of this user.
    pub bytes_copied: u64,
    /// Connected now.
    pub providers: u64,
    /// It is a ghost, and its service is gone.
    pub detached: bool,
}
