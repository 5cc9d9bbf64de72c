//! Where streams of a peer find the channel that they belong to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quinn::{RecvStream, SendStream, VarInt};
use tokio::sync::watch;

use super::gathering::rest;
use super::received::Course;
use super::room::Room;
use super::turns::{Headless, Turn, Turns, Unknown};
use super::{Received, Served};
use crate::link::Outbox;
use crate::protocol::{Answer, CallHead, Decoded, Dropped, Packing, REPAIR_STREAM, RepairHead, Status, TOPIC_STREAM, TopicHead, violation};
use crate::repair::{IN_STREAM, SYMBOL};

/// Of one connection. Thread-safe.
pub struct Inlet {
    /// What we want, by our numbers.
    wanted: Mutex<HashMap<u32, Arc<Expected>>>,
    /// What the peer wants: services, by its numbers.
    served: Mutex<HashMap<u32, Arc<Served>>>,
    /// Streams that have come.
    number: AtomicU64,
    headless: Headless,
    room: Room,
    max_message: u64,
}

/// A stream of an ordered channel, whose head is read.
pub struct Ordered {
    stream: RecvStream,
    turn: Turn,
    channel: u32,
    number: u64,
    received: Arc<Received>,
    course: Course,
    wanted: watch::Receiver<Wanted>,
}

/// A topic that we want, and its streams.
struct Expected {
    wanted: watch::Sender<Wanted>,
    turns: Arc<Turns>,
}

/// How it stands.
#[derive(Clone)]
enum Wanted {
    /// Its messages may arrive before it is known how.
    Soon,
    Open(Arc<Received>, Course),
    Never,
}

impl Inlet {
    /// Of a connection over which messages of so many bytes may come.
    pub fn new(max_message: u64) -> Inlet {
        Inlet {
            wanted: Mutex::default(),
            served: Mutex::default(),
            number: AtomicU64::new(0),
            headless: Headless::new(),
            room: Room::new(max_message),
            max_message,
        }
    }

    fn wanted(&self) -> MutexGuard<'_, HashMap<u32, Arc<Expected>>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_served(&self) -> MutexGuard<'_, HashMap<u32, Arc<Served>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of a message at most.
    pub fn max_message(&self) -> u64 {
        self.max_message
    }

    /// Messages on this channel may come soon.
    pub fn expect(&self, channel: u32) {
        let expected = Expected { wanted: watch::Sender::new(Wanted::Soon), turns: Arc::new(Turns::new()) };
        self.wanted().insert(channel, Arc::new(expected));
    }

    /// From now on they go there.
    pub fn open(&self, channel: u32, received: Arc<Received>, course: Course) {
        if let Some(expected) = self.wanted().get(&channel) {
            expected.wanted.send_replace(Wanted::Open(received, course));
        }
    }

    /// They are not wanted any more.
    pub fn unexpect(&self, channel: u32) {
        if let Some(expected) = self.wanted().remove(&channel) {
            expected.wanted.send_replace(Wanted::Never);
        }
    }

    /// Calls on this channel go there.
    pub fn serve(&self, channel: u32, served: Arc<Served>) {
        self.all_served().insert(channel, served);
    }

    /// What serves this channel.
    pub fn served(&self, channel: u32) -> Option<Arc<Served>> {
        self.all_served().get(&channel).cloned()
    }

    /// No more.
    pub fn unserve(&self, channel: u32) {
        self.all_served().remove(&channel);
    }

    /// Nothing is wanted any more.
    pub fn close(&self) {
        for (_, expected) in self.wanted().drain() {
            expected.wanted.send_replace(Wanted::Never);
        }
        self.all_served().clear();
        self.room.close();
    }

    /// Takes a unidirectional stream until its end, or, where it is of an ordered channel, gives it back to be taken beside others. To be called in the order in which they were opened.
    pub fn take_messages(&self, stream: RecvStream) -> impl Future<Output = Decoded<Option<Ordered>>> {
        let unknown = self.headless.add(self.number.fetch_add(1, Ordering::Relaxed));
        self.take_unknown(stream, unknown)
    }

    async fn take_unknown(&self, mut stream: RecvStream, unknown: Unknown<'_>) -> Decoded<Option<Ordered>> {
        let mut kind = [0];
        let mut head = [0; TopicHead::SIZE];
        // A stream may be given up before anything of it arrives.
        if stream.read_exact(&mut kind).await.is_err() {
            return Ok(None);
        }
        if kind[0] == REPAIR_STREAM {
            drop(unknown);
            return self.take_repair(stream).await.map(|()| None);
        }
        if kind[0] != TOPIC_STREAM {
            return violation(format!("a unidirectional stream of the kind {}", kind[0]));
        }
        if stream.read_exact(&mut head).await.is_err() {
            return Ok(None);
        }
        let TopicHead { channel, index } = TopicHead::decode(&head);
        let unwanted = VarInt::from_u32(Dropped::Unwanted as u32);
        let Some(expected) = self.wanted().get(&channel).cloned() else {
            let _ = stream.stop(unwanted);
            return Ok(None);
        };
        // None: it is too late for an ordered channel. Any other one has no turns (G22), and which it is may not be known yet.
        let turn = expected.turns.come(index);
        let number = unknown.number();
        drop(unknown);
        let mut wanted = expected.wanted.subscribe();
        let is_known = wanted.wait_for(|wanted| !matches!(wanted, Wanted::Soon)).await.map(|wanted| wanted.clone());
        let Ok(Wanted::Open(received, course)) = is_known else {
            let _ = stream.stop(unwanted);
            return Ok(None);
        };
        if received.is_ordered() {
            let Some(turn) = turn else {
                let _ = stream.stop(unwanted);
                return Ok(None);
            };
            return Ok(Some(Ordered { stream, turn, channel, number, received, course, wanted }));
        }
        let is_over = async { _ = wanted.wait_for(|wanted| matches!(wanted, Wanted::Never)).await };
        tokio::select! {
            taken = received.take_one(course, stream, &self.room, self.max_message) => taken.map(|()| None),
            () = is_over => Ok(None),
        }
    }

    /// (G30) Symbols for a message that may be arriving.
    async fn take_repair(&self, mut stream: RecvStream) -> Decoded<()> {
        let mut head = [0; RepairHead::SIZE];
        if stream.read_exact(&mut head).await.is_err() {
            return Ok(());
        }
        let head = RepairHead::decode(&head)?;
        let Ok(symbols) = rest(&mut stream, IN_STREAM * SYMBOL).await else { return Ok(()) };
        let Some(symbols) = symbols else { return violation("more symbols for the repair of a message than a stream has") };
        let wanted = self.wanted().get(&head.channel).map(|expected| expected.wanted.borrow().clone());
        match wanted {
            Some(Wanted::Open(received, course)) => received.repair(course, &head, symbols.into()),
            _ => Ok(()),
        }
    }

    /// Takes the stream until its end, and tells by the numbers of messages how far the channel has come.
    pub async fn take_ordered(&self, ordered: Ordered, tell: impl Fn(u32, u64)) -> Decoded<()> {
        let Ordered { stream, turn, channel, number, received, course, mut wanted } = ordered;
        let is_over = async { _ = wanted.wait_for(|wanted| matches!(wanted, Wanted::Never)).await };
        let all = async {
            turn.wait(&self.headless, number).await;
            received.take_all(course, stream, &self.room, self.max_message, |sequence| tell(channel, sequence)).await
        };
        tokio::select! {
            taken = all => taken,
            () = is_over => Ok(()),
        }
    }

    /// Takes a call, of whose stream the kind is read. Its answer has `most` bytes at most.
    pub async fn take_call(&self, mut send: SendStream, mut receive: RecvStream, outbox: &Outbox, most: u64) -> Decoded<()> {
        let mut head = [0; CallHead::SIZE];
        if receive.read_exact(&mut head).await.is_err() {
            return Ok(());
        }
        let head = CallHead::decode(&head, self.max_message)?;
        let served = self.served(head.channel);
        match served {
            Some(served) => served.take(head, (send, receive), (outbox, most), &self.room).await,
            None => {
                // It may have crossed a Close.
                let _ = receive.stop(VarInt::from_u32(Dropped::Unwanted as u32));
                let gone = Answer { status: Status::Gone, packing: Packing::None, size: 0, unpacked: 0 };
                let _ = send.write_all(&gone.encode()).await;
                let _ = send.finish();
                Ok(())
            }
        }
    }
}
