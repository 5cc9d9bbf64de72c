//! A bad network: UDP datagrams go through it until it is cut.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::UdpSocket;
use tokio::task::{AbortHandle, JoinSet};

/// Ends when it is dropped.
pub struct Relay {
    pub address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Relay {
    /// To this address, from whoever sends to the relay's.
    pub async fn to(target: SocketAddr) -> Relay {
        let socket = Arc::new(UdpSocket::bind("[::1]:0").await.expect("there is a port"));
        let address = socket.local_addr().expect("it has one");
        let is_cut = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(forward(socket, target, Arc::clone(&is_cut))).abort_handle();
        Relay { address, is_cut, task }
    }

    /// From now on everything is lost, or nothing.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(socket: Arc<UdpSocket>, target: SocketAddr, is_cut: Arc<AtomicBool>) {
    let mut ways: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut answers = JoinSet::new();
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok((size, from)) = socket.recv_from(&mut buffer).await else { continue };
        if is_cut.load(Ordering::Relaxed) {
            continue;
        }
        let way = match ways.entry(from) {
            Entry::Occupied(way) => way.into_mut(),
            Entry::Vacant(place) => {
                let way = Arc::new(UdpSocket::bind("[::1]:0").await.expect("there is a port"));
                answers.spawn(answer(Arc::clone(&socket), Arc::clone(&way), from, Arc::clone(&is_cut)));
                place.insert(way)
            }
        };
        let _ = way.send_to(&buffer[..size], target).await;
    }
}

async fn answer(socket: Arc<UdpSocket>, way: Arc<UdpSocket>, to: SocketAddr, is_cut: Arc<AtomicBool>) {
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok((size, _)) = way.recv_from(&mut buffer).await else { continue };
        if !is_cut.load(Ordering::Relaxed) {
            let _ = socket.send_to(&buffer[..size], to).await;
        }
    }
}
