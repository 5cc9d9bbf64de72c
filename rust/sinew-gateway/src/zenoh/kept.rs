//! What was kept for those who come late, for those in the Zenoh network who ask.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sinew::Ghost;
use sinew::raw::{Subscriber, SubscriberOptions};
use tokio::sync::Semaphore;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::query::{Query, Queryable};
use zenoh::sample::Locality;

use super::flow::{Beside, Payload};
use super::network::Place;
use super::said;
use crate::bridge::Due;
use crate::channels::{Reading, Taken, outgoing};
use crate::link::Outgoing;
use crate::protocol::Packing;

/// Who asks while so many are answered waits.
const AT_A_TIME: usize = 8;
/// And is answered nothing while so many wait.
const MOST_WAITING: usize = 1024;
/// Nor after that: as long as those who ask in Zenoh wait themselves, unless they are told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// For the publishers of the domain to be found.
const FOUND: Duration = Duration::from_secs(1);
/// Without a further one of these messages everything has come.
const QUIET: Duration = Duration::from_millis(50);
/// Messages in one answer.
const MOST: usize = 1024;
/// Bytes of them that are read before they are told.
const MOST_BYTES: u64 = 64 << 20;
/// How many of each publisher are wanted, where that is said: as AdvancedSubscribers of Zenoh say it.
const WANTED: &str = "_max";

/// A topic that may be asked for.
pub struct Asked {
    /// The key that is asked at.
    pub at: String,
    /// That of messages.
    pub key: String,
    /// In the domain.
    pub name: String,
    /// What it is like there now.
    pub due: Arc<Mutex<Due>>,
    /// What is told of each message.
    pub payload: Payload,
}

/// Answers, as long as the result is there. The domain, which keeps it, is read anew each time. `beside` gives nothing for what is not to be told any more.
pub fn answer(
    place: &Place,
    asked: Asked,
    beside: impl Fn(&Outgoing) -> Option<Beside> + Send + Sync + 'static,
) -> Result<Queryable<()>, String> {
    let (room, line) = (Arc::new(Semaphore::new(AT_A_TIME)), Arc::new(Semaphore::new(MOST_WAITING)));
    let queryable = place.session.declare_queryable(asked.at.clone()).allowed_origin(Locality::Remote);
    let answering = Arc::new((place.clone(), asked, beside));
    let (runtime, is_told) = (place.runtime.clone(), Arc::new(AtomicBool::new(false)));
    // Never blocks: what takes longer, a task does.
    let declared = queryable.callback(move |query| {
        let (answering, is_told) = (Arc::clone(&answering), Arc::clone(&is_told));
        let refuse = move |name: &str| {
            if !is_told.swap(true, Ordering::Relaxed) {
                log::warn!("what was kept of '{name}' is not told to all: more ask for it at once than can be answered in time");
            }
        };
        let Ok(waits) = Arc::clone(&line).try_acquire_owned() else { return refuse(&answering.1.name) };
        let room = Arc::clone(&room);
        runtime.spawn(async move {
            let Ok(Ok(room)) = tokio::time::timeout(PATIENCE, room.acquire_owned()).await else { return refuse(&answering.1.name) };
            drop(waits);
            tokio::task::spawn_blocking(move || {
                let (place, asked, beside) = &*answering;
                if let Err(why) = tell(place, asked, beside, &query) {
                    log::debug!("what was kept of '{}' could not be told: {why}", asked.name);
                }
                drop(room);
            });
        });
    });
    declared.wait().map_err(|why| said(&why))
}

fn tell(place: &Place, asked: &Asked, beside: impl Fn(&Outgoing) -> Option<Beside>, query: &Query) -> Result<(), String> {
    let Asked { key, name, due, .. } = asked;
    let due = due.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let options = SubscriberOptions { ghost: Ghost::Carrier, ..SubscriberOptions::default() };
    let mut qos = Reading::of(&due.offer, true, &due.traffic).qos;
    if let Some(wanted) = query.parameters().get(WANTED).and_then(|wanted| wanted.parse::<u32>().ok()) {
        qos.depth = qos.depth.min(wanted.max(1));
    }
    let begin = Instant::now();
    let subscriber = Subscriber::new(&place.node, name, &due.signature, &qos, options).map_err(|why| why.to_string())?;
    while subscriber.statistics().publishers == 0 && begin.elapsed() < FOUND {
        std::thread::sleep(Duration::from_millis(1));
    }
    let taken = Taken { max_message: place.max_message, compression: 0 };
    let tell = |message: Outgoing| {
        let Some(Beside { attachment, timestamp }) = beside(&message) else { return Ok(()) };
        let Some(payload) = (asked.payload)(message.parts) else { return Ok(()) };
        let reply = query.reply(key, payload).encoding(Encoding::APPLICATION_CDR).attachment(attachment).timestamp(timestamp);
        reply.wait().map_err(|why| said(&why))
    };
    let (mut nodes, mut count) = (HashSet::new(), 0);
    // Told at the end, so that what was published before these, and is on its way to those who subscribe, comes first there.
    let (mut kept, mut bytes) = (Vec::new(), 0);
    let mut until = Instant::now() + QUIET;
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|_| count < MOST) {
        let Some(frame) = subscriber.take(left).map_err(|why| why.to_string())? else { break };
        let info = frame.info();
        let Some(message) = outgoing(frame, &info, due.offer.lifespan, Packing::None, taken) else { continue };
        let is_first = nodes.insert(info.publisher.clone());
        // What is published meanwhile those get who subscribe. But of a fast publisher what was kept may have been replaced by then, and who only asks is to get something.
        if message.published >= begin && !is_first {
            continue;
        }
        until = Instant::now() + QUIET;
        (count, bytes) = (count + 1, bytes + u64::from(message.unpacked));
        kept.push(message);
        if bytes > MOST_BYTES {
            kept.drain(..).try_for_each(&tell)?;
            bytes = 0;
        }
    }
    kept.into_iter().try_for_each(tell)
}
