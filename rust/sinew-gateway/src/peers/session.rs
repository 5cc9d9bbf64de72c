//! A live connection with a peer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use quinn::{Connection, ConnectionError, SendStream, VarInt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::handshake::{Opened, Refused, next, shake};
use super::{PeerEvent, Shared, explained, printable, shown};
use crate::channels::{Inlet, rest};
use crate::link::Outbox;
use crate::packing::{pack, unpack};
use crate::point::point;
use crate::protocol::{
    Answer, CALL_STREAM, Closed, Control, Decoded, Had, Hello, LOOK_STREAM, MAX_CATALOGUE, Packing, Status, Violation, violation,
};

/// Control messages of a peer that wait to be dealt with, so that those of others come in between, however many it says.
const MOST_HEARD: usize = 64;
/// (G41) Bytes that the peer was told and did not take: far more than all that a domain has to say.
const MOST_UNSAID: usize = 16 << 20;

/// Numbers of sessions, of which none is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A connection over which channels may go.
pub struct Session {
    /// Of this session alone.
    pub number: u64,
    /// Who the peer says it is.
    pub hello: Hello,
    /// Nanoseconds that the clock here says more than the peer's (G45).
    pub ahead: i64,
    /// By us.
    pub is_dialed: bool,
    /// As it was when the connection was made: the peer may have moved.
    pub connection: Connection,
    /// How messages leave.
    pub outbox: Outbox,
    /// Where they arrive.
    pub inlet: Inlet,
    control: UnboundedSender<Vec<u8>>,
    /// Bytes that QUIC has not taken yet.
    unsaid: AtomicUsize,
    /// Of what the domain has the peer is told once at a time, however often it asks.
    telling: Mutex<()>,
}

impl Session {
    /// Says something to the peer, behind what was said before. Does not wait.
    pub fn say(&self, control: Control) {
        let bytes = control.encode();
        // Nobody waits for the peer here, so what it does not read would pile up, and it says for how much there is an answer.
        if self.unsaid.fetch_add(bytes.len(), Ordering::Relaxed) > MOST_UNSAID {
            return self.close(Closed::Violation, "it does not read what it is told");
        }
        // When nobody sends it any more, the connection is over, and is told to be.
        let _ = self.control.send(bytes);
    }

    /// (G33) What the peer's domain has for this one. None: the connection was lost.
    pub async fn look(&self) -> Option<Vec<Had>> {
        let looked = async {
            let (mut send, mut receive) = self.connection.open_bi().await.ok()?;
            send.write_all(&[LOOK_STREAM]).await.ok()?;
            send.finish().ok()?;
            let mut head = [0; Answer::SIZE];
            receive.read_exact(&mut head).await.ok()?;
            let body = rest(&mut receive, MAX_CATALOGUE).await.ok()??;
            Some((head, body))
        };
        let (head, body) = looked.await?;
        catalogue(&head, body).map_err(|why| self.close(Closed::Violation, &why.0)).ok()
    }

    async fn tell_what_there_is(&self, send: SendStream, shared: &Shared) -> Decoded<()> {
        let _one_at_a_time = self.telling.lock().await;
        let whole = Bytes::from(Had::encode_all(&(shared.catalogue)(&self.hello.tag)));
        let packed = pack(Packing::Zstd, self.hello.compression, std::slice::from_ref(&whole));
        let packing = if packed.is_some() { Packing::Zstd } else { Packing::None };
        let unpacked = whole.len() as u32;
        let body = packed.unwrap_or(whole);
        let head = Answer { status: Status::Executed, packing, size: body.len() as u32, unpacked };
        if let Ok(mut send) = self.outbox.write(send, vec![Bytes::from(head.encode()), body], 0).await {
            let _ = send.finish();
        }
        Ok(())
    }

    /// Bytes of a message, a request or a response at most, that both sides take.
    pub fn max_message(&self) -> u64 {
        self.inlet.max_message().min(self.hello.max_message)
    }

    /// Ends the connection.
    pub fn close(&self, code: Closed, why: &str) {
        super::close(&self.connection, code, why);
    }

    /// Who and where it is, for people.
    pub fn shown(&self) -> String {
        format!("'{}' at {}", printable(&self.hello.name), self.address())
    }

    /// Where it is now.
    pub fn address(&self) -> SocketAddr {
        shown(self.connection.remote_address())
    }
}

/// Shakes hands, and serves the connection until it is over; why it is, is returned. `permit` is given back when both know each other.
pub async fn run(connection: Connection, is_dialed: bool, shared: &Arc<Shared>, permit: Option<OwnedSemaphorePermit>) -> Refused {
    let address = shown(connection.remote_address());
    let Opened { send, receive, hello, ahead } = match shake(&connection, is_dialed, shared).await {
        Ok(opened) => opened,
        Err(refused) => {
            if !is_dialed && refused.known.is_none() {
                shared.strangers.warn(&format!("{address} has dialed, but {}", refused.why));
            }
            return refused;
        }
    };
    drop(permit);
    let (control, said) = unbounded_channel();
    let session = Arc::new(Session {
        number: NEXT.fetch_add(1, Ordering::Relaxed),
        outbox: Outbox::new(connection.clone(), Arc::clone(&shared.budget), hello.max_message),
        inlet: Inlet::new(shared.hello.max_message),
        hello,
        ahead,
        is_dialed,
        connection: connection.clone(),
        control,
        unsaid: AtomicUsize::new(0),
        telling: Mutex::new(()),
    });
    let up = || (shared.tell)(PeerEvent::Up(Arc::clone(&session)));
    if !shared.known.admit(&session, &shared.id(), up) {
        return Refused {
            why: "another connection with this peer is kept".to_owned(),
            known: Some(session.hello.id),
            is_final: false,
            was_up: false,
        };
    }
    let mut up = Up { session: Arc::clone(&session), shared, why: "this gateway serves it no more".to_owned() };
    point("peer up");
    let mut receive = receive;
    let places = Arc::new(Semaphore::new(MOST_HEARD));
    let heard = async {
        loop {
            match next(&connection, &mut receive).await {
                Ok(Control::Taken { channel, sequence }) => session.outbox.taken(channel, sequence),
                Ok(control) => {
                    let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
                    (shared.tell)(PeerEvent::Heard(session.number, control, place));
                }
                Err(refused) => break refused,
            }
        }
    };
    let refused = tokio::select! {
        refused = heard => refused,
        () = speak(send, said, &session.unsaid) => lost(&connection).await,
        () = take_messages(&session) => lost(&connection).await,
        () = take_streams(&session, shared) => lost(&connection).await,
    };
    up.why.clone_from(&refused.why);
    Refused { was_up: true, ..refused }
}

/// A session that was told of, until this is dropped: however its task ends, nobody goes on with a connection that nobody serves.
struct Up<'a> {
    session: Arc<Session>,
    shared: &'a Shared,
    why: String,
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        let connection = &self.session.connection;
        let has_left = matches!(connection.close_reason(), Some(ConnectionError::ApplicationClosed(closed)) if closed.error_code == VarInt::from_u32(Closed::Leaving as u32));
        // Where it is over already this does nothing.
        self.session.close(Closed::Leaving, "");
        self.shared.known.forget(&self.session);
        self.session.inlet.close();
        (self.shared.tell)(PeerEvent::Down { number: self.session.number, why: std::mem::take(&mut self.why), has_left });
    }
}

fn catalogue(head: &[u8; Answer::SIZE], body: Vec<u8>) -> Decoded<Vec<Had>> {
    let head = Answer::decode(head, MAX_CATALOGUE as u64)?;
    if head.size as usize != body.len() {
        return violation(format!("a catalogue of {} bytes that is to have {}", body.len(), head.size));
    }
    if head.packing == Packing::None {
        return Had::decode_all(&body);
    }
    let mut whole = vec![0; head.unpacked as usize];
    unpack(head.packing, &body, &mut whole)?;
    Had::decode_all(&whole)
}

/// Why it was lost: some part of it has failed, and with that the whole.
async fn lost(connection: &Connection) -> Refused {
    Refused { why: explained(&connection.closed().await), known: None, is_final: false, was_up: false }
}

async fn speak(mut send: SendStream, mut said: UnboundedReceiver<Vec<u8>>, unsaid: &AtomicUsize) {
    while let Some(control) = said.recv().await {
        if send.write_all(&control).await.is_err() {
            return;
        }
        unsaid.fetch_sub(control.len(), Ordering::Relaxed);
    }
}

/// All in one task: streams go on in the order in which bytes of them arrive, so that messages which come one after the other are handed on so.
async fn take_messages(session: &Arc<Session>) {
    let mut streams = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            Some(taken) = streams.next() => match taken {
                Ok(None) => {}
                Ok(Some(ordered)) => {
                    let session = Arc::clone(session);
                    tokio::spawn(async move {
                        let tell = |channel, sequence| session.say(Control::Taken { channel, sequence });
                        if let Err(why) = session.inlet.take_ordered(ordered, tell).await {
                            session.close(Closed::Violation, &why.0);
                        }
                    });
                }
                Err(Violation(why)) => session.close(Closed::Violation, &why),
            },
            accepted = session.connection.accept_uni() => match accepted {
                Ok(stream) => streams.push(session.inlet.take_messages(stream)),
                Err(_) => return,
            },
        }
    }
}

/// Those that go both ways.
async fn take_streams(session: &Arc<Session>, shared: &Arc<Shared>) {
    while let Ok((send, mut receive)) = session.connection.accept_bi().await {
        let (session, shared) = (Arc::clone(session), Arc::clone(shared));
        tokio::spawn(async move {
            let mut kind = [0];
            if receive.read_exact(&mut kind).await.is_err() {
                return;
            }
            let taken = match kind[0] {
                CALL_STREAM => session.inlet.take_call(send, receive, &session.outbox, session.max_message()).await,
                LOOK_STREAM => session.tell_what_there_is(send, &shared).await,
                other => violation(format!("a bidirectional stream of the kind {other}")),
            };
            if let Err(why) = taken {
                session.close(Closed::Violation, &why.0);
            }
        });
    }
}
