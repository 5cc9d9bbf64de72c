//! Telling the domain how the gateway stands.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sinew::raw::PublisherOptions;
use sinew::{GatewayChannel, GatewayPeer, GatewayStatus, Node, Publisher};

use crate::channels::State;
use crate::protocol::{GatewayId, Kind};

/// Between two times.
const EVERY: Duration = Duration::from_secs(1);
/// Hundreds of peers with thousands of channels each have room in it.
const MEMORY: u64 = 64 << 20;

/// Publishes [`GatewayStatus`] once a second.
pub struct Teller {
    /// None: the domain does not let it.
    publisher: Option<Publisher<GatewayStatus>>,
    told: GatewayStatus,
    /// By whom the peers in `told` are.
    ids: Vec<GatewayId>,
    at: Instant,
}

impl Teller {
    /// Blocks until the manager has agreed. Where it does not, that is logged, and nothing is told.
    pub fn new(node: &Node, name: &str, address: &str) -> Teller {
        let options = PublisherOptions { memory_budget: MEMORY, max_blocking: Some(Duration::ZERO), ..PublisherOptions::default() };
        let publisher = Publisher::with_options(node, GatewayStatus::TOPIC, &GatewayStatus::qos(), options);
        let publisher = publisher.map_err(|why| log::warn!("how the gateway stands is not told in the domain: {why}")).ok();
        let told = GatewayStatus { name: name.to_owned(), node: node.name(), address: address.to_owned(), peers: Vec::new() };
        let mut teller = Teller { publisher, told, ids: Vec::new(), at: Instant::now() };
        teller.publish();
        teller
    }

    /// Until it is to tell again.
    pub fn due(&self) -> Duration {
        EVERY.saturating_sub(self.at.elapsed())
    }

    /// Tells it: the peers as they stand now, whose rates are yet to be known.
    pub fn tell(&mut self, mut now: Vec<(GatewayId, GatewayPeer)>) {
        now.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        let seconds = self.at.elapsed().as_secs_f64();
        let before: HashMap<&GatewayId, &GatewayPeer> = self.ids.iter().zip(&self.told.peers).collect();
        for (id, peer) in &mut now {
            // Who was not there before has come meanwhile, and so has what it has counted.
            since(before.get(id).copied().unwrap_or(&GatewayPeer::default()), peer, seconds);
        }
        (self.ids, self.told.peers) = now.into_iter().unzip();
        self.at = Instant::now();
        self.publish();
    }

    fn publish(&mut self) {
        let Some(publisher) = &self.publisher else { return };
        if let Err(why) = publisher.publish(&self.told) {
            log::debug!("how the gateway stands could not be told: {why}");
        }
    }
}

/// A channel, without rates, of which so many messages, bytes and lost messages were counted. Without a state it is none any more.
pub fn channel(kind: Kind, name: &str, outgoing: bool, state: Option<&State>, (messages, bytes, lost): (u64, u64, u64)) -> GatewayChannel {
    let (state, why) = match state {
        Some(State::Waiting) => ("waiting", ""),
        Some(State::Open) => ("open", ""),
        Some(State::OpenBut(why)) => ("open", why.as_str()),
        Some(State::Refused(why)) => ("refused", why.as_str()),
        None => ("closed", ""),
    };
    GatewayChannel {
        name: name.to_owned(),
        kind: kind.name().to_owned(),
        outgoing,
        state: state.to_owned(),
        why: why.to_owned(),
        messages,
        bytes,
        lost,
        ..GatewayChannel::default()
    }
}

/// The rates of a peer that was like this so many seconds ago. What counts from the begin again, as a new connection does, has had none before.
fn since(before: &GatewayPeer, now: &mut GatewayPeer, seconds: f64) {
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    now.sent_bytes_per_s = rate(now.sent_bytes, before.sent_bytes);
    now.received_bytes_per_s = rate(now.received_bytes, before.received_bytes);
    let sent = now.sent_packets.saturating_sub(before.sent_packets);
    now.loss = if sent == 0 { 0.0 } else { (now.lost_packets.saturating_sub(before.lost_packets) as f64 / sent as f64).min(1.0) };
    let channels: HashMap<_, _> =
        before.channels.iter().map(|channel| ((&channel.name, &channel.kind, channel.outgoing), channel)).collect();
    for channel in &mut now.channels {
        let before =
            channels.get(&(&channel.name, &channel.kind, channel.outgoing)).map_or((0, 0), |before| (before.messages, before.bytes));
        channel.messages_per_s = rate(channel.messages, before.0);
        channel.bytes_per_s = rate(channel.bytes, before.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(sent_bytes: u64, packets: (u64, u64), messages: u64) -> GatewayPeer {
        let channel = GatewayChannel { name: "scan".to_owned(), messages, bytes: messages * 100, ..GatewayChannel::default() };
        GatewayPeer { sent_bytes, sent_packets: packets.0, lost_packets: packets.1, channels: vec![channel], ..GatewayPeer::default() }
    }

    #[test]
    fn rates_are_those_since_the_peer_was_told_of_before() {
        let mut now = peer(3000, (110, 7), 60);
        since(&peer(1000, (100, 2), 50), &mut now, 2.0);
        assert_eq!((now.sent_bytes_per_s, now.loss), (1000.0, 0.5));
        assert_eq!((now.channels[0].messages_per_s, now.channels[0].bytes_per_s), (5.0, 500.0));
    }

    #[test]
    fn a_new_connection_counts_from_the_begin_and_has_no_negative_rates() {
        let mut now = peer(10, (1, 0), 1);
        since(&peer(1000, (100, 2), 50), &mut now, 1.0);
        assert_eq!((now.sent_bytes_per_s, now.loss, now.channels[0].messages_per_s), (0.0, 0.0, 0.0));
    }
}
