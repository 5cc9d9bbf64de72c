//! The task that hands quinn the bytes of all lanes of a connection.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use quinn::{Connection, ConnectionError, SendStream};
use tokio::time::Sleep;

use super::budget::Budget;
use super::controller::Controller;
use super::flow::{Begun, Flow, Link, Wrote};
use super::gauge::{Gauge, Outstanding};
use super::outbox::{OutboxState, end, lock};
use super::room::Room;

/// Bytes that may be unacknowledged before anything is known of the link.
pub(super) const FIRST_WINDOW: u64 = 64 << 10;
/// Bytes beyond the congestion window, so that quinn never waits for this task.
const AHEAD: u64 = 32 << 10;
/// Congestion windows in quinn's own window, which also holds what has arrived behind a loss, until that was sent again.
const HELD_BACK: u64 = 4;
/// Bytes that are handed over before it is looked again what is most important.
const PIECE: usize = 16 << 10;

/// Who waits for room looks where the peer is.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

type Opening = Pin<Box<dyn Future<Output = Result<SendStream, ConnectionError>> + Send>>;

pub(super) struct Sender {
    connection: Connection,
    budget: Arc<Budget>,
    state: Arc<OutboxState>,
    room: Arc<Room>,
    flows: Vec<Flow>,
    /// A stream for whoever needs one next.
    spare: Option<SendStream>,
    opening: Option<Opening>,
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
    sleep: Option<Pin<Box<Sleep>>>,
    window: u64,
    gauge: Arc<Gauge>,
    /// Where the peer was, when the gauge was that of the connection.
    peer: SocketAddr,
    outstanding: Outstanding,
    /// quinn, or the budget, did not take all since there was nothing to send the last time: what waits, waits for the network.
    is_busy: bool,
    /// A large message of this priority has found no room at the peer. Others of its priority, and below, do not overtake it, or it might never find any.
    full_for: Option<i32>,
}

impl Sender {
    pub fn new(connection: Connection, budget: Arc<Budget>, state: Arc<OutboxState>, room: Arc<Room>) -> Sender {
        let watched = connection.clone();
        let (gauge, peer) = (gauge_of(&connection, &state), connection.remote_address());
        let closed = Box::pin(async move { _ = watched.closed().await });
        Sender {
            connection,
            budget,
            state,
            room,
            full_for: None,
            flows: Vec::new(),
            spare: None,
            opening: None,
            closed,
            sleep: None,
            window: FIRST_WINDOW,
            outstanding: Outstanding::new(&gauge),
            gauge,
            peer,
            is_busy: false,
        }
    }

    pub async fn run(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
        end(&self.state);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.state.bell.listen(cx);
        // relaxed: looked at after the bell
        if self.state.ended.load(Ordering::Relaxed) || self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        self.adopt(Instant::now());
        self.flows.retain_mut(|flow| !flow.is_over());
        let link = self.follow_link();
        let Some(next) = self.hand_all_over(cx, link, Instant::now) else { return Poll::Ready(()) };
        self.flows.iter().for_each(Flow::tell_idle);
        self.wait(cx, next)
    }

    /// All that may go now. When there may be more is returned; None: the connection is over.
    fn hand_all_over(&mut self, cx: &mut Context<'_>, link: Link, clock: impl Fn() -> Instant) -> Option<Option<Instant>> {
        self.full_for = None;
        for flow in &mut self.flows {
            (flow.blocked, flow.waits) = (false, false);
            flow.reconsider(clock(), link);
        }
        loop {
            match self.hand_over(cx, link, clock()) {
                Turn::Again => {}
                Turn::Lost => return None,
                Turn::Nothing(next) => return Some(next),
            }
        }
    }

    fn adopt(&mut self, now: Instant) {
        let lanes = std::mem::take(&mut *lock(&self.state.lanes));
        self.flows.extend(lanes.into_iter().map(|lane| Flow::of_lane(lane, now)));
        let jobs = std::mem::take(&mut *lock(&self.state.jobs));
        self.flows.extend(jobs.into_iter().map(|job| Flow::of_job(job, now)));
        let taken = std::mem::take(&mut *lock(&self.state.taken));
        if !taken.is_empty() {
            self.flows.iter_mut().for_each(|flow| flow.was_taken(&taken));
        }
    }

    /// What the link is like now. quinn's own window goes with it.
    fn follow_link(&mut self) -> Link {
        let peer = self.connection.remote_address();
        if peer != self.peer {
            // Another path has a controller of its own.
            (self.gauge, self.peer) = (gauge_of(&self.connection, &self.state), peer);
            self.outstanding = Outstanding::new(&self.gauge);
        }
        let path = self.connection.stats().path;
        if self.window != path.cwnd {
            self.window = path.cwnd;
            self.connection.set_send_window(path.cwnd * HELD_BACK + AHEAD);
        }
        let bytes_per_second = if self.is_busy {
            self.budget.bytes_per_second().min((path.cwnd as f64 / path.rtt.as_secs_f64().max(1e-4)) as u64)
        } else {
            u64::MAX
        };
        Link {
            bytes_per_second,
            loss: self.gauge.loss(),
            window: usize::try_from(path.cwnd).unwrap_or(usize::MAX),
            packet: usize::from(path.current_mtu),
        }
    }

    /// Bytes that quinn may have now. 0: who is waited for tells when there are more.
    fn room(&mut self) -> usize {
        let most = self.window + AHEAD;
        let mut outstanding = self.outstanding.follow(&self.gauge);
        if outstanding >= most {
            self.gauge.wait();
            outstanding = self.outstanding.follow(&self.gauge);
        }
        usize::try_from(most.saturating_sub(outstanding)).unwrap_or(usize::MAX)
    }

    /// A piece of what is most important.
    fn hand_over(&mut self, cx: &mut Context<'_>, link: Link, now: Instant) -> Turn {
        let mut next = self.flows.iter().filter_map(Flow::expires).filter(|at| *at > now).min();
        let mut best: Option<usize> = None;
        for at in 0..self.flows.len() {
            let flow = &mut self.flows[at];
            if flow.blocked || flow.waits {
                continue;
            }
            let Some(when) = flow.when(now, &self.budget) else { continue };
            if when > now {
                next = Some(next.map_or(when, |next| next.min(when)));
                continue;
            }
            let key = |flow: &Flow| (flow.priority, std::cmp::Reverse(flow.served));
            if best.is_none_or(|best| key(&self.flows[at]) > key(&self.flows[best])) {
                best = Some(at);
            }
        }
        let Some(best) = best else {
            self.is_busy &= self.flows.iter().any(|flow| flow.blocked);
            return Turn::Nothing(next);
        };
        let when = self.budget.when(now);
        if when > now {
            self.is_busy = true;
            // None of its priority has its turn before; who is less important waits for more than that, and who is blocked for something else.
            let priority = self.flows[best].priority;
            let held = self.flows.iter_mut().filter(|flow| flow.priority == priority && !flow.blocked);
            held.for_each(|flow| flow.pauses(when));
            return Turn::Nothing(Some(next.map_or(when, |next| next.min(when))));
        }
        let room = self.room();
        if room == 0 {
            self.is_busy = true;
            // The gauge tells when there is, unless the peer goes elsewhere meanwhile: of that nobody tells.
            let again = now + LOOK_AGAIN;
            return Turn::Nothing(Some(next.map_or(again, |next| next.min(again))));
        }
        if self.flows[best].needs_stream() && self.spare.is_none() {
            match self.open(cx) {
                Poll::Ready(Ok(stream)) => self.spare = Some(stream),
                Poll::Ready(Err(_)) => return Turn::Lost,
                Poll::Pending => {
                    self.flows[best].blocked = true;
                    return Turn::Again;
                }
            }
        }
        let waiting = self.flows.iter().map(Flow::waiting).sum();
        let flow = &mut self.flows[best];
        let is_full = self.full_for.is_some_and(|priority| flow.priority <= priority);
        match flow.begin(now, link, &mut self.spare, (!is_full).then_some(&self.room), waiting) {
            Begun::Yes => {}
            Begun::Nothing => return Turn::Again,
            Begun::NotTaken => {
                flow.waits = true;
                return Turn::Again;
            }
            Begun::NoRoom => {
                flow.blocked = true;
                self.full_for = self.full_for.max(Some(flow.priority));
                self.is_busy = true;
                return Turn::Again;
            }
        }
        let is_copy = flow.is_copy();
        match flow.write(cx, PIECE.min(self.budget.piece()).min(room), now, link) {
            Wrote::Bytes(bytes) => {
                self.outstanding.wrote(bytes);
                self.budget.take(now, bytes, is_copy);
                flow.spent(now, bytes, is_copy);
                self.keep_fair(best);
            }
            Wrote::Blocked => {
                self.flows[best].blocked = true;
                self.is_busy = true;
            }
            Wrote::Refused => {}
            Wrote::Lost => return Turn::Lost,
        }
        Turn::Again
    }

    fn open(&mut self, cx: &mut Context<'_>) -> Poll<Result<SendStream, ConnectionError>> {
        let opening = self.opening.get_or_insert_with(|| {
            let connection = self.connection.clone();
            Box::pin(async move { connection.open_uni().await })
        });
        let opened = opening.as_mut().poll(cx);
        if opened.is_ready() {
            self.opening = None;
        }
        opened
    }

    /// Who was silent for long does not have the link alone for as long afterwards: of one priority nobody is more than a piece behind who was served now.
    fn keep_fair(&mut self, served: usize) {
        let (priority, least) = (self.flows[served].priority, self.flows[served].served.saturating_sub(PIECE as u64));
        for flow in self.flows.iter_mut().filter(|flow| flow.priority == priority) {
            flow.served = flow.served.max(least);
        }
    }

    fn wait(&mut self, cx: &mut Context<'_>, next: Option<Instant>) -> Poll<()> {
        self.sleep = next.map(|at| Box::pin(tokio::time::sleep_until(at.into())));
        if let Some(sleep) = &mut self.sleep
            && sleep.as_mut().poll(cx).is_ready()
        {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

fn gauge_of(connection: &Connection, state: &OutboxState) -> Arc<Gauge> {
    let controller = connection.congestion_state().into_any().downcast::<Controller>();
    let gauge = controller.map(|controller| Arc::clone(controller.gauge())).unwrap_or_default();
    gauge.attach(Arc::clone(&state.bell));
    gauge
}

/// What came of a turn.
enum Turn {
    /// There may be more to do at once.
    Again,
    /// Not before then, or something happens.
    Nothing(Option<Instant>),
    /// The connection is over.
    Lost,
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, SocketAddr};
    use std::sync::atomic::AtomicUsize;

    use quinn::Endpoint;

    use super::*;
    use crate::config::Security;
    use crate::link::lane::{Lane, LaneState};
    use crate::link::{Keep, LaneOptions, Outgoing};
    use crate::protocol::Packing;
    use crate::security::Identity;

    /// With a peer that takes all, and a clock that goes on when it is told to.
    struct Sending {
        sender: Sender,
        now: Instant,
        loss: f64,
        streams: Arc<AtomicUsize>,
        _ends: [Endpoint; 2],
    }

    impl Sending {
        async fn new(budget: Option<u64>, loss: f64) -> Sending {
            let identity = Identity::load(&Security::default()).expect("an identity is made on the fly");
            let address = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
            let (to, from) = (Endpoint::server(identity.server(), address), Endpoint::client(address));
            let (to, from) = (to.expect("there is a port"), from.expect("there is a port"));
            let target = to.local_addr().expect("it has one");
            let dialed = from.connect_with(identity.client(), target, "sinew").expect("it can be dialed");
            let accepted = async { to.accept().await.expect("it is dialed").await.expect("it is accepted") };
            let (connection, peer) = tokio::join!(async { dialed.await.expect("it is accepted") }, accepted);
            let streams = Arc::<AtomicUsize>::default();
            let count = Arc::clone(&streams);
            tokio::spawn(async move {
                while let Ok(mut stream) = peer.accept_uni().await {
                    count.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(async move { stream.read_to_end(usize::MAX).await });
                }
            });
            let state = Arc::<OutboxState>::default();
            let room = Room::new(u64::MAX, Arc::clone(&state.bell));
            let sender = Sender::new(connection, Arc::new(Budget::new(budget)), state, room);
            Sending { sender, now: Instant::now(), loss, streams, _ends: [to, from] }
        }

        fn lane(&mut self, depth: usize, max_bandwidth: Option<u64>) -> Lane {
            let keep = Keep::Newest { depth };
            let options = LaneOptions { channel: 1, after: 0, ordered: false, priority: 0, keep, max_rate: None, max_bandwidth };
            let state = Arc::new(LaneState::new(options));
            self.sender.flows.push(Flow::of_lane(Arc::clone(&state), self.now));
            Lane { state, bell: Arc::clone(&self.sender.state.bell) }
        }

        fn push(&self, lane: &Lane, size: usize) {
            let (parts, packing, published) = (vec![vec![0; size].into()], Packing::None, self.now);
            lane.push(Outgoing { origin: 0, parts, packing, unpacked: size as u32, published, expires: None });
        }

        /// What goes in this time, as far as limits let it, by the millisecond.
        async fn pass(&mut self, milliseconds: u32) {
            for _ in 0..milliseconds {
                loop {
                    // The network keeps nothing up.
                    while self.sender.room() < PIECE {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    let link = Link { loss: self.loss, ..self.sender.follow_link() };
                    let now = self.now;
                    let handed = poll_fn(|cx| Poll::Ready(self.sender.hand_all_over(cx, link, || now))).await;
                    assert!(handed.is_some(), "the connection is there");
                    if self.sender.room() > 0 && !self.sender.flows.iter().any(|flow| flow.blocked) {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                self.now += Duration::from_millis(1);
            }
        }
    }

    #[tokio::test]
    async fn what_waits_for_its_turn_in_a_budget_is_not_given_up_half_sent_for_that() {
        let mut sending = Sending::new(Some(200_000), 0.0).await;
        let lanes: Vec<Lane> = (0..6).map(|_| sending.lane(2, None)).collect();
        lanes.iter().for_each(|lane| sending.push(lane, 40_000));
        // Enough of each that it is not given up for a newer one: a piece every 0.36 s.
        sending.pass(2_000).await;
        lanes.iter().for_each(|lane| sending.push(lane, 40_000));
        sending.pass(20_000).await;
        for lane in lanes {
            let statistics = lane.statistics();
            assert_eq!((statistics.sent, statistics.dropped), (2, 0));
        }
    }

    #[tokio::test]
    async fn copies_push_out_no_message_where_a_rule_or_a_budget_holds() {
        for (of_lane, of_all) in [(Some(300_000), None), (None, Some(300_000))] {
            let mut sending = Sending::new(of_all, 0.01).await;
            let lane = sending.lane(10, of_lane);
            for _ in 0..500 {
                (0..2).for_each(|_| sending.push(&lane, 100));
                sending.pass(20).await;
            }
            let statistics = lane.statistics();
            assert_eq!((statistics.sent, statistics.dropped), (1_000, 0));
            let have_come = async {
                while sending.streams.load(Ordering::Relaxed) < 1_200 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), have_come).await.expect("what messages leave is for copies");
        }
    }
}
