//! A service of the domain that is called from DDS.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::raw::{Client, ClientOptions};
use tokio::task::AbortHandle;

use super::back_end::{self, Listener, Message, Reader, Writer};
use super::convention::{self, Call};
use super::guid::{Guid, Identity};
use super::matched::Matched;
use super::names;
use super::network::Place;
use super::qos::Qos;
use super::types::RosType;
use crate::bridge::{Channel, Due, Key, Look, check};
use crate::channels::{Counts, State};

/// Calls at a time.
const MOST: usize = 1024;
/// That take longer are given up, since nobody tells when the caller has lost interest.
const LONGEST: Duration = Duration::from_secs(3600);
/// Within which the caller's reader of replies is connected, or gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// As services of ROS 2, but so deep that no call pushes another one out.
pub fn service_qos() -> Qos {
    Qos { reliable: true, depth: MOST as u32, ..Qos::default() }
}

/// Answers calls, as a ghost client.
pub struct Served {
    // First, so that no calls come any more.
    _reader: Reader,
    service: Arc<Service>,
    key: Key,
}

/// What all calls need.
struct Service {
    client: Client,
    name: String,
    request: RosType,
    response: RosType,
    replies: Writer,
    matched: Arc<Matched>,
    place: Place,
    counts: Counts,
    number: AtomicU64,
    running: Mutex<HashMap<u64, AbortHandle>>,
}

struct Requests {
    service: Arc<Service>,
    message: Mutex<Vec<u8>>,
}

struct Replies(Arc<Matched>);

impl Listener for Replies {
    fn matched(&self, other: Guid, is_matched: bool) {
        self.0.tell(other, is_matched);
    }
}

impl Served {
    /// Blocks until the manager has agreed.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Served, String> {
        let name = &key.1;
        let (request, response) = (place.types.of(&due.signature)?, place.types.of(&due.response)?);
        let options = ClientOptions { ghost: true, ..ClientOptions::default() };
        let client = Client::new(&place.node, name, &due.signature, &due.response, &options).map_err(|why| why.to_string())?;
        let matched = Arc::new(Matched::new(look));
        let (topic, said) = (names::replies(name), response.user_data());
        let at = back_end::Place { topic: &topic, ty: &response.dds, qos: service_qos(), user_data: &said };
        let replies = Writer::open(&place.participant, &at, Replies(Arc::clone(&matched)))?;
        let replying = replies.guid();
        let service = Arc::new(Service {
            client,
            name: name.clone(),
            request,
            response,
            replies,
            matched,
            place: place.clone(),
            counts: Counts::default(),
            number: AtomicU64::new(0),
            running: Mutex::default(),
        });
        let (topic, said) = (names::requests(name), service.request.user_data());
        let at = back_end::Place { topic: &topic, ty: &service.request.dds, qos: service_qos(), user_data: &said };
        let reader = Reader::open(&place.participant, &at, Requests { service: Arc::clone(&service), message: Mutex::default() })?;
        place.graph.opened(key, false, reader.guid());
        place.graph.opened(key, true, replying);
        Ok(Served { _reader: reader, service, key: key.clone() })
    }
}

impl Channel for Served {
    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((State::Open, self.service.counts.told()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for (_, running) in self.service.running().drain() {
            running.abort();
        }
        self.service.place.graph.closed(&self.key);
    }
}

impl Listener for Requests {
    fn room_for(&self, size: usize) -> Option<*mut u8> {
        if size as u64 > self.service.place.max_message {
            self.service
                .refuse(&format!("it has {size} bytes, where \"max_message\" of this bridge are {}", self.service.place.max_message));
            return None;
        }
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        *message = vec![0; size];
        Some(message.as_mut_ptr())
    }

    fn message(&self, message: &Message) {
        let bytes = std::mem::take(&mut *self.message.lock().unwrap_or_else(PoisonError::into_inner));
        Service::begin(&self.service, bytes, message);
    }
}

impl Service {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Services of ROS 2 have no way to tell a caller that a call has failed: he waits.
    fn refuse(&self, why: &str) {
        self.counts.unanswered();
        log::warn!("a call of '{}' is not answered: {why}", self.name);
    }

    /// Never blocks: what takes longer, a task does.
    fn begin(service: &Arc<Service>, bytes: Vec<u8>, message: &Message) {
        let convention = service.place.strangers().convention(message.identity.writer);
        let Some((request, within)) = convention::read(convention, bytes) else {
            return service.refuse("its request is encoded as none of ROS 2 is");
        };
        if let Err(why) = check([&request[..]].into_iter(), &service.request.ty) {
            return service.refuse(&format!("its request is no {}: {why}", service.request.ty.name()));
        }
        // Whose reader waits for the reply, where that is told.
        let waits = if message.related.writer.is_unknown() { message.identity.writer } else { message.related.writer };
        let call = within.unwrap_or(Call::Beside(Identity { writer: waits, number: message.identity.number }));
        let mut running = service.running();
        if running.len() >= MOST {
            drop(running);
            return service.refuse(&format!("{MOST} others are under way, which are the most"));
        }
        let number = service.number.fetch_add(1, Ordering::Relaxed);
        let answering = Arc::clone(service);
        let task = service.place.runtime.spawn(async move {
            answering.answer(request, call, waits).await;
            answering.running().remove(&number);
        });
        running.insert(number, task.abort_handle());
    }

    async fn answer(&self, request: Vec<u8>, call: Call, waits: Guid) {
        let asked = request.len();
        let answered = match self.client.start(request, Some(LONGEST)) {
            Ok(response) => response.await,
            Err(error) => Err(error),
        };
        let frame = match answered {
            Ok(frame) => frame,
            Err(error) => return self.refuse(&error.to_string()),
        };
        // What is sent before it is connected is lost.
        let is_caller = |guid: &Guid| *guid == waits || guid.participant() == waits.participant();
        if !self.matched.wait(PATIENCE, is_caller).await {
            return self.refuse("its caller does not read replies, or has gone");
        }
        let (header, size) = (call.header(), asked + frame.size());
        let mut parts = convention::parts(&header, call, frame.extents());
        parts.push(self.response.padding());
        let related = if let Call::Beside(identity) = call { Some(identity) } else { None };
        match tokio::task::block_in_place(|| self.replies.write(&parts, related)) {
            Some(_) => self.counts.answered(size),
            None => self.refuse("its reply could not be sent"),
        }
    }
}
