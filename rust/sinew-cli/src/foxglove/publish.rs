//! What clients publish: on topics that are there, and only what is of their types.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use foxglove::websocket::{ChannelView, Client, ClientChannel, ClientChannelId, ClientId, ServerListener, Status};
use sinew::msg::Type;
use sinew::msg::stream::{Malformed, Reader};
use sinew::msg::value::Value;
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Ghost, Id, Node, Qos};

use super::wishes::Wishes;
use crate::domain::{View, canonical};
use crate::output::shown;

/// What clients may do that the server tells of.
pub struct Listener {
    wishes: Arc<Wishes>,
    /// None: they may not publish.
    outlets: Option<Arc<Outlets>>,
}

impl Listener {
    /// Outlets are for what clients publish.
    pub fn new(wishes: &Arc<Wishes>, outlets: Option<Arc<Outlets>>) -> Listener {
        Listener { wishes: Arc::clone(wishes), outlets }
    }
}

/// All on tasks of the server.
impl ServerListener for Listener {
    fn on_subscribe(&self, _client: Client, channel: ChannelView) {
        self.wishes.subscribe(channel.id());
    }

    fn on_unsubscribe(&self, _client: Client, _channel: ChannelView) {
        self.wishes.unsubscribe();
    }

    fn on_client_advertise(&self, client: Client, channel: &ClientChannel) {
        if let Some(outlets) = &self.outlets
            && let Err(why) = tokio::task::block_in_place(|| outlets.open(client.id(), channel))
        {
            client.send_status(Status::error(why));
        }
    }

    fn on_client_unadvertise(&self, client: Client, channel: &ClientChannel) {
        if let Some(outlets) = &self.outlets {
            tokio::task::block_in_place(|| outlets.close(client.id(), channel.id));
        }
    }

    fn on_message_data(&self, client: Client, channel: &ClientChannel, payload: &[u8]) {
        if let Some(outlets) = &self.outlets
            && let Err(why) = tokio::task::block_in_place(|| outlets.publish(client.id(), channel.id, payload))
        {
            client.send_status(Status::error(why));
        }
    }
}

/// The publishers of clients.
pub struct Outlets {
    node: Node,
    view: Arc<Mutex<Arc<View>>>,
    outlets: Mutex<HashMap<(ClientId, ClientChannelId), Arc<Outlet>>>,
}

/// What a client publishes with. Ghosts, as a topic is not there for the sake of somebody who might publish on it.
struct Outlet {
    topic: String,
    is_json: bool,
    made: Mutex<Made>,
}

struct Made {
    topic: Id,
    ty: Type,
    qos: Qos,
    publisher: Publisher,
    /// Whose place it has taken: stays for those who come late, as long as nothing newer is published.
    before: Option<Publisher>,
}

/// For those who heard another publisher to hear the one in its place.
const HEARD: Duration = Duration::from_millis(100);
/// So many of one process, however many clients want.
const MOST: usize = 256;

impl Outlets {
    /// On the topics of the view, as it changes.
    pub fn new(node: &Node, view: &Arc<Mutex<Arc<View>>>) -> Outlets {
        Outlets { node: node.clone(), view: Arc::clone(view), outlets: Mutex::default() }
    }

    fn outlets(&self) -> MutexGuard<'_, HashMap<(ClientId, ClientChannelId), Arc<Outlet>>> {
        self.outlets.lock().expect("nobody panics with it")
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.lock().expect("nobody panics with it"))
    }

    /// At once, so that subscribers are there when the first message comes. Fails with a sentence for the client.
    fn open(&self, client: ClientId, channel: &ClientChannel) -> Result<(), String> {
        let is_json = match channel.encoding.as_str() {
            "json" => true,
            "cdr" => false,
            _ => return Err("messages are published as json or cdr, and in no other encoding".to_owned()),
        };
        if self.outlets().len() >= MOST {
            return Err(format!("clients publish on {MOST} topics already, and not on more"));
        }
        let topic = canonical(&channel.topic).to_owned();
        let made = Mutex::new(self.make(&topic, Qos::default())?);
        let outlet = Arc::new(Outlet { topic, is_json, made });
        self.outlets().insert((client, channel.id), Arc::clone(&outlet));
        // Who came while it was made was told to those that were there before.
        self.fit(&outlet, &self.view());
        Ok(())
    }

    /// Has those hear what clients publish who came later, and ask for more than was offered then.
    pub fn follow(&self, view: &View) {
        let outlets: Vec<Arc<Outlet>> = self.outlets().values().map(Arc::clone).collect();
        outlets.iter().for_each(|outlet| self.fit(outlet, view));
    }

    /// It never offers less than before, which nobody needs. What it offers cannot be changed, so another publisher does it.
    fn fit(&self, outlet: &Outlet, view: &View) {
        let mut made = outlet.made.lock().expect("nobody panics with it");
        // For a topic that is gone the next message makes another one.
        if !view.state.topics.contains_key(&made.topic) || view.fitting(made.topic, made.qos.clone()) == made.qos {
            return;
        }
        match self.make(&outlet.topic, made.qos.clone()) {
            Ok(next) => {
                let Made { publisher, before, .. } = std::mem::replace(&mut *made, next);
                let (count, begin) = (publisher.statistics().subscribers, Instant::now());
                while made.publisher.statistics().subscribers < count && begin.elapsed() < HEARD {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // Of several that took each other's places, only the first has published anything.
                made.before = before.or(Some(publisher));
            }
            Err(why) => log::warn!("topic '{}': not all subscribers hear what a client publishes: {why}", shown(&outlet.topic)),
        }
    }

    fn make(&self, name: &str, offered: Qos) -> Result<Made, String> {
        let view = self.view();
        let topic = view.state.topic(name).ok_or("only on topics that are there can be published, and this one is not")?;
        let ty = topic.signature.parse().map_err(|why| format!("topic '{name}' has a signature that is none: {why}"))?;
        let options = PublisherOptions { ghost: Ghost::Observer, ..PublisherOptions::default() };
        let qos = view.fitting(topic.id, offered);
        let publisher = Publisher::new(&self.node, name, &topic.signature, &qos, options);
        Ok(Made { topic: topic.id, ty, qos, publisher: publisher.map_err(|error| error.to_string())?, before: None })
    }

    fn close(&self, client: ClientId, channel: ClientChannelId) {
        let outlet = self.outlets().remove(&(client, channel));
        drop(outlet);
    }

    /// Fails with a sentence for the client.
    fn publish(&self, client: ClientId, channel: ClientChannelId, payload: &[u8]) -> Result<(), String> {
        // Of one that could not be opened the client was told.
        let Some(outlet) = self.outlets().get(&(client, channel)).map(Arc::clone) else { return Ok(()) };
        let mut made = outlet.made.lock().expect("nobody panics with it");
        if !self.view().state.topics.contains_key(&made.topic) {
            *made = self.make(&outlet.topic, Qos::default())?;
        }
        let stream;
        let payload = if outlet.is_json {
            stream = of_json(payload, &made.ty)?;
            &stream
        } else {
            check(payload, &made.ty).map_err(|why| format!("this is no {}: {why}", made.ty.name()))?;
            payload
        };
        made.publisher.publish(&[payload]).map_err(|error| error.to_string())?;
        made.before = None;
        Ok(())
    }
}

fn of_json(text: &[u8], ty: &Type) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(text).map_err(|why| why.to_string())?;
    let value = Value::from_json(text).map_err(|why| why.to_string())?;
    value.to_stream(ty).map_err(|why| why.to_string())
}

/// Whether it is a stream of the type.
pub fn check(stream: &[u8], ty: &Type) -> Result<(), Malformed> {
    let mut reader = Reader::new(&[stream])?;
    reader.skip_value(ty)?;
    reader.finish()
}
