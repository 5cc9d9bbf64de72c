//! Finding gateways on the local link (G28, G29), by IPv6 multicast.
//!
//! Interfaces are looked at every two seconds; one that comes is joined and announced on, one that goes is forgotten. What a gateway sends is a datagram of 25 bytes for each interface, at intervals that grow to twenty seconds: with all headers 35 bit/s.

mod announcement;
mod interfaces;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;

use crate::config;
use crate::protocol::GatewayId;
use announcement::Announcement;
use interfaces::{Interface, usable};

/// (G28)
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0x5369, 0x6e65);
const PORT: u16 = 7464;
/// Between two looks at the interfaces.
const LOOK: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(20);
/// Who was not heard for so long is new when it is heard again.
const FORGOTTEN: Duration = Duration::from_secs(65);
/// So many are remembered at most, and others not told of: strangers can make up as many as they like.
const MOST_KNOWN: usize = 256;

/// Somebody on the local link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Of the gateway.
    pub id: GatewayId,
    /// Where it can be dialed, with the interface as the scope.
    pub address: SocketAddr,
    /// It says that it ends.
    pub leaving: bool,
}

/// Announces this gateway, and hears others. When it is dropped, it says that this one leaves.
pub struct Discovery {
    socket: UdpSocket,
    wanted: Vec<String>,
    own: Announcement,
    joined: HashMap<u32, Joined>,
    known: HashMap<GatewayId, (SocketAddr, Instant)>,
    look: Instant,
}

/// An interface that is used.
struct Joined {
    name: String,
    next: Instant,
    pause: Duration,
}

impl Discovery {
    /// Of the gateway with this id, which can be dialed at this port. On a tokio runtime. Fails where there is no IPv6.
    pub fn start(config: &config::Discovery, id: GatewayId, port: u16) -> io::Result<Discovery> {
        let socket = Socket::new(Domain::IPV6, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_only_v6(true)?;
        // Several gateways of a machine hear everything.
        socket.set_reuse_address(true)?;
        socket.set_multicast_hops_v6(1)?;
        socket.set_multicast_loop_v6(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT)).into())?;
        Ok(Discovery {
            socket: UdpSocket::from_std(socket.into())?,
            wanted: config.interfaces.clone(),
            own: Announcement { id, port, leaving: false },
            joined: HashMap::new(),
            known: HashMap::new(),
            look: Instant::now(),
        })
    }

    /// The next gateway that is new, has another address, or leaves. Nothing is announced while this is not awaited; may be dropped at any time.
    pub async fn next(&mut self) -> Found {
        let mut buffer = [0; Announcement::SIZE + 1];
        loop {
            let due = self.joined.values().map(|joined| joined.next).min().map_or(self.look, |next| next.min(self.look));
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => self.tend(),
                heard = self.socket.recv_from(&mut buffer) => {
                    if let Ok((size, SocketAddr::V6(from))) = heard
                        && let Some(announcement) = Announcement::decode(&buffer[..size])
                        && let Some(found) = self.hear(announcement, from)
                    {
                        return found;
                    }
                }
            }
        }
    }

    /// When it is heard again, it is told of.
    pub fn forget(&mut self, id: &GatewayId) {
        self.known.remove(id);
    }

    fn hear(&mut self, said: Announcement, from: SocketAddrV6) -> Option<Found> {
        if said.id == self.own.id || !self.is_on_the_link(&from) {
            return None;
        }
        let now = Instant::now();
        let address = SocketAddr::V6(SocketAddrV6::new(*from.ip(), said.port, 0, from.scope_id()));
        let found = Found { id: said.id, address, leaving: said.leaving };
        if said.leaving {
            return self.known.remove(&said.id).map(|_| found);
        }
        self.known.retain(|_, (_, heard)| now.duration_since(*heard) < FORGOTTEN);
        if self.known.len() >= MOST_KNOWN && !self.known.contains_key(&said.id) {
            return None;
        }
        match self.known.insert(said.id, (address, now)) {
            Some((known, _)) if known == address => None,
            known => {
                if known.is_none() {
                    // So that it hears of this one as soon.
                    self.announce(from.scope_id());
                }
                Some(found)
            }
        }
    }

    /// It comes from an interface that is used, or from this machine: no router brings such addresses. What is not said to the group comes from anywhere else.
    fn is_on_the_link(&self, from: &SocketAddrV6) -> bool {
        from.ip().is_loopback() || from.ip().is_unicast_link_local() && self.joined.contains_key(&from.scope_id())
    }

    /// Looks at the interfaces, and announces where it is due.
    fn tend(&mut self) {
        let now = Instant::now();
        if now >= self.look {
            self.look = now + LOOK;
            self.follow(usable(&self.wanted), now);
        }
        let due: Vec<u32> = self.joined.iter().filter(|(_, joined)| joined.next <= now).map(|(index, _)| *index).collect();
        for index in due {
            self.announce(index);
            if let Some(joined) = self.joined.get_mut(&index) {
                joined.next = now + joined.pause;
                joined.pause = (joined.pause * 2).min(LAST_PAUSE);
            }
        }
    }

    fn follow(&mut self, usable: Vec<Interface>, now: Instant) {
        self.joined.retain(|index, joined| usable.iter().any(|interface| interface.index == *index && interface.name == joined.name));
        for Interface { index, name } in usable {
            if self.joined.contains_key(&index) {
                continue;
            }
            // It may be a member still, from before the interface went down.
            match self.socket.join_multicast_v6(&GROUP, index) {
                Err(why) if why.kind() != io::ErrorKind::AddrInUse => log::debug!("gateways cannot be found on {name}: {why}"),
                _ => _ = self.joined.insert(index, Joined { name, next: now, pause: FIRST_PAUSE }),
            }
        }
    }

    /// What cannot be sent now is sent the next time.
    fn announce(&self, index: u32) {
        let _ = self.socket.try_send_to(&self.own.encode(), SocketAddr::V6(SocketAddrV6::new(GROUP, PORT, 0, index)));
    }
}

impl Drop for Discovery {
    fn drop(&mut self) {
        self.own.leaving = true;
        for index in self.joined.keys() {
            self.announce(*index);
        }
    }
}
