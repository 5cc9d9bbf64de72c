//! A service of this domain that a peer calls.

use std::sync::Arc;

use bytes::Bytes;
use quinn::{RecvStream, SendStream, VarInt, WriteError};
use sinew::raw::{Client, ClientOptions};
use sinew::{ErrorKind, Ghost, Node};
use tokio::sync::watch;

use super::{Counts, Memory};
use crate::channels::outlet::parts_of;
use crate::channels::room::{NoRoom, Room};
use crate::channels::times;
use crate::link::Outbox;
use crate::packing::unpack;
use crate::point::point;
use crate::protocol::{Answer, CallHead, Decoded, Dropped, Kind, Packing, Status, Want};
use crate::ros2::action::Part;

/// What a call came to.
pub struct Answered {
    status: Status,
    parts: Vec<Bytes>,
}

impl Answered {
    fn size(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// By nobody: another provider may answer.
    pub fn is_by_nobody(&self) -> bool {
        self.status == Status::Gone
    }

    fn text(status: Status, text: &str) -> Answered {
        Answered { status, parts: vec![Bytes::copy_from_slice(text.as_bytes())] }
    }

    /// What is said of it to whoever takes so many bytes: of a response that is larger that it is (G25), of a text what has room.
    fn within(&self, most: u64) -> (Status, Vec<Bytes>) {
        let size = self.size();
        if size as u64 <= most {
            return (self.status, self.parts.clone());
        }
        let mut text = match self.status {
            Status::Executed => format!(
                "the call was executed, but the response has {size} bytes, where \"max_message\" of the two gateways lets {most} over"
            )
            .into_bytes(),
            _ => self.parts.concat(),
        };
        text.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        (if self.status == Status::Executed { Status::Failed } else { self.status }, vec![text.into()])
    }
}

/// Calls as a ghost.
pub struct Served {
    client: Client,
    /// That of goals, whose times are shifted: by so many ns the clock here says more than the peer's.
    goals: Option<i64>,
    priority: i32,
    memory: Arc<Memory>,
    counts: Counts,
}

impl Served {
    /// Blocks until the manager has agreed. The clock here says `ahead` ns more than the peer's.
    pub fn open(node: &Node, want: &Want, priority: i32, ahead: i64, memory: Arc<Memory>) -> sinew::Result<Served> {
        let options = ClientOptions { ghost: Ghost::Carrier, ..ClientOptions::default() };
        let client = Client::new(node, &want.name, &want.signature, &want.response, &options)?;
        let goals = times::part_of(Kind::Service, &want.name, &want.signature).map(|_| ahead);
        Ok(Served { client, goals, priority, memory, counts: Counts::default() })
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Takes a call, whose head is read, and answers it with `most` bytes at most. One that came before, over a connection that was lost, is not executed again.
    pub async fn take(
        &self,
        head: CallHead,
        (mut send, mut receive): (SendStream, RecvStream),
        (outbox, most): (&Outbox, u64),
        room: &Room,
    ) -> Decoded<()> {
        let permit = match room.take(head.size, head.unpacked).await {
            Ok(permit) => permit,
            Err(NoRoom::Closed) => return Ok(()),
            Err(NoRoom::Full) => {
                let _ = receive.stop(VarInt::from_u32(Dropped::NoRoom as u32));
                let full = Answered::text(Status::Full, "more was sent at once than the gateway there has room for");
                _ = deliver(&full, most, send, outbox, self.priority).await;
                self.counts.unanswered();
                return Ok(());
            }
        };
        let mut packed = vec![0; head.size as usize];
        if receive.read_exact(&mut packed).await.is_err() {
            return Ok(());
        }
        let mut request = if head.packing == Packing::None {
            packed
        } else {
            let mut request = vec![0; head.unpacked as usize];
            unpack(head.packing, &packed, &mut request)?;
            request
        };
        if let Some(ahead) = self.goals {
            times::shift(Part::Goals, &mut request, ahead);
        }
        drop(permit);
        let asked = request.len();
        let client = self.client.clone();
        let begin = |say: watch::Sender<Option<Arc<Answered>>>| {
            tokio::spawn(async move { _ = say.send(Some(Arc::new(executed(&client, request).await))) }).abort_handle()
        };
        let Some((mut answer, waits)) = self.memory.answer(head.call, begin) else {
            let full = Answered::text(Status::Full, "the gateway there has too many calls of this peer to answer");
            _ = deliver(&full, most, send, outbox, self.priority).await;
            self.counts.unanswered();
            return Ok(());
        };
        let stopped = send.stopped();
        let answered = tokio::select! {
            answered = answer.wait_for(Option::is_some) => answered.map(|answered| answered.clone()),
            stopped = stopped => {
                // A lost connection is no reason to forget the call.
                if stopped.is_ok() {
                    self.memory.forget(head.call, &waits);
                }
                return Ok(());
            }
        };
        // No answer: the call was cancelled meanwhile, by another stream.
        let Ok(Some(answered)) = answered else {
            let _ = send.reset(VarInt::from_u32(Dropped::Cancelled as u32));
            return Ok(());
        };
        point("call executed");
        match deliver(&answered, most, send, outbox, self.priority).await {
            Ok(send) => {
                if send.stopped().await.is_ok() {
                    self.counts.answered(asked + answered.size());
                    self.memory.forget(head.call, &waits);
                }
            }
            // Nobody wants it any more. What else may be in the way is a lost connection, which is no reason to forget the call.
            Err(WriteError::Stopped(_)) => self.memory.forget(head.call, &waits),
            Err(_) => {}
        }
        Ok(())
    }
}

async fn executed(client: &Client, request: Vec<u8>) -> Answered {
    let response = match client.start(request, None) {
        Ok(response) => response.await,
        Err(error) => Err(error),
    };
    match response {
        Ok(frame) => Answered { status: Status::Executed, parts: parts_of(frame) },
        Err(error) => {
            let status = match error.kind() {
                // Not where it is lost: its provider executes no call twice, and it would go to another one.
                ErrorKind::Closed | ErrorKind::Unavailable | ErrorKind::Cancelled => Status::Gone,
                _ => Status::Failed,
            };
            Answered::text(status, &error.to_string())
        }
    }
}

/// Fails where not all of it could be given to the connection.
async fn deliver(answered: &Answered, most: u64, send: SendStream, outbox: &Outbox, priority: i32) -> Result<SendStream, WriteError> {
    let (status, body) = answered.within(most.min(u64::from(u32::MAX)));
    let size = body.iter().map(Bytes::len).sum::<usize>() as u32;
    let head = Answer { status, packing: Packing::None, size, unpacked: size };
    let parts = std::iter::once(Bytes::from(head.encode())).chain(body).collect();
    let mut send = outbox.write(send, parts, priority).await?;
    send.finish().map_err(|_| WriteError::ClosedStream)?;
    point("answer sent");
    Ok(send)
}
