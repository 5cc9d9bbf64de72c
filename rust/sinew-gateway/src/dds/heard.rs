//! What a reader of a topic of DDS hears.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::back_end::{Listener, Message};
use super::guid::{Guid, Identity};
use super::landing::{Counts, Landing, Room};
use super::matched::Matched;
use super::network::Place;
use super::types::RosType;
use crate::bridge::Look;

/// Messages that may come before it is known who writes them.
const MOST: usize = 1024;
/// And their bytes.
const MOST_BYTES: usize = 64 << 20;

/// Writers and readers find each other before anybody else hears of that. What comes until there is somewhere to put it is put there then: whoever waits for a reader, and then writes, is heard.
pub struct Heard {
    /// Who writes to it.
    pub matched: Matched,
    place: Place,
    /// The name of the topic.
    name: String,
    ty: RosType,
    counts: Arc<Counts>,
    // Before the landing, in whose memory its room may be.
    coming: Mutex<Coming>,
    landing: OnceLock<Arc<Landing>>,
}

#[derive(Default)]
struct Coming {
    /// For the message that comes.
    room: Option<Room>,
    /// Why there is none. Whose it is is known later.
    no_room: Option<String>,
    /// What has come without a landing.
    early: Vec<Come>,
    /// Likewise, of writers that have gone since.
    left: Vec<Come>,
    /// Of both.
    bytes: usize,
    /// There was no room for all of it.
    is_over: bool,
}

enum Come {
    Message(Vec<u8>, Message),
    /// One without data, or for which there was no room, and why.
    Unwanted(Identity, Option<String>),
}

impl Heard {
    /// Of a reader for which there is nowhere to put anything so far.
    pub fn new(place: &Place, look: &Look, (name, ty): (&str, &RosType), counts: &Arc<Counts>) -> Heard {
        let (matched, name, ty) = (Matched::new(Arc::clone(look)), name.to_owned(), ty.clone());
        Heard { matched, place: place.clone(), name, ty, counts: Arc::clone(counts), coming: Mutex::default(), landing: OnceLock::new() }
    }

    /// Where what comes is put.
    pub fn landing(&self) -> Option<&Arc<Landing>> {
        self.landing.get()
    }

    fn coming(&self) -> MutexGuard<'_, Coming> {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts there what has come, and what will. Once. False: it does not, as what is `wanted_whole`, since another reader can get it once more, has not all come.
    pub fn land(&self, landing: &Arc<Landing>, wanted_whole: bool) -> bool {
        // What comes meanwhile waits for it.
        let mut coming = self.coming();
        if wanted_whole && coming.is_over {
            return false;
        }
        let (left, early) = (std::mem::take(&mut coming.left), std::mem::take(&mut coming.early));
        for come in left.into_iter().chain(early) {
            match come {
                Come::Message(message, about) => landing.put(Room::Own(message), &about),
                Come::Unwanted(message, why) => landing.refuse(message, why),
            }
        }
        let _ = self.landing.set(Arc::clone(landing));
        true
    }

    /// Leaves out what has come of whom it is known by now that he writes another type.
    pub fn leave_out_others(&self) {
        let mut coming = self.coming();
        coming.early.retain(|come| self.is_for_us(come.writer(), come.is_message()));
        coming.weigh();
    }

    /// Whether messages have come without a landing whose writers have gone.
    pub fn has_left(&self) -> bool {
        self.coming().left.iter().any(Come::is_message)
    }

    /// Those are put down nowhere: later they would be taken for new ones.
    pub fn lose_left(&self) {
        let mut coming = self.coming();
        let lost = std::mem::take(&mut coming.left).iter().filter(|come| come.is_message()).count() as u64;
        coming.weigh();
        self.counts.lose(lost, || format!("who published '{}' has gone before there was somewhere to put what it said", self.name));
    }

    /// Whether it may be put down later. Of others it is lost, where it `is_message`.
    fn is_for_us(&self, writer: Guid, is_message: bool) -> bool {
        if self.place.is_echo(writer) {
            return false;
        }
        let fits = self.place.fits(&self.name, &self.ty, writer);
        if let Err(why) = &fits {
            self.counts.lose(u64::from(is_message), || format!("a message is not taken: {why}"));
        }
        fits.is_ok()
    }

    fn room(&self, coming: &mut Coming, size: usize) -> Result<(Room, *mut u8), Option<String>> {
        if let Some(landing) = self.landing.get() {
            // SAFETY: the landing is held as long as the room.
            return unsafe { landing.room_for(size) }.map_err(Some);
        }
        if coming.early.len() + coming.left.len() >= MOST || coming.bytes.saturating_add(size) > MOST_BYTES {
            coming.is_over = true;
            return Err(Some("more messages came than there is room for before it was known who writes them".to_owned()));
        }
        self.place.too_large(size).map_or_else(|| Ok(Room::own(size)), |why| Err(Some(why)))
    }
}

impl Come {
    fn writer(&self) -> Guid {
        match self {
            Come::Message(_, message) => message.identity.writer,
            Come::Unwanted(message, _) => message.writer,
        }
    }

    /// Else it has no data.
    fn is_message(&self) -> bool {
        !matches!(self, Come::Unwanted(_, None))
    }

    fn bytes(&self) -> usize {
        if let Come::Message(bytes, _) = self { bytes.len() } else { 0 }
    }
}

impl Coming {
    fn weigh(&mut self) {
        self.bytes = self.left.iter().chain(&self.early).map(Come::bytes).sum();
    }

    fn refuse(&mut self, message: Identity, why: Option<String>) {
        let is_full = self.early.len() > MOST;
        match self.early.last_mut() {
            // What it takes the place of is missed by its number.
            Some(Come::Unwanted(last, _)) if is_full => *last = message,
            _ => self.early.push(Come::Unwanted(message, why)),
        }
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.lose_left();
    }
}

impl Listener for Arc<Heard> {
    fn matched(&self, other: Guid, is_matched: bool) {
        if !is_matched {
            let mut coming = self.coming();
            let (left, early) = std::mem::take(&mut coming.early).into_iter().partition(|come| come.writer() == other);
            coming.early = early;
            // While it is known what it writes.
            coming.left.extend(Vec::into_iter(left).filter(|come| self.is_for_us(other, come.is_message())));
            coming.weigh();
        }
        self.matched.tell(other, is_matched);
    }

    fn incompatible(&self, policy: &str) {
        self.matched.refuse(policy);
    }

    fn room_for(&self, size: usize) -> Option<*mut u8> {
        let mut coming = self.coming();
        let room = self.room(&mut coming, size);
        let (room, no_room, begin) = match room {
            Ok((room, begin)) => (Some(room), None, Some(begin)),
            Err(why) => (None, why, None),
        };
        (coming.room, coming.no_room) = (room, no_room);
        begin
    }

    fn message(&self, message: &Message) {
        let mut coming = self.coming();
        let Some(room) = coming.room.take() else { return };
        match (self.landing.get(), room) {
            (Some(landing), room) => landing.put(room, message),
            (None, Room::Own(own)) if self.is_for_us(message.identity.writer, true) => {
                coming.bytes += own.len();
                coming.early.push(Come::Message(own, *message));
            }
            _ => {}
        }
    }

    fn unwanted(&self, message: Identity) {
        let mut coming = self.coming();
        let why = coming.no_room.take();
        match self.landing.get() {
            Some(landing) => landing.refuse(message, why),
            None if self.is_for_us(message.writer, why.is_some()) => coming.refuse(message, why),
            None => {}
        }
    }
}
