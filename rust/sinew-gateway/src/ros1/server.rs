//! The two ports at which the bridge can be reached: for questions, and for messages. Whoever reaches them may be malicious: places and times are bounded, and what is no question is not answered.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::WriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::ends::Ends;
use super::header::Header;
use super::node::{self, Address};
use super::offered::Connection;
use super::xml::{self, Call};
use super::{http, names::Own};
use crate::peers::printable;

/// Who asks something, at a time.
const MOST_QUESTIONS: usize = 64;
/// Who takes messages, or is about to.
const MOST_SUBSCRIBERS: usize = 512;
/// To ask, and to be answered; to say who takes what.
const PATIENCE: Duration = Duration::from_secs(5);
/// Of the other side, whose machine may be gone: until it is asked for a sign of life, and between two such questions.
const SILENT: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_secs(10);

/// Whether somebody has said what he wants. Who has not gives way to others where there is no place.
type HasAsked = Arc<AtomicBool>;

/// Answers questions.
pub async fn questions(listener: TcpListener, address: Arc<Address>, ends: Arc<Ends>) {
    let answer = move |mut stream: TcpStream, _: HasAsked| {
        let (address, ends) = (Arc::clone(&address), Arc::clone(&ends));
        async move {
            let answering = async {
                let asked = http::read_request(&mut stream).await.and_then(|text| Call::read(&text));
                let answer = match asked {
                    Ok(call) => match node::answer(&call, &address, &ends) {
                        Some(value) => xml::write_answer(&value),
                        None => xml::write_fault(&format!("there is no method '{}'", call.method)),
                    },
                    Err(why) => xml::write_fault(&why),
                };
                let _ = stream.write_all(http::answer(&answer).as_bytes()).await;
                let _ = stream.shutdown().await;
            };
            let _ = timeout(PATIENCE, answering).await;
        }
    };
    serve(listener, MOST_QUESTIONS, answer).await;
}

/// Gives messages to those who want them.
pub async fn messages(listener: TcpListener, address: Arc<Address>, ends: Arc<Ends>) {
    let give = move |stream: TcpStream, has_asked: HasAsked| {
        let (address, ends) = (Arc::clone(&address), Arc::clone(&ends));
        async move {
            if let Err(why) = subscriber(stream, &address.own, &ends, &has_asked).await {
                log::debug!("a subscriber of ROS 1 is not connected any more: {why}");
            }
        }
    };
    serve(listener, MOST_SUBSCRIBERS, give).await;
}

/// So many at a time. Who comes then takes the place of the first who says nothing, and where all have said something, none.
async fn serve<F: Future<Output = ()> + Send + 'static>(listener: TcpListener, most: usize, with: impl Fn(TcpStream, HasAsked) -> F) {
    let mut served = JoinSet::new();
    let mut places: VecDeque<(AbortHandle, HasAsked)> = VecDeque::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    places.retain(|(task, _)| !task.is_finished());
                    if places.len() >= most {
                        let is_silent = |(_, has_asked): &(AbortHandle, HasAsked)| !has_asked.load(Ordering::Relaxed); // relaxed: nothing else is told by it
                        match places.iter().position(is_silent).and_then(|silent| places.remove(silent)) {
                            Some((task, _)) => task.abort(),
                            None => continue,
                        }
                    }
                    let has_asked = HasAsked::default();
                    let task = served.spawn(with(stream, Arc::clone(&has_asked)));
                    places.push_back((task, has_asked));
                }
                Err(why) => {
                    log::debug!("nobody of ROS 1 can be heard for the moment: {why}");
                    sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = served.join_next() => {}
        }
    }
}

/// Until it goes, or the topic.
async fn subscriber(mut stream: TcpStream, own: &Own, ends: &Ends, has_asked: &AtomicBool) -> Result<(), String> {
    let greeted = timeout(PATIENCE, greet(&mut stream, own, ends)).await;
    let connection = greeted.unwrap_or_else(|_| Err("it does not say what it wants".to_owned()))?;
    has_asked.store(true, Ordering::Relaxed); // relaxed: nothing else is told by it
    alive(&stream).map_err(|why| why.to_string())?;
    let (mut from, to) = stream.split();
    tokio::select! {
        why = gone(&mut from) => Err(why),
        why = give(&connection, &to) => Err(why),
        () = connection.line.closed() => Ok(()),
    }
}

/// What it takes: who is answered gets all that comes from then on.
async fn greet(stream: &mut TcpStream, own: &Own, ends: &Ends) -> Result<Connection, String> {
    let asked = Header::read(stream).await?;
    let topic = asked.get("topic");
    let agreed = match ends.offered(topic) {
        Some(offered) => offered.agree(&asked, own).and_then(|answer| Ok((answer, offered.connect().ok_or("it is gone")?))),
        None if asked.get("service").is_empty() => Err(format!("'{}' is not published here", printable(topic))),
        None => Err("services do not go over to ROS 1".to_owned()),
    };
    let (answer, connection) = match agreed {
        Ok((answer, connection)) => (answer, Ok(connection)),
        Err(why) => (Header::of([("callerid", &own.name), ("error", &why)]), Err(why)),
    };
    stream.write_all(&answer.encode()).await.map_err(|why| why.to_string())?;
    connection
}

/// A subscriber says nothing more, so that all that comes is the end.
async fn gone(from: &mut (impl AsyncRead + Unpin)) -> String {
    match from.read_u8().await {
        Ok(_) => "it says what no subscriber says".to_owned(),
        Err(why) => why.to_string(),
    }
}

async fn give(connection: &Connection, to: &WriteHalf<'_>) -> String {
    loop {
        let (message, mut written) = (connection.line.next().await, 0);
        // Nothing of this is work to the runtime, so others would have no turn while there is something to write.
        tokio::task::consume_budget().await;
        while written < message.len() {
            if let Err(why) = to.writable().await {
                return why.to_string();
            }
            match connection.line.write(&message, written, |bytes| to.try_write(bytes)) {
                Ok(so_far) => written = so_far,
                Err(why) if why.kind() == ErrorKind::WouldBlock => {}
                Err(why) => return why.to_string(),
            }
        }
    }
}

/// What is written goes at once, and who is silent for long is asked for a sign of life.
pub fn alive(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENT).with_interval(AGAIN))
}
