//! A service of the domain that is called from DDS.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::Ghost;
use sinew::raw::{Client, ClientOptions};

use super::network::Place;
use super::replier::{self, MOST, Replier};
use crate::bridge::{Channel, Due, Key, Look};
use crate::channels::{Counts, State};
use crate::ros2::calls::{Asked, CLOSED, Caller, Ending, Tasks};

/// Calls that take longer are given up, since nobody tells when the caller has lost interest.
const LONGEST: Duration = Duration::from_secs(3600);

/// Answers calls, as a ghost client.
pub struct Served {
    // First, so that no calls come any more.
    _replier: Replier,
    tasks: Tasks,
    calls: Arc<Calls>,
    place: Place,
    key: Key,
}

/// What all calls need.
struct Calls {
    client: Client,
    counts: Arc<Counts>,
    ending: Arc<Ending>,
}

impl Served {
    /// Blocks until the manager has agreed.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Served, String> {
        let (request, response) = (place.types.of(&due.signature)?, place.types.of(&due.response)?);
        let options = ClientOptions { ghost: Ghost::Carrier, ..ClientOptions::default() };
        let client = Client::new(&place.node, &key.1, &due.signature, &due.response, &options).map_err(|why| why.to_string())?;
        let (counts, tasks) = (Arc::<Counts>::default(), Tasks::new(&place.runtime, MOST));
        let calls = Arc::new(Calls { client, counts: Arc::clone(&counts), ending: tasks.ending() });
        let called = Arc::clone(&calls);
        let answer = move |asked| Arc::clone(&called).answer(asked);
        let replier = Replier::open(place, key, (&key.1, [&request, &response]), &counts, &tasks, look, answer)?;
        Ok(Served { _replier: replier, tasks, calls, place: place.clone(), key: key.clone() })
    }
}

impl Channel for Served {
    fn is_on_its_topic(&self) -> Option<bool> {
        Some(!self.calls.client.statistics().detached)
    }

    fn has_gone(&self, _since: Instant) -> bool {
        self.tasks.have_ended()
    }

    fn give_up(&mut self) {
        self.tasks.give_up();
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((State::Open, self.calls.counts.told()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
    }
}

impl Calls {
    async fn answer(self: Arc<Calls>, Asked { request, by }: Asked<replier::Caller>) {
        tokio::select! {
            biased;
            () = self.carry(request, &by) => {}
            () = self.ending.begun() => by.refuse(CLOSED),
        }
    }

    async fn carry(&self, request: Vec<u8>, by: &replier::Caller) {
        let size = request.len();
        let answered = match self.client.start(request, Some(LONGEST)) {
            Ok(response) => response.await,
            Err(error) => Err(error),
        };
        let frame = match answered {
            Ok(frame) => frame,
            Err(error) => return by.refuse(&error.to_string()),
        };
        let response: Vec<&[u8]> = frame.extents().collect();
        match by.answer(&response).await {
            Ok(()) => self.counts.answered(size + frame.size()),
            Err(why) => by.refuse(&why),
        }
    }
}
