//! What was kept for those who come late, for those in the Zenoh network who ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::raw::{Subscriber, SubscriberOptions};
use tokio::sync::Semaphore;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::query::{Query, Queryable};
use zenoh::sample::Locality;

use super::attached::{Attached, Message, TypeTag};
use super::network::Place;
use super::{joined, said};
use crate::bridge::Due;
use crate::channels::{Reading, origin_of, parts_of};

/// Who asks while so many are answered is answered nothing.
const AT_A_TIME: usize = 8;
/// For the publishers of the domain to be found.
const FOUND: Duration = Duration::from_secs(1);
/// Without a further message everything has come.
const QUIET: Duration = Duration::from_millis(50);
/// Messages in one answer.
const MOST: usize = 1024;

/// Answers on this key, as long as the result is there. The domain, which keeps it, is read anew each time.
pub fn answer(place: &Place, key: &str, name: &str, due: &Due, ty: &TypeTag) -> Result<Queryable<()>, String> {
    let room = Arc::new(Semaphore::new(AT_A_TIME));
    let asked = Arc::new((place.clone(), key.to_owned(), name.to_owned(), due.clone(), ty.clone()));
    let runtime = place.runtime.clone();
    let declared = place.session.declare_queryable(key.to_owned()).allowed_origin(Locality::Remote).callback(move |query| {
        let Ok(room) = Arc::clone(&room).try_acquire_owned() else { return };
        let asked = Arc::clone(&asked);
        runtime.spawn_blocking(move || {
            let (place, key, name, due, ty) = &*asked;
            if let Err(why) = tell(place, key, name, due, ty, &query) {
                log::debug!("what was kept of '{name}' could not be told: {why}");
            }
            drop(room);
        });
    });
    declared.wait().map_err(|why| said(&why))
}

fn tell(place: &Place, key: &str, name: &str, due: &Due, ty: &TypeTag, query: &Query) -> Result<(), String> {
    let options = SubscriberOptions { ghost: true, ..SubscriberOptions::default() };
    let qos = Reading::of(&due.offer, true, &due.traffic).qos;
    let subscriber = Subscriber::new(&place.node, name, &due.signature, &qos, options).map_err(|why| why.to_string())?;
    let begin = Instant::now();
    while subscriber.statistics().publishers == 0 && begin.elapsed() < FOUND {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut message = Message { ty: ty.clone(), origin: 0, source: place.drawn(), sequence: 0, is_kept: true, offer: due.offer.clone() };
    for _ in 0..MOST {
        let Some(frame) = subscriber.take(QUIET).map_err(|why| why.to_string())? else { break };
        if frame.size() as u64 > place.max_message {
            continue;
        }
        message.origin = origin_of(&frame.info());
        let attached = Attached::Message(message.clone()).encode();
        let reply = query.reply(key, joined(parts_of(frame))).encoding(Encoding::APPLICATION_CDR).attachment(attached);
        reply.wait().map_err(|why| said(&why))?;
    }
    Ok(())
}
