//! A topic of DDS that comes into the domain.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::back_end::{self, Reader};
use super::guid::Guid;
use super::heard::Heard;
use super::landing::{Counts, Landing, Plan};
use super::network::Place;
use super::qos::{Grade, Qos};
use super::types::RosType;
use super::{names, qos};
use crate::bridge::{Channel, Due, Key, Look, connected_ghost, note};
use crate::channels::State;
use crate::protocol::Offer;
use crate::ros2::form::Form;

/// So long a reader stays that another one takes the place of: nobody tells when writers know of that.
const OVERLAP: Duration = Duration::from_secs(1);

/// Wants the topic. The domain has a ghost for it while somebody there publishes it: one for each grade of what those offer.
pub struct Inlet {
    /// By their grades. While nobody publishes it, one without a landing.
    intakes: Vec<Intake>,
    /// Those whose place others take, and since when these are there.
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
    heard: Arc<Heard>,
    asked: Qos,
    grade: Grade,
}

impl Intake {
    fn landing(&self) -> Option<&Arc<Landing>> {
        self.heard.landing()
    }
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
            .map(|Intake { heard, .. }| heard.matched.incompatible(writers.iter().copied()).filter(|_| !heard.matched.is_anybody()))
            .collect();
        policies?.into_iter().next()
    }

    fn grade(&self, offered: &Qos) -> Grade {
        Grade::of(offered, self.due.offer.transient_local)
    }

    /// For writers that offer this, which is of one grade.
    fn intake(&self, grade: Grade, offers: &[Qos]) -> Result<Intake, String> {
        let heard = Arc::new(Heard::new(&self.place, &self.look, (&self.key.1, &self.ty), &self.counts));
        if !offers.is_empty() {
            heard.land(&self.landing(grade, offers)?, false);
        }
        let asked = self.asked(offers);
        let (topic, user_data) = (names::topic(&self.key.1), self.ty.user_data());
        let at = back_end::Place { topic: &topic, ty: &self.ty.dds, qos: asked.clone(), user_data: &user_data };
        let reader = Reader::open(&self.place.participant, &at, Arc::clone(&heard))?;
        Ok(Intake { reader, heard, asked, grade })
    }

    fn asked(&self, offers: &[Qos]) -> Qos {
        let asked = qos::of_reader(&self.due.offer, offers.iter());
        // Of what was kept no more than somebody wants, however deep others are who want none of it.
        let depth = self.due.kept.filter(|_| asked.depth > 0).unwrap_or(asked.depth);
        Qos { depth, ..asked }
    }

    fn landing(&self, grade: Grade, offers: &[Qos]) -> Result<Arc<Landing>, String> {
        let before = self.before.iter().rev().filter(|(intake, _)| intake.grade == grade).find_map(|(intake, _)| intake.landing());
        let offer = self.form.offer(qos::offered(&self.due.offer, offers.iter()));
        let offer = qos::no_less(before.map(|before| &before.offer), offer);
        let ghost = connected_ghost(&self.place.node, &self.key.1, &self.due.signature, &offer).map_err(|why| why.to_string())?;
        let plan = Plan {
            publisher: ghost,
            name: &self.key.1,
            offer,
            form: &self.form,
            ty: &self.ty,
            grade,
            wants_kept: self.due.offer.transient_local,
            // Who asks for what was kept gets all of it from the new one.
            yields: !self.before.is_empty() && !grade.is_kept(),
        };
        Ok(Landing::new(&self.place, &self.counts, plan))
    }

    /// Where the reader that was there before anybody wrote does for those who do now, it is theirs, and what they have written to it already is heard. Of one that is not reliable DDS itself says no more than that something may come.
    fn land(&self, offers: &[Qos]) -> Result<(), String> {
        for intake in self.intakes.iter().filter(|intake| intake.landing().is_none()) {
            let mut of_it: Vec<Qos> = offers.iter().filter(|offer| self.grade(offer) == intake.grade).cloned().collect();
            // Who has said something and gone is heard, too, as long as it is new: what he offered was enough for this reader.
            let has_left = of_it.is_empty() && intake.heard.has_left();
            if has_left {
                of_it.push(qos::of_writer(&self.due.offer));
            }
            if has_left || !of_it.is_empty() && self.asked(&of_it) == intake.asked {
                let landing = self.landing(intake.grade, &of_it).inspect_err(|_| intake.heard.lose_left())?;
                intake.heard.land(&landing, intake.grade.is_kept() && !has_left);
            }
        }
        Ok(())
    }

    /// Opens what is to be there for these writers, and closes the rest. What stays loses nothing.
    fn follow(&mut self, offers: &[Qos]) -> Result<(), String> {
        let mut grades: BTreeSet<Grade> = offers.iter().map(|offer| self.grade(offer)).collect();
        if offers.is_empty() {
            grades.insert(self.grade(&qos::of_writer(&self.due.offer)));
        }
        let before: Vec<Guid> = self.readers().collect();
        let mut opened = self.land(offers);
        let look = &self.look;
        self.intakes.retain(|intake| {
            let is_due = grades.contains(&intake.grade) && intake.landing().is_some() != offers.is_empty();
            // What waits its subscribers are to get, though its writers have gone.
            is_due || intake.landing().is_some_and(|landing| landing.waits(look))
        });
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
            self.look_when_over();
            self.place.graph.closed(&self.key);
            self.readers().for_each(|reader| self.place.graph.opened(&self.key, false, reader));
        }
        opened
    }

    /// Whether writers that are there now offer more than those did for whom something is open. Who offers less takes nothing from others.
    fn offer_more(&self, offers: &[Qos]) -> bool {
        self.intakes.iter().any(|intake| {
            let of_it = offers.iter().filter(|offer| self.grade(offer) == intake.grade);
            let offer = || self.form.offer(qos::offered(&self.due.offer, of_it.clone()));
            of_it.clone().next().is_some() && intake.landing().is_some_and(|landing| qos::is_more(&landing.offer, &offer()))
        })
    }

    /// Others in place of all that there are. Those stay for a while, so that nothing is missed, and of what comes to both each message is published once.
    fn reopen(&mut self) {
        let now = Instant::now();
        for intake in self.intakes.drain(..) {
            if let Some(landing) = intake.landing() {
                landing.yields(true);
            }
            self.before.push((intake, now));
        }
        self.look();
        if self.refused.is_some() {
            self.look_when_over();
        }
    }

    /// Has it looked at again when those have stayed for long enough whose place others take.
    fn look_when_over(&self) {
        if self.before.is_empty() {
            return;
        }
        let look = Arc::clone(&self.look);
        self.place.runtime.spawn(async move {
            tokio::time::sleep(OVERLAP).await;
            look();
        });
    }

    /// Closes those that have stayed for long enough. As long as something could not be opened in their place for these writers, they are all that there is.
    fn close_before(&mut self, offers: &[Qos]) {
        let is_open = |offered| self.intakes.iter().any(|intake| intake.grade == self.grade(offered));
        if !offers.iter().all(is_open) {
            let now = Instant::now();
            self.before.iter_mut().for_each(|(_, since)| *since = now);
        }
        let look = &self.look;
        self.before.retain(|(intake, since)| since.elapsed() < OVERLAP || intake.landing().is_some_and(|landing| landing.waits(look)));
        if self.before.is_empty() {
            for landing in self.intakes.iter().filter_map(|intake| intake.landing()) {
                landing.yields(false);
            }
        }
    }

    /// Of all, also of those whose place others take.
    fn landings(&self) -> impl Iterator<Item = &Arc<Landing>> {
        self.intakes.iter().chain(self.before.iter().map(|(intake, _)| intake)).filter_map(Intake::landing)
    }

    fn readers(&self) -> impl Iterator<Item = Guid> {
        self.intakes.iter().map(|intake| intake.reader.guid())
    }
}

impl Channel for Inlet {
    fn look(&mut self) {
        let (offers, why) = self.writers();
        self.close_before(&offers);
        if self.offer_more(&offers) {
            return self.reopen();
        }
        for intake in self.intakes.iter().filter(|intake| intake.landing().is_none()) {
            intake.heard.leave_out_others();
        }
        let (misfit, mut refused) = if offers.is_empty() { (None, why) } else { (why, None) };
        note(&mut self.misfit, misfit);
        if let Err(why) = self.follow(&offers) {
            refused = Some(format!("'{}' cannot be opened: {why}", self.key.1));
        }
        note(&mut self.refused, refused);
    }

    fn is_on_its_topic(&self) -> Option<bool> {
        Some(self.landings().all(|landing| !landing.publisher.statistics().detached))
    }

    fn give_up(&mut self) {
        self.landings().for_each(|landing| landing.give_up());
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        let landings: Vec<&Landing> = self.intakes.iter().filter_map(|intake| intake.landing().map(Arc::as_ref)).collect();
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
