//! What two gateways say first.

use quinn::{Connection, RecvStream, SendStream};

use super::{PATIENCE, Shared, close, explained, printable};
use crate::channels::times;
use crate::point::point;
use crate::protocol::{Closed, Control, Hello, MAX_CONTROL, VERSION};

/// The control stream, behind what is said first.
pub struct Opened {
    pub send: SendStream,
    pub receive: RecvStream,
    pub hello: Hello,
    /// Nanoseconds that the clock here says more than the peer's (G45).
    pub ahead: i64,
}

/// Why there will be no session.
pub struct Refused {
    /// As a sentence.
    pub why: String,
    /// There is a connection with this peer already.
    pub known: Option<crate::protocol::GatewayId>,
    /// It will not help to try again soon.
    pub is_final: bool,
    /// There was a session, which is over.
    pub was_up: bool,
}

impl Refused {
    fn of(why: impl Into<String>) -> Refused {
        Refused { why: why.into(), known: None, is_final: false, was_up: false }
    }
}

/// Until both know who the other is, and the dialer has decided to keep the connection.
pub async fn shake(connection: &Connection, is_dialed: bool, shared: &Shared) -> Result<Opened, Refused> {
    match tokio::time::timeout(PATIENCE, introduce(connection, is_dialed, shared)).await {
        Ok(opened) => opened,
        Err(_) => {
            let why = format!("nothing was said for {} s", PATIENCE.as_secs());
            close(connection, Closed::Violation, &why);
            Err(Refused::of(format!("the peer is no gateway of sinew, or overloaded: {why}")))
        }
    }
}

async fn introduce(connection: &Connection, is_dialed: bool, shared: &Shared) -> Result<Opened, Refused> {
    let lost = |_| Refused::of(connection.close_reason().map_or("the connection was lost".to_owned(), |why| explained(&why)));
    let (mut send, mut receive) =
        if is_dialed { connection.open_bi().await } else { connection.accept_bi().await }.map_err(|why| Refused::of(explained(&why)))?;
    send.set_priority(i32::MAX).map_err(|why| Refused::of(why.to_string()))?;
    let hello = Hello { clock: times::now(), ..shared.hello.clone() };
    send.write_all(&Control::Hello(hello).encode()).await.map_err(|_| ()).map_err(lost)?;
    point("hello said");
    let hello = match next(connection, &mut receive).await? {
        Control::Hello(hello) => hello,
        _ => return Err(violated(connection, "the first message is no Hello")),
    };
    let ahead = times::ahead_of(hello.clock);
    check(connection, &hello, shared)?;
    if is_dialed {
        if shared.known.has(&hello.id) {
            close(connection, Closed::Duplicate, "");
            let why = format!("there is a connection with '{}' already", printable(&hello.name));
            return Err(Refused { why, known: Some(hello.id), is_final: false, was_up: false });
        }
        send.write_all(&Control::Ready.encode()).await.map_err(|_| ()).map_err(lost)?;
    } else {
        match next(connection, &mut receive).await? {
            Control::Ready => {}
            _ => return Err(violated(connection, "the dialer's second message is no Ready")),
        }
    }
    Ok(Opened { send, receive, hello, ahead })
}

fn check(connection: &Connection, hello: &Hello, shared: &Shared) -> Result<(), Refused> {
    let refuse = |code, why: String| {
        close(connection, code, &why);
        Err(Refused { why, known: None, is_final: true, was_up: false })
    };
    if hello.version != VERSION {
        return refuse(
            Closed::Version,
            format!(
                "version {} of the protocol is spoken here, and {} there: bring both gateways to the same release",
                VERSION, hello.version
            ),
        );
    }
    if hello.id == shared.id() {
        return refuse(Closed::Itself, "this address is the gateway's own".to_owned());
    }
    if (shared.is_in_domain)(&hello.node) {
        return refuse(
            Closed::SameDomain,
            format!("gateway '{}' is in the same domain as this one: what is published there is here already", printable(&hello.name)),
        );
    }
    Ok(())
}

/// The next message, of those that this version knows.
pub async fn next(connection: &Connection, receive: &mut RecvStream) -> Result<Control, Refused> {
    loop {
        let message = match read(connection, receive).await {
            Ok(message) => message,
            Err(why) => return Err(why),
        };
        match Control::decode(&message) {
            Ok(Some(control)) => return Ok(control),
            Ok(None) => {}
            Err(why) => return Err(violated(connection, &why.0)),
        }
    }
}

async fn read(connection: &Connection, receive: &mut RecvStream) -> Result<Vec<u8>, Refused> {
    let ended = || match connection.close_reason() {
        Some(why) => Refused::of(explained(&why)),
        None => violated(connection, "the control stream has ended"),
    };
    let mut size = [0; 4];
    receive.read_exact(&mut size).await.map_err(|_| ended())?;
    let size = u32::from_le_bytes(size) as usize;
    if size == 0 || size > MAX_CONTROL {
        return Err(violated(connection, &format!("a control message of {size} bytes")));
    }
    let mut message = vec![0; size];
    receive.read_exact(&mut message).await.map_err(|_| ended())?;
    Ok(message)
}

/// Closes the connection, and says why to both sides.
fn violated(connection: &Connection, what: &str) -> Refused {
    close(connection, Closed::Violation, what);
    Refused { why: format!("the peer violates the protocol: {}", printable(what)), known: None, is_final: true, was_up: false }
}
