//! A service that a peer has, for those who call it in this domain.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use quinn::VarInt;
use sinew::raw::{Call, Provider, ProviderOptions};
use sinew::{Ghost, Id, Node};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::Counts;
use crate::peers::Session;
use crate::point::point;
use crate::protocol::{Answer, CallHead, Dropped, Packing, Status, Want};

/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_millis(100);

/// Numbers of calls, of which none is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The way to the provider: none while the connection, or the provider, is away.
type Way = Option<(Arc<Session>, u32)>;

/// Provides it as a ghost: calls are sent to the peer, and again when its connection was lost meanwhile.
pub struct Provided {
    // First, so that no call comes any more when the way ends.
    _provider: Provider,
    way: watch::Sender<Way>,
    pending: Arc<AtomicU64>,
    counts: Arc<Counts>,
    want: Want,
    topic: Id,
}

impl Provided {
    /// Blocks until the manager has agreed. Calls run on the runtime.
    pub fn open(node: &Node, want: &Want, topic: Id, priority: i32, runtime: &Handle) -> sinew::Result<Provided> {
        let way = watch::Sender::new(None);
        let pending = Arc::new(AtomicU64::new(0));
        let options = ProviderOptions { ghost: Ghost::Carrier, ..ProviderOptions::default() };
        let counts = Arc::<Counts>::default();
        let (ways, counted, told, runtime) = (way.clone(), Arc::clone(&pending), Arc::clone(&counts), runtime.clone());
        let provider = Provider::new(node, &want.name, &want.signature, &want.response, &options, move |call| {
            let pending = Pending::new(&counted);
            let (way, counts) = (ways.subscribe(), Arc::clone(&told));
            runtime.spawn(async move {
                carry(call, way, priority, &counts).await;
                drop(pending);
            });
        })?;
        Ok(Provided { _provider: provider, way, pending, counts, want: want.clone(), topic })
    }

    /// Whether it can go on with a channel that is opened anew.
    pub fn fits(&self, want: &Want, topic: Id) -> bool {
        self.topic == topic && (&self.want.name, &self.want.signature, &self.want.response) == (&want.name, &want.signature, &want.response)
    }

    /// Where calls go from now on; none: they wait.
    pub fn lead(&self, way: Way) {
        self.way.send_replace(way);
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Calls that are not answered yet.
    pub fn pending(&self) -> u64 {
        self.pending.load(Ordering::Relaxed)
    }
}

/// One more, as long as it lives.
struct Pending(Arc<AtomicU64>);

impl Pending {
    fn new(count: &Arc<AtomicU64>) -> Pending {
        count.fetch_add(1, Ordering::Relaxed);
        Pending(Arc::clone(count))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Carries a call to the peer, and the answer back.
async fn carry(call: Call, mut way: watch::Receiver<Way>, priority: i32, counts: &Counts) {
    point("call taken");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let request: Bytes = call.extents().collect::<Vec<_>>().concat().into();
    let cancelled = async {
        while !call.is_cancelled() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let answered = async {
        loop {
            let Ok((session, channel)) = way.wait_for(Option::is_some).await.map(|way| way.clone().expect("it was waited for")) else {
                return None;
            };
            way.mark_unchanged();
            if let Some(answered) = attempt(&session, channel, number, &request, priority).await {
                return Some(answered);
            }
            // Lost on the way, or the provider there has gone: it goes another way, once there is one.
            if way.changed().await.is_err() {
                return None;
            }
        }
    };
    let answered = tokio::select! {
        answered = answered => answered,
        () = cancelled => return drop(call),
    };
    point("answer received");
    match &answered {
        Some((_, response)) => counts.answered(request.len() + response.len()),
        None => counts.unanswered(),
    }
    let ended = match answered {
        Some((Status::Executed, response)) => call.answer(&[&response]),
        Some((_, text)) => call.fail(&String::from_utf8_lossy(&text)),
        None => call.fail("the provider on another machine has gone, or the connection with it, before it answered: the call may have been executed, or not"),
    };
    if let Err(error) = ended {
        log::debug!("an answer could not be delivered: {error}");
    }
}

/// None: the connection was lost, or there is no provider any more.
async fn attempt(session: &Session, channel: u32, call: u64, request: &Bytes, priority: i32) -> Option<(Status, Vec<u8>)> {
    let (send, mut receive) = session.connection.open_bi().await.ok()?;
    // Dropped before the answer is there: nobody wants it any more.
    let mut guard = Cancel(Some(&mut receive));
    let size = u32::try_from(request.len()).ok()?;
    let head = CallHead { channel, call, packing: Packing::None, size, unpacked: size };
    let mut send = session.outbox.write(send, vec![Bytes::from(head.encode()), request.clone()], priority).await.ok()?;
    send.finish().ok()?;
    point("call sent");
    let receive = guard.0.as_mut()?;
    let mut head = [0; Answer::SIZE];
    receive.read_exact(&mut head).await.ok()?;
    let head = Answer::decode(&head, session.inlet.max_message()).ok()?;
    let mut body = vec![0; head.size as usize];
    receive.read_exact(&mut body).await.ok()?;
    guard.0 = None;
    if head.packing != Packing::None {
        let mut whole = vec![0; head.unpacked as usize];
        crate::packing::unpack(head.packing, &body, &mut whole).ok()?;
        body = whole;
    }
    (head.status != Status::Gone).then_some((head.status, body))
}

/// (G26)
struct Cancel<'a>(Option<&'a mut quinn::RecvStream>);

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        if let Some(receive) = self.0.take() {
            let _ = receive.stop(VarInt::from_u32(Dropped::Cancelled as u32));
        }
    }
}
