//! One lane, or one write for somebody else, as the outbox's task sees it.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::{Buf, Bytes};
use quinn::{SendStream, VarInt, WriteError};
use tokio::sync::oneshot;

use super::WAITING;
use super::bandwidth::Bandwidth;
use super::budget::Budget;
use super::copies::Copies;
use super::lane::LaneState;
use super::queue::{Begun as Progress, Numbered};
use super::record::{on_the_way, record_head, repairs};
use super::room::{Held, LARGE, Room, hold};
use crate::point::point;
use crate::protocol::{Dropped, TopicHead};

/// From such a loss on small messages go twice, and larger ones with symbols for their repair.
const LOSSY: f64 = 0.005;

pub(super) enum Source {
    Lane(Arc<LaneState>),
    /// None: it was answered.
    Job(Option<oneshot::Sender<Result<SendStream, WriteError>>>),
}

/// What the link is like now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// That it takes; as many as you like while nothing has to wait, for then it is not known.
    pub bytes_per_second: u64,
    /// The part of the packets that is lost.
    pub loss: f64,
    /// Bytes that are under way at a time.
    pub window: usize,
    /// Bytes of a packet.
    pub packet: usize,
}

/// What is being written.
struct Sending {
    pieces: VecDeque<Bytes>,
    begun: Progress,
    size: usize,
    what: What,
    /// It needs so much of the peer's room, and does not have it yet.
    needs: Option<u64>,
    held: Option<Held>,
    /// It shares its stream with no other message.
    own: bool,
}

enum What {
    /// It may be lost: what may then be needed is kept.
    Message { sequence: u64, again: Option<Numbered> },
    /// What goes a second time.
    Copy,
    /// What goes for the repair of what was lost, or for somebody else.
    Beside,
}

pub(super) struct Flow {
    pub source: Source,
    pub priority: i32,
    /// Bytes that it was served, on the clock of its priority.
    pub served: u64,
    /// It could not take bytes when it was last tried.
    pub blocked: bool,
    /// It could not begin the next message, as the peer has not taken those before it.
    pub waits: bool,
    bandwidth: Bandwidth,
    stream: Option<SendStream>,
    streams: u64,
    sending: Option<Sending>,
    copies: Copies,
    /// Streams that are to be sent before anything else of this lane.
    repairs: VecDeque<Bytes>,
    spared: bool,
    /// Of an ordered channel, what the peer has not taken yet, as far as it is known: the numbers of messages, and their bytes.
    under_way: VecDeque<(u64, u64)>,
    /// Of these, all but the first: that one is being taken, the others wait for their turn.
    waiting: u64,
}

/// Whether there is a message to write.
pub(super) enum Begun {
    Yes,
    /// None is there any more.
    Nothing,
    /// The peer has to take messages of this channel first (G40).
    NotTaken,
    /// The peer has no room (G39).
    NoRoom,
}

/// What has become of a try to write.
pub(super) enum Wrote {
    /// So many bytes.
    Bytes(usize),
    /// The far side does not take more of this stream now, or quinn of none.
    Blocked,
    /// The stream is gone, and with it the message.
    Refused,
    /// The connection has ended.
    Lost,
}

impl Flow {
    pub fn of_lane(lane: Arc<LaneState>, now: Instant) -> Flow {
        Flow {
            priority: lane.options.priority,
            bandwidth: Bandwidth::new(lane.options.max_bandwidth, now),
            source: Source::Lane(lane),
            served: 0,
            blocked: false,
            stream: None,
            streams: 0,
            sending: None,
            copies: Copies::default(),
            repairs: VecDeque::new(),
            spared: false,
            under_way: VecDeque::new(),
            waiting: 0,
            waits: false,
        }
    }

    pub fn of_job(job: super::outbox::Job, now: Instant) -> Flow {
        let size = job.parts.iter().map(Bytes::len).sum();
        let begun = Progress { total: size, written: 0, progress: now, expires: None, spared: true };
        let needs = Some(size as u64).filter(|bytes| *bytes > LARGE);
        let _ = job.stream.set_priority(quinn_priority(job.priority, false));
        Flow {
            priority: job.priority,
            source: Source::Job(Some(job.done)),
            served: 0,
            blocked: false,
            bandwidth: Bandwidth::new(None, now),
            stream: Some(job.stream),
            streams: 0,
            sending: Some(Sending { pieces: job.parts.into(), begun, size, what: What::Beside, needs, held: None, own: true }),
            copies: Copies::default(),
            repairs: VecDeque::new(),
            spared: false,
            under_way: VecDeque::new(),
            waiting: 0,
            waits: false,
        }
    }

    /// Bytes of an ordered channel that wait at the peer until it has taken others.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// (G40) The peer has taken messages, by channels up to these.
    pub fn was_taken(&mut self, taken: &HashMap<u32, u64>) {
        let Source::Lane(lane) = &self.source else { return };
        let Some(sequence) = taken.get(&lane.options.channel) else { return };
        while self.under_way.front().is_some_and(|(first, _)| first <= sequence) {
            self.under_way.pop_front();
            self.waiting -= self.under_way.front().map_or(0, |(_, bytes)| *bytes);
        }
    }

    /// This one is under way now.
    fn goes(&mut self, sequence: u64, bytes: u64) {
        if !self.under_way.is_empty() {
            self.waiting += bytes;
        }
        self.under_way.push_back((sequence, bytes));
    }

    /// This one is not to come any more.
    fn goes_not(&mut self, sequence: u64) {
        if self.under_way.back().is_some_and(|(last, _)| *last == sequence)
            && let Some((_, bytes)) = self.under_way.pop_back()
            && !self.under_way.is_empty()
        {
            self.waiting -= bytes;
        }
    }

    /// Begun, or waiting to be.
    pub fn when(&mut self, now: Instant, budget: &Budget) -> Option<Instant> {
        let begun = self.sending.is_some() && !self.is_copy();
        let waiting = match &self.source {
            _ if begun || !self.repairs.is_empty() => Some(now),
            Source::Lane(lane) if lane.waiting.load(Ordering::Relaxed) > 0 => lane.with_queue(|queue| queue.when(now)), // relaxed: see LaneState
            _ => None,
        };
        let waiting = self.bandwidth.when(waiting, now);
        // They are to be in time: what they live on is not waited for.
        if self.copies.when().is_some_and(|due| due <= now) && !(self.bandwidth.leaves(now) && budget.leaves(now)) {
            self.copies.clear();
        }
        let copy = if self.is_copy() { Some(now) } else { self.copies.when() };
        waiting.into_iter().chain(copy).min()
    }

    /// Whether what was begun is a copy.
    pub fn is_copy(&self) -> bool {
        matches!(self.sending, Some(Sending { what: What::Copy, .. }))
    }

    /// What of the link this lane has.
    fn share(&self, link: Link) -> Link {
        Link { bytes_per_second: self.bandwidth.of(link.bytes_per_second), ..link }
    }

    /// Whether a stream has to be opened before the next bytes can be written.
    pub fn needs_stream(&self) -> bool {
        match &self.source {
            Source::Job(_) => false,
            Source::Lane(_) if self.sending.is_some() => false,
            // One that is not needed in the end is kept by the task.
            Source::Lane(_) => true,
        }
    }

    /// Begins the next message, if none is begun. A stream is taken from `spare` if one is needed. `room`: None, where there is none; `waiting`: bytes that wait at the peer in all ordered channels.
    pub fn begin(&mut self, now: Instant, link: Link, spare: &mut Option<SendStream>, room: Option<&Arc<Room>>, waiting: u64) -> Begun {
        let priority = self.priority;
        let take = |bytes| room.and_then(|room| room.take(priority, bytes));
        if let Some(sending) = &mut self.sending {
            if let Some(bytes) = sending.needs {
                sending.held = take(bytes);
                if sending.held.is_none() {
                    return Begun::NoRoom;
                }
                sending.needs = None;
            }
            return Begun::Yes;
        }
        let link = self.share(link);
        let Source::Lane(lane) = &self.source else { return Begun::Nothing };
        if let Some(repair) = self.repairs.pop_front() {
            let Some(stream) = spare.take() else { return Begun::Nothing };
            // Before all of the next message, as what is sent again of this one.
            let _ = stream.set_priority(quinn_priority(self.priority, true));
            self.stream = Some(stream);
            let begun = Progress { total: repair.len(), written: 0, progress: now, expires: None, spared: true };
            let what = What::Beside;
            self.sending = Some(Sending { size: repair.len(), pieces: [repair].into(), begun, what, needs: None, held: None, own: true });
            return Begun::Yes;
        }
        // Who stands still has a part of what is left for all such, and the more of them there are, the smaller it is.
        let may_wait = WAITING.saturating_sub(waiting).saturating_sub(self.waiting);
        let is_next = !lane.options.ordered || self.under_way.is_empty();
        let mut held = None;
        let newer = lane.with_queue(|queue| {
            if let Some(next) = queue.next(now, link.bytes_per_second) {
                if !is_next && on_the_way(next) > may_wait {
                    return Err(Begun::NotTaken);
                }
                if let Some(bytes) = next.room() {
                    held = take(bytes);
                    if held.is_none() {
                        return Err(Begun::NoRoom);
                    }
                }
            }
            Ok(queue.take(now, link.bytes_per_second))
        });
        let newer = match newer {
            Ok(newer) => newer,
            Err(why) => return why,
        };
        let is_copy = newer.is_none();
        let Some(next) = newer.or_else(|| self.copies.take(now)) else { return Begun::Nothing };
        let own = !lane.options.ordered || held.is_some();
        if own && let Some(mut stream) = self.stream.take() {
            let _ = stream.finish();
        }
        let mut head = Vec::new();
        if self.stream.is_none() {
            let Some(stream) = spare.take() else { return Begun::Nothing };
            let _ = stream.set_priority(quinn_priority(self.priority, false));
            head = TopicHead { channel: lane.options.channel, index: self.streams }.encode();
            self.stream = Some(stream);
            self.streams += 1;
        }
        head.extend(record_head(&next, now).encode());
        let begun = Progress {
            total: next.size + head.len(),
            written: 0,
            progress: now,
            expires: next.message.expires,
            spared: std::mem::take(&mut self.spared),
        };
        let is_protected = !is_copy && !lane.options.ordered && link.loss >= LOSSY;
        let what = if is_copy { What::Copy } else { What::Message { sequence: next.sequence, again: is_protected.then(|| next.clone()) } };
        if lane.options.ordered {
            self.goes(next.sequence, on_the_way(&next));
        }
        let size = next.size;
        let mut pieces = VecDeque::from(next.message.parts);
        pieces.push_front(head.into());
        self.sending = Some(Sending { pieces, begun, size, what, needs: None, held, own });
        Begun::Yes
    }

    /// Gives up what was begun, if something newer is rather to be sent, or nobody wants it any more.
    pub fn reconsider(&mut self, now: Instant, link: Link) {
        let link = self.share(link);
        match (&self.source, &self.sending) {
            (Source::Lane(lane), Some(sending)) => {
                let newer = lane.waiting.load(Ordering::Relaxed) > 0 && lane.with_queue(|queue| queue.has_newer()); // relaxed: see LaneState
                // What shares its stream is small, and takes others with it.
                if sending.own && sending.begun.is_stale(newer, now, link.bytes_per_second) {
                    self.give_up(Dropped::Stale);
                    self.spared = true;
                }
            }
            (Source::Job(Some(done)), Some(_)) if done.is_closed() => {
                self.give_up(Dropped::Cancelled);
                self.source = Source::Job(None);
            }
            _ => {}
        }
    }

    /// Tells the lane when nothing is left that was begun.
    pub fn tell_idle(&self) {
        if let Source::Lane(lane) = &self.source
            && self.sending.is_none()
            && self.copies.is_empty()
            && self.repairs.is_empty()
        {
            lane.all_begun_is_finished();
        }
    }

    /// When [`Flow::reconsider`] may decide otherwise without anything having come.
    pub fn expires(&self) -> Option<Instant> {
        self.sending.as_ref()?.begun.expires
    }

    fn give_up(&mut self, code: Dropped) {
        if let Some(mut stream) = self.stream.take() {
            let _ = stream.reset(VarInt::from_u32(code as u32));
        }
        let Some(Sending { what: What::Message { sequence, .. }, .. }) = self.sending.take() else { return };
        if let Source::Lane(lane) = &self.source {
            lane.reset.fetch_add(1, Ordering::Relaxed); // relaxed: see LaneState
        }
        self.goes_not(sequence);
    }

    /// Whether there is nothing to come of it; then it is to be dropped.
    pub fn is_over(&mut self) -> bool {
        match &self.source {
            Source::Job(done) => done.is_none(),
            Source::Lane(lane) if lane.closed.load(Ordering::Relaxed) => {
                // relaxed: see LaneState
                if self.sending.is_some() {
                    self.give_up(Dropped::Stale);
                } else if let Some(mut stream) = self.stream.take() {
                    let _ = stream.finish();
                }
                true
            }
            Source::Lane(_) => false,
        }
    }

    /// Hands quinn up to so many bytes.
    pub fn write(&mut self, cx: &mut Context<'_>, most: usize, now: Instant, link: Link) -> Wrote {
        let (Some(stream), Some(sending)) = (&mut self.stream, &mut self.sending) else { return Wrote::Blocked };
        let mut pieces = Vec::with_capacity(4);
        let mut room = most;
        for piece in &sending.pieces {
            if room == 0 {
                break;
            }
            pieces.push(piece.slice(..piece.len().min(room)));
            room -= piece.len().min(room);
        }
        let written = if most == room {
            0
        } else {
            let written = pin!(stream.write_chunks(&mut pieces)).poll(cx);
            match written {
                Poll::Pending => return Wrote::Blocked,
                Poll::Ready(Ok(written)) => written.bytes,
                Poll::Ready(Err(error)) => return self.failed(error),
            }
        };
        let mut left = written;
        while let Some(piece) = sending.pieces.front_mut() {
            if piece.len() > left {
                piece.advance(left);
                break;
            }
            left -= piece.len();
            sending.pieces.pop_front();
        }
        sending.begun.written += written;
        self.served += written as u64;
        if sending.pieces.is_empty() {
            return self.finished(written, now, link);
        }
        point("message half sent");
        Wrote::Bytes(written)
    }

    /// So many bytes were written.
    pub fn spent(&mut self, now: Instant, bytes: usize, is_copy: bool) {
        let allowed = self.bandwidth.take(now, bytes, is_copy);
        self.pauses(allowed);
    }

    /// Before then its bandwidth, or the budget, lets nothing go. To wait for that is no standstill.
    pub fn pauses(&mut self, until: Instant) {
        if let Some(sending) = &mut self.sending {
            sending.begun.progress = sending.begun.progress.max(until);
        }
    }

    fn finished(&mut self, written: usize, now: Instant, link: Link) -> Wrote {
        let Some(sending) = self.sending.take() else { return Wrote::Bytes(written) };
        match &mut self.source {
            Source::Lane(lane) => {
                point("message sent");
                match sending.what {
                    What::Copy | What::Beside => {}
                    What::Message { sequence, again } => {
                        lane.last_sent.store(sequence, Ordering::Relaxed); // relaxed: see LaneState
                        lane.sent.fetch_add(1, Ordering::Relaxed); // relaxed: see LaneState
                        lane.sent_bytes.fetch_add(sending.size as u64, Ordering::Relaxed); // relaxed: see LaneState
                        match again {
                            Some(message) if Copies::are_of(&message) => self.copies.push(message, now),
                            Some(message) => self.repairs = repairs(lane.options.channel, &message, link),
                            None => {}
                        }
                    }
                }
                if sending.own
                    && let Some(mut stream) = self.stream.take()
                {
                    // What was lost of it goes before all of the next one.
                    let _ = stream.set_priority(quinn_priority(self.priority, true));
                    let _ = stream.finish();
                    hold(sending.held, &stream);
                }
            }
            Source::Job(done) => {
                if let (Some(done), Some(stream)) = (done.take(), self.stream.take()) {
                    hold(sending.held, &stream);
                    let _ = done.send(Ok(stream));
                }
            }
        }
        Wrote::Bytes(written)
    }

    fn failed(&mut self, error: WriteError) -> Wrote {
        if let WriteError::ConnectionLost(_) = error {
            return Wrote::Lost;
        }
        if let Source::Job(done) = &mut self.source
            && let Some(done) = done.take()
        {
            let _ = done.send(Err(error));
        }
        self.give_up(Dropped::Stale);
        Wrote::Refused
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if self.sending.is_some() {
            self.give_up(Dropped::Stale);
        }
        if let Source::Lane(lane) = &self.source {
            super::outbox::close(lane);
        }
    }
}

/// In quinn, too, what is more important goes first; and of the same priority what was written as a whole.
pub(super) fn quinn_priority(priority: i32, whole: bool) -> i32 {
    priority.saturating_mul(2).saturating_add(i32::from(whole))
}
