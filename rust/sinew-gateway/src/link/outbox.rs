//! What leaves over one connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use quinn::{SendStream, WriteError};
use tokio::sync::oneshot;

use super::bell::Bell;
use super::budget::Budget;
use super::lane::{Lane, LaneOptions, LaneState};
use super::room::Room;
use super::sender::Sender;

/// Channels of which it is noted at a time how far the peer has come.
const MOST_TOLD: usize = 4096;

/// Bytes that are to be written into a stream of somebody else.
#[derive(Debug)]
pub(super) struct Job {
    pub stream: SendStream,
    pub parts: Vec<Bytes>,
    pub priority: i32,
    pub done: oneshot::Sender<Result<SendStream, WriteError>>,
}

/// Of an outbox, shared by its handle and its task.
#[derive(Debug, Default)]
pub(super) struct OutboxState {
    pub lanes: Mutex<Vec<Arc<LaneState>>>,
    pub jobs: Mutex<Vec<Job>>,
    /// (G40) How far the peer has come in ordered channels, since the task has looked.
    pub taken: Mutex<HashMap<u32, u64>>,
    pub ended: AtomicBool,
    pub bell: Arc<Bell>,
}

/// Decides what leaves next over a connection. A task of tokio does the work, and ends with the connection, or when this is dropped: then what was not sent is given up.
#[derive(Debug)]
pub struct Outbox {
    state: Arc<OutboxState>,
}

impl Outbox {
    /// For a connection whose endpoint uses [`transport`](super::transport), with a peer that takes messages of so many bytes. To be called within tokio.
    pub fn new(connection: quinn::Connection, budget: Arc<Budget>, max_message: u64) -> Outbox {
        let state = Arc::<OutboxState>::default();
        let room = Room::new(max_message, Arc::clone(&state.bell));
        tokio::spawn(Sender::new(connection, budget, state.clone(), room).run());
        Outbox { state }
    }

    /// For the messages of a channel that was opened just now.
    pub fn lane(&self, options: LaneOptions) -> Lane {
        let state = Arc::new(LaneState::new(options));
        let mut lanes = lock(&self.state.lanes);
        if self.state.ended.load(Ordering::Relaxed) {
            // relaxed: set under the mutex of `lanes`
            state.closed.store(true, Ordering::Relaxed); // relaxed: see LaneState
        } else {
            lanes.push(state.clone());
        }
        drop(lanes);
        self.state.bell.ring();
        Lane { state, bell: self.state.bell.clone() }
    }

    /// (G40) The peer has taken the messages of this channel up to this one.
    pub fn taken(&self, channel: u32, sequence: u64) {
        {
            let mut taken = lock(&self.state.taken);
            // Of more channels than there can be nothing is noted.
            if taken.len() < MOST_TOLD || taken.contains_key(&channel) {
                taken.insert(channel, sequence);
            }
        }
        self.state.bell.ring();
    }

    /// Writes into a stream, for calls and their answers: the bytes take their turn by `priority` as messages do. Gives the stream back when QUIC has taken all of them. If the future is dropped before, the stream is reset with code 8.
    ///
    /// # Errors
    ///
    /// As those of [`SendStream::write`]; `ClosedStream` also when the outbox was dropped.
    pub async fn write(&self, stream: SendStream, parts: Vec<Bytes>, priority: i32) -> Result<SendStream, WriteError> {
        let (done, written) = oneshot::channel();
        {
            let mut jobs = lock(&self.state.jobs);
            // relaxed: set under the mutex of `jobs`
            if self.state.ended.load(Ordering::Relaxed) {
                return Err(WriteError::ClosedStream);
            }
            jobs.push(Job { stream, parts, priority, done });
        }
        self.state.bell.ring();
        let cancelled = RingWhenDropped(&self.state.bell);
        let result = written.await;
        std::mem::forget(cancelled);
        result.unwrap_or(Err(WriteError::ClosedStream))
    }
}

struct RingWhenDropped<'a>(&'a Bell);

impl Drop for RingWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.ring();
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        end(&self.state);
        self.state.bell.ring();
    }
}

/// Nothing more is taken.
pub(super) fn end(state: &OutboxState) {
    let (mut lanes, mut jobs) = (lock(&state.lanes), lock(&state.jobs));
    state.ended.store(true, Ordering::Relaxed); // relaxed: read under either mutex, or after the bell
    lanes.drain(..).for_each(|lane| close(&lane));
    jobs.clear();
}

/// What the lane has is given up, and what comes.
pub(super) fn close(lane: &LaneState) {
    lane.closed.store(true, Ordering::Relaxed); // relaxed: see LaneState
    lane.with_queue(super::queue::Queue::clear);
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
