//! Where messages of DDS are put down in the domain.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sinew::raw::{Loan, Publisher};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::back_end::Message;
use super::guid::{Guid, Identity};
use super::network::Place;
use super::numbers::Numbers;
use super::qos::Grade;
use super::types::RosType;
use crate::bridge::{AGAIN, Look, Waiting};
use crate::protocol::Offer;
use crate::ros2::form::{self, Form, Unpublished};

/// For the one that is about to be published when its topic is to be closed, and to count the others.
const PATIENCE: Duration = Duration::from_secs(1);

/// Of all messages of a topic that come.
#[derive(Default)]
pub struct Counts {
    pub messages: AtomicU64,
    pub bytes: AtomicU64,
    pub lost: AtomicU64,
    numbers: Mutex<Numbers>,
    is_told: AtomicBool,
}

impl Counts {
    /// Counts them, and tells why, once.
    pub fn lose(&self, messages: u64, why: impl FnOnce() -> String) {
        self.lost.fetch_add(messages, Ordering::Relaxed);
        if messages > 0 && !self.is_told.swap(true, Ordering::Relaxed) {
            log::warn!("{}", why());
        }
    }
}

/// Puts messages of a topic into the memory where subscribers will read them.
pub struct Landing {
    /// None: messages are published by the thread that brings them.
    late: Option<Late>,
    pub publisher: Publisher,
    name: String,
    /// What it offers.
    pub offer: Offer,
    form: Form,
    ty: RosType,
    place: Place,
    counts: Arc<Counts>,
    grade: Grade,
    wants_kept: bool,
    /// There is another one for the same messages, and what came there does not come here.
    yields: AtomicBool,
}

/// What is to be published, and of whom.
pub struct Plan<'a> {
    /// In the domain.
    pub publisher: Publisher,
    /// The name of the topic.
    pub name: &'a str,
    /// What the publisher offers.
    pub offer: Offer,
    /// What becomes of a message.
    pub form: &'a Form,
    /// What it is there.
    pub ty: &'a RosType,
    /// Of which writers.
    pub grade: Grade,
    /// Subscribers here ask for what was kept.
    pub wants_kept: bool,
    /// Others have what comes, too.
    pub yields: bool,
}

/// Of the message that comes.
pub enum Room {
    /// In the memory where subscribers will read it.
    Shared(Loan<'static>),
    /// What becomes another message, or is published later.
    Own(Vec<u8>),
}

impl Room {
    /// Of so many bytes, and where they begin.
    pub fn own(size: usize) -> (Room, *mut u8) {
        let mut own = vec![0; size];
        let begin = own.as_mut_ptr();
        (Room::Own(own), begin)
    }
}

/// Messages of a topic that may have to wait for its subscribers. A thread of DDS brings those of all topics, so a task of its own waits in its place.
struct Late {
    waiting: Arc<Waiting<Vec<u8>>>,
    task: AbortHandle,
    /// The topic is about to be closed.
    is_given_up: AtomicBool,
    /// Tells somebody when nothing waits any more.
    awaiting: Arc<Mutex<Option<AbortHandle>>>,
    runtime: Handle,
}

impl Late {
    fn new(runtime: &Handle, landing: &Weak<Landing>) -> Late {
        let waiting = Arc::<Waiting<_>>::default();
        let (from, to) = (Arc::clone(&waiting), Weak::clone(landing));
        let task = runtime.spawn(async move {
            loop {
                let message: Vec<u8> = from.next().await;
                loop {
                    let Some(landing) = to.upgrade() else { return };
                    if tokio::task::block_in_place(|| landing.publish_late(&message)) {
                        // Before the landing may go.
                        from.settle();
                        break;
                    }
                    // Nothing of the landing, which may go meanwhile.
                    drop(landing);
                    tokio::time::sleep(AGAIN).await;
                }
            }
        });
        Late { waiting, task: task.abort_handle(), is_given_up: AtomicBool::default(), awaiting: Arc::default(), runtime: runtime.clone() }
    }

    /// Whether there are messages. `look` is called when there are none any more.
    fn waits(&self, look: &Look) -> bool {
        if self.waiting.is_settled() {
            return false;
        }
        // Under the lock, so that the task does not say that it is over before it is known.
        let mut awaiting = lock(&self.awaiting);
        if awaiting.is_none() {
            let (waiting, over, look) = (Arc::clone(&self.waiting), Arc::clone(&self.awaiting), Arc::clone(look));
            let task = self.runtime.spawn(async move {
                waiting.settled().await;
                *lock(&over) = None;
                look();
            });
            *awaiting = Some(task.abort_handle());
        }
        true
    }
}

fn lock(awaiting: &Mutex<Option<AbortHandle>>) -> MutexGuard<'_, Option<AbortHandle>> {
    awaiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Late {
    fn drop(&mut self) {
        self.task.abort();
        // It has what waits, and nothing of that is published any more.
        if let Some(task) = lock(&self.awaiting).take() {
            task.abort();
        }
    }
}

impl Landing {
    /// For messages of a topic.
    pub fn new(place: &Place, counts: &Arc<Counts>, plan: Plan<'_>) -> Arc<Landing> {
        // Its publisher waits for who is slow.
        let is_late = plan.offer.depth == 0;
        Arc::new_cyclic(|landing| Landing {
            late: is_late.then(|| Late::new(&place.runtime, landing)),
            publisher: plan.publisher,
            name: plan.name.to_owned(),
            offer: plan.offer,
            form: plan.form.clone(),
            ty: plan.ty.clone(),
            place: place.clone(),
            counts: Arc::clone(counts),
            grade: plan.grade,
            wants_kept: plan.wants_kept,
            yields: AtomicBool::new(plan.yields),
        })
    }

    /// Whether others have what comes, too, which is then left to them.
    pub fn yields(&self, yields: bool) {
        self.yields.store(yields, Ordering::Relaxed);
    }

    /// What waits for subscribers here is lost, and counted. Blocks for a moment.
    pub fn give_up(&self) {
        let Some(late) = &self.late else { return };
        late.is_given_up.store(true, Ordering::Relaxed);
        let until = Instant::now() + PATIENCE;
        while !late.waiting.is_settled() && Instant::now() < until {
            std::thread::sleep(AGAIN);
        }
    }

    /// Whether messages wait for subscribers here. `look` is called when none does any more.
    pub fn waits(&self, look: &Look) -> bool {
        self.late.as_ref().is_some_and(|late| late.waits(look))
    }

    /// Room for a message of so many bytes, and where it begins; else why there is none.
    ///
    /// # Safety
    /// The room goes before this does.
    pub unsafe fn room_for(&self, size: usize) -> Result<(Room, *mut u8), String> {
        if let Some(why) = self.place.too_large(size) {
            return Err(why);
        }
        if self.late.is_some() || matches!(self.form, Form::Status) {
            return Ok(Room::own(size));
        }
        let loan = self.publisher.loan(self.form.before() + size).map_err(|why| format!("a message has no room in this domain: {why}"))?;
        // SAFETY: the loan is dropped before the publisher, as was promised, and that does not move: it is within an Arc.
        let mut loan = unsafe { std::mem::transmute::<Loan<'_>, Loan<'static>>(loan) };
        let begin = loan.bytes()[self.form.before()..].as_mut_ptr();
        Ok((Room::Shared(loan), begin))
    }

    /// What it writes this domain has not already, and gets in no other way.
    fn is_for_us(&self, writer: Guid) -> bool {
        !self.place.is_echo(writer)
            && self.place.strangers().qos(writer).is_none_or(|offered| Grade::of(offered, self.wants_kept) == self.grade)
    }

    /// A message, there.
    pub fn put(&self, room: Room, message: &Message) {
        let writer = message.identity.writer;
        if !self.is_for_us(writer) {
            return;
        }
        if let Err(why) = self.place.fits(&self.name, &self.ty, writer) {
            return self.counts.lose(1, || format!("a message is not taken: {why}"));
        }
        let is_new = self.note(message.identity);
        if !is_new && self.yields.load(Ordering::Relaxed) {
            return;
        }
        match (room, &self.late) {
            (Room::Shared(loan), _) => self.count(self.form.publish(loan, message.size, &self.ty)),
            (Room::Own(own), Some(late)) => {
                let lost = late.waiting.push(own).len() as u64;
                self.counts
                    .lose(lost, || "messages wait for a subscriber that keeps all and does not keep up: the oldest are lost".to_owned());
            }
            (Room::Own(mut own), None) if matches!(self.form, Form::Status) => self.count(form::publish_status(&self.publisher, &mut own)),
            (Room::Own(own), None) => self.count(self.publish(&own)),
        }
    }

    /// There is nothing of it, and it is lost if there is a reason.
    pub fn refuse(&self, message: Identity, why: Option<String>) {
        if self.is_for_us(message.writer) {
            let _ = self.note(message);
            if let Some(why) = why {
                self.counts.lose(1, || why);
            }
        }
    }

    /// What did not come before this one is lost. Whether it is new.
    fn note(&self, message: Identity) -> bool {
        let missing = self.counts.numbers.lock().unwrap_or_else(PoisonError::into_inner).missing(message);
        self.counts.lose(missing.unwrap_or_default(), || {
            let missing = missing.unwrap_or_default();
            format!("{missing} messages on '{}' did not arrive: what is published is more than what comes through", self.name)
        });
        missing.is_some()
    }

    /// What stands in memory of its own.
    fn publish(&self, message: &[u8]) -> Result<usize, Unpublished> {
        let before = self.form.before();
        let mut loan = self.publisher.loan(before + message.len())?;
        loan.bytes()
            .get_mut(before..before + message.len())
            .ok_or_else(|| "has no room in this domain".to_owned())?
            .copy_from_slice(message);
        self.form.publish(loan, message.len(), &self.ty)
    }

    /// One that has waited. False: who keeps all has no room for it yet.
    fn publish_late(&self, message: &[u8]) -> bool {
        if self.late.as_ref().is_some_and(|late| late.is_given_up.load(Ordering::Relaxed)) {
            self.lose_waiting(1);
            return true;
        }
        match self.publish(message) {
            Err(why) if why.is_held_back(&self.publisher, &self.offer, message.len()) => return false,
            published => self.count(published),
        }
        true
    }

    fn lose_waiting(&self, messages: u64) {
        let closed = || format!("'{}' is closed while messages wait for a subscriber that keeps all: they are lost", self.name);
        self.counts.lose(messages, closed);
    }

    fn count(&self, published: Result<usize, impl Display>) {
        match published {
            Ok(size) => {
                self.counts.messages.fetch_add(1, Ordering::Relaxed);
                self.counts.bytes.fetch_add(size as u64, Ordering::Relaxed);
            }
            Err(why) => self.counts.lose(1, || format!("a message {why}")),
        }
    }
}

impl Drop for Landing {
    /// A message may come while its reader is closed.
    fn drop(&mut self) {
        self.lose_waiting(self.late.as_ref().map_or(0, |late| late.waiting.give_up()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_kept_of_what_waits_when_its_topic_is_closed_though_somebody_is_to_be_told_of_it() {
        let late = Late::new(&Handle::current(), &Weak::new());
        late.waiting.push(vec![1]);
        let look: Look = Arc::new(|| ());
        assert!(late.waits(&look) && late.waits(&look));
        let waiting = Arc::downgrade(&late.waiting);
        // Who is to tell of it begins to wait.
        tokio::task::yield_now().await;
        drop(late);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(waiting.upgrade().is_none());
    }
}
