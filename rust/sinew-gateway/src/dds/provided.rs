//! A service of DDS, for those who call it in the domain.

use std::sync::Arc;

use sinew::raw::{self, Provider};

use super::network::Place;
use super::requester::{Requester, server};
use super::strangers::Convention;
use super::types::RosType;
use crate::bridge::{Channel, Due, Key, Look, note};
use crate::channels::{Counts, State};
use crate::ros2::calls::{self, cancelled};

/// Provides it as a ghost while somebody there does: until then calls wait, as they do for any provider.
pub struct Provided {
    // In the order in which they go.
    provider: Option<Provider>,
    requester: Option<Arc<Requester>>,
    refused: Option<String>,
    counts: Arc<Counts>,
    look: Look,
    place: Place,
    key: Key,
    due: Due,
    request: RosType,
    response: RosType,
}

impl Provided {
    /// `look` is called when [`Provided::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Provided, String> {
        let (request, response) = (place.types.of(&due.signature)?, place.types.of(&due.response)?);
        let (place, key, due, counts) = (place.clone(), key.clone(), due.clone(), Arc::default());
        let mut provided = Provided { provider: None, requester: None, refused: None, counts, look, place, key, due, request, response };
        provided.look();
        Ok(provided)
    }

    /// Fails with a sentence.
    fn open_to(&mut self, convention: Convention) -> Result<(), String> {
        let name = &self.key.1;
        if self.requester.is_none() {
            let types = [&self.request, &self.response];
            let requester = Requester::open(&self.place, &self.key, (name, types), convention, Arc::clone(&self.look));
            self.requester = Some(Arc::new(requester.map_err(|why| format!("'{name}' cannot be opened: {why}"))?));
        }
        let ready = self.requester.as_ref().filter(|requester| requester.is_ready());
        if let (None, Some(requester)) = (&self.provider, ready) {
            let provider = self.provide(requester);
            self.provider = Some(provider.map_err(|why| format!("'{name}' cannot be provided in this domain: {why}"))?);
        }
        Ok(())
    }

    fn provide(&self, requester: &Arc<Requester>) -> sinew::Result<Provider> {
        let (requester, counts, name, runtime) =
            (Arc::clone(requester), Arc::clone(&self.counts), self.key.1.clone(), self.place.runtime.clone());
        calls::provided(&self.place.node, &self.key, &self.due, move |call| {
            let carried = Carried { name: name.clone(), counts: Arc::clone(&counts), requester: Arc::clone(&requester) };
            runtime.spawn(async move { carried.carry(call).await });
        })
    }
}

impl Channel for Provided {
    fn look(&mut self) {
        let types = [&self.request, &self.response];
        let before = self.requester.as_ref().map(|requester| requester.convention());
        let (convention, why) = server(&self.place.strangers(), &self.key.1, types, before);
        let is_other = before.is_some() && before != convention;
        if is_other {
            self.provider = None;
            if let Some(requester) = self.requester.take() {
                requester.give_up();
            }
            self.place.graph.closed(&self.key);
        }
        if let Some(requester) = &self.requester {
            // First, so that calls end as those of any provider that has gone, and later ones wait.
            if !requester.is_ready() {
                self.provider = None;
            }
            requester.forget_lost();
        }
        let refused = convention.and_then(|convention| self.open_to(convention).err()).or(why);
        note(&mut self.refused, refused);
    }

    fn is_on_its_topic(&self) -> Option<bool> {
        Some(self.provider.as_ref().is_none_or(|provider| !provider.statistics().detached))
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((calls::state(self.provider.is_some(), self.refused.as_ref()), self.counts.told()))
    }
}

impl Drop for Provided {
    fn drop(&mut self) {
        // First, so that calls end as those of any provider that has gone.
        self.provider = None;
        if let Some(requester) = &self.requester {
            requester.give_up();
        }
        self.place.graph.closed(&self.key);
    }
}

/// A call to the server, and the reply back.
struct Carried {
    name: String,
    counts: Arc<Counts>,
    requester: Arc<Requester>,
}

impl Carried {
    async fn carry(&self, call: raw::Call) {
        let mut asked = match self.requester.ask(call.extents()) {
            Ok(asked) => asked,
            Err(why) => return self.fail(call, why),
        };
        let answered = tokio::select! {
            answered = self.requester.reply(&mut asked) => answered,
            () = cancelled(&call) => return,
        };
        let response = match answered {
            Ok(response) => response,
            Err(why) => return self.fail(call, &why),
        };
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
}
