//! A service that a peer has, for those who call it in this domain.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use quinn::{ReadExactError, RecvStream, VarInt};
use sinew::raw::{Call, Provider, ProviderOptions};
use sinew::{Ghost, Id, Node};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::Counts;
use crate::channels::times;
use crate::packing::unpack;
use crate::peers::Session;
use crate::point::point;
use crate::protocol::{Answer, CallHead, Closed, Decoded, Dropped, Kind, Packing, Status, Violation, Want, violation};

/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_millis(100);

/// Numbers of calls, of which none is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The way to the provider: none while the connection, or the provider, is away.
type Way = Option<(Arc<Session>, u32)>;

/// Provides it as a ghost: calls are sent to the peer, and again when its connection was lost meanwhile.
///
/// Clients here cannot tell it from a provider, and give it calls as long as it is there. So it is there without a way only while the connection is away; beside a live one it goes when the peer has none for it, as soon as answers that are
/// under way have come, or soon. What it has not answered then goes to another provider, as when any one leaves.
pub struct Provided {
    // First, so that no call comes any more when the way ends.
    _provider: Provider,
    way: watch::Sender<Way>,
    /// Calls on a way.
    under_way: Arc<AtomicU64>,
    /// Calls that may have been sent, over whatever way, and are not answered.
    sent: Arc<AtomicU64>,
    /// None: there is a way, or no connection.
    leaving: Option<Leaving>,
    counts: Arc<Counts>,
    want: Want,
    topic: Id,
    is_of_goals: bool,
}

impl Provided {
    /// Blocks until the manager has agreed. Calls run on the runtime.
    pub fn open(node: &Node, want: &Want, topic: Id, priority: i32, runtime: &Handle) -> sinew::Result<Provided> {
        let way = watch::Sender::new(None);
        let (under_way, sent) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let is_of_goals = times::part_of(Kind::Service, &want.name, &want.signature).is_some();
        // Goals are executed at most once (A5), also where the gateway is ended, or away for long, and the next one comes with another memory of calls. What other providers there do twice nobody here knows.
        let options = ProviderOptions { ghost: Ghost::Carrier, at_most_once: is_of_goals, ..ProviderOptions::default() };
        let counts = Arc::<Counts>::default();
        let (ways, told, runtime) = (way.clone(), Arc::clone(&counts), runtime.clone());
        let (gone, ever) = (Arc::clone(&under_way), Arc::clone(&sent));
        let provider = Provider::new(node, &want.name, &want.signature, &want.response, &options, move |call| {
            let (way, counts) = (ways.subscribe(), Arc::clone(&told));
            let (gone, ever) = (Arc::clone(&gone), Arc::clone(&ever));
            runtime.spawn(async move { carry(call, way, (priority, is_of_goals), (&gone, &ever), &counts).await });
        })?;
        Ok(Provided { _provider: provider, way, under_way, sent, leaving: None, counts, want: want.clone(), topic, is_of_goals })
    }

    /// Whether it can go on with a channel that is opened anew.
    pub fn fits(&self, want: &Want, topic: Id) -> bool {
        self.topic == topic && (&self.want.name, &self.want.signature, &self.want.response) == (&want.name, &want.signature, &want.response)
    }

    /// Where calls go from now on.
    pub fn lead(&mut self, session: Arc<Session>, channel: u32) {
        self.leaving = None;
        self.way.send_replace(Some((session, channel)));
    }

    /// The connection is lost: calls wait.
    pub fn wait(&mut self) {
        self.leaving = None;
        self.way.send_replace(None);
    }

    /// There is a connection, over which the peer has yet to open it. It does so until then, or not.
    pub fn expect(&mut self, until: Instant) {
        self.wait();
        self.leaving = Some(Leaving { answered: false, until });
    }

    /// The peer has closed it, or it is not wanted any more. What is under way is answered until then, or not.
    pub fn leave(&mut self, until: Instant) {
        self.wait();
        self.leaving = Some(Leaving { answered: true, until });
    }

    /// (G48) The peer, which has yet to open it, does not know what it was sent before the connection was lost: calls that are executed once at most are not made again. There is none where none was sent.
    pub fn is_lost(&self) -> bool {
        // relaxed: who is counted a moment later has no way yet
        self.is_of_goals && self.leaving.is_some() && self.sent.load(Ordering::Relaxed) > 0
    }

    /// It waits for answers that are under way, and for nothing else.
    pub fn is_leaving(&self) -> bool {
        self.leaving.as_ref().is_some_and(|leaving| leaving.answered)
    }

    /// It is to go.
    pub fn is_over(&self, now: Instant) -> bool {
        // relaxed: who is counted a moment later has no way, or one that the peer has closed
        let is_idle = self.under_way.load(Ordering::Relaxed) == 0;
        self.leaving.as_ref().is_some_and(|leaving| now >= leaving.until || (leaving.answered && is_idle))
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// Without a way.
struct Leaving {
    /// As soon as all is answered that is under way.
    answered: bool,
    until: Instant,
}

/// One more, as long as it lives.
struct Counted<'a>(&'a AtomicU64);

impl Counted<'_> {
    fn new(count: &AtomicU64) -> Counted<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Carries a call to the peer, and the answer back.
async fn carry(
    call: Call,
    mut way: watch::Receiver<Way>,
    (priority, is_goal): (i32, bool),
    (under_way, sent): (&AtomicU64, &AtomicU64),
    counts: &Counts,
) {
    point("call taken");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let request: Bytes = call.extents().collect::<Vec<_>>().concat().into();
    let cancelled = async {
        while !call.is_cancelled() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let mut may_be_there = None;
    let answered = async {
        loop {
            let Ok((session, channel)) = way.wait_for(Option::is_some).await.map(|way| way.clone().expect("it was waited for")) else {
                return None;
            };
            may_be_there.get_or_insert_with(|| Counted::new(sent));
            let counted = Counted::new(under_way);
            match attempt(&session, channel, number, &request, priority).await {
                Attempt::Ended(status, mut body) => {
                    if is_goal && status == Status::Executed {
                        times::shift_answer(&mut body, session.ahead);
                    }
                    return Some((status, body));
                }
                // It goes another way, once there is one.
                Attempt::Lost => {}
            }
            drop(counted);
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

/// What came of a call over one way.
enum Attempt {
    /// The answer, or why there is none, and would be none over any other way.
    Ended(Status, Vec<u8>),
    /// The connection was lost, or there is no provider any more.
    Lost,
}

async fn attempt(session: &Session, channel: u32, call: u64, request: &Bytes, priority: i32) -> Attempt {
    let (size, most) = (request.len(), session.max_message().min(u64::from(u32::MAX)));
    // The peer would have to close the connection (G11), and the call would come again over the next one.
    if size as u64 > most {
        let text = format!("the request has {size} bytes, where \"max_message\" of the two gateways lets {most} over");
        return Attempt::Ended(Status::Failed, text.into_bytes());
    }
    match exchanged(session, channel, call, request, priority).await {
        Some(Ok((Status::Gone, _))) | None => Attempt::Lost,
        Some(Ok((status, body))) => Attempt::Ended(status, body),
        Some(Err(Violation(why))) => {
            session.close(Closed::Violation, &why);
            Attempt::Ended(Status::Failed, format!("the gateway there has answered with {why}").into_bytes())
        }
    }
}

/// None: the connection was lost, or the peer does not answer.
async fn exchanged(session: &Session, channel: u32, call: u64, request: &Bytes, priority: i32) -> Option<Decoded<(Status, Vec<u8>)>> {
    let (send, mut receive) = session.connection.open_bi().await.ok()?;
    // Dropped before the answer is there: nobody wants it any more.
    let mut guard = Cancel(Some(&mut receive));
    let size = request.len() as u32;
    let head = CallHead { channel, call, packing: Packing::None, size, unpacked: size };
    let mut send = session.outbox.write(send, vec![Bytes::from(head.encode()), request.clone()], priority).await.ok()?;
    send.finish().ok()?;
    point("call sent");
    let receive = guard.0.as_mut()?;
    let mut head = [0; Answer::SIZE];
    let answered = match receive.read_exact(&mut head).await {
        Ok(()) => answer(head, receive, session.inlet.max_message()).await,
        Err(why) => cut_off(why),
    };
    guard.0 = None;
    answered
}

/// The rest of an answer.
async fn answer(head: [u8; Answer::SIZE], receive: &mut RecvStream, most: u64) -> Option<Decoded<(Status, Vec<u8>)>> {
    let head = match Answer::decode(&head, most) {
        Ok(head) => head,
        Err(why) => return Some(Err(why)),
    };
    let mut body = vec![0; head.size as usize];
    if let Err(why) = receive.read_exact(&mut body).await {
        return cut_off(why);
    }
    if head.packing == Packing::None {
        return Some(Ok((head.status, body)));
    }
    let mut whole = vec![0; head.unpacked as usize];
    Some(unpack(head.packing, &body, &mut whole).map(|()| (head.status, whole)))
}

/// None: the peer has given it up, or the connection was lost.
fn cut_off<T>(why: ReadExactError) -> Option<Decoded<T>> {
    matches!(why, ReadExactError::FinishedEarly(_)).then(|| violation("an answer that ends before its end"))
}

/// (G26)
struct Cancel<'a>(Option<&'a mut RecvStream>);

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        if let Some(receive) = self.0.take() {
            let _ = receive.stop(VarInt::from_u32(Dropped::Cancelled as u32));
        }
    }
}
