//! A live connection with a peer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use quinn::{Connection, ConnectionError, SendStream, VarInt};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::handshake::{Opened, Refused, next, shake};
use super::{PeerEvent, Shared, explained, printable, shown};
use crate::channels::Inlet;
use crate::link::Outbox;
use crate::point::point;
use crate::protocol::{Closed, Control, Hello, Violation};

/// Numbers of sessions, of which none is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A connection over which channels may go.
pub struct Session {
    /// Of this session alone.
    pub number: u64,
    /// Who the peer says it is.
    pub hello: Hello,
    /// By us.
    pub is_dialed: bool,
    /// As it was when the connection was made: the peer may have moved.
    pub connection: Connection,
    /// How messages leave.
    pub outbox: Outbox,
    /// Where they arrive.
    pub inlet: Inlet,
    control: UnboundedSender<Control>,
}

impl Session {
    /// Says something to the peer, behind what was said before. Does not wait.
    pub fn say(&self, control: Control) {
        // When nobody sends it any more, the connection is over, and is told to be.
        let _ = self.control.send(control);
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
    let Opened { send, receive, hello } = match shake(&connection, is_dialed, shared).await {
        Ok(opened) => opened,
        Err(refused) => {
            if !is_dialed && refused.known.is_none() {
                log::warn!("{address} has dialed, but {}", refused.why);
            }
            return refused;
        }
    };
    drop(permit);
    let (control, said) = unbounded_channel();
    let session = Arc::new(Session {
        number: NEXT.fetch_add(1, Ordering::Relaxed),
        outbox: Outbox::new(connection.clone(), Arc::clone(&shared.budget)),
        inlet: Inlet::new(shared.hello.max_message),
        hello,
        is_dialed,
        connection: connection.clone(),
        control,
    });
    if !shared.known.admit(&session, &shared.id()) {
        return Refused {
            why: "another connection with this peer is kept".to_owned(),
            known: Some(session.hello.id),
            is_final: false,
            was_up: false,
        };
    }
    (shared.tell)(PeerEvent::Up(Arc::clone(&session)));
    point("peer up");
    let mut receive = receive;
    let heard = async {
        loop {
            match next(&connection, &mut receive).await {
                Ok(control) => (shared.tell)(PeerEvent::Heard(session.number, control)),
                Err(refused) => break refused,
            }
        }
    };
    let refused = tokio::select! {
        refused = heard => refused,
        () = speak(send, said) => lost(&connection).await,
        () = take_messages(&session) => lost(&connection).await,
        () = take_calls(&session) => lost(&connection).await,
    };
    shared.known.forget(&session);
    session.inlet.close();
    let has_left = matches!(connection.close_reason(), Some(ConnectionError::ApplicationClosed(closed)) if closed.error_code == VarInt::from_u32(Closed::Leaving as u32));
    (shared.tell)(PeerEvent::Down { number: session.number, why: refused.why.clone(), has_left });
    Refused { was_up: true, ..refused }
}

/// Why it was lost: some part of it has failed, and with that the whole.
async fn lost(connection: &Connection) -> Refused {
    Refused { why: explained(&connection.closed().await), known: None, is_final: false, was_up: false }
}

async fn speak(mut send: SendStream, mut said: UnboundedReceiver<Control>) {
    while let Some(control) = said.recv().await {
        if send.write_all(&control.encode()).await.is_err() {
            return;
        }
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
                        if let Err(why) = session.inlet.take_ordered(ordered).await {
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

async fn take_calls(session: &Arc<Session>) {
    while let Ok((send, receive)) = session.connection.accept_bi().await {
        let session = Arc::clone(session);
        tokio::spawn(async move {
            if let Err(why) = session.inlet.take_call(send, receive, &session.outbox).await {
                session.close(Closed::Violation, &why.0);
            }
        });
    }
}
