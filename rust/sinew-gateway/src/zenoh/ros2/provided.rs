//! A service of nodes of rmw_zenoh, for those who call it in the domain.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sinew::raw::{self, Provider, ProviderOptions};
use tokio::sync::mpsc;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::query::{ConsolidationMode, QueryTarget, Reply, ReplyError};
use zenoh::sample::{Locality, Sample};

use super::attachment::{Attachment, Gid};
use super::network::Place;
use super::served::service_qos;
use super::token::Kind;
use super::{names, time_ns};
use crate::bridge::{Channel, Due, Key, check};
use crate::channels::{Counts, State};
use crate::peers::printable;
use crate::ros2::encapsulation::normalize;
use crate::ros2::types::RosService;
use crate::zenoh::qos::priority;
use crate::zenoh::said;
use crate::zenoh::served::LONGEST;

/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_millis(100);
/// Replies to one call that are looked at: there may be several servers.
const MOST_REPLIES: usize = 16;

/// Provides it as a ghost while somebody there does: until then calls wait, as they do for any provider.
pub struct Provided {
    // First, so that no call comes any more.
    provider: Option<Provider>,
    /// The key that it was provided for.
    at: Option<String>,
    refused: Option<String>,
    counts: Arc<Counts>,
    gid: Gid,
    number: Arc<AtomicI64>,
    place: Place,
    key: Key,
    due: Due,
    ty: Arc<RosService>,
}

/// What all calls to one server need.
struct Service {
    name: String,
    at: String,
    gid: Gid,
    number: Arc<AtomicI64>,
    place: Place,
    priority: i32,
    ty: Arc<RosService>,
    counts: Arc<Counts>,
}

impl Provided {
    /// What is called here.
    pub fn open(place: &Place, key: &Key, due: &Due) -> Result<Provided, String> {
        let ty = Arc::new(place.types.service(&due.signature, &due.response)?);
        let gid = place.graph.opened(key, &ty.dds, &ty.hash, service_qos());
        let (place, key, due, number) = (place.clone(), key.clone(), due.clone(), Arc::default());
        let mut provided = Provided { provider: None, at: None, refused: None, counts: Arc::default(), gid, number, place, key, due, ty };
        provided.look();
        Ok(provided)
    }

    /// The key of a server that fits. None: there is none; and, where there is one that does not fit, why.
    fn server(&self) -> (Option<String>, Option<String>) {
        let strangers = self.place.strangers();
        let mut why = None;
        for (_, end) in strangers.on(Kind::Server, &self.key.1) {
            match self.ty.fits(&self.key.1, &end.ty, &end.hash) {
                Ok(()) => return (Some(names::data(self.place.domain_id, &self.key.1, &end.ty, &end.hash)), None),
                Err(text) => why = Some(text),
            }
        }
        (None, why)
    }

    fn provide(&self, at: &str) -> sinew::Result<Provider> {
        let service = Arc::new(Service {
            name: self.key.1.clone(),
            at: at.to_owned(),
            gid: self.gid,
            number: Arc::clone(&self.number),
            place: self.place.clone(),
            priority: self.due.traffic.priority,
            ty: Arc::clone(&self.ty),
            counts: Arc::clone(&self.counts),
        });
        // Whether a call was executed when the server is lost nobody knows, so it is not made a second time.
        let options = ProviderOptions { ghost: true, at_most_once: true, ..ProviderOptions::default() };
        let zenoh = &self.place.zenoh;
        let runtime = zenoh.runtime.clone();
        Provider::new(&zenoh.node, &self.key.1, &self.due.signature, &self.due.response, &options, move |call| {
            let carried = Arc::clone(&service);
            runtime.spawn(async move { carried.carry(call).await });
        })
    }
}

impl Channel for Provided {
    fn look(&mut self) {
        let (server, why) = self.server();
        if self.at != server {
            self.provider = None;
            self.at = None;
        }
        self.refused = why;
        let Some(server) = server.filter(|_| self.provider.is_none()) else { return };
        match self.provide(&server) {
            Ok(provider) => (self.provider, self.at) = (Some(provider), Some(server)),
            Err(why) => {
                let text = format!("'{}' cannot be provided in this domain: {why}", self.key.1);
                log::warn!("{text}");
                self.refused = Some(text);
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
        let request = call.extents().collect::<Vec<_>>().concat();
        let asked = request.len();
        let cancelled = async {
            while !call.is_cancelled() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let answered = tokio::select! {
            answered = self.ask(request) => answered,
            () = cancelled => return drop(call),
        };
        let ended = match answered {
            Ok(response) => {
                self.counts.answered(asked + response.len());
                call.answer(&[&response])
            }
            Err(why) => {
                self.counts.unanswered();
                call.fail(&why)
            }
        };
        if let Err(error) = ended {
            log::debug!("an answer of '{}' could not be delivered: {error}", self.name);
        }
    }

    /// The response, as a stream of sinew; else why there is none, as a sentence.
    async fn ask(&self, mut request: Vec<u8>) -> Result<Vec<u8>, String> {
        let sequence = self.number.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let beside = Attachment { sequence, time_ns: time_ns(Duration::ZERO), gid: self.gid };
        request.extend_from_slice(self.ty.request.padding());
        let (tell, mut told) = mpsc::channel::<Result<Sample, ReplyError>>(MOST_REPLIES);
        let got = self
            .place
            .zenoh
            .session
            .get(&self.at)
            .payload(request)
            .attachment(beside.encode())
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .priority(priority(self.priority))
            .allowed_destination(Locality::Remote)
            .timeout(LONGEST)
            .callback(move |reply: Reply| _ = tell.try_send(reply.into_result()));
        tokio::task::block_in_place(|| got.wait()).map_err(|why| format!("the call cannot be sent: {}", said(&why)))?;
        let mut failed = None;
        while let Some(reply) = told.recv().await {
            match reply {
                Ok(sample) if is_ours(&sample, &beside) => return self.response(sample.payload()),
                Ok(_) => log::debug!("a reply of '{}' is to another call", self.name),
                Err(error) => failed = Some(printable(&String::from_utf8_lossy(&error.payload().to_bytes()))),
            }
        }
        Err(failed.unwrap_or_else(|| {
            "the server there has gone before it answered, or has more calls than it keeps; the call may have been executed, or not"
                .to_owned()
        }))
    }

    fn response(&self, payload: &ZBytes) -> Result<Vec<u8>, String> {
        let (size, most) = (payload.len(), self.place.zenoh.max_message);
        if size as u64 > most {
            return Err(format!("the answer has {size} bytes, where \"max_message\" of the bridge are {most}"));
        }
        let mut response = payload.to_bytes().into_owned();
        let (_, used) = normalize(&mut response).ok_or("what was answered is encoded as nothing of ROS 2 is")?;
        response.truncate(used);
        let ty = &self.ty.response.ty;
        check([&response[..]].into_iter(), ty).map_err(|why| format!("what was answered is no {}: {why}", ty.name()))?;
        Ok(response)
    }
}

/// Servers tell whose call it is that they answer.
fn is_ours(reply: &Sample, call: &Attachment) -> bool {
    let told = reply.attachment().and_then(|attachment| Attachment::decode(&attachment.to_bytes()));
    told.is_some_and(|told| (told.sequence, told.gid) == (call.sequence, call.gid))
}
