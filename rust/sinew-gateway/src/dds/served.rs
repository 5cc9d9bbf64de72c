//! A service of the domain that is called from DDS.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::raw::{Client, ClientOptions};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::network::Place;
use super::replier::{Asked, MOST, Replier, Replies};
use crate::bridge::{Channel, Due, Key, Look};
use crate::channels::{Counts, State};

/// Calls that take longer are given up, since nobody tells when the caller has lost interest.
const LONGEST: Duration = Duration::from_secs(3600);

/// Answers calls, as a ghost client.
pub struct Served {
    // First, so that no calls come any more.
    _replier: Replier,
    calls: Arc<Calls>,
    place: Place,
    key: Key,
}

/// Those that are under way.
struct Calls {
    client: Client,
    runtime: Handle,
    counts: Arc<Counts>,
    number: AtomicU64,
    running: Mutex<HashMap<u64, AbortHandle>>,
}

impl Served {
    /// Blocks until the manager has agreed.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Served, String> {
        let (request, response) = (place.types.of(&due.signature)?, place.types.of(&due.response)?);
        let options = ClientOptions { ghost: true, ..ClientOptions::default() };
        let client = Client::new(&place.node, &key.1, &due.signature, &due.response, &options).map_err(|why| why.to_string())?;
        let (runtime, counts) = (place.runtime.clone(), Arc::<Counts>::default());
        let running = Mutex::default();
        let calls = Arc::new(Calls { client, runtime, counts: Arc::clone(&counts), number: AtomicU64::new(0), running });
        let asked = Arc::clone(&calls);
        let replier = Replier::open(place, key, (&key.1, [&request, &response]), &counts, look, move |replies, call| {
            Calls::begin(&asked, replies, call);
        })?;
        Ok(Served { _replier: replier, calls, place: place.clone(), key: key.clone() })
    }
}

impl Channel for Served {
    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((State::Open, self.calls.counts.told()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for (_, running) in self.calls.running().drain() {
            running.abort();
        }
        self.place.graph.closed(&self.key);
    }
}

impl Calls {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Never blocks: what takes longer, a task does.
    fn begin(calls: &Arc<Calls>, replies: &Arc<Replies>, asked: Asked) {
        let mut running = calls.running();
        if running.len() >= MOST {
            drop(running);
            return replies.refuse(&format!("{MOST} others are under way, which are the most"));
        }
        let number = calls.number.fetch_add(1, Ordering::Relaxed);
        let (answering, replies) = (Arc::clone(calls), Arc::clone(replies));
        let task = calls.runtime.spawn(async move {
            answering.answer(&replies, asked).await;
            answering.running().remove(&number);
        });
        running.insert(number, task.abort_handle());
    }

    async fn answer(&self, replies: &Replies, asked: Asked) {
        let size = asked.request.len();
        let answered = match self.client.start(asked.request, Some(LONGEST)) {
            Ok(response) => response.await,
            Err(error) => Err(error),
        };
        let frame = match answered {
            Ok(frame) => frame,
            Err(error) => return replies.refuse(&error.to_string()),
        };
        let response: Vec<&[u8]> = frame.extents().collect();
        match replies.answer(&asked.by, &response).await {
            Ok(()) => self.counts.answered(size + frame.size()),
            Err(why) => replies.refuse(why),
        }
    }
}
