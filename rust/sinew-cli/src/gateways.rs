//! The gateways of a domain, by what each tells of itself.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use sinew::raw::SubscriberOptions;
use sinew::{DomainTopic, ErrorKind, GatewayChannel, GatewayStatus, Ghost, Id, Node, Subscriber};

use crate::domain::View;
use crate::failure::Done;
use crate::units::{bytes, three_digits};

/// From this part of its packets on, what a link loses is worth a look.
pub const LOSSY: f64 = 0.01;

/// How often, and how much, for people.
pub fn rates_of(channel: &GatewayChannel) -> [String; 2] {
    if channel.messages_per_s == 0.0 {
        return ["-", "-"].map(str::to_owned);
    }
    [format!("{}/s", three_digits(channel.messages_per_s)), format!("{}/s", bytes(channel.bytes_per_s))]
}

/// What a gateway told last.
#[derive(Serialize)]
pub struct Told {
    /// It.
    #[serde(flatten)]
    pub status: GatewayStatus,
    /// How long ago it told that when it was taken. Gateways tell once a second.
    pub age_ns: u64,
}

/// All of them, kept up to date.
#[derive(Default)]
pub struct Gateways {
    /// Of the topic with this id, which is another one when it has been gone.
    heard: Option<(Id, Subscriber<GatewayStatus>)>,
    /// By their nodes.
    pub told: BTreeMap<String, Told>,
}

impl Gateways {
    /// Of the domain as it is now. Blocks until the manager has agreed, where there are gateways that were not there before.
    pub fn follow(&mut self, node: &Node, view: &View) -> Done {
        let topic = topic_of(view);
        let is_there = |name: &String| view.state.nodes.values().any(|node| node.name == *name);
        self.told.retain(|node, _| is_there(node));
        match (&self.heard, topic) {
            (Some((id, _)), Some(topic)) if *id == topic.id => {}
            (_, None) => self.heard = None,
            (_, Some(topic)) => {
                self.heard = None;
                let options = SubscriberOptions { ghost: Ghost::Observer, ..SubscriberOptions::default() };
                match Subscriber::with_options(node, GatewayStatus::TOPIC, &GatewayStatus::qos(), options) {
                    Ok(subscriber) => self.heard = Some((topic.id, subscriber)),
                    // It has gone meanwhile, which the next view tells.
                    Err(why) if why.kind() == ErrorKind::Unavailable => {}
                    Err(why) => return Err(why.into()),
                }
            }
        }
        Ok(())
    }

    /// Takes what they have told meanwhile; waits for the first of it, at most so long. That their topic has gone fails only for who waits.
    pub fn take(&mut self, view: &View, timeout: Duration) -> Done {
        let Some((_, subscriber)) = &self.heard else { return Ok(()) };
        let mut timeout = timeout;
        loop {
            let message = match subscriber.take(timeout) {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                // The next view that is followed tells of it.
                Err(why) if why.kind() == ErrorKind::Closed && timeout.is_zero() => return Ok(()),
                Err(why) => return Err(why.into()),
            };
            timeout = Duration::ZERO;
            let status = message.read()?;
            // Where somebody has subscribed, those of other domains come through the gateway, too.
            if view.state.nodes.values().any(|node| node.name == status.node) {
                let info = message.info();
                let age_ns = info.receive_time_ns.saturating_sub(info.source_time_ns).try_into().unwrap_or(0);
                self.told.insert(status.node.clone(), Told { status, age_ns });
            }
        }
    }
}

/// Where gateways tell of themselves. None: there is no gateway.
pub fn topic_of(view: &View) -> Option<&DomainTopic> {
    view.state.topic(GatewayStatus::TOPIC).filter(|topic| view.endpoints(topic.id, true).any(|publisher| publisher.ghost == Ghost::No))
}
