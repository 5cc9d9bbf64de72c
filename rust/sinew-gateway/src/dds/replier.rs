//! The side of a service in DDS that answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::back_end::{self, Listener, Message, Reader, Writer};
use super::convention::{self, Call};
use super::guid::{Guid, Identity};
use super::matched::Matched;
use super::names;
use super::network::Place;
use super::qos::Qos;
use super::types::RosType;
use crate::bridge::{Key, Look, check};
use crate::channels::Counts;
use crate::ros2::calls::{self, Asked, Tasks};

/// Calls at a time.
pub const MOST: usize = 1024;
/// Within which the caller's reader of replies is connected, or gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// As services of ROS 2, but so deep that no call pushes another one out.
pub fn service_qos() -> Qos {
    Qos { reliable: true, depth: MOST as u32, ..Qos::default() }
}

/// Answers calls, until it is dropped.
pub struct Replier {
    _reader: Reader,
}

/// Who waits for a reply.
#[derive(Clone)]
pub struct Caller {
    call: Call,
    guid: Guid,
    replies: Arc<Replies>,
}

/// Where replies are sent.
struct Replies {
    name: String,
    writer: Writer,
    matched: Arc<Matched>,
    response: RosType,
    counts: Arc<Counts>,
}

struct Heard(Arc<Matched>);

impl Listener for Heard {
    fn matched(&self, other: Guid, is_matched: bool) {
        self.0.tell(other, is_matched);
    }
}

struct Requests<F> {
    replies: Arc<Replies>,
    request: RosType,
    place: Place,
    tasks: Tasks,
    asked: F,
    message: Mutex<Vec<u8>>,
}

impl Replier {
    /// Of the service `name`. `asked` is what is done with each request; what is none is refused before. `look` is called when somebody comes or goes who reads replies.
    pub fn open<Answering: Future<Output = ()> + Send + 'static>(
        place: &Place,
        key: &Key,
        (name, [request, response]): (&str, [&RosType; 2]),
        counts: &Arc<Counts>,
        tasks: &Tasks,
        look: Look,
        asked: impl Fn(Asked<Caller>) -> Answering + Send + Sync + 'static,
    ) -> Result<Replier, String> {
        let matched = Arc::new(Matched::new(look));
        let (topic, said) = (names::replies(name), response.user_data());
        let at = back_end::Place { topic: &topic, ty: &response.dds, qos: service_qos(), user_data: &said };
        let writer = Writer::open(&place.participant, &at, Heard(Arc::clone(&matched)))?;
        let (replying, counts) = (writer.guid(), Arc::clone(counts));
        let replies = Arc::new(Replies { name: name.to_owned(), writer, matched, response: response.clone(), counts });
        let (topic, said) = (names::requests(name), request.user_data());
        let at = back_end::Place { topic: &topic, ty: &request.dds, qos: service_qos(), user_data: &said };
        let (request, place_of_requests, message) = (request.clone(), place.clone(), Mutex::default());
        let heard = Requests { replies, request, place: place_of_requests, tasks: tasks.clone(), asked, message };
        let reader = Reader::open(&place.participant, &at, heard)?;
        place.graph.opened(key, false, reader.guid());
        place.graph.opened(key, true, replying);
        Ok(Replier { _reader: reader })
    }
}

impl Replies {
    /// Services of ROS 2 have no way to tell a caller that a call has failed: he waits.
    fn refuse(&self, why: &str) {
        self.counts.unanswered();
        log::warn!("a call of '{}' is not answered: {why}", self.name);
    }
}

impl calls::Caller for Caller {
    /// Waits until the caller reads replies.
    async fn answer(&self, stream: &[&[u8]]) -> Result<(), String> {
        let Caller { call, guid: reader, replies } = self;
        // What is sent before it is connected is lost.
        let is_caller = |guid: &Guid| guid == reader || guid.participant() == reader.participant();
        if !replies.matched.wait(PATIENCE, is_caller).await {
            return Err("its caller does not read replies, or has gone".to_owned());
        }
        let header = call.header();
        let mut parts = convention::parts(&header, *call, stream.iter().copied());
        parts.push(replies.response.padding());
        let related = if let Call::Beside(identity) = call { Some(*identity) } else { None };
        let sent = tokio::task::block_in_place(|| replies.writer.write(&parts, related));
        sent.map(drop).ok_or_else(|| "its reply could not be sent".to_owned())
    }

    fn refuse(&self, why: &str) {
        self.replies.refuse(why);
    }
}

impl<F: Fn(Asked<Caller>) -> Answering + Send + Sync, Answering: Future<Output = ()> + Send + 'static> Listener for Requests<F> {
    fn room_for(&self, size: usize) -> Option<*mut u8> {
        let most = self.place.max_message;
        if size as u64 > most {
            self.replies.refuse(&format!("it has {size} bytes, where \"max_message\" of this bridge are {most}"));
            return None;
        }
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        *message = vec![0; size];
        Some(message.as_mut_ptr())
    }

    fn message(&self, message: &Message) {
        let bytes = std::mem::take(&mut *self.message.lock().unwrap_or_else(PoisonError::into_inner));
        let who = message.identity.writer;
        let (is_echo, convention) = {
            let strangers = self.place.strangers();
            (strangers.is_echo(who), strangers.convention(who))
        };
        // What this domain asks of others, it does not ask of itself: it would be done twice.
        if is_echo || who.participant() == self.place.participant.guid().participant() {
            return;
        }
        let Some((mut request, within)) = convention::read(convention, bytes) else {
            return self.replies.refuse("its request is encoded as none of ROS 2 is");
        };
        request.truncate(self.request.size_here(request.len()));
        if let Err(why) = check([&request[..]].into_iter(), &self.request.ty) {
            return self.replies.refuse(&format!("its request is no {}: {why}", self.request.ty.name()));
        }
        // Whose reader waits for the reply, where that is told.
        let guid = if message.related.writer.is_unknown() { message.identity.writer } else { message.related.writer };
        let call = within.unwrap_or(Call::Beside(Identity { writer: guid, number: message.identity.number }));
        let by = Caller { call, guid, replies: Arc::clone(&self.replies) };
        match self.tasks.room() {
            Ok(room) => room.begin((self.asked)(Asked { request, by })),
            Err(why) => self.replies.refuse(&why),
        }
    }
}
