//! A topic of DDS that comes into the domain.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sinew::raw::{Loan, Publisher};
use tokio::task::AbortHandle;

use super::back_end::{self, Listener, Message, Reader};
use super::guid::{Guid, Identity};
use super::matched::Matched;
use super::network::Place;
use super::numbers::Numbers;
use super::qos::{Grade, Qos};
use super::types::RosType;
use super::{names, qos};
use crate::bridge::{Channel, Due, Key, Look, Waiting, connected_ghost, note};
use crate::channels::State;
use crate::protocol::Offer;
use crate::ros2::form::{self, Form};

/// So long a reader stays that another one takes the place of: nobody tells when writers know of that.
const OVERLAP: Duration = Duration::from_secs(1);

/// Wants the topic. The domain has a ghost for it while somebody there publishes it: one for each grade of what those offer.
pub struct Inlet {
    /// By their grades. While nobody publishes it, one without a landing.
    intakes: Vec<Intake>,
    /// Those whose place others have taken, and since when.
    before: Vec<(Intake, Instant)>,
    refused: Option<String>,
    /// Why messages of somebody there who publishes it are not taken.
    misfit: Option<String>,
    counts: Arc<Counts>,
    look: Look,
    place: Place,
    key: Key,
    /// At least what is wanted.
    due: Due,
    /// By all who are there now.
    wanted: Offer,
    form: Form,
    ty: RosType,
}

/// For messages of writers of one grade. Its reader is matched with those of higher ones, too, and leaves theirs out.
struct Intake {
    // In the order in which they go.
    reader: Reader,
    landing: Option<Arc<Landing>>,
    matched: Arc<Matched>,
    grade: Grade,
}

#[derive(Default)]
struct Counts {
    messages: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    numbers: Mutex<Numbers>,
    is_told: AtomicBool,
}

impl Inlet {
    /// `look` is called when [`Inlet::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Inlet, String> {
        let (form, ty) = Form::of(&place.types, &place.actions, &key.1, &due.signature)?;
        let mut inlet = Inlet {
            intakes: Vec::new(),
            before: Vec::new(),
            refused: None,
            misfit: None,
            counts: Arc::default(),
            look,
            place: place.clone(),
            key: key.clone(),
            due: due.clone(),
            wanted: due.offer.clone(),
            form,
            ty,
        };
        inlet.look();
        Ok(inlet)
    }

    /// What those offer who publish it there, and are of the type; and why others are not.
    fn writers(&self) -> (Vec<Qos>, Option<String>) {
        let strangers = self.place.strangers();
        let mut offers = Vec::new();
        let mut why = None;
        for writer in strangers.on(&names::topic(&self.key.1), true) {
            match self.ty.fits(&self.key.1, &writer.ty, writer.hash.as_deref()) {
                Ok(()) => offers.push(writer.qos.clone()),
                Err(text) => why = Some(text),
            }
        }
        (offers, why)
    }

    /// A policy that does not fit those who publish it there, where nobody is connected.
    fn incompatible(&self) -> Option<String> {
        let strangers = self.place.strangers();
        let topic = names::topic(&self.key.1);
        let writers = strangers.on(&topic, true).filter(|writer| self.ty.fits(&self.key.1, &writer.ty, writer.hash.as_deref()).is_ok());
        let writers: Vec<Guid> = writers.map(|writer| writer.guid).collect();
        let policies: Option<Vec<String>> = self
            .intakes
            .iter()
            .map(|intake| intake.matched.incompatible(writers.iter().copied()).filter(|_| !intake.matched.is_anybody()))
            .collect();
        policies?.into_iter().next()
    }

    fn grade(&self, offered: &Qos) -> Grade {
        Grade::of(offered, self.due.offer.transient_local)
    }

    /// For writers that offer this, which is of one grade.
    fn intake(&self, grade: Grade, offers: &[Qos]) -> Result<Intake, String> {
        let asked = qos::of_reader(&self.due.offer, offers.iter());
        let matched = Arc::new(Matched::new(Arc::clone(&self.look)));
        let landing = if offers.is_empty() {
            None
        } else {
            let offer = self.form.offer(qos::offered(&self.due.offer, offers.iter()));
            let ghost = connected_ghost(&self.place.node, &self.key.1, &self.due.signature, &offer).map_err(|why| why.to_string())?;
            // Its publisher waits for who is slow.
            let is_late = offer.depth == 0;
            Some(Arc::new_cyclic(|landing| Landing {
                room: Mutex::new(None),
                no_room: Mutex::new(None),
                late: is_late.then(|| Late::new(&self.place, landing)),
                publisher: ghost,
                name: self.key.1.clone(),
                offer,
                form: self.form.clone(),
                ty: self.ty.clone(),
                place: self.place.clone(),
                counts: Arc::clone(&self.counts),
                grade,
                wants_kept: self.due.offer.transient_local,
                // Who asks for what was kept gets all of it from the new one.
                yields: AtomicBool::new(!self.before.is_empty() && !grade.is_kept()),
            }))
        };
        let at = back_end::Place { topic: &names::topic(&self.key.1), ty: &self.ty.dds, qos: asked, user_data: &self.ty.user_data() };
        let heard = Heard { matched: Arc::clone(&matched), landing: landing.clone() };
        let reader = Reader::open(&self.place.participant, &at, heard)?;
        Ok(Intake { reader, landing, matched, grade })
    }

    /// Opens what is to be there for these writers, and closes the rest. What stays loses nothing.
    fn follow(&mut self, offers: &[Qos]) -> Result<(), String> {
        let mut grades: BTreeSet<Grade> = offers.iter().map(|offer| self.grade(offer)).collect();
        if offers.is_empty() {
            grades.insert(self.grade(&qos::of_writer(&self.due.offer)));
        }
        let before: Vec<Guid> = self.readers().collect();
        let look = &self.look;
        self.intakes.retain(|intake| {
            let is_due = grades.contains(&intake.grade) && intake.landing.is_some() != offers.is_empty();
            // What waits its subscribers are to get, though its writers have gone.
            is_due || intake.landing.as_ref().is_some_and(|landing| landing.waits(look))
        });
        let mut opened = Ok(());
        for grade in grades {
            if self.intakes.iter().all(|intake| intake.grade != grade) {
                let offers: Vec<Qos> = offers.iter().filter(|offer| self.grade(offer) == grade).cloned().collect();
                match self.intake(grade, &offers) {
                    Ok(intake) => self.intakes.push(intake),
                    Err(why) => opened = Err(why),
                }
            }
        }
        if !self.readers().eq(before) {
            self.place.graph.closed(&self.key);
            self.readers().for_each(|reader| self.place.graph.opened(&self.key, false, reader));
        }
        opened
    }

    /// Others in place of all that there are. Those stay for a while, so that nothing is missed, and of what comes to both each message is published once.
    fn reopen(&mut self) {
        let now = Instant::now();
        for intake in self.intakes.drain(..) {
            if let Some(landing) = &intake.landing {
                landing.yields.store(true, Ordering::Relaxed);
            }
            self.before.push((intake, now));
        }
        self.look();
        let look = Arc::clone(&self.look);
        self.place.runtime.spawn(async move {
            tokio::time::sleep(OVERLAP).await;
            look();
        });
    }

    /// Closes those that have stayed for long enough.
    fn close_before(&mut self) {
        let look = &self.look;
        self.before
            .retain(|(intake, since)| since.elapsed() < OVERLAP || intake.landing.as_ref().is_some_and(|landing| landing.waits(look)));
        if self.before.is_empty() {
            for landing in self.intakes.iter().filter_map(|intake| intake.landing.as_ref()) {
                landing.yields.store(false, Ordering::Relaxed);
            }
        }
    }

    fn readers(&self) -> impl Iterator<Item = Guid> {
        self.intakes.iter().map(|intake| intake.reader.guid())
    }
}

impl Channel for Inlet {
    fn look(&mut self) {
        self.close_before();
        let (offers, why) = self.writers();
        let (misfit, mut refused) = if offers.is_empty() { (None, why) } else { (why, None) };
        note(&mut self.misfit, misfit);
        if let Err(why) = self.follow(&offers) {
            refused = Some(format!("'{}' cannot be opened: {why}", self.key.1));
        }
        note(&mut self.refused, refused);
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let landings: Vec<&Landing> = self.intakes.iter().filter_map(|intake| intake.landing.as_deref()).collect();
        let ghosts = || landings.iter().map(|landing| (&landing.offer, landing.publisher.statistics().subscribers));
        let state = match (&self.refused, self.incompatible()) {
            (Some(why), _) => State::Refused(why.clone()),
            (None, _) if landings.is_empty() => State::Waiting,
            (None, Some(policy)) => State::Refused(qos::offers_less(&policy)),
            (None, None) => match qos::stands(&self.wanted, ghosts()) {
                State::Open => self.misfit.clone().map_or(State::Open, State::OpenBut),
                other => other,
            },
        };
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Some((state, (now(&self.counts.messages), now(&self.counts.bytes), now(&self.counts.lost))))
    }

    /// Who comes, or goes, takes nothing from those who are there. Where somebody wants more of what was kept, those get it once more.
    fn renew(&mut self, due: &Due) -> bool {
        let Some((doing, is_more)) = self.due.doing_for(due) else { return false };
        (self.due, self.wanted) = (doing, due.offer.clone());
        if is_more {
            self.reopen();
        } else {
            self.look();
        }
        true
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.place.graph.closed(&self.key);
    }
}

/// Where messages are put down: in the memory where subscribers will read them.
struct Landing {
    /// Of the message that comes. Before the publisher, of which it is.
    room: Mutex<Option<Room>>,
    /// Why there is none for it. Whose it is is known later.
    no_room: Mutex<Option<String>>,
    /// None: messages are published by the thread that brings them.
    late: Option<Late>,
    publisher: Publisher,
    name: String,
    /// What it offers.
    offer: Offer,
    form: Form,
    ty: RosType,
    place: Place,
    counts: Arc<Counts>,
    grade: Grade,
    wants_kept: bool,
    /// There is another one for the same messages, and what came there does not come here.
    yields: AtomicBool,
}

enum Room {
    Shared(Loan<'static>),
    /// What becomes another message, or is published later.
    Own(Vec<u8>),
}

/// Messages of a topic that may have to wait for its subscribers. A thread of DDS brings those of all topics, so a task of its own waits in its place.
struct Late {
    waiting: Arc<Waiting<Vec<u8>>>,
    task: AbortHandle,
    /// Somebody is to be told when nothing waits any more.
    is_awaited: Arc<AtomicBool>,
}

impl Late {
    fn new(place: &Place, landing: &Weak<Landing>) -> Late {
        let waiting = Arc::<Waiting<_>>::default();
        let (from, to) = (Arc::clone(&waiting), Weak::clone(landing));
        let task = place.runtime.spawn(async move {
            loop {
                let message = from.next().await;
                let Some(landing) = to.upgrade() else { return };
                tokio::task::block_in_place(|| landing.publish(message));
            }
        });
        Late { waiting, task: task.abort_handle(), is_awaited: Arc::default() }
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Landing {
    fn room(&self) -> MutexGuard<'_, Option<Room>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_room(&self) -> MutexGuard<'_, Option<String>> {
        self.no_room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, messages: u64, why: impl FnOnce() -> String) {
        self.counts.lost.fetch_add(messages, Ordering::Relaxed);
        if messages > 0 && !self.counts.is_told.swap(true, Ordering::Relaxed) {
            log::warn!("{}", why());
        }
    }

    /// Whether messages wait for subscribers here. `look` is called when none does any more.
    fn waits(&self, look: &Look) -> bool {
        let Some(late) = self.late.as_ref().filter(|late| !late.waiting.is_settled()) else { return false };
        if !late.is_awaited.swap(true, Ordering::Relaxed) {
            let (waiting, is_awaited, look) = (Arc::clone(&late.waiting), Arc::clone(&late.is_awaited), Arc::clone(look));
            self.place.runtime.spawn(async move {
                waiting.settled().await;
                is_awaited.store(false, Ordering::Relaxed);
                look();
            });
        }
        true
    }

    fn room_for(&self, size: usize) -> Option<*mut u8> {
        if size as u64 > self.place.max_message {
            let most = self.place.max_message;
            *self.no_room() = Some(format!("a message has {size} bytes, where \"max_message\" of this bridge are {most}"));
            return None;
        }
        if self.late.is_some() || matches!(self.form, Form::Status) {
            let mut own = vec![0; size];
            let room = own.as_mut_ptr();
            *self.room() = Some(Room::Own(own));
            return Some(room);
        }
        match self.publisher.loan(self.form.before() + size) {
            Ok(loan) => {
                // SAFETY: the loan is dropped before the publisher, which stands behind it here and does not move: both are within an Arc.
                let mut loan = unsafe { std::mem::transmute::<Loan<'_>, Loan<'static>>(loan) };
                let room = loan.bytes()[self.form.before()..].as_mut_ptr();
                *self.room() = Some(Room::Shared(loan));
                Some(room)
            }
            Err(why) => {
                *self.no_room() = Some(format!("a message {}", no_room(why)));
                None
            }
        }
    }

    /// What it writes this domain has not already, and gets in no other way.
    fn is_for_us(&self, writer: Guid) -> bool {
        let strangers = self.place.strangers();
        let is_echo = writer.participant() == self.place.participant.guid().participant() || strangers.is_echo(writer);
        !is_echo && strangers.qos(writer).is_none_or(|offered| Grade::of(offered, self.wants_kept) == self.grade)
    }

    fn message(&self, message: &Message) {
        let Some(room) = self.room().take() else { return };
        let writer = message.identity.writer;
        if !self.is_for_us(writer) {
            return;
        }
        if let Err(why) = self.fits(writer) {
            return self.lose(1, || format!("a message is not taken: {why}"));
        }
        let is_new = self.note(message.identity);
        if !is_new && self.yields.load(Ordering::Relaxed) {
            return;
        }
        match (room, &self.late) {
            (Room::Shared(loan), _) => self.count(self.form.publish(loan, message.size, &self.ty)),
            (Room::Own(own), Some(late)) => {
                let lost = late.waiting.push(own);
                self.lose(lost, || "messages wait for a subscriber that keeps all and does not keep up: the oldest are lost".to_owned());
            }
            (Room::Own(mut own), None) => self.count(form::publish_status(&self.publisher, &mut own)),
        }
    }

    /// What did not come before this one is lost. Whether it is new.
    fn note(&self, message: Identity) -> bool {
        let missing = self.counts.numbers.lock().unwrap_or_else(PoisonError::into_inner).missing(message);
        self.lose(missing.unwrap_or_default(), || {
            let missing = missing.unwrap_or_default();
            format!("{missing} messages on '{}' did not arrive: what is published is more than what comes through", self.name)
        });
        missing.is_some()
    }

    /// Whether what it writes is of the type. DDS connects who has a type of this name.
    fn fits(&self, writer: Guid) -> Result<(), String> {
        let strangers = self.place.strangers();
        let Some(writer) = strangers.endpoint(writer) else { return Ok(()) };
        self.ty.fits(&self.name, &writer.ty, writer.hash.as_deref())
    }

    /// One that has waited.
    fn publish(&self, message: Vec<u8>) {
        let published = self.publisher.loan(message.len()).map_err(no_room).and_then(|mut loan| {
            loan.bytes().get_mut(..message.len()).ok_or("has no room in this domain")?.copy_from_slice(&message);
            self.form.publish(loan, message.len(), &self.ty)
        });
        self.count(published);
    }

    fn count(&self, published: Result<usize, String>) {
        match published {
            Ok(size) => {
                self.counts.messages.fetch_add(1, Ordering::Relaxed);
                self.counts.bytes.fetch_add(size as u64, Ordering::Relaxed);
            }
            Err(why) => self.lose(1, || format!("a message {why}")),
        }
    }
}

fn no_room(why: sinew::Error) -> String {
    format!("has no room in this domain: {why}")
}

struct Heard {
    matched: Arc<Matched>,
    landing: Option<Arc<Landing>>,
}

impl Listener for Heard {
    fn matched(&self, other: Guid, is_matched: bool) {
        self.matched.tell(other, is_matched);
    }

    fn incompatible(&self, policy: &str) {
        self.matched.refuse(policy);
    }

    fn room_for(&self, size: usize) -> Option<*mut u8> {
        self.landing.as_ref()?.room_for(size)
    }

    fn message(&self, message: &Message) {
        if let Some(landing) = &self.landing {
            landing.message(message);
        }
    }

    fn unwanted(&self, message: Identity) {
        let Some(landing) = &self.landing else { return };
        let why = landing.no_room().take();
        if landing.is_for_us(message.writer) {
            landing.note(message);
            if let Some(why) = why {
                landing.lose(1, || why);
            }
        }
    }
}
