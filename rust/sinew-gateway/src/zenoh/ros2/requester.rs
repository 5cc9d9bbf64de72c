//! The side of a service that asks nodes of rmw_zenoh.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sinew::msg::encapsulation::normalize;
use tokio::sync::mpsc;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::query::{ConsolidationMode, QueryTarget, Reply, ReplyError};
use zenoh::sample::{Locality, Sample};

use super::attachment::Attachment;
use super::graph::OwnGid;
use super::network::Place;
use super::token::Kind;
use super::{names, time_ns};
use crate::bridge::check;
use crate::peers::printable;
use crate::ros2::action::Named;
use crate::ros2::types::RosService;
use crate::zenoh::qos::priority;
use crate::zenoh::said;

/// Replies to one call that are looked at: there may be several servers.
const MOST_REPLIES: usize = 16;

/// The key of a server of the service `name` that fits. None: there is none; and, where there is one that does not fit, why.
pub fn server(place: &Place, (name, ty): Named<'_>) -> (Option<String>, Option<String>) {
    let strangers = place.strangers();
    let mut why = None;
    for (_, end) in strangers.on(Kind::Server, name) {
        match ty.fits(name, &end.ty, &end.hash) {
            Ok(()) => return (Some(names::data(place.domain_id, name, &end.ty, &end.hash)), None),
            Err(text) => why = Some(text),
        }
    }
    (None, why)
}

/// Who asks, and the number of the last call.
pub struct Client {
    gid: OwnGid,
    number: AtomicI64,
}

impl Client {
    /// That has asked nothing so far.
    pub fn new(gid: OwnGid) -> Client {
        Client { gid, number: AtomicI64::new(0) }
    }
}

/// Asks a server.
pub struct Requester {
    pub name: String,
    /// The key of the server.
    pub at: String,
    pub client: Arc<Client>,
    pub ty: Arc<RosService>,
    pub place: Place,
    pub priority: i32,
    /// What takes longer is given up.
    pub longest: Duration,
}

impl Requester {
    /// The response to a request, as a stream of sinew; else why there is none, as a sentence.
    pub async fn ask(&self, mut request: Vec<u8>) -> Result<Vec<u8>, String> {
        let Client { gid, number } = &*self.client;
        let sequence = number.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let beside = Attachment { sequence, time_ns: time_ns(Duration::ZERO), gid: gid.get() };
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
            .timeout(self.longest)
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
        response.truncate(self.ty.response.size_here(used));
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
