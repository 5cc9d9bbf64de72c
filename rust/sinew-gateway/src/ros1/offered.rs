//! A topic of the domain as ROS 1 has it, and who takes it there. Shared between threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;

use super::header::Header;
use super::line::{Counts, Line, Room};
use super::names::Own;
use super::types::RosType;
use crate::bridge::Look;
use crate::peers::printable;

/// What is said of it to those who ask, and those who do not only ask.
pub struct Offered {
    topic: String,
    ty: RosType,
    is_latched: bool,
    counts: Arc<Counts>,
    connected: Mutex<Connected>,
    look: Look,
}

struct Connected {
    /// Of each.
    room: Room,
    /// By numbers from 1 on.
    lines: BTreeMap<u64, Arc<Line>>,
    last: u64,
    /// Who else is not, and why.
    refused: Option<(String, String)>,
    is_closed: bool,
}

impl Offered {
    /// Nobody takes it so far. `look` is called when that changes.
    pub fn new(topic: String, ty: RosType, is_latched: bool, room: Room, look: Look) -> Offered {
        let connected = Connected { room, lines: BTreeMap::new(), last: 0, refused: None, is_closed: false };
        Offered { topic, ty, is_latched, counts: Arc::default(), connected: Mutex::new(connected), look }
    }

    fn connected(&self) -> MutexGuard<'_, Connected> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of its type in ROS 1.
    pub fn ty(&self) -> &str {
        &self.ty.name
    }

    /// What is told of it.
    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// What is answered to who wants to subscribe; else why it cannot, as half a sentence.
    pub fn agree(&self, asked: &Header, own: &Own) -> Result<Header, String> {
        let who = asked.get("callerid");
        if own.is_of_us(who) {
            return Err("a bridge of the same domain has it already".to_owned());
        }
        match self.ty.agree(asked) {
            Ok([name, sum, text]) => Ok(Header::of([
                ("callerid", &own.name),
                ("latching", if self.is_latched { "1" } else { "0" }),
                ("md5sum", sum),
                ("message_definition", text),
                ("topic", &self.topic),
                ("type", name),
            ])),
            Err(why) => {
                let told = format!("{} cannot read '{}': {why}", printable(who), self.topic);
                let refused = (who.to_owned(), told.clone());
                let is_new = self.connected().refused.replace(refused.clone()).as_ref() != Some(&refused);
                if is_new {
                    log::warn!("{told}");
                }
                Err(why)
            }
        }
    }

    /// Somebody takes it from now on. None: it is not offered any more.
    pub fn connect(self: &Arc<Offered>) -> Option<Connection> {
        let (line, number) = {
            let mut connected = self.connected();
            if connected.is_closed {
                return None;
            }
            let line = Arc::new(Line::new(connected.room, &self.counts));
            connected.last += 1;
            connected.refused = None;
            let number = connected.last;
            connected.lines.insert(number, Arc::clone(&line));
            (line, number)
        };
        (self.look)();
        Some(Connection { line, offered: Arc::clone(self), number })
    }

    /// So much may wait for each from now on.
    pub fn widen(&self, room: Room) {
        let mut connected = self.connected();
        connected.room = room;
        connected.lines.values().for_each(|line| line.widen(room));
    }

    /// Those who take it.
    pub fn lines(&self) -> BTreeMap<u64, Arc<Line>> {
        self.connected().lines.clone()
    }

    /// Why somebody cannot, if nobody has come since.
    pub fn refused(&self) -> Option<String> {
        self.connected().refused.as_ref().map(|(_, why)| why.clone())
    }

    /// Whether somebody cannot, whom the master has to know.
    pub fn is_refused(&self) -> bool {
        self.connected().refused.is_some()
    }

    /// These are all who subscribe, as the master says: of others nothing is to be told.
    pub fn forget_others(&self, subscribers: &BTreeSet<&str>) {
        self.connected().refused.take_if(|(who, _)| !subscribers.contains(who.as_str()));
    }

    /// A message for all who take it now.
    pub fn push(&self, message: &Bytes, expires: Option<Instant>) {
        for line in self.connected().lines.values() {
            line.push(message.clone(), expires);
        }
    }

    /// It is not offered any more.
    pub fn close(&self) {
        let mut connected = self.connected();
        connected.is_closed = true;
        connected.lines.values().for_each(|line| line.close());
    }
}

/// Of a subscriber of ROS 1, until it is dropped.
pub struct Connection {
    /// What it is to get.
    pub line: Arc<Line>,
    offered: Arc<Offered>,
    number: u64,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.offered.connected().lines.remove(&self.number);
        (self.offered.look)();
    }
}
