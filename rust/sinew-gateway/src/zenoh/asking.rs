//! What others in the Zenoh network have kept for those who come late.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use zenoh::Wait;
use zenoh::query::{ConsolidationMode, QueryTarget, Reply, ReplyKeyExpr};
use zenoh::sample::{Locality, Sample};

use super::network::Place;
use super::said;

/// Who has kept something is waited for so long; what is published meanwhile waits.
const PATIENCE: Duration = Duration::from_secs(3);
/// Messages that were kept at most, and their bytes.
const MOST: usize = 1024;
const MOST_BYTES: usize = 64 << 20;

/// What they have at this selector, in the order in which it comes; with other keys than that has, where `replies` say so.
pub async fn kept(place: &Place, selector: &str, replies: ReplyKeyExpr) -> Vec<Sample> {
    let (tell, mut told) = mpsc::channel(MOST);
    let bytes = AtomicUsize::new(0);
    let got = place
        .session
        .get(selector)
        .target(QueryTarget::All)
        .consolidation(ConsolidationMode::None)
        .accept_replies(replies)
        .allowed_destination(Locality::Remote)
        .timeout(PATIENCE)
        .callback(move |reply: Reply| {
            if let Ok(sample) = reply.into_result() {
                let size = sample.payload().len();
                if bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size) <= MOST_BYTES {
                    let _ = tell.try_send(sample);
                }
            }
        });
    if let Err(why) = got.wait() {
        log::debug!("what was kept on '{selector}' cannot be asked for: {}", said(&why));
    }
    let mut all = Vec::new();
    while let Some(sample) = told.recv().await {
        all.push(sample);
    }
    all
}
