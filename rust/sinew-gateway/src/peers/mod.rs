//! Who the gateway is connected with: dialing, being dialed, one connection for each peer, again when it is lost.

mod dial;
mod expel;
mod handshake;
mod known;
mod session;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::{ConnectionError, Endpoint, VarInt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lines::Lines;
use crate::link::Budget;
use crate::protocol::{Closed, Control, GatewayId, Had, Hello};
use crate::security;

pub use dial::{Dialer, PORT};
pub use expel::expel;
pub use known::Known;
pub use session::Session;

/// Handshakes of strangers at a time: who comes beyond waits for the next try.
const MOST_HANDSHAKES: usize = 64;
/// For so long each has such a place until it has shaken hands, and again until it has said who it is: who has not then is no gateway.
const PATIENCE: Duration = Duration::from_secs(5);

/// What happens to connections.
pub enum PeerEvent {
    /// There is one. If there was one with the same id, that is over.
    Up(Arc<Session>),
    /// Its peer says something, other than Hello and Ready. When the place is free again, it may say more: to be dropped when this was dealt with.
    Heard(u64, Control, OwnedSemaphorePermit),
    /// That of this number is over.
    Down {
        /// Of the session.
        number: u64,
        /// As a sentence.
        why: String,
        /// The peer has said that it leaves: it is not to be waited for.
        has_left: bool,
    },
}

/// What there is for peers of a tag.
pub type LetsOut = dyn Fn(&str) -> Vec<Had> + Send + Sync;

/// What all connections of this gateway share.
pub struct Shared {
    /// What we say of ourselves.
    pub hello: Hello,
    /// The connections that there are.
    pub known: Known,
    /// Of all of them together.
    pub budget: Arc<Budget>,
    /// Who is to hear of them. Called on tasks; must not block.
    pub tell: Box<dyn Fn(PeerEvent) + Send + Sync>,
    /// Whether a node of that name, other than ours, is in our domain.
    pub is_in_domain: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// What our domain has that rules let out to peers of that tag.
    pub catalogue: Box<LetsOut>,
    /// What the log says of those who are no peers.
    pub strangers: Lines,
    /// And of those who are dialed in vain.
    pub dialed: Lines,
}

impl Shared {
    /// Ours.
    pub fn id(&self) -> GatewayId {
        self.hello.id
    }
}

/// Takes whoever dials, until the endpoint is closed.
pub async fn accept(endpoint: Endpoint, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(MOST_HANDSHAKES));
    while let Some(incoming) = endpoint.accept().await {
        // Half of the places are for those who can be answered, so that nobody who invents addresses takes them all.
        if room.available_permits() <= MOST_HANDSHAKES / 2 && !incoming.remote_address_validated() {
            // It may, as it has not shown that it can be answered.
            let _ = incoming.retry();
            continue;
        }
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            incoming.refuse();
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let address = incoming.remote_address();
            // What is limited besides is the time of silence, which some packets now and then prolong.
            match tokio::time::timeout(PATIENCE, incoming.into_future()).await {
                Ok(Ok(connection)) => {
                    _ = session::run(connection, false, &shared, Some(permit)).await;
                }
                Ok(Err(why)) => shared.strangers.warn(&format!("{} has dialed, and was refused: {}", shown(address), explained(&why))),
                Err(_) => {
                    let seconds = PATIENCE.as_secs();
                    shared.strangers.warn(&format!("{} has dialed, and has not shaken hands for {seconds} s", shown(address)));
                }
            }
        });
    }
}

/// How a connection ended, as a sentence.
pub fn explained(error: &ConnectionError) -> String {
    if let Some(why) = security::explained(error) {
        return why;
    }
    match error {
        ConnectionError::ApplicationClosed(closed) => {
            let said = String::from_utf8_lossy(&closed.reason);
            let why = match closed.error_code.into_inner() {
                0 => "the peer has left",
                1 => "the peer says that this gateway violates the protocol",
                2 => "this gateway has dialed itself",
                3 => "there is another connection with this peer",
                4 => "the peer is in the same domain",
                5 => "the peer speaks another version of the protocol",
                6 => "the peer does not take what this gateway has shown it any more: look at the certificates on both sides",
                _ => "the peer has closed the connection",
            };
            if said.is_empty() { why.to_owned() } else { format!("{why}: {}", printable(&said)) }
        }
        ConnectionError::ConnectionClosed(closed) => format!("the peer has ended it: {}", printable(&closed.to_string())),
        ConnectionError::TimedOut => "nothing was heard of the peer any more".to_owned(),
        ConnectionError::Reset => "the peer does not know this connection any more: it was started anew".to_owned(),
        ConnectionError::LocallyClosed => "this gateway has closed it".to_owned(),
        other => other.to_string(),
    }
}

fn close(connection: &quinn::Connection, code: Closed, why: &str) {
    connection.close(VarInt::from_u32(code as u32), why.as_bytes());
}

/// Without what would harm a terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

/// An IPv4 address as such.
pub fn shown(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
