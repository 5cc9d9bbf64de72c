//! Dialing, until it is no longer wanted.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quinn::{ClientConfig, Endpoint};

use super::handshake::Refused;
use super::{Shared, explained, session, shown};
use crate::protocol::GatewayId;

/// The first pause after a failure, which doubles up to the last one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LAST_PAUSE: Duration = Duration::from_secs(5);
/// After what will not change soon.
const LONG_PAUSE: Duration = Duration::from_secs(30);
/// The port of gateways.
pub const PORT: u16 = 7463;
/// Of certificates nobody expects a name: that of the peer is looked at when it is known.
const SERVER_NAME: &str = "sinew";

/// What dialers need.
pub struct Dialer {
    /// Where from.
    pub endpoint: Endpoint,
    /// What is shown to who is dialed; may change at any time.
    pub client: Mutex<ClientConfig>,
    /// What connections share.
    pub shared: Arc<Shared>,
}

impl Dialer {
    /// Connects once, and serves the connection until it is over.
    async fn once(&self, address: SocketAddr) -> Refused {
        let failed = |why: String| Refused { why, known: None, is_final: false, was_up: false };
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let connecting = match self.endpoint.connect_with(client, address, SERVER_NAME) {
            Ok(connecting) => connecting,
            Err(why) => return failed(why.to_string()),
        };
        match connecting.await {
            Ok(connection) => {
                // A task of its own: a connection that there is outlives the wish to dial.
                let shared = Arc::clone(&self.shared);
                let session = tokio::spawn(async move { session::run(connection, true, &shared, None).await });
                session.await.unwrap_or_else(|why| failed(why.to_string()))
            }
            Err(why) => failed(explained(&why)),
        }
    }

    /// Dials a peer that the configuration names, again and again. `peer` is "host:port" or "host".
    pub async fn dial(&self, peer: &str) {
        let mut trouble = Trouble::new(peer);
        loop {
            let (host, port) = host_and_port(peer);
            let addresses: Vec<SocketAddr> = match tokio::net::lookup_host((host, port)).await {
                Ok(addresses) => addresses.collect(),
                Err(why) => {
                    trouble.pause(&format!("its name has no address: {why}"), false, &self.shared).await;
                    continue;
                }
            };
            if addresses.is_empty() {
                trouble.pause("its name has no address", false, &self.shared).await;
            }
            for address in addresses {
                let refused = self.once(self.fitting(address)).await;
                trouble.after(refused, &self.shared).await;
            }
        }
    }

    /// Dials a peer that was found, and again when the connection was lost, until so many tries in a row have failed.
    pub async fn dial_found(&self, id: GatewayId, address: SocketAddr) {
        const TRIES: u32 = 10;
        let mut trouble = Trouble::new(&shown(address).to_string());
        let mut failed = 0;
        while failed < TRIES {
            self.shared.known.wait_until_gone(&id).await;
            let refused = self.once(self.fitting(address)).await;
            failed = if refused.was_up { 0 } else { failed + 1 };
            trouble.after(refused, &self.shared).await;
        }
    }

    /// As the socket can reach it.
    fn fitting(&self, address: SocketAddr) -> SocketAddr {
        match (address, self.endpoint.local_addr()) {
            (SocketAddr::V4(v4), Ok(SocketAddr::V6(_))) => SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port()),
            _ => address,
        }
    }
}

/// Of "host:port" or "host", where an IPv6 address stands in brackets if a port follows; the usual port where none is said.
fn host_and_port(peer: &str) -> (&str, u16) {
    let (host, port) = match peer.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) {
        // Else it is the end of an address.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port),
        _ => (peer, PORT),
    };
    (host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host), port)
}

/// How often it went wrong, and what was said of it.
struct Trouble {
    peer: String,
    pause: Duration,
    said: String,
}

impl Trouble {
    fn new(peer: &str) -> Trouble {
        Trouble { peer: peer.to_owned(), pause: FIRST_PAUSE, said: String::new() }
    }

    /// Waits as long as makes sense.
    async fn after(&mut self, refused: Refused, shared: &Shared) {
        if refused.was_up {
            self.pause = FIRST_PAUSE;
            self.said.clear();
        }
        match refused.known {
            Some(id) => {
                shared.known.wait_until_gone(&id).await;
                self.pause = FIRST_PAUSE;
                self.said.clear();
                tokio::time::sleep(self.pause).await;
            }
            None => self.pause(&refused.why, refused.is_final, shared).await,
        }
    }

    /// Says what is new.
    async fn pause(&mut self, why: &str, is_final: bool, shared: &Shared) {
        if self.said != why {
            shared.dialed.warn(&format!("no connection with {}: {why}; it will be tried again", self.peer));
            why.clone_into(&mut self.said);
        }
        let pause = if is_final { LONG_PAUSE } else { self.pause };
        self.pause = (self.pause * 2).min(LAST_PAUSE);
        // Not all at once, where many have lost one peer.
        tokio::time::sleep(pause.mul_f64(0.75 + 0.5 * fraction())).await;
    }
}

/// By lot, from 0 to 1.
fn fraction() -> f64 {
    let mut bytes = [0; 4];
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_a_host_and_a_port_or_a_host_alone() {
        let cases = [
            ("base.local", ("base.local", PORT)),
            ("base.local:7000", ("base.local", 7000)),
            ("192.168.1.2", ("192.168.1.2", PORT)),
            ("192.168.1.2:7000", ("192.168.1.2", 7000)),
            ("fd09::1", ("fd09::1", PORT)),
            ("fd09::7000", ("fd09::7000", PORT)),
            ("[fd09::1]", ("fd09::1", PORT)),
            ("[fd09::1]:7000", ("fd09::1", 7000)),
            ("[fe80::1%wlan0]", ("fe80::1%wlan0", PORT)),
        ];
        for (peer, expected) in cases {
            assert_eq!(host_and_port(peer), expected, "{peer}");
        }
    }
}
