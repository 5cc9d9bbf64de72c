//! A service of the domain that is called from nodes of rmw_zenoh.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew::raw::{Client, ClientOptions};
use tokio::task::AbortHandle;
use zenoh::Wait;
use zenoh::bytes::{Encoding, ZBytes};
use zenoh::query::{Query, Queryable};
use zenoh::sample::Locality;

use super::attachment::Attachment;
use super::network::Place;
use super::{names, time_ns};
use crate::bridge::{Channel, Due, Key, check};
use crate::channels::{Counts, State, parts_of};
use crate::ros2::encapsulation::normalize;
use crate::ros2::qos::Qos;
use crate::ros2::types::RosService;
use crate::zenoh::flow::padded;
use crate::zenoh::said;
use crate::zenoh::served::LONGEST;

/// Calls at a time.
const MOST: usize = 1024;

/// As services of ROS 2 have it.
pub fn service_qos() -> Qos {
    Qos { reliable: true, depth: 10, ..Qos::default() }
}

/// Answers calls, as a ghost client.
pub struct Served {
    // First, so that no calls come any more.
    _queryable: Queryable<()>,
    service: Arc<Service>,
    place: Place,
    key: Key,
}

/// What all calls need.
struct Service {
    client: Client,
    key: String,
    name: String,
    ty: RosService,
    max_message: u64,
    counts: Counts,
    running: Mutex<Running>,
}

/// Calls that are not answered yet, by numbers of their own.
#[derive(Default)]
struct Running {
    all: HashMap<u64, AbortHandle>,
    number: u64,
    /// No more of them.
    is_over: bool,
}

impl Served {
    /// Blocks until the manager has agreed.
    pub fn open(place: &Place, key: &Key, due: &Due) -> Result<Served, String> {
        let name = &key.1;
        let ty = place.types.service(&due.signature, &due.response)?;
        let options = ClientOptions { ghost: true, ..ClientOptions::default() };
        let client = Client::new(&place.zenoh.node, name, &due.signature, &due.response, &options).map_err(|why| why.to_string())?;
        let data = names::data(place.domain_id, name, &ty.dds, &ty.hash);
        let (dds, hash) = (ty.dds.clone(), ty.hash.clone());
        let service = Arc::new(Service {
            client,
            key: data.clone(),
            name: name.clone(),
            ty,
            max_message: place.zenoh.max_message,
            counts: Counts::default(),
            running: Mutex::default(),
        });
        let (calls, runtime) = (Arc::clone(&service), place.zenoh.runtime.clone());
        let queryable = place.zenoh.session.declare_queryable(data).complete(true).allowed_origin(Locality::Remote);
        let queryable = queryable.callback(move |query| Service::begin(&calls, &runtime, query)).wait().map_err(|why| said(&why))?;
        place.graph.opened(key, &dds, &hash, service_qos());
        Ok(Served { _queryable: queryable, service, place: place.clone(), key: key.clone() })
    }
}

impl Channel for Served {
    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((State::Open, self.service.counts.told()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
        let mut running = self.service.running();
        // Zenoh's thread may have one in hand.
        running.is_over = true;
        for (_, task) in running.all.drain() {
            task.abort();
        }
    }
}

impl Service {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Never blocks: what takes longer, a task does.
    fn begin(service: &Arc<Service>, runtime: &tokio::runtime::Handle, query: Query) {
        let mut running = service.running();
        if running.is_over {
            return;
        }
        let is_full = running.all.len() >= MOST;
        running.number += 1;
        let (number, answering) = (running.number, Arc::clone(service));
        let task = runtime.spawn(async move {
            let asked = if is_full { Err(format!("{MOST} others are under way, which are the most")) } else { answering.asked(&query) };
            match asked {
                Ok((request, call)) => answering.answer(&query, request, call).await,
                Err(why) => answering.fail(&query, &why),
            }
            answering.running().all.remove(&number);
        });
        running.all.insert(number, task.abort_handle());
    }

    /// The request, and whose it is; else half a sentence.
    fn asked(&self, query: &Query) -> Result<(Vec<u8>, Attachment), String> {
        let size = query.payload().map_or(0, ZBytes::len);
        if size as u64 > self.max_message {
            return Err(format!("it has {size} bytes, where \"max_message\" of this bridge are {}", self.max_message));
        }
        let call = query.attachment().and_then(|attachment| Attachment::decode(&attachment.to_bytes()));
        let call = call.ok_or("it has no attachment of rmw_zenoh beside it, as all of ROS 2 have")?;
        let mut request = query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default();
        let (_, used) = normalize(&mut request).ok_or("its request is encoded as none of ROS 2 is")?;
        request.truncate(used);
        let ty = &self.ty.request.ty;
        check([&request[..]].into_iter(), ty).map_err(|why| format!("its request is no {}: {why}", ty.name()))?;
        Ok((request, call))
    }

    async fn answer(&self, query: &Query, request: Vec<u8>, call: Attachment) {
        let asked = request.len();
        let answered = match self.client.start(request, Some(LONGEST)) {
            Ok(response) => response.await,
            Err(error) => Err(error),
        };
        let frame = match answered {
            Ok(frame) => frame,
            Err(error) => return self.fail(query, &error.to_string()),
        };
        let size = asked + frame.size();
        let beside = Attachment { time_ns: time_ns(std::time::Duration::ZERO), ..call };
        let payload = padded(parts_of(frame), self.ty.response.padding());
        let reply = query.reply(&self.key, payload).attachment(beside.encode());
        match tokio::task::block_in_place(|| reply.wait()) {
            Ok(()) => self.counts.answered(size),
            Err(why) => self.fail(query, &format!("its reply could not be sent: {}", said(&why))),
        }
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
