//! A service of the domain that is called from nodes of rmw_zenoh.

use std::sync::Arc;
use std::time::Instant;

use sinew::Ghost;
use sinew::raw::{Client, ClientOptions};

use super::network::Place;
use super::replier::{self, Replier};
use crate::bridge::{Channel, Due, Key};
use crate::channels::{Counts, State, parts_of};
use crate::ros2::calls::{Asked, CLOSED, Caller, Ending, Tasks};
use crate::zenoh::served::LONGEST;

/// Calls at a time.
const MOST: usize = 1024;

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
    pub fn open(place: &Place, key: &Key, due: &Due) -> Result<Served, String> {
        let ty = place.types.service(&due.signature, &due.response)?;
        let options = ClientOptions { ghost: Ghost::Carrier, ..ClientOptions::default() };
        let client = Client::new(&place.zenoh.node, &key.1, &due.signature, &due.response, &options).map_err(|why| why.to_string())?;
        let (counts, tasks) = (Arc::<Counts>::default(), Tasks::new(&place.zenoh.runtime, MOST));
        let calls = Arc::new(Calls { client, counts: Arc::clone(&counts), ending: tasks.ending() });
        let called = Arc::clone(&calls);
        let replier = Replier::open(place, key, (&key.1, &ty), &counts, &tasks, move |asked| Arc::clone(&called).answer(asked))?;
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
        let asked = request.len();
        let answered = match self.client.start(request, Some(LONGEST)) {
            Ok(response) => response.await,
            Err(error) => Err(error),
        };
        let frame = match answered {
            Ok(frame) => frame,
            Err(error) => return by.refuse(&error.to_string()),
        };
        let size = asked + frame.size();
        match by.send(parts_of(frame)) {
            Ok(()) => self.counts.answered(size),
            Err(why) => by.refuse(&why),
        }
    }
}
