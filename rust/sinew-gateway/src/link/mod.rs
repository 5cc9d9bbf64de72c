//! How messages leave over one connection, and what the connection is like.
//!
//! QUIC would take a whole image at once, and then everything that is newer or more important waits behind it. So no more than the network has under way is handed to quinn, in small pieces, by one task for each connection ([`Outbox`]), which decides
//! as late as it can what goes next: what is most important, and of each topic what is newest. How much is under way the congestion controller decides (`controller`), which keeps queues in the network short.

mod bandwidth;
mod bell;
mod bucket;
mod budget;
mod controller;
mod copies;
mod flow;
mod gauge;
mod lane;
mod outbox;
mod queue;
mod record;
mod room;
mod sender;

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use quinn::{IdleTimeout, TransportConfig, VarInt};
use socket2::{Domain, Protocol, Socket, Type};

pub(crate) use bucket::Bucket;
pub use budget::Budget;
pub use lane::{Lane, LaneOptions, LaneStatistics};
pub use outbox::Outbox;
#[cfg(feature = "zenoh")]
pub(crate) use queue::Queue;
pub use queue::{Keep, Outgoing};
pub(crate) use room::LARGE;

/// A peer of which nothing was heard for so long is gone. Two of these signs of life may be lost.
pub(crate) const SILENCE: Duration = Duration::from_millis(7_500);
/// Between two signs of life of a connection that has nothing else to say: about 600 bit/s for both.
const SIGN_OF_LIFE: Duration = Duration::from_secs(3);
/// Messages that may arrive at a time.
const STREAMS: u32 = 1024;
/// Calls that may run at a time.
const CALLS: u32 = 1024;
/// Bytes of a stream, and of all of a connection, that may arrive before somebody has read them.
const STREAM_WINDOW: u32 = 8 << 20;
const WINDOW: u32 = 16 << 20;
/// Of these, what ordered channels may have under way that waits for its turn (G40), so that the other half is there for all else, whoever stands still.
const WAITING: u64 = WINDOW as u64 / 2;
/// Of the socket. What the kernel gives without rights is 208 KiB, and loses datagrams by thousands.
const BUFFER: usize = 8 << 20;

/// For both sides of a connection.
pub fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(IdleTimeout::try_from(SILENCE).expect("it is short")))
        .keep_alive_interval(Some(SIGN_OF_LIFE))
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_bidi_streams(VarInt::from_u32(CALLS))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(sender::FIRST_WINDOW)
        .datagram_receive_buffer_size(None)
        .congestion_controller_factory(Arc::new(controller::Factory));
    Arc::new(config)
}

/// A socket for gateways: of `[::]` for IPv4, too, and with room for what comes at once.
pub fn socket(address: SocketAddr) -> std::io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    for set in [rustix::net::sockopt::set_socket_recv_buffer_size_force, rustix::net::sockopt::set_socket_recv_buffer_size] {
        if set(&socket, BUFFER).is_ok() {
            break;
        }
    }
    let _ = socket.set_send_buffer_size(BUFFER);
    socket.bind(&address.into())?;
    Ok(socket.into())
}
