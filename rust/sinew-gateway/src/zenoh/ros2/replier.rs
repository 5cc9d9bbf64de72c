//! The side of a service that answers nodes of rmw_zenoh.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sinew::msg::encapsulation::normalize;
use zenoh::Wait;
use zenoh::bytes::{Encoding, ZBytes};
use zenoh::query::{Query, Queryable};
use zenoh::sample::Locality;

use super::attachment::Attachment;
use super::network::Place;
use super::{names, time_ns};
use crate::bridge::{Key, check};
use crate::channels::Counts;
use crate::ros2::action::Named;
use crate::ros2::calls::{self, Asked, Tasks};
use crate::ros2::qos::Qos;
use crate::ros2::types::RosService;
use crate::zenoh::flow::padded;
use crate::zenoh::said;

/// As services of ROS 2 have it.
pub fn service_qos() -> Qos {
    Qos { reliable: true, depth: 10, ..Qos::default() }
}

/// Answers calls, until it is dropped.
pub struct Replier {
    _queryable: Queryable<()>,
}

/// Who waits for a reply.
#[derive(Clone)]
pub struct Caller {
    query: Query,
    call: Attachment,
    service: Arc<Service>,
}

/// What all calls need.
struct Service {
    key: String,
    name: String,
    ty: RosService,
    max_message: u64,
    counts: Arc<Counts>,
}

impl Replier {
    /// Of the service `name`. `asked` is what is done with each request; what is none fails before.
    pub fn open<Answering: Future<Output = ()> + Send + 'static>(
        place: &Place,
        key: &Key,
        (name, ty): Named<'_>,
        counts: &Arc<Counts>,
        tasks: &Tasks,
        asked: impl Fn(Asked<Caller>) -> Answering + Send + Sync + 'static,
    ) -> Result<Replier, String> {
        let data = names::data(place.domain_id, name, &ty.dds, &ty.hash);
        let service = Arc::new(Service {
            key: data.clone(),
            name: name.to_owned(),
            ty: ty.clone(),
            max_message: place.zenoh.max_message,
            counts: Arc::clone(counts),
        });
        let (tasks, runtime, asked) = (tasks.clone(), place.zenoh.runtime.clone(), Arc::new(asked));
        // Never blocks: what takes longer, a task does.
        let there = place.clone();
        let called = move |query: Query| {
            // What another bridge of this domain asks of others, this domain does not ask of itself: it would be done twice.
            if beside(&query).is_some_and(|call| there.strangers().is_echo_of(call.gid)) {
                return;
            }
            let (service, asked) = (Arc::clone(&service), Arc::clone(&asked));
            match tasks.room() {
                Ok(room) => room.begin(async move {
                    match service.read(&query) {
                        Ok((request, call)) => asked(Asked { request, by: Caller { query, call, service } }).await,
                        Err(why) => service.fail(&query, &why),
                    }
                }),
                Err(why) => _ = runtime.spawn(async move { service.fail(&query, &why) }),
            }
        };
        let queryable = place.zenoh.session.declare_queryable(data).complete(true).allowed_origin(Locality::Remote);
        let queryable = queryable.callback(called).wait().map_err(|why| said(&why))?;
        place.graph.opened(key, (name, &ty.dds, &ty.hash), service_qos());
        Ok(Replier { _queryable: queryable })
    }
}

/// What stands beside a call.
fn beside(query: &Query) -> Option<Attachment> {
    Attachment::decode(&query.attachment()?.to_bytes())
}

impl Service {
    /// The request, and whose it is; else half a sentence.
    fn read(&self, query: &Query) -> Result<(Vec<u8>, Attachment), String> {
        let size = query.payload().map_or(0, ZBytes::len);
        if size as u64 > self.max_message {
            return Err(format!("it has {size} bytes, where \"max_message\" of this bridge are {}", self.max_message));
        }
        let call = beside(query).ok_or("it has no attachment of rmw_zenoh beside it, as all of ROS 2 have")?;
        let mut request = query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default();
        let (_, used) = normalize(&mut request).ok_or("its request is encoded as none of ROS 2 is")?;
        request.truncate(self.ty.request.size_here(used));
        let ty = &self.ty.request.ty;
        check([&request[..]].into_iter(), ty).map_err(|why| format!("its request is no {}: {why}", ty.name()))?;
        Ok((request, call))
    }

    /// Nodes of ROS 2 log why, and wait: services there have no way to say that a call has failed.
    fn fail(&self, query: &Query, why: &str) {
        self.counts.unanswered();
        log::warn!("a call of '{}' is not answered: {why}", self.name);
        let reply = query.reply_err(why).encoding(Encoding::TEXT_PLAIN);
        if let Err(why) = tokio::task::block_in_place(|| reply.wait()) {
            log::debug!("an error of '{}' could not be sent: {}", self.name, said(&why));
        }
    }
}

impl Caller {
    /// Answers the call with the stream that the parts, joined, are. Fails with a sentence.
    pub fn send(&self, parts: Vec<Bytes>) -> Result<(), String> {
        let beside = Attachment { time_ns: time_ns(Duration::ZERO), ..self.call };
        let payload = padded(parts, self.service.ty.response.padding());
        let reply = self.query.reply(&self.service.key, payload).attachment(beside.encode());
        tokio::task::block_in_place(|| reply.wait()).map_err(|why| format!("its reply could not be sent: {}", said(&why)))
    }
}

impl calls::Caller for Caller {
    async fn answer(&self, stream: &[&[u8]]) -> Result<(), String> {
        self.send(vec![stream.concat().into()])
    }

    fn refuse(&self, why: &str) {
        self.service.fail(&self.query, why);
    }
}
