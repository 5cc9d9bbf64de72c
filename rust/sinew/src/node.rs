//! Nodes.

use std::fmt;
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr;
use std::sync::Arc;

use sinew_sys as sys;

use crate::error::{Result, check, text_at};
use crate::ffi::c_text;

/// A participant of a domain, which publishes, subscribes, calls and provides. Cheap to clone: all clones, and all that was made with them, are of one node, which leaves the domain when the last of them is dropped.
///
/// ```no_run
/// let node = sinew::Node::new("viewer")?;
/// assert_eq!(node.name(), "viewer");
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct Node(pub(crate) Arc<Handle>);

pub(crate) struct Handle {
    node: *mut sys::sinew_node,
}

// SAFETY: "Functions are thread-safe", of nodes all.
unsafe impl Send for Handle {}
// SAFETY: likewise.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) fn raw(&self) -> *mut sys::sinew_node {
        self.node
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the last that uses it.
        unsafe { sys::sinew_node_destroy(self.node) }
    }
}

/// How a node is to be.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// The domain's name, or the path of its socket. Empty: `$SINEW_DOMAIN`, else "default".
    pub domain: String,
    /// Callbacks of execution thread 0 run in [`Node::dispatch`] and [`Node::spin`] alone, on the caller's thread, and the node has an fd that tells when there are some. Else threads of the library run them.
    pub by_caller: bool,
}

impl Node {
    /// Joins the domain under `name`, or what `$SINEW_NODE` says; starts its manager when none runs. Blocks until registered: about a millisecond, at most some seconds.
    pub fn new(name: &str) -> Result<Node> {
        Node::with_options(name, &NodeOptions::default())
    }

    /// The same, with options.
    pub fn with_options(name: &str, options: &NodeOptions) -> Result<Node> {
        let (name, domain) = (c_text(name)?, c_text(&options.domain)?);
        let asked = sys::sinew_node_options {
            struct_size: size_of::<sys::sinew_node_options>() as u32,
            by_caller: options.by_caller,
            domain: domain.as_ptr(),
        };
        let mut node = ptr::null_mut();
        // SAFETY: what is given lives until it returns.
        check(unsafe { sys::sinew_node_create(name.as_ptr(), &asked, &mut node) })?;
        Ok(Node(Arc::new(Handle { node })))
    }

    /// Its name in the domain.
    pub fn name(&self) -> String {
        // SAFETY: the text lives as long as the node.
        unsafe { text_at(sys::sinew_node_name(self.0.raw())) }
    }

    /// Readable while [`dispatch`](Node::dispatch) has something to do: for poll, epoll and the loops on top of them. Not to be read. Of [`NodeOptions::by_caller`]; else [`ErrorKind::InvalidArgument`](crate::ErrorKind).
    /// Waits for another thread that is in [`spin`](Node::spin) or `dispatch` of this node: taken before that, it is there at once. Not within a callback of the node.
    pub fn fd(&self) -> Result<BorrowedFd<'_>> {
        let mut fd: RawFd = -1;
        // SAFETY: the node is there.
        check(unsafe { sys::sinew_node_fd(self.0.raw(), &mut fd) })?;
        // SAFETY: it is open as long as the node is there, which the result borrows.
        Ok(unsafe { BorrowedFd::borrow_raw(fd) })
    }

    /// Runs the callbacks that are due, of each subscriber a few at most, and returns without waiting for more. Of [`NodeOptions::by_caller`]. Waits for another thread that is in [`spin`](Node::spin) or `dispatch` of this node.
    /// Not within a callback of the node.
    pub fn dispatch(&self) -> Result<()> {
        // SAFETY: the node is there.
        check(unsafe { sys::sinew_node_dispatch(self.0.raw()) })
    }

    /// Runs callbacks until [`stop`](Node::stop) is called. Of [`NodeOptions::by_caller`]. Waits for another thread that does the same, or is in [`dispatch`](Node::dispatch). Not within a callback of the node.
    pub fn spin(&self) -> Result<()> {
        // SAFETY: the node is there.
        check(unsafe { sys::sinew_node_spin(self.0.raw()) })
    }

    /// Ends [`spin`](Node::spin), or the next one where none runs; called twice, two of them. May be called anywhere, also in a signal handler.
    pub fn stop(&self) {
        // SAFETY: the node is there.
        unsafe { sys::sinew_node_stop(self.0.raw()) }
    }

    /// Runs callbacks on the task that awaits this, whenever there are some, and never ends by itself. Of [`NodeOptions::by_caller`]. Needs a runtime of tokio with io.
    ///
    /// ```no_run
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> sinew::Result<()> {
    /// let node = sinew::Node::with_options("viewer", &sinew::NodeOptions { by_caller: true, ..Default::default() })?;
    /// tokio::select! {
    ///     ended = node.run() => ended?,
    ///     _ = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub async fn run(&self) -> Result<()> {
        use crate::error::{Error, ErrorKind};
        let system = |error: std::io::Error| Error::new(ErrorKind::System, format!("the node's fd cannot be watched: {error}"));
        // SAFETY: it is open as long as the node, which this borrows.
        let watched = unsafe { tokio::io::unix::AsyncFd::register_with_interest(self.fd()?, tokio::io::Interest::READABLE) };
        let fd = watched.map_err(|error| system(error.into()))?;
        loop {
            // Before dispatch(), which tells by the fd of what it leaves.
            fd.readable().await.map_err(system)?.clear_ready();
            self.dispatch()?;
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Node").field(&self.name()).finish()
    }
}
