//! Who publishes in the domain what comes from a network.

use sinew::Node;
use sinew::raw::Publisher;

use crate::channels::{Meeting, ghost};
use crate::protocol::Offer;

/// A publisher that those who want it are connected with. Blocks until the manager has agreed, and until they are.
pub fn connected_ghost(node: &Node, topic: &str, signature: &str, offer: &Offer) -> sinew::Result<Publisher> {
    let publisher = ghost(node, topic, signature, offer)?;
    let mut meeting = Meeting::new();
    while !meeting.is_over(publisher.statistics().subscribers) {
        std::thread::sleep(Meeting::LOOK);
    }
    Ok(publisher)
}
