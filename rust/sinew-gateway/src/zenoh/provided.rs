//! A service of the Zenoh network, for those who call it in the domain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sinew::Ghost;
use sinew::msg::Type;
use sinew::raw::{self, Provider, ProviderOptions};
use tokio::sync::{mpsc, watch};
use zenoh::Wait;
use zenoh::bytes::{Encoding, ZBytes};
use zenoh::matching::MatchingListener;
use zenoh::query::{ConsolidationMode, Querier, QueryTarget, Reply};
use zenoh::sample::Locality;

use super::attached::{Attached, Call, TypeTag};
use super::network::Place;
use super::served::LONGEST;
use super::{key, qos, said};
use crate::bridge::{Channel, Due, Look, check, opened};
use crate::channels::{Counts, State, times};
use crate::gateway::drawn;
use crate::peers::printable;
use crate::protocol::Kind;

/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_millis(100);

/// Provides it as a ghost while somebody there does: until then calls wait, as they do for any provider.
pub struct Provided {
    // First, so that no call comes any more. Calls that are under way see that it goes.
    provider: Option<(Provider, watch::Sender<()>)>,
    _listener: MatchingListener<()>,
    is_there: Arc<AtomicBool>,
    refused: Option<String>,
    service: Arc<Service>,
    due: Due,
}

/// What all calls need.
struct Service {
    place: Place,
    querier: Querier<'static>,
    name: String,
    request: TypeTag,
    response: Type,
    /// Those that are answered are goals of an action.
    is_of_goals: bool,
    counts: Counts,
}

/// What a call came to that has no response.
enum Unanswered {
    /// Somebody says why.
    Failed(String),
    /// Nobody does, or nothing that could be used.
    Lost(String),
}

impl Provided {
    /// `look` is called when [`Provided::look`] is to be.
    pub fn open(place: &Place, name: &str, due: &Due, look: Look) -> Result<Provided, String> {
        let read = |signature: &str| signature.parse::<Type>().map_err(|why| format!("its type cannot be read: {why}"));
        let (request, response) = (read(&due.signature)?, read(&due.response)?);
        let querier = place
            .session
            .declare_querier(key::service(&place.prefix, name))
            .target(QueryTarget::BestMatching)
            .consolidation(ConsolidationMode::None)
            .allowed_destination(Locality::Remote)
            .priority(qos::priority(due.traffic.priority))
            .timeout(LONGEST)
            .wait()
            .map_err(|why| said(&why))?;
        let is_there = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&is_there);
        let listener = querier.matching_listener().callback(move |status| {
            there.store(status.matching(), Ordering::Relaxed); // relaxed: what looks is told by a channel
            look();
        });
        let listener = listener.wait().map_err(|why| said(&why))?;
        let service = Service {
            place: place.clone(),
            querier,
            name: name.to_owned(),
            request: TypeTag::of(&request),
            response,
            is_of_goals: times::part_of(Kind::Service, name, &due.signature).is_some(),
            counts: Counts::default(),
        };
        Ok(Provided { provider: None, _listener: listener, is_there, refused: None, service: Arc::new(service), due: due.clone() })
    }
}

impl Channel for Provided {
    fn look(&mut self) {
        let is_there = self.is_there.load(Ordering::Relaxed); // relaxed: see above
        if !is_there {
            self.provider = None;
            self.refused = None;
        } else if self.provider.is_none() {
            // Whether a call was executed when the connection is lost nobody knows, so it is not made a second time.
            let options = ProviderOptions { ghost: Ghost::Carrier, at_most_once: true, ..ProviderOptions::default() };
            let service = Arc::clone(&self.service);
            let Service { place, name, .. } = &*self.service;
            let (provided, seen) = watch::channel(());
            let provider = Provider::new(&place.node, name, &self.due.signature, &self.due.response, &options, move |call| {
                let (carried, seen) = (Arc::clone(&service), seen.clone());
                service.place.runtime.spawn(async move { carried.carry(call, seen).await });
            });
            let provider = provider.map_err(|why| format!("'{name}' cannot be provided in this domain: {why}"));
            self.provider = opened(&mut self.refused, provider).map(|provider| (provider, provided));
        }
    }

    fn is_on_its_topic(&self) -> Option<bool> {
        Some(self.provider.as_ref().is_none_or(|(provider, _)| !provider.statistics().detached))
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let state = match (&self.provider, &self.refused) {
            (Some(_), _) => State::Open,
            (None, Some(why)) => State::Refused(why.clone()),
            (None, None) => State::Waiting,
        };
        Some((state, self.service.counts.told()))
    }
}

/// Waits until nobody waits for the call any more: its caller does not, or it has failed as its provider here has gone, which `provided` sees. The network may never answer it.
pub async fn given_up(call: &raw::Call, mut provided: watch::Receiver<()>) {
    while !call.is_cancelled() {
        if tokio::time::timeout(LOOK, provided.changed()).await.is_ok() {
            return;
        }
    }
}

impl Service {
    /// Carries a call to the network, and the answer back.
    async fn carry(&self, call: raw::Call, provided: watch::Receiver<()>) {
        let request = call.extents().collect::<Vec<_>>().concat();
        let (id, asked) = (drawn(), request.len());
        let answered = tokio::select! {
            answered = self.ask(id, request) => answered,
            () = given_up(&call, provided) => {
                if !call.is_cancelled() {
                    self.counts.unanswered();
                }
                self.cancel(id);
                return drop(call);
            }
        };
        let ended = match answered {
            Ok(response) => {
                self.counts.answered(asked + response.len());
                if self.is_of_goals {
                    let mut response = response.to_bytes().into_owned();
                    times::date_answer(&mut response);
                    call.answer(&[&response])
                } else {
                    call.answer(&response.slices().collect::<Vec<_>>())
                }
            }
            Err(Unanswered::Failed(why)) => {
                self.counts.answered(asked + why.len());
                call.fail(&why)
            }
            Err(Unanswered::Lost(why)) => {
                self.counts.unanswered();
                call.fail(&why)
            }
        };
        if let Err(error) = ended {
            log::debug!("an answer of '{}' could not be delivered: {error}", self.name);
        }
    }

    /// The response, or why there is none.
    async fn ask(&self, id: [u8; 16], request: Vec<u8>) -> Result<ZBytes, Unanswered> {
        let attached =
            Attached::Call(Call { id, request: self.request.clone(), response: TypeTag::of(&self.response), clock: times::now() }).encode();
        // The first answer is the one.
        let (tell, mut told) = mpsc::channel(1);
        let got = self.querier.get().payload(request).encoding(Encoding::APPLICATION_CDR).attachment(attached);
        let got = got.callback(move |reply: Reply| _ = tell.try_send(reply.into_result()));
        tokio::task::block_in_place(|| got.wait())
            .map_err(|why| Unanswered::Lost(format!("the call cannot be sent into the Zenoh network: {}", said(&why))))?;
        match told.recv().await {
            Some(Ok(sample)) if sample.payload().len() as u64 > self.place.max_message => Err(Unanswered::Lost(format!(
                "the answer has {} bytes, where \"max_message\" of the gateway are {}",
                sample.payload().len(),
                self.place.max_message
            ))),
            Some(Ok(sample)) => match check(sample.payload().slices(), &self.response) {
                Ok(()) => Ok(sample.payload().clone()),
                Err(why) => Err(Unanswered::Lost(format!("what the Zenoh network has answered is no {}: {why}", self.response.name()))),
            },
            Some(Err(error)) => Err(Unanswered::Failed(printable(&String::from_utf8_lossy(&error.payload().to_bytes())))),
            None => Err(Unanswered::Lost(
                "nobody in the Zenoh network has answered: the provider there has gone, or the connection with it, before it \
                         answered, or access is not allowed; the call may have been executed, or not"
                    .to_owned(),
            )),
        }
    }

    fn cancel(&self, id: [u8; 16]) {
        let key = key::cancel(&self.place.prefix, &self.name);
        let put =
            self.place.session.put(key, ZBytes::new()).attachment(Attached::Cancel(id).encode()).allowed_destination(Locality::Remote);
        if let Err(why) = tokio::task::block_in_place(|| put.wait()) {
            log::debug!("a call of '{}' could not be cancelled: {why}", self.name);
        }
    }
}
