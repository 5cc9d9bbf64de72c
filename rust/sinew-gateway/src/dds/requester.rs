//! The side of a service in DDS that asks.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::oneshot;

use super::back_end::{self, Listener, Message, Reader, Writer};
use super::convention::{self, Call};
use super::guid::{Guid, Identity};
use super::matched::Matched;
use super::names;
use super::network::Place;
use super::replier::service_qos;
use super::strangers::{Convention, Endpoint, Strangers};
use super::types::RosType;
use crate::bridge::{Key, Look, check};
use crate::gateway::drawn;

/// How requests and replies are told apart by a server of the service `name` that fits: as `like`, while there is one that does so. None: there is none; and, where there is one, why it does not.
pub fn server(
    strangers: &Strangers,
    name: &str,
    [request, response]: [&RosType; 2],
    like: Option<Convention>,
) -> (Option<Convention>, Option<String>) {
    let (requests, replies) = (names::requests(name), names::replies(name));
    let (mut other, mut why) = (None, None);
    for reader in strangers.on(&requests, false) {
        let replier = strangers.on(&replies, true).find(|writer| writer.guid.participant() == reader.guid.participant());
        let Some(writer) = replier else { continue };
        let fits = |ty: &RosType, end: &Endpoint| ty.fits(name, &end.ty, end.hash.as_deref());
        match fits(request, reader).and_then(|()| fits(response, writer)) {
            Ok(()) => {
                let convention = strangers.convention(reader.guid);
                if like.is_none_or(|like| like == convention) {
                    return (Some(convention), None);
                }
                other = Some(convention);
            }
            Err(text) => why = Some(text),
        }
    }
    (other, why.filter(|_| other.is_none()))
}

/// Asks servers that tell requests and replies apart in one way, until it gives up.
pub struct Requester {
    /// None: it has given up. Calls that are under way have this whole, and a reader that was there for them would be taken for one that reads.
    replies: Mutex<Option<Reader>>,
    convention: Convention,
    requests: Writer,
    place: Place,
    /// Who reads the replies, as requests tell it.
    own: Guid,
    /// The same, where that is told within.
    client: u64,
    number: AtomicU64,
    pending: Arc<Pending>,
    servers: Arc<Matched>,
    /// Of requests.
    padding: &'static [u8],
    response: RosType,
}

/// The reply to a call, or why it cannot be used, as a sentence.
type Replied = Result<Vec<u8>, String>;

/// Calls that are under way, by what their replies tell.
#[derive(Default)]
struct Pending(Mutex<HashMap<Call, Waiting>>);

/// Whoever drops it tells that there will be no reply.
struct Waiting {
    tell: oneshot::Sender<Replied>,
    /// Who was connected before the request was sent, and nobody else: a server that came later has not got it, and will not answer it.
    servers: HashSet<Guid>,
}

impl Pending {
    fn calls(&self) -> MutexGuard<'_, HashMap<Call, Waiting>> {
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
    /// Who reads replies, and who writes requests. An earlier one of this participant may have asked, too, and counted as this one does: what answers him is for nobody.
    ends: Arc<OnceLock<[Guid; 2]>>,
    max_message: u64,
    pending: Arc<Pending>,
    message: Mutex<Vec<u8>>,
}

impl Listener for Replies {
    /// Also where it is too large: whose it is may stand in it, and he would wait for it for ever.
    fn room_for(&self, size: usize) -> Option<*mut u8> {
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        *message = vec![0; size];
        Some(message.as_mut_ptr())
    }

    /// Those to other clients come here, too.
    fn message(&self, message: &Message) {
        let bytes = std::mem::take(&mut *self.message.lock().unwrap_or_else(PoisonError::into_inner));
        let Some((response, within)) = convention::read(self.convention, bytes) else { return };
        // A server that does not know who reads replies names who has written the request.
        let is_ours = within.is_some() || self.ends.get().is_some_and(|ends| ends.contains(&message.related.writer));
        let call = within.unwrap_or(beside(message.related.number));
        if !is_ours {
            return;
        }
        if let Some(waiting) = self.pending.calls().remove(&call) {
            let (size, most) = (message.size, self.max_message);
            let too_large = || format!("the answer has {size} bytes, where \"max_message\" of the bridge are {most}");
            let _ = waiting.tell.send(if size as u64 > most { Err(too_large()) } else { Ok(response) });
        }
    }
}

/// A call that is under way. Who drops it does not wait for its reply any more.
pub struct Asked {
    call: Call,
    pending: Arc<Pending>,
    answer: oneshot::Receiver<Replied>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.pending.calls().remove(&self.call);
    }
}

impl Requester {
    /// Of the service `name`. `look` is called when a server comes or goes.
    pub fn open(
        place: &Place,
        key: &Key,
        (name, [request, response]): (&str, [&RosType; 2]),
        convention: Convention,
        look: Look,
    ) -> Result<Requester, String> {
        let (pending, servers) = (Arc::<Pending>::default(), Arc::new(Matched::new(look)));
        let (topic, said) = (names::replies(name), response.user_data());
        let at = back_end::Place { topic: &topic, ty: &response.dds, qos: service_qos(), user_data: &said };
        let ends = Arc::<OnceLock<_>>::default();
        let (waiting, message) = (Arc::clone(&pending), Mutex::default());
        let heard = Replies { convention, ends: Arc::clone(&ends), max_message: place.max_message, pending: waiting, message };
        let replies = Reader::open(&place.participant, &at, heard)?;
        let (topic, said) = (names::requests(name), request.user_data());
        let at = back_end::Place { topic: &topic, ty: &request.dds, qos: service_qos(), user_data: &said };
        let requests = Writer::open(&place.participant, &at, Heard(Arc::clone(&servers)))?;
        let _ = ends.set([replies.guid(), requests.guid()]); // nothing has been asked yet, nor is this set twice
        place.graph.opened(key, false, replies.guid());
        place.graph.opened(key, true, requests.guid());
        let (own, client, number) = (replies.guid(), u128::from_le_bytes(drawn()) as u64, AtomicU64::new(1));
        let (padding, response) = (request.padding(), response.clone());
        let (place, replies) = (place.clone(), Mutex::new(Some(replies)));
        Ok(Requester { replies, convention, requests, place, own, client, number, pending, servers, padding, response })
    }

    /// In which way.
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// Whether a server gets what is asked. That it is connected with who reads replies it waits for itself.
    pub fn is_ready(&self) -> bool {
        !self.servers().is_empty()
    }

    /// Who gets what is asked, and may answer it: not the bridges of this domain, of which this is one, and not those who would not understand it.
    fn servers(&self) -> HashSet<Guid> {
        let mut servers = self.servers.others();
        let (own, strangers) = (self.place.participant.guid().participant(), self.place.strangers());
        servers.retain(|guid| guid.participant() != own && !strangers.is_echo(*guid) && strangers.convention(*guid) == self.convention);
        servers
    }

    /// Somebody may have gone: calls that nobody answers any more have no reply. Not where that is heard of, which may be within what [`ask`](Requester::ask) waits for.
    pub fn forget_lost(&self) {
        let mut calls = self.pending.calls();
        let there = self.servers();
        calls.retain(|_, waiting| !waiting.servers.is_disjoint(&there));
    }

    /// Reads no replies any more; whoever waits for one is told that there will be none.
    pub fn give_up(&self) {
        *self.replies.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.pending.calls().clear();
    }

    /// Sends the request that the parts, joined, are. The reply may come before it is known by what, so that nobody looks for calls meanwhile. Fails with a sentence.
    pub fn ask<'a>(&self, stream: impl Iterator<Item = &'a [u8]>) -> Result<Asked, &'static str> {
        let (tell, answer) = oneshot::channel();
        let mut calls = self.pending.calls();
        let servers = self.servers();
        if servers.is_empty() {
            return Err("the server there has gone before it was called");
        }
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let within = Call::Within(self.client, number);
        let header = within.header();
        let (told, related) = match self.convention {
            Convention::Within => (within, None),
            Convention::Beside => (beside(0), Some(Identity { writer: self.own, number: 0 })),
        };
        let mut parts = convention::parts(&header, told, stream);
        parts.push(self.padding);
        let sent = tokio::task::block_in_place(|| self.requests.write(&parts, related)).ok_or("the request could not be sent")?;
        let call = if self.convention == Convention::Beside { beside(sent.number) } else { within };
        calls.insert(call, Waiting { tell, servers });
        drop(calls);
        Ok(Asked { call, pending: Arc::clone(&self.pending), answer })
    }

    /// Waits for the reply. Fails with a sentence.
    pub async fn reply(&self, asked: &mut Asked) -> Result<Vec<u8>, String> {
        let lost = "the server there has gone before it answered; the call may have been executed, or not";
        let mut response = (&mut asked.answer).await.map_err(|_| lost.to_owned())??;
        response.truncate(self.response.size_here(response.len()));
        check([&response[..]].into_iter(), &self.response.ty)
            .map_err(|why| format!("what was answered is no {}: {why}", self.response.ty.name()))?;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use sinew::msg::ros2::Library;

    use super::super::qos::Qos;
    use super::super::strangers::Stranger;
    use super::super::types::Types;
    use super::*;
    use crate::testing::NUMBER;

    #[test]
    fn a_server_that_is_asked_stays_the_one_also_where_another_comes_that_works_in_another_way() {
        let ty = Types::new(Library::new(Vec::new())).of(NUMBER).expect("ROS 2 can have it");
        let mut strangers = Strangers::default();
        let guid = |participant: u8, entity: u8| {
            let mut guid = Guid::default();
            (guid.0[0], guid.0[15]) = (participant, entity);
            guid
        };
        let came = |strangers: &mut Strangers, participant: u8, vendor: [u8; 2], ty: &str| {
            strangers.came(guid(participant, 0), Stranger::of(vendor, b""));
            for (entity, topic, writes) in [(1, "rq/addRequest", false), (2, "rr/addReply", true)] {
                let guid = guid(participant, entity);
                strangers.opened(Endpoint { guid, writes, topic: topic.to_owned(), ty: ty.to_owned(), qos: Qos::default(), hash: None });
            }
        };
        let (cyclone, fast) = ([1, 16], [1, 15]);
        let found = |strangers: &Strangers, like| server(strangers, "add", [&ty, &ty], like);
        came(&mut strangers, 1, fast, "other::msg::dds_::Number_");
        assert!(matches!(found(&strangers, None), (None, Some(_))));
        came(&mut strangers, 3, cyclone, &ty.dds);
        assert_eq!(found(&strangers, None), (Some(Convention::Within), None));
        // Its number is lower.
        came(&mut strangers, 2, fast, &ty.dds);
        assert_eq!(found(&strangers, Some(Convention::Within)), (Some(Convention::Within), None));
        strangers.went(guid(3, 0));
        assert_eq!(found(&strangers, Some(Convention::Within)), (Some(Convention::Beside), None));
        strangers.went(guid(2, 0));
        assert!(matches!(found(&strangers, Some(Convention::Beside)), (None, Some(_))));
    }
}
