//! What clients publish: on topics that are there, and only what is of their types.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
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

/// What a client publishes with, also while the topic is not there.
struct Outlet {
    topic: String,
    is_json: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    made: Option<Made>,
    /// Why what it publishes is lost, as its client was told. None: of what is lost next it is to be told.
    told: Option<String>,
    /// Until the publisher is heard.
    waiting: VecDeque<Vec<u8>>,
}

/// A ghost, as a topic is not there for the sake of somebody who might publish on it.
struct Made {
    topic: Id,
    ty: Type,
    qos: Qos,
    publisher: Publisher,
    /// Whose place it has taken: stays for those who come late, as long as nothing newer is published.
    before: Option<Publisher>,
    /// So many were on the topic when it was made.
    subscribers: u64,
    at: Instant,
}

/// So long a message waits for those on the topic to hear a publisher that was just made. No longer: one of them may hang, and somebody may steer by hand.
const HEARD: Duration = Duration::from_secs(1);
/// Between two looks whether they do.
const OFTEN: Duration = Duration::from_millis(1);
/// So many wait at most, as for a client that is slow: newer ones push the oldest out.
const MOST_WAITING: usize = 32;
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
        let outlet = Arc::new(Outlet { topic: canonical(&channel.topic).to_owned(), is_json, state: Mutex::default() });
        // Also where its topic is not there: it may come.
        self.outlets().insert((client, channel.id), Arc::clone(&outlet));
        self.fit(&outlet.topic, &mut outlet.state())
    }

    /// Has those hear what clients publish who came later, also with their topic, and ask for more than was offered then.
    pub fn follow(&self) {
        let outlets: Vec<Arc<Outlet>> = self.outlets().values().map(Arc::clone).collect();
        for outlet in outlets {
            let mut state = outlet.state();
            // Of one that serves nobody the client is told when it publishes.
            if let Err(why) = self.fit(&outlet.topic, &mut state)
                && self.serves(&outlet.topic, &state)
            {
                log::warn!("topic '{}': not all subscribers hear what a client publishes: {why}", shown(&outlet.topic));
            }
        }
    }

    /// Whether there is a publisher on the topic as it is now.
    fn serves(&self, name: &str, state: &State) -> bool {
        let topic = self.view().state.topic(name).map(|topic| topic.id);
        topic.is_some_and(|topic| state.made.as_ref().is_some_and(|made| made.is_on(topic)))
    }

    /// It never offers less than before, which nobody needs. What it offers cannot be changed, so another publisher does it. Fails with a sentence for the client.
    fn fit(&self, name: &str, state: &mut State) -> Result<(), String> {
        let view = self.view();
        let Some(topic) = view.state.topic(name) else {
            return Err(format!(
                "only on topics that are there can be published, and '{name}' is not: what is published until it is is lost"
            ));
        };
        let there = state.made.as_ref().filter(|made| made.is_on(topic.id));
        let is_there = there.is_some();
        let qos = view.fitting(topic.id, there.map_or_else(Qos::default, |made| made.qos.clone()));
        if there.is_some_and(|made| made.qos == qos) {
            return Ok(());
        }
        let ty = topic.signature.parse().map_err(|why| format!("topic '{name}' has a signature that is none: {why}"))?;
        let options = PublisherOptions { ghost: Ghost::Observer, ..PublisherOptions::default() };
        let publisher = Publisher::new(&self.node, name, &topic.signature, &qos, options).map_err(|error| error.to_string())?;
        // Of several that took each other's places, only the first has published anything.
        let before = state.made.take().map(|made| made.before.unwrap_or(made.publisher));
        let subscribers = view.endpoints(topic.id, false).count() as u64;
        let made = Made { topic: topic.id, ty, qos, publisher, before, subscribers, at: Instant::now() };
        // What waits is of the topic as it was.
        let waiting = if is_there { std::mem::take(&mut state.waiting) } else { VecDeque::new() };
        *state = State { made: Some(made), told: None, waiting };
        Ok(())
    }

    fn close(&self, client: ClientId, channel: ClientChannelId) {
        let outlet = self.outlets().remove(&(client, channel));
        drop(outlet);
    }

    /// Fails with a sentence for the client.
    fn publish(&self, client: ClientId, channel: ClientChannelId, payload: &[u8]) -> Result<(), String> {
        // Of one that could not be opened the client was told.
        let Some(outlet) = self.outlets().get(&(client, channel)).map(Arc::clone) else { return Ok(()) };
        let mut guard = outlet.state();
        let state = &mut *guard;
        if !self.serves(&outlet.topic, state)
            && let Err(why) = self.fit(&outlet.topic, state)
        {
            return state.tell(why);
        }
        let Some(made) = &mut state.made else { return Ok(()) };
        let stream = made.stream_of(payload, outlet.is_json)?;
        if state.waiting.is_empty() && made.is_heard() {
            return made.publish(&stream);
        }
        // Not here: the task that is in this also sends the client what it looks at.
        if state.waiting.is_empty() {
            let outlet = Arc::clone(&outlet);
            tokio::task::spawn_blocking(move || outlet.publish_waiting());
        }
        state.waiting.push_back(stream.into_owned());
        if state.waiting.len() > MOST_WAITING {
            state.waiting.pop_front();
            return state.tell(format!("not all subscribers of '{}' hear this client yet: the oldest of what waits is lost", outlet.topic));
        }
        Ok(())
    }
}

impl State {
    /// Once, and not of each message: a client that does not read what it is told as fast is sent away.
    fn tell(&mut self, why: String) -> Result<(), String> {
        if self.told.as_ref() == Some(&why) { Ok(()) } else { Err(self.told.insert(why).clone()) }
    }
}

impl Outlet {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }

    /// As soon as those hear it who are to.
    fn publish_waiting(&self) {
        loop {
            let mut guard = self.state();
            let State { made, waiting, .. } = &mut *guard;
            let Some(made) = made.as_mut().filter(|_| !waiting.is_empty()) else { return };
            if made.is_heard() {
                for why in waiting.drain(..).filter_map(|stream| made.publish(&stream).err()) {
                    log::warn!("topic '{}': a message of a client is lost: {why}", shown(&self.topic));
                }
                return;
            }
            drop(guard);
            std::thread::sleep(OFTEN);
        }
    }
}

impl Made {
    /// A topic that has come back, or that another manager knows, has another id, and that may have been another one's.
    fn is_on(&self, topic: Id) -> bool {
        self.topic == topic && !self.publisher.statistics().detached
    }

    /// Whether those hear it who were there before it, or have had the time to.
    fn is_heard(&self) -> bool {
        self.publisher.statistics().subscribers >= self.subscribers || self.at.elapsed() >= HEARD
    }

    /// Fails with a sentence for the client.
    fn stream_of<'a>(&self, payload: &'a [u8], is_json: bool) -> Result<Cow<'a, [u8]>, String> {
        if is_json {
            return of_json(payload, &self.ty).map(Cow::Owned);
        }
        check(payload, &self.ty).map_err(|why| format!("this is no {}: {why}", self.ty.name()))?;
        Ok(Cow::Borrowed(payload))
    }

    /// Likewise.
    fn publish(&mut self, stream: &[u8]) -> Result<(), String> {
        self.publisher.publish(&[stream]).map_err(|error| error.to_string())?;
        self.before = None;
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
