//! Who publishes in the domain what comes from a network.

use std::time::{Duration, Instant};

use sinew::Node;
use sinew::raw::Publisher;

use crate::channels::ghost;
use crate::protocol::Offer;

/// Within which subscribers are connected with a new ghost, unless its offer is not what they ask for.
const CONNECTED: Duration = Duration::from_millis(500);
/// Where one is, others follow within this time.
const ALL: Duration = Duration::from_millis(10);

/// A publisher that those who want it are connected with: the first message may be the only one. Blocks until the manager has agreed, and until they are.
pub fn connected_ghost(node: &Node, topic: &str, signature: &str, offer: &Offer) -> sinew::Result<Publisher> {
    let publisher = ghost(node, topic, signature, offer)?;
    let opened = Instant::now();
    let (mut connected, mut since) = (0, opened);
    while opened.elapsed() < CONNECTED && (connected == 0 || since.elapsed() < ALL) {
        std::thread::sleep(Duration::from_millis(1));
        let now = publisher.statistics().subscribers;
        if now != connected {
            (connected, since) = (now, Instant::now());
        }
    }
    Ok(publisher)
}
