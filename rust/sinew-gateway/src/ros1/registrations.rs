//! Keeping the master informed, whatever becomes of it: it may start later than the bridge, and forgets everything when it is started anew.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::calls::Unanswered;
use super::catalogue;
use super::ends::Ends;
use super::master::{Master, Role};

/// How often it is asked whether it still knows what it was told.
const EVERY: Duration = Duration::from_secs(1);
/// How often it is asked who publishes what is wanted, lest it could not say so when that changed.
const AGAIN: Duration = Duration::from_secs(10);
/// Between two attempts to reach it.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);

/// What it was told.
type Told = BTreeMap<(Role, String), Registration>;

struct Registration {
    /// Of the wish.
    number: u64,
    ty: String,
    at: Instant,
}

/// Until the bridge has nothing any more, and the master knows that. `is_connected` is whether it answers.
pub async fn keep(ends: Arc<Ends>, master: Arc<Master>, is_connected: Arc<AtomicBool>) {
    let mut told = Told::new();
    let mut pause = FIRST;
    let mut is_logged = false;
    loop {
        let (wait, is_over) = match agree(&ends, &master, &mut told).await {
            Ok(is_over) => {
                is_connected.store(true, Ordering::Relaxed); // relaxed: nothing else is told by it
                (pause, is_logged) = (FIRST, false);
                (EVERY, is_over)
            }
            Err(why) => {
                is_connected.store(false, Ordering::Relaxed); // relaxed: see above
                if !is_logged {
                    log::warn!("the master of ROS 1 cannot be asked, which is tried again and again: {why}");
                    is_logged = true;
                }
                let (_, is_over) = ends.wishes();
                let wait = pause;
                pause = (2 * pause).min(LONGEST);
                (wait, is_over)
            }
        };
        if is_over {
            return;
        }
        tokio::select! {
            () = ends.changed() => {}
            () = sleep(wait) => {}
        }
    }
}

/// Tells the master what it does not know, or knows and should not. True: nothing will be there any more.
async fn agree(ends: &Ends, master: &Master, told: &mut Told) -> Result<bool, String> {
    if !master.knows_us().await.map_err(Unanswered::why)? {
        told.clear();
    }
    let (wishes, is_over) = ends.wishes();
    let gone = told.iter().filter(|(key, registration)| wishes.get(*key).is_none_or(|wish| wish.ty != registration.ty));
    for key in gone.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
        done(master.unregister(key.0, &key.1).await, &key.1)?;
        told.remove(&key);
    }
    for ((role, topic), wish) in wishes {
        let is_fresh = |before: &Registration| role == Role::Publisher || before.at.elapsed() < AGAIN;
        if told.get(&(role, topic.clone())).is_some_and(|before| before.number == wish.number && is_fresh(before)) {
            continue;
        }
        let before = wish.followed.as_ref().map(|followed| followed.updates());
        let publishers = done(master.register(role, &topic, &wish.ty).await, &topic)?;
        if let (Some(followed), Some(before), Some(publishers)) = (wish.followed, before, publishers) {
            followed.registered(before, publishers);
        }
        told.insert((role, topic), Registration { number: wish.number, ty: wish.ty, at: Instant::now() });
    }
    // Who was refused is not connected, so that only the master knows that it has gone.
    let refusing = ends.refusing();
    if !refusing.is_empty() {
        let state = master.nodes().await.map_err(Unanswered::why)?;
        refusing.iter().for_each(|(topic, offered)| offered.forget_others(&catalogue::subscribers(&state, topic)));
    }
    Ok(is_over)
}

/// What the master does not want is not asked for again: it may want all the rest.
fn done<T>(answer: Result<T, Unanswered>, topic: &str) -> Result<Option<T>, String> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Unanswered::Refused(why)) => {
            log::warn!("the master of ROS 1 refuses '{topic}': {why}");
            Ok(None)
        }
        Err(Unanswered::Unreachable(why)) => Err(why),
    }
}
