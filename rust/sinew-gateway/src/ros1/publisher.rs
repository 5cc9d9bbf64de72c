//! One publisher of ROS 1, and its messages on their way into the domain.

use std::sync::Arc;
use std::time::Duration;

use sinew::msg::ros1::Plan;
use sinew::raw::Publisher;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::block_in_place;
use tokio::time::{sleep, timeout};

use super::calls::{Unanswered, ask};
use super::followed::{Followed, Standing};
use super::header::Header;
use super::server::alive;
use super::uri::Uri;
use super::xml::Value;
use crate::bridge::connected_ghost;
use crate::peers::printable;
use crate::protocol::Offer;

/// To be connected with, and to say what it has.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two attempts to be connected.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(8);
/// Bytes that are read at once, of messages that are smaller.
const AT_ONCE: usize = 64 << 10;

/// Why there is no connection.
enum Ended {
    /// Not now, as this half sentence says.
    Lost(String),
    /// Never, as it stands with this one.
    Never(Standing),
}

impl From<String> for Ended {
    fn from(why: String) -> Ended {
        Ended::Lost(why)
    }
}

/// Takes its messages, whenever it is there, until the task is aborted: as long as the master says that it publishes this, or it stays connected.
pub async fn follow(followed: Arc<Followed>, uri: Uri) {
    let mut pause = FIRST;
    loop {
        match dial(&followed, &uri).await {
            Ok((stream, said, plan)) => {
                pause = FIRST;
                let latches = said.get("latching") == "1";
                let why = land(&followed, &uri, stream, latches, &plan).await;
                log::debug!("{uri} does not publish '{}' any more: {why}", followed.topic);
            }
            Err(Ended::Lost(why)) => log::debug!("{uri} does not publish '{}' for the moment: {why}", followed.topic),
            Err(Ended::Never(standing)) => {
                if let Standing::Refused(why) = &standing {
                    log::warn!("{why}");
                }
                return followed.stands(&uri, standing);
            }
        }
        if !followed.is_absent(&uri) {
            return;
        }
        sleep(pause).await;
        pause = (2 * pause).min(LONGEST);
    }
}

/// A connection, what it says of itself, and how its messages become ours.
async fn dial(followed: &Followed, uri: &Uri) -> Result<(TcpStream, Header, Arc<Plan>), Ended> {
    let own = &followed.place.address.own;
    let protocols = Value::List(vec![Value::List(vec!["TCPROS".into()])]);
    let arguments = vec![own.name.as_str().into(), followed.topic.as_str().into(), protocols];
    let answer = ask(uri, "requestTopic", arguments).await.map_err(Unanswered::why)?;
    let (host, port) = match answer.list() {
        Some([Value::Text(protocol), Value::Text(host), Value::Int(port)]) if protocol == "TCPROS" => (host, *port),
        _ => return Err(Ended::Lost("it does not speak TCPROS".to_owned())),
    };
    let port = u16::try_from(port).map_err(|_| format!("its port is said to be {port}"))?;
    let dialing = async {
        let mut stream = TcpStream::connect((host.as_str(), port)).await.map_err(|why| why.to_string())?;
        alive(&stream).map_err(|why| why.to_string())?;
        let asked = Header::of([
            ("callerid", &own.name),
            ("md5sum", "*"),
            ("message_definition", ""),
            ("tcp_nodelay", "1"),
            ("topic", &followed.topic),
            ("type", "*"),
        ]);
        stream.write_all(&asked.encode()).await.map_err(|why| why.to_string())?;
        let said = Header::read(&mut stream).await?;
        Ok::<_, String>((stream, said))
    };
    let (stream, said) = timeout(PATIENCE, dialing).await.map_err(|_| "it does not say what it has".to_owned())??;
    if own.is_of_us(said.get("callerid")) {
        log::info!("'{}' of {uri} is what another bridge of this domain brings, and does not go back", followed.name);
        return Err(Ended::Never(Standing::Echo));
    }
    if !said.get("error").is_empty() {
        return Err(Ended::Lost(printable(said.get("error"))));
    }
    let place = &followed.place;
    // There may be files to be read.
    let plan = block_in_place(|| place.types.plan(&followed.name, &followed.ty, &said));
    match plan {
        Ok(plan) => Ok((stream, said, plan)),
        Err(why) => Err(Ended::Never(Standing::Refused(why))),
    }
}

/// Publishes in the domain what it sends; why nothing comes any more.
async fn land(followed: &Followed, uri: &Uri, stream: TcpStream, latches: bool, plan: &Plan) -> String {
    let (place, due) = (&followed.place, &followed.due);
    // Nothing is lost between two who are connected by TCP.
    let offer = Offer { depth: due.offer.depth, reliable: true, transient_local: due.offer.transient_local && latches, ..Offer::default() };
    let ghost = block_in_place(|| connected_ghost(&place.node, &followed.name, &due.signature, &offer));
    let ghost = match ghost {
        Ok(ghost) => Arc::new(ghost),
        Err(why) => return why.to_string(),
    };
    followed.stands(uri, Standing::Connected { latches, ghost: Arc::downgrade(&ghost) });
    let mut stream = BufReader::with_capacity(AT_ONCE, stream);
    let mut buffer = Vec::new();
    loop {
        let size = match stream.read_u32_le().await {
            Ok(size) => size as usize,
            Err(why) => return why.to_string(),
        };
        let read = if size as u64 > place.max_message {
            followed.lose(|| format!("it has {size} bytes, where \"max_message\" of this bridge are {}", place.max_message));
            skip(&mut stream, size).await
        } else {
            if buffer.len() < size {
                // Of zeros that the kernel has, so that who says much and sends nothing takes none.
                buffer = vec![0; size];
            }
            stream.read_exact(&mut buffer[..size]).await.map(drop)
        };
        match read {
            Ok(()) if size as u64 <= place.max_message => {
                // Only who has to lose nothing may have to wait.
                let done = if due.offer.depth == 0 {
                    block_in_place(|| publish(plan, &buffer[..size], &ghost, place.max_message))
                } else {
                    publish(plan, &buffer[..size], &ghost, place.max_message)
                };
                match done {
                    Ok(bytes) => followed.counts.count(bytes),
                    Err(why) => followed.lose(|| why),
                }
            }
            Ok(()) => {}
            Err(why) => return why.to_string(),
        }
    }
}

/// Written where subscribers read it; how many bytes it has there.
fn publish(plan: &Plan, message: &[u8], ghost: &Publisher, most: u64) -> Result<usize, String> {
    let size = plan.size_of_stream(message).map_err(|why| format!("it is none of its type: {why}"))?;
    if size as u64 > most {
        return Err(format!("it has {size} bytes here, where \"max_message\" of this bridge are {most}"));
    }
    let mut loan = ghost.loan(size).map_err(|why| format!("it has no room in this domain: {why}"))?;
    let room = loan.bytes().get_mut(..size).unwrap_or_default();
    plan.write_stream(message, room).map_err(|why| format!("it is none of its type: {why}"))?;
    loan.publish(size).map_err(|why| format!("it could not be published: {why}"))?;
    Ok(size)
}

/// Passes over so many bytes.
async fn skip(stream: &mut BufReader<TcpStream>, size: usize) -> std::io::Result<()> {
    let mut passed = vec![0; AT_ONCE];
    let mut left = size;
    while left > 0 {
        let part = left.min(passed.len());
        stream.read_exact(&mut passed[..part]).await?;
        left -= part;
    }
    Ok(())
}
