//! The server of Foxglove's protocol.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use foxglove::websocket::Capability;
use foxglove::{Context, FoxgloveError, WebSocketServerHandle};
use tokio::runtime::{Builder, Runtime};

use super::publish::Listener;
use super::wishes::Wishes;
use crate::commands::foxglove::Foxglove;
use crate::failure::{Done, Failure};

/// Messages that wait for a client, and news for it that do. What is too much pushes messages out; who does not take news is sent away.
const QUEUE: usize = 32;
/// For clients to say goodbye, and for their calls to end.
const FAREWELL: Duration = Duration::from_millis(500);

/// It listens, on threads of its own.
pub struct Server {
    runtime: Runtime,
    handle: WebSocketServerHandle,
    address: SocketAddr,
}

impl Server {
    /// From now on.
    pub fn start(context: &Arc<Context>, asked: &Foxglove, address: SocketAddr, wishes: &Arc<Wishes>, listener: Listener) -> Done<Server> {
        let unmade = |why| Failure::Failed(format!("threads for the server cannot be had: {why}"));
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(unmade)?;
        let host = match address.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let mut capabilities = vec![Capability::Parameters, Capability::ConnectionGraph];
        capabilities.extend(asked.allow_publish.then_some(Capability::ClientPublish));
        capabilities.extend(asked.services.then_some(Capability::Services));
        let encodings: &[&str] = if asked.allow_publish || asked.services { &["cdr", "json"] } else { &[] };
        let server = context
            .websocket_server()
            .name("sinew")
            .bind(host, address.port())
            .capabilities(capabilities)
            .supported_encodings(encodings.iter().copied())
            .message_backlog_size(QUEUE)
            .parameter_handler(Arc::clone(wishes) as Arc<_>)
            .listener(Arc::new(listener));
        let handle = runtime.block_on(server.start()).map_err(|error| unbound(address, &error))?;

        let address = SocketAddr::new(address.ip(), handle.port());
        if address.ip().is_unspecified() {
            log::info!(
                "the domain is served at ws://{address}: open that in Foxglove with the name of this machine in place of {}",
                address.ip()
            );
        } else {
            log::info!("the domain is served at ws://{address}: open that in Foxglove, or {}", handle.app_url());
        }
        if !address.ip().is_loopback() {
            let what = if asked.allow_publish { "sees all topics, and may publish on them" } else { "sees all topics" };
            log::warn!("who reaches {address} {what}: there are no passwords");
        }
        Ok(Server { runtime, handle, address })
    }

    /// To tell clients something.
    pub fn handle(&self) -> &WebSocketServerHandle {
        &self.handle
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it does not listen any more: it ends that for good when it may not open another file, so many clients are there. Then somebody else may listen.
    pub fn is_deaf(&self) -> bool {
        TcpListener::bind(self.address).is_ok()
    }

    /// Ends all connections.
    pub fn end(self) {
        let farewell = self.handle.stop();
        // A client that does not read would never let it end.
        let _ = self.runtime.block_on(async { tokio::time::timeout(FAREWELL, farewell.wait()).await });
        self.runtime.shutdown_timeout(FAREWELL);
    }
}

fn unbound(address: SocketAddr, error: &FoxgloveError) -> Failure {
    let FoxgloveError::Bind(why) = error else {
        return Failure::Failed(format!("the server does not start at {address}: {error}"));
    };
    Failure::Failed(match why.kind() {
        ErrorKind::AddrInUse => {
            format!(
                "somebody listens at {address} already, maybe another `sinew foxglove`: --port gives another port, --port 0 one that is free"
            )
        }
        ErrorKind::AddrNotAvailable => {
            format!("{} is no address of this machine: --address 0.0.0.0 stands for all that it has", address.ip())
        }
        ErrorKind::PermissionDenied => format!("this user may not listen at {address}: from --port 1024 on all users may"),
        _ => format!("nobody can listen at {address}: {why}"),
    })
}
