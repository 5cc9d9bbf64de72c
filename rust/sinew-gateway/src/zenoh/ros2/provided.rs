//! A service of nodes of rmw_zenoh, for those who call it in the domain.

use std::sync::Arc;

use sinew::raw::{self, Provider};
use tokio::sync::watch;

use super::network::Place;
use super::replier::service_qos;
use super::requester::{self, Client, Requester};
use crate::bridge::{Channel, Due, Key, note};
use crate::channels::{Counts, State};
use crate::ros2::calls;
use crate::ros2::types::RosService;
use crate::zenoh::provided::given_up;
use crate::zenoh::served::LONGEST;

/// Provides it as a ghost while somebody there does: until then calls wait, as they do for any provider.
pub struct Provided {
    // First, so that no call comes any more. Calls that are under way see that it goes.
    provider: Option<(Provider, watch::Sender<()>)>,
    /// The key that it was provided for.
    at: Option<String>,
    refused: Option<String>,
    counts: Arc<Counts>,
    client: Arc<Client>,
    place: Place,
    key: Key,
    due: Due,
    ty: Arc<RosService>,
}

impl Provided {
    /// What is called here.
    pub fn open(place: &Place, key: &Key, due: &Due) -> Result<Provided, String> {
        let ty = Arc::new(place.types.service(&due.signature, &due.response)?);
        let client = Arc::new(Client::new(place.graph.opened(key, (&key.1, &ty.dds, &ty.hash), service_qos())));
        let (place, key, due) = (place.clone(), key.clone(), due.clone());
        let mut provided = Provided { provider: None, at: None, refused: None, counts: Arc::default(), client, place, key, due, ty };
        provided.look();
        Ok(provided)
    }

    fn provide(&self, at: &str) -> sinew::Result<(Provider, watch::Sender<()>)> {
        let requester = Requester {
            name: self.key.1.clone(),
            at: at.to_owned(),
            client: Arc::clone(&self.client),
            ty: Arc::clone(&self.ty),
            place: self.place.clone(),
            priority: self.due.traffic.priority,
            longest: LONGEST,
        };
        let carried = Arc::new(Carried { requester, counts: Arc::clone(&self.counts) });
        let zenoh = &self.place.zenoh;
        let runtime = zenoh.runtime.clone();
        let (provided, seen) = watch::channel(());
        let provider = calls::provided(&zenoh.node, &self.key, &self.due, move |call| {
            let (carried, seen) = (Arc::clone(&carried), seen.clone());
            runtime.spawn(async move { carried.carry(call, seen).await });
        })?;
        Ok((provider, provided))
    }
}

impl Channel for Provided {
    fn look(&mut self) {
        let (server, why) = requester::server(&self.place, (&self.key.1, &self.ty));
        if self.at != server {
            self.provider = None;
            self.at = None;
        }
        let mut refused = why;
        if let Some(server) = server.filter(|_| self.provider.is_none()) {
            match self.provide(&server) {
                Ok(provider) => (self.provider, self.at) = (Some(provider), Some(server)),
                Err(why) => refused = Some(format!("'{}' cannot be provided in this domain: {why}", self.key.1)),
            }
        }
        note(&mut self.refused, refused);
    }

    fn is_on_its_topic(&self) -> Option<bool> {
        Some(self.provider.as_ref().is_none_or(|(provider, _)| !provider.statistics().detached))
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((calls::state(self.provider.is_some(), self.refused.as_ref()), self.counts.told()))
    }
}

impl Drop for Provided {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
    }
}

/// Calls to one server, and the replies back.
struct Carried {
    requester: Requester,
    counts: Arc<Counts>,
}

impl Carried {
    async fn carry(&self, call: raw::Call, provided: watch::Receiver<()>) {
        let request = call.extents().collect::<Vec<_>>().concat();
        let asked = request.len();
        let answered = tokio::select! {
            answered = self.requester.ask(request) => answered,
            () = given_up(&call, provided) => {
                if !call.is_cancelled() {
                    self.counts.unanswered();
                }
                return drop(call);
            }
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
            log::debug!("an answer of '{}' could not be delivered: {error}", self.requester.name);
        }
    }
}
