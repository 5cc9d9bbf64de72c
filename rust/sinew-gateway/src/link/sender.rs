//! The task that hands quinn the bytes of all lanes of a connection.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Instant;

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
        let now = Instant::now();
        self.adopt(now);
        self.flows.retain_mut(|flow| !flow.is_over());
        let link = self.follow_link();
        self.full_for = None;
        for flow in &mut self.flows {
            (flow.blocked, flow.waits) = (false, false);
            flow.reconsider(now, link);
        }
        loop {
            match self.hand_over(cx, link) {
                Turn::Again => {}
                Turn::Lost => return Poll::Ready(()),
                Turn::Nothing(next) => {
                    self.flows.iter().for_each(Flow::tell_idle);
                    return self.wait(cx, next);
                }
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
    fn hand_over(&mut self, cx: &mut Context<'_>, link: Link) -> Turn {
        let now = Instant::now();
        let mut next = self.flows.iter().filter_map(Flow::expires).filter(|at| *at > now).min();
        let mut best: Option<usize> = None;
        for at in 0..self.flows.len() {
            let flow = &mut self.flows[at];
            if flow.blocked || flow.waits {
                continue;
            }
            let Some(when) = flow.when(now) else { continue };
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
            return Turn::Nothing(Some(next.map_or(when, |next| next.min(when))));
        }
        let room = self.room();
        if room == 0 {
            self.is_busy = true;
            return Turn::Nothing(next);
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
        match flow.write(cx, PIECE.min(self.budget.piece()).min(room), now, link) {
            Wrote::Bytes(bytes) => {
                self.outstanding.wrote(bytes);
                self.budget.take(now, bytes);
                flow.spent(now, bytes, self.budget.when(now));
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
