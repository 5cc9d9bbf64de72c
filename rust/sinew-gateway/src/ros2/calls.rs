//! Calls of services of ROS 2, whatever carries them there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sinew::raw::{self, Provider, ProviderOptions};
use sinew::{Ghost, Node};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::bridge::{AGAIN, Due, Key};
use crate::channels::State;

/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_millis(100);
/// Within which what is under way ends when it is to: longer, no other topic or service is to wait for that.
const LAST: Duration = Duration::from_secs(1);

/// What was asked.
pub struct Asked<By> {
    /// A stream of the type.
    pub request: Vec<u8>,
    /// Who waits.
    pub by: By,
}

/// Who waits for a reply there.
pub trait Caller: Clone + Send + Sync + 'static {
    /// Answers the call with the stream that the parts, joined, are. Fails with a sentence.
    fn answer(&self, stream: &[&[u8]]) -> impl Future<Output = Result<(), String>> + Send;

    /// The call has failed, which is counted and logged.
    fn refuse(&self, why: &str);
}

/// What tells those who work at something that it is about to go.
#[derive(Default)]
pub struct Ending(watch::Sender<bool>);

impl Ending {
    /// It is. Blocks until this is so that they have ended, for a moment at most.
    pub fn begin(&self, have_ended: impl Fn() -> bool) {
        self.0.send_replace(true);
        let until = Instant::now() + LAST;
        while !have_ended() && Instant::now() < until {
            std::thread::sleep(AGAIN);
        }
    }

    /// Whether it is.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Until it is.
    pub async fn begun(&self) {
        let _ = self.0.subscribe().wait_for(|has_begun| *has_begun).await;
    }
}

/// Calls that are under way, until nobody has this.
#[derive(Clone)]
pub struct Tasks {
    runtime: Handle,
    most: usize,
    all: Arc<Mutex<JoinSet<()>>>,
    ending: Arc<Ending>,
}

/// For one more of them.
pub struct Room<'a> {
    runtime: &'a Handle,
    all: MutexGuard<'a, JoinSet<()>>,
}

impl Tasks {
    /// None so far, and so many at a time.
    pub fn new(runtime: &Handle, most: usize) -> Tasks {
        Tasks { runtime: runtime.clone(), most, all: Arc::default(), ending: Arc::default() }
    }

    /// What tells them that they are to end.
    pub fn ending(&self) -> Arc<Ending> {
        Arc::clone(&self.ending)
    }

    /// Whoever waits for an answer is told, where that can be told, that there will be none. Blocks for a moment.
    pub fn give_up(&self) {
        self.ending.begin(|| self.have_ended());
    }

    /// Whether none is under way.
    pub fn have_ended(&self) -> bool {
        self.ended().is_empty()
    }

    /// Without those that have.
    fn ended(&self) -> MutexGuard<'_, JoinSet<()>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        while all.try_join_next().is_some() {}
        all
    }

    /// Where a call can be worked at. Fails with a sentence.
    pub fn room(&self) -> Result<Room<'_>, String> {
        let all = self.ended();
        if all.len() >= self.most {
            return Err(format!("{} others are under way, which are the most", self.most));
        }
        Ok(Room { runtime: &self.runtime, all })
    }
}

impl Room<'_> {
    /// Never blocks: what takes longer, the task does.
    pub fn begin(mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.all.spawn_on(task, self.runtime);
    }
}

/// Why a call is not answered that is under way when its service is closed.
pub const CLOSED: &str = "nobody provides it here any more, or it does not go over any more";

/// As a service of the domain is provided that is one of ROS 2: whether a call was executed when the server is lost nobody knows, so it is not made a second time.
pub fn provided(node: &Node, key: &Key, due: &Due, on_call: impl FnMut(raw::Call) + Send + 'static) -> sinew::Result<Provider> {
    let options = ProviderOptions { ghost: Ghost::Carrier, at_most_once: true, ..ProviderOptions::default() };
    Provider::new(node, &key.1, &due.signature, &due.response, &options, on_call)
}

/// Until nobody waits for the answer any more.
pub async fn cancelled(call: &raw::Call) {
    while !call.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}

/// Of what is provided, or is not, perhaps for a reason.
pub fn state(is_provided: bool, refused: Option<&String>) -> State {
    match refused {
        _ if is_provided => State::Open,
        Some(why) => State::Refused(why.clone()),
        None => State::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_that_have_ended_make_room_and_those_that_go_on_end_with_their_service() {
        let tasks = Tasks::new(&Handle::current(), 2);
        let (lives, is_over) = tokio::sync::oneshot::channel::<()>();
        tasks.room().expect("there is some").begin(async move {
            let _lives = lives;
            std::future::pending::<()>().await;
        });
        let (end, ends) = tokio::sync::oneshot::channel::<()>();
        tasks.room().expect("there is some").begin(async move { _ = ends.await });
        assert_eq!(tasks.room().err().as_deref(), Some("2 others are under way, which are the most"));
        end.send(()).expect("it waits");
        while tasks.room().is_err() {
            tokio::task::yield_now().await;
        }
        drop(tasks);
        is_over.await.expect_err("it is dropped");
    }
}
