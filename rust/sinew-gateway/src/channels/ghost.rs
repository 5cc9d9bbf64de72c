//! Who publishes in this domain what was published elsewhere.

use std::time::Duration;

use sinew::raw::{Publisher, PublisherOptions};
use sinew::{ErrorKind, Ghost, Node};

use crate::protocol::Offer;

/// Bytes of what was published in a domain that are kept there at most.
const MEMORY: u64 = 1 << 30;

/// One who does. Blocks until the manager has agreed.
pub(crate) fn ghost(node: &Node, topic: &str, signature: &str, offer: &Offer) -> sinew::Result<Publisher> {
    // Who is to lose nothing here makes who publishes wait; all others never do. After this time a gateway, or a bridge to ROS 2 or Zenoh, looks whether it is still to publish the message; a bridge to ROS 1 loses it.
    let max_blocking = if is_all(offer) { Duration::from_millis(100) } else { Duration::ZERO };
    let options =
        PublisherOptions { ghost: Ghost::Carrier, max_blocking: Some(max_blocking), memory_budget: MEMORY, ..PublisherOptions::default() };
    Publisher::new(node, topic, signature, &offer.qos(), options)
}

/// Whether a message of so many bytes, which such a publisher could not publish, is tried again: nothing of it is to be lost, and there is room when others were taken.
pub(crate) fn is_held_back(publisher: &Publisher, offer: &Offer, why: &sinew::Error, bytes: u64) -> bool {
    is_all(offer)
        && match why.kind() {
            ErrorKind::WouldBlock => true,
            ErrorKind::NoMemory | ErrorKind::Exhausted => {
                let now = publisher.statistics();
                bytes < MEMORY && now.subscribers > 0 && now.memory_in_use > 0
            }
            _ => false,
        }
}

/// Nothing of it is to be lost.
pub(super) fn is_all(offer: &Offer) -> bool {
    offer.depth == 0
}
