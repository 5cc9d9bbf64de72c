//! A service of DDS, for those who call it in the domain.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::raw::{self, Provider, ProviderOptions};
use tokio::sync::oneshot;

use super::back_end::{self, Listener, Message, Reader, Writer};
use super::convention::{self, Call};
use super::guid::{Guid, Identity};
use super::matched::Matched;
use super::names;
use super::network::Place;
use super::served::service_qos;
use super::strangers::Convention;
use super::types::RosType;
use crate::bridge::{Channel, Due, Key, Look, check};
use crate::channels::{Counts, State};
use crate::gateway::drawn;

/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_millis(100);

/// Provides it as a ghost while somebody there does: until then calls wait, as they do for any provider.
pub struct Provided {
    // In the order in which they go.
    provider: Option<Provider>,
    wires: Option<Wires>,
    refused: Option<String>,
    counts: Arc<Counts>,
    look: Look,
    place: Place,
    key: Key,
    due: Due,
    request: RosType,
    response: RosType,
}

/// Between this and the server.
struct Wires {
    _replies: Reader,
    service: Arc<Service>,
}

/// What all calls need.
struct Service {
    name: String,
    convention: Convention,
    requests: Writer,
    /// Who reads the replies, as requests tell it.
    own: Guid,
    /// The same, where that is told within.
    client: u64,
    number: AtomicU64,
    pending: Arc<Pending>,
    asked: Arc<Matched>,
    response: RosType,
    counts: Arc<Counts>,
}

/// Calls that are under way, by what their replies tell.
#[derive(Default)]
struct Pending(Mutex<HashMap<Call, oneshot::Sender<Vec<u8>>>>);

impl Pending {
    fn calls(&self) -> MutexGuard<'_, HashMap<Call, oneshot::Sender<Vec<u8>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Heard(Arc<Matched>);

impl Listener for Heard {
    fn matched(&self, other: Guid, is_matched: bool) {
        self.0.tell(other, is_matched);
    }
}

/// By what a reply is known that is told beside.
fn beside(number: u64) -> Call {
    Call::Beside(Identity { writer: Guid::default(), number })
}

struct Replies {
    convention: Convention,
    participant: [u8; 12],
    max_message: u64,
    pending: Arc<Pending>,
    matched: Arc<Matched>,
    message: Mutex<Vec<u8>>,
}

impl Listener for Replies {
    fn matched(&self, other: Guid, is_matched: bool) {
        self.matched.tell(other, is_matched);
    }

    fn room_for(&self, size: usize) -> Option<*mut u8> {
        if size as u64 > self.max_message {
            return None;
        }
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        *message = vec![0; size];
        Some(message.as_mut_ptr())
    }

    /// Those to other clients come here, too.
    fn message(&self, message: &Message) {
        let bytes = std::mem::take(&mut *self.message.lock().unwrap_or_else(PoisonError::into_inner));
        let Some((response, within)) = convention::read(self.convention, bytes) else { return };
        // A server that does not know who reads replies names who has written the request.
        let is_ours = within.is_some() || message.related.writer.participant() == self.participant;
        let call = within.unwrap_or(beside(message.related.number));
        if !is_ours {
            return;
        }
        if let Some(waits) = self.pending.calls().remove(&call) {
            let _ = waits.send(response);
        }
    }
}

impl Provided {
    /// `look` is called when [`Provided::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Provided, String> {
        let (request, response) = (place.types.of(&due.signature)?, place.types.of(&due.response)?);
        let (place, key, due, counts) = (place.clone(), key.clone(), due.clone(), Arc::default());
        let mut provided = Provided { provider: None, wires: None, refused: None, counts, look, place, key, due, request, response };
        provided.look();
        Ok(provided)
    }

    /// How the server's requests and replies are told apart. None: there is none that fits; and, where there is one, why it does not.
    fn server(&self) -> (Option<Convention>, Option<String>) {
        let strangers = self.place.strangers();
        let (requests, replies) = (names::requests(&self.key.1), names::replies(&self.key.1));
        let mut why = None;
        for reader in strangers.on(&requests, false) {
            let replier = strangers.on(&replies, true).find(|writer| writer.guid.participant() == reader.guid.participant());
            let Some(writer) = replier else { continue };
            match self.request.fits(&self.key.1, reader).and_then(|()| self.response.fits(&self.key.1, writer)) {
                Ok(()) => return (Some(strangers.convention(reader.guid)), None),
                Err(text) => why = Some(text),
            }
        }
        (None, why)
    }

    fn wired(&self, convention: Convention) -> Result<Wires, String> {
        let pending = Arc::<Pending>::default();
        let (asked, answered) = (Arc::new(Matched::new(Arc::clone(&self.look))), Arc::new(Matched::new(Arc::clone(&self.look))));
        let (participant, max_message) = (&self.place.participant, self.place.max_message);
        let (topic, said) = (names::replies(&self.key.1), self.response.user_data());
        let at = back_end::Place { topic: &topic, ty: &self.response.dds, qos: service_qos(), user_data: &said };
        let ours = participant.guid().participant();
        let heard = Replies {
            convention,
            participant: ours,
            max_message,
            pending: Arc::clone(&pending),
            matched: answered,
            message: Mutex::default(),
        };
        let replies = Reader::open(participant, &at, heard)?;
        let (topic, said) = (names::requests(&self.key.1), self.request.user_data());
        let at = back_end::Place { topic: &topic, ty: &self.request.dds, qos: service_qos(), user_data: &said };
        let requests = Writer::open(participant, &at, Heard(Arc::clone(&asked)))?;
        self.place.graph.opened(&self.key, false, replies.guid());
        self.place.graph.opened(&self.key, true, requests.guid());
        let service = Service {
            name: self.key.1.clone(),
            convention,
            own: replies.guid(),
            client: u128::from_le_bytes(drawn()) as u64,
            requests,
            number: AtomicU64::new(1),
            pending,
            asked,
            response: self.response.clone(),
            counts: Arc::clone(&self.counts),
        };
        Ok(Wires { _replies: replies, service: Arc::new(service) })
    }

    fn provide(&self, service: &Arc<Service>) -> sinew::Result<Provider> {
        // Whether a call was executed when the server is lost nobody knows, so it is not made a second time.
        let options = ProviderOptions { ghost: true, at_most_once: true, ..ProviderOptions::default() };
        let (service, runtime) = (Arc::clone(service), self.place.runtime.clone());
        Provider::new(&self.place.node, &self.key.1, &self.due.signature, &self.due.response, &options, move |call| {
            let carried = Arc::clone(&service);
            runtime.spawn(async move { carried.carry(call).await });
        })
    }
}

impl Channel for Provided {
    fn look(&mut self) {
        let (convention, why) = self.server();
        let is_other = self.wires.as_ref().is_some_and(|wires| Some(wires.service.convention) != convention);
        if is_other {
            self.provider = None;
            if let Some(wires) = self.wires.take() {
                // Who waits for them is told.
                wires.service.pending.calls().clear();
            }
            self.place.graph.closed(&self.key);
        }
        self.refused = why;
        let Some(convention) = convention else { return };
        if self.wires.is_none() {
            match self.wired(convention) {
                Ok(wires) => self.wires = Some(wires),
                Err(why) => self.refused = Some(format!("'{}' cannot be opened: {why}", self.key.1)),
            }
        }
        // Replies need not be connected yet: the server waits until they are.
        let ready = self.wires.as_ref().filter(|wires| wires.service.asked.is_anybody());
        if let (None, Some(wires)) = (&self.provider, ready) {
            match self.provide(&wires.service) {
                Ok(provider) => self.provider = Some(provider),
                Err(why) => {
                    let text = format!("'{}' cannot be provided in this domain: {why}", self.key.1);
                    log::warn!("{text}");
                    self.refused = Some(text);
                }
            }
        }
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let state = match (&self.provider, &self.refused) {
            (Some(_), _) => State::Open,
            (None, Some(why)) => State::Refused(why.clone()),
            (None, None) => State::Waiting,
        };
        Some((state, self.counts.told()))
    }
}

impl Drop for Provided {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
    }
}

impl Service {
    /// Carries a call to the server, and the reply back.
    async fn carry(&self, call: raw::Call) {
        let (asked, answer) = match self.ask(&call) {
            Ok(asked) => asked,
            Err(why) => return self.fail(call, &why),
        };
        let cancelled = async {
            while !call.is_cancelled() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let answered = tokio::select! {
            answered = answer => answered,
            () = cancelled => {
                self.pending.calls().remove(&asked);
                return drop(call);
            }
        };
        let Ok(response) = answered else {
            let text = "the server there has gone before it answered; the call may have been executed, or not";
            return self.fail(call, text);
        };
        if let Err(why) = check([&response[..]].into_iter(), &self.response.ty) {
            return self.fail(call, &format!("what was answered is no {}: {why}", self.response.ty.name()));
        }
        self.counts.answered(response.len() + call.extents().map(<[u8]>::len).sum::<usize>());
        if let Err(error) = call.answer(&[&response]) {
            log::debug!("an answer of '{}' could not be delivered: {error}", self.name);
        }
    }

    fn fail(&self, call: raw::Call, why: &str) {
        self.counts.unanswered();
        if let Err(error) = call.fail(why) {
            log::debug!("an error of '{}' could not be delivered: {error}", self.name);
        }
    }

    /// Sends the request. The reply may come before it is known by what, so that nobody looks for calls meanwhile.
    fn ask(&self, call: &raw::Call) -> Result<(Call, oneshot::Receiver<Vec<u8>>), String> {
        let (tell, answer) = oneshot::channel();
        let mut pending = self.pending.calls();
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let within = Call::Within(self.client, number);
        let header = within.header();
        let (told, related) = match self.convention {
            Convention::Within => (within, None),
            Convention::Beside => (beside(0), Some(Identity { writer: self.own, number: 0 })),
        };
        let parts = convention::parts(&header, told, call.extents());
        let sent = tokio::task::block_in_place(|| self.requests.write(&parts, related)).ok_or("the request could not be sent")?;
        let asked = if self.convention == Convention::Beside { beside(sent.number) } else { within };
        pending.insert(asked, tell);
        Ok((asked, answer))
    }
}
