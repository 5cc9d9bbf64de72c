//! A service of the domain that is called from the Zenoh network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::msg::Type;
use sinew::raw::{Client, ClientOptions};
use sinew::{ErrorKind, Ghost};
use tokio::task::AbortHandle;
use zenoh::Wait;
use zenoh::bytes::{Encoding, ZBytes};
use zenoh::pubsub::Subscriber;
use zenoh::query::{Query, Queryable};
use zenoh::sample::Locality;

use super::attached::{Attached, CallId, TypeTag};
use super::network::Place;
use super::{joined, key, said};
use crate::bridge::{Channel, Due, check};
use crate::channels::{Counts, State, parts_of, times};
use crate::gateway::drawn;
use crate::protocol::{Decoded, Kind};
use crate::ros2::action::Part;

/// Calls at a time.
const MOST: usize = 1024;
/// That take longer are given up, since nobody tells when the caller is lost. Until then Zenoh 1.10 has a timer for each that was made, also when it is answered, and nothing ends that one before.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// Answers calls, as a ghost client.
pub struct Served {
    // First, so that no calls come any more.
    _queryable: Queryable<()>,
    _cancels: Subscriber<()>,
    running: Arc<Running>,
    service: Arc<Service>,
}

/// Calls that are not answered yet. Those of programs that know nothing of sinew have ids that were drawn here.
#[derive(Default)]
struct Running(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    all: HashMap<CallId, AbortHandle>,
    /// No more of them.
    is_over: bool,
}

/// What all calls need.
struct Service {
    client: Client,
    key: String,
    name: String,
    request: Type,
    request_tag: TypeTag,
    response_tag: TypeTag,
    /// Those that come are goals of an action.
    is_of_goals: bool,
    max_message: u64,
    counts: Counts,
}

impl Served {
    /// Blocks until the manager has agreed.
    pub fn open(place: &Place, name: &str, due: &Due) -> Result<Served, String> {
        let options = ClientOptions { ghost: Ghost::Carrier, ..ClientOptions::default() };
        let client = Client::new(&place.node, name, &due.signature, &due.response, &options).map_err(|why| why.to_string())?;
        let read = |signature: &str| signature.parse::<Type>().map_err(|why| format!("its type cannot be read: {why}"));
        let (request, response) = (read(&due.signature)?, read(&due.response)?);
        let key = key::service(&place.prefix, name);
        let service = Arc::new(Service {
            client,
            key: key.clone(),
            name: name.to_owned(),
            request_tag: TypeTag::of(&request),
            response_tag: TypeTag::of(&response),
            is_of_goals: times::part_of(Kind::Service, name, &due.signature).is_some(),
            request,
            max_message: place.max_message,
            counts: Counts::default(),
        });
        let running = Arc::<Running>::default();
        let (calls, ended, caller, called) = (Arc::clone(&running), Arc::clone(&running), place.clone(), Arc::clone(&service));
        let queryable = place.session.declare_queryable(key).complete(true).allowed_origin(Locality::Remote);
        let queryable = queryable.callback(move |query| begin(&caller, &called, &calls, query)).wait().map_err(|why| said(&why))?;
        let cancels = place.session.declare_subscriber(key::cancel(&place.prefix, name)).allowed_origin(Locality::Remote);
        let cancels = cancels.callback(move |sample| {
            let attached = sample.attachment().map(|attachment| Attached::decode(&attachment.to_bytes()));
            if let Some(Ok(Some(Attached::Cancel(id)))) = attached {
                ended.cancel(&id);
            }
        });
        Ok(Served { _queryable: queryable, _cancels: cancels.wait().map_err(|why| said(&why))?, running, service })
    }
}

impl Channel for Served {
    fn is_on_its_topic(&self) -> Option<bool> {
        Some(!self.service.client.statistics().detached)
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((State::Open, self.service.counts.told()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let mut calls = self.running.calls();
        // Zenoh's thread may have one in hand.
        calls.is_over = true;
        for (_, running) in calls.all.drain() {
            running.abort();
        }
    }
}

impl Running {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self, id: &CallId) {
        if let Some(running) = self.calls().all.remove(id) {
            running.abort();
        }
    }
}

/// Never blocks: what takes longer, a task does.
fn begin(place: &Place, service: &Arc<Service>, running: &Arc<Running>, query: Query) {
    let attached = query.attachment().map_or(Ok(None), |attachment| Attached::decode(&attachment.to_bytes()));
    // Of the clock of a program that knows nothing of sinew nothing is known, nor does it know of actions.
    let (id, ahead) = match &attached {
        Ok(Some(Attached::Call(call))) => (call.id, times::ahead_of(call.clock)),
        _ => (drawn(), 0),
    };
    let mut calls = running.calls();
    // Whoever draws by lot has none twice.
    if calls.is_over || calls.all.contains_key(&id) {
        return;
    }
    let is_full = calls.all.len() >= MOST;
    let (service, ended) = (Arc::clone(service), Arc::clone(running));
    let task = place.runtime.spawn(async move {
        let fits = if is_full { Err(service.full()) } else { service.fits(&query, attached) };
        match fits {
            Ok(()) => service.answer(&query, ahead).await,
            Err(why) => service.fail(&query, &why),
        }
        ended.calls().all.remove(&id);
    });
    calls.all.insert(id, task.abort_handle());
}

impl Service {
    fn full(&self) -> String {
        format!("the gateway there has {MOST} calls of '{}' to answer, which are the most", self.name)
    }

    /// Else why not. A call of a program that knows nothing of sinew has no attachment, but is of the type.
    fn fits(&self, query: &Query, attached: Decoded<Option<Attached>>) -> Result<(), String> {
        let (name, size) = (&self.name, query.payload().map_or(0, ZBytes::len) as u64);
        if size > self.max_message {
            return Err(format!(
                "a call of '{name}' has {size} bytes, where \"max_message\" of the gateway there are {}",
                self.max_message
            ));
        }
        match attached {
            Ok(Some(Attached::Call(call))) => {
                let halves = [("requests", &self.request_tag, &call.request), ("responses", &self.response_tag, &call.response)];
                if let Some((what, there, here)) = halves.into_iter().find(|(_, there, here)| there.hash != here.hash) {
                    let (there, here) = (&there.name, &here.name);
                    return Err(format!(
                        "service '{name}' has {what} {there} in the domain that provides it (there), and {here} in the one that calls it (here), and they differ"
                    ));
                }
            }
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => return Err(format!("a call of '{name}' has an attachment that is not as it should be")),
        }
        let payload = query.payload().ok_or_else(|| format!("a call of '{name}' has no payload, which would be the request"))?;
        check(payload.slices(), &self.request).map_err(|why| format!("a call of '{name}' is no {}: {why}", self.request_tag.name))
    }

    async fn answer(&self, query: &Query, ahead: i64) {
        let mut request = query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default();
        if self.is_of_goals {
            times::shift(Part::Goals, &mut request, ahead);
        }
        let asked = request.len();
        let response = match self.client.start(request, Some(LONGEST)) {
            Ok(response) => response.await,
            Err(error) => Err(error),
        };
        match response {
            Ok(frame) => {
                let size = asked + frame.size();
                let reply = query.reply(&self.key, joined(parts_of(frame))).encoding(Encoding::APPLICATION_CDR);
                match tokio::task::block_in_place(|| reply.wait()) {
                    Ok(()) => self.counts.answered(size),
                    Err(why) => log::debug!("an answer of '{}' could not be sent: {why}", self.name),
                }
            }
            // The provider has gone: no answer at all.
            Err(error) if matches!(error.kind(), ErrorKind::Lost | ErrorKind::Closed | ErrorKind::Unavailable | ErrorKind::Cancelled) => {
                self.counts.unanswered();
            }
            Err(error) => {
                let text = error.to_string();
                self.counts.answered(asked + text.len());
                self.tell(query, &text);
            }
        }
    }

    fn fail(&self, query: &Query, why: &str) {
        log::debug!("{why}");
        self.counts.unanswered();
        self.tell(query, why);
    }

    fn tell(&self, query: &Query, text: &str) {
        let reply = query.reply_err(text).encoding(Encoding::TEXT_PLAIN);
        if let Err(why) = tokio::task::block_in_place(|| reply.wait()) {
            log::debug!("an error of '{}' could not be sent: {why}", self.name);
        }
    }
}
