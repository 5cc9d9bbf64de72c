//! A bad network: UDP datagrams go through it late, or not at all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::{AbortHandle, JoinSet};

use super::{Robot, all};

/// Ends when it is dropped.
pub struct Relay {
    pub address: SocketAddr,
    badness: Arc<Badness>,
    task: AbortHandle,
}

/// A base, and a drone that dials it through a relay.
pub async fn through_a_relay() -> (Robot, Relay, Robot) {
    let base = Robot::on_this_machine("base", all());
    let relay = Relay::to(base.address()).await;
    let mut drone = Robot::on_this_machine("drone", all());
    drone.stop().await;
    drone.settings.peers = vec![relay.address.to_string()];
    drone.start();
    (base, relay, drone)
}

/// What is done to datagrams, in both directions.
#[derive(Default)]
struct Badness {
    lost_percent: AtomicU32,
    delay_ms: AtomicU32,
    /// What has come since it was begun to hold them, from where it goes, and where to.
    held: Mutex<Option<Vec<Held>>>,
    /// How often those who dial have left their address, and have got another one.
    left: AtomicU32,
    arrived: AtomicU32,
}

type Held = (Vec<u8>, Arc<UdpSocket>, SocketAddr);

impl Relay {
    /// To this address, from whoever sends to the relay's.
    pub async fn to(target: SocketAddr) -> Relay {
        let socket = Arc::new(UdpSocket::bind("[::1]:0").await.expect("there is a port"));
        let address = socket.local_addr().expect("it has one");
        let badness = Arc::<Badness>::default();
        let task = tokio::spawn(forward(socket, target, Arc::clone(&badness))).abort_handle();
        Relay { address, badness, task }
    }

    /// From now on everything is lost, or nothing.
    pub fn cut(&self, is_cut: bool) {
        self.lose(if is_cut { 100 } else { 0 });
    }

    /// From now on so many percent are lost, by chance.
    pub fn lose(&self, percent: u32) {
        self.badness.lost_percent.store(percent, Ordering::Relaxed);
    }

    /// From now on each takes so long.
    pub fn delay(&self, milliseconds: u32) {
        self.badness.delay_ms.store(milliseconds, Ordering::Relaxed);
    }

    /// From now on nothing arrives at those who dial, while what they have sent does.
    pub fn leave(&self) {
        self.badness.left.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on they have another address, and are reached at that.
    pub fn arrive(&self) {
        self.badness.arrived.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on every other one is held, by chance.
    pub fn hold(&self) {
        self.badness.held.lock().expect("nobody panics with it").get_or_insert_default();
    }

    /// All that are held go at once.
    pub fn release(&self) {
        for (datagram, from, to) in self.badness.held.lock().expect("nobody panics with it").take().into_iter().flatten() {
            let _ = from.try_send_to(&datagram, to);
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Badness {
    async fn pass(&self, datagram: &[u8], from: &Arc<UdpSocket>, to: SocketAddr) {
        if fastrand::u32(..100) < self.lost_percent.load(Ordering::Relaxed) {
            return;
        }
        if let Some(held) = &mut *self.held.lock().expect("nobody panics with it")
            && fastrand::bool()
        {
            return held.push((datagram.to_vec(), Arc::clone(from), to));
        }
        match self.delay_ms.load(Ordering::Relaxed) {
            0 => _ = from.send_to(datagram, to).await,
            delay => {
                let (datagram, from) = (datagram.to_vec(), Arc::clone(from));
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(u64::from(delay))).await;
                    let _ = from.send_to(&datagram, to).await;
                });
            }
        }
    }
}

async fn forward(socket: Arc<UdpSocket>, target: SocketAddr, badness: Arc<Badness>) {
    let mut ways: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut answers = JoinSet::new();
    let mut buffer = vec![0; 65_536];
    let mut arrived = 0;
    loop {
        let Ok((size, from)) = socket.recv_from(&mut buffer).await else { continue };
        let now = badness.arrived.load(Ordering::Relaxed);
        if std::mem::replace(&mut arrived, now) != now {
            ways.clear();
        }
        let way = match ways.entry(from) {
            Entry::Occupied(way) => way.into_mut(),
            Entry::Vacant(place) => {
                let way = Arc::new(UdpSocket::bind("[::1]:0").await.expect("there is a port"));
                answers.spawn(answer(Arc::clone(&socket), Arc::clone(&way), from, Arc::clone(&badness)));
                place.insert(way)
            }
        };
        badness.pass(&buffer[..size], way, target).await;
    }
}

async fn answer(socket: Arc<UdpSocket>, way: Arc<UdpSocket>, to: SocketAddr, badness: Arc<Badness>) {
    let left = badness.left.load(Ordering::Relaxed);
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok((size, _)) = way.recv_from(&mut buffer).await else { continue };
        if badness.left.load(Ordering::Relaxed) != left {
            return;
        }
        badness.pass(&buffer[..size], &socket, to).await;
    }
}
