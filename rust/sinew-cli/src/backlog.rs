//! What waits for whoever reads it, who may be slow, or stop his terminal by Ctrl-S: nobody else waits for that. Then the oldest is dropped, and counted.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So many bytes wait, at most.
const ROOM: usize = 1 << 20;
/// So many are written at once, about: what is being written cannot be dropped.
const AT_ONCE: usize = 16 << 10;
/// Who has not read anything for so long when all has ended is not waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// A part of it, such as a line.
pub trait Piece {
    /// So many.
    fn bytes(&self) -> usize;

    /// Whether it comes in place of the one before it, where that still waits.
    fn replaces(&self, _before: &Self) -> bool {
        false
    }
}

impl Piece for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

/// Pieces, in the order in which they came.
pub struct Backlog<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

struct Queue<T> {
    waiting: VecDeque<T>,
    bytes: usize,
    /// So many were dropped before those.
    lost: u64,
    /// Counts what was written.
    turns: u64,
    is_writing: bool,
}

impl<T: Piece> Backlog<T> {
    /// Nothing yet.
    pub fn new() -> Backlog<T> {
        Backlog { queue: Mutex::new(Queue::new()), changed: Condvar::new() }
    }

    /// Another one. Does not wait.
    pub fn push(&self, piece: T) {
        self.queue().push(piece);
        self.changed.notify_all();
    }

    /// Waits for some: those that are to be written next, and how many are missing before them. When they are written, [`written`](Backlog::written) is to be called.
    pub fn take(&self) -> (u64, Vec<T>) {
        let queue = self.queue();
        let mut queue = self.changed.wait_while(queue, |queue| queue.waiting.is_empty()).unwrap_or_else(PoisonError::into_inner);
        queue.take()
    }

    /// A piece of what was taken is written.
    pub fn goes_on(&self) {
        self.queue().turns += 1;
        self.changed.notify_all();
    }

    /// What was taken is written.
    pub fn written(&self) {
        let mut queue = self.queue();
        queue.turns += 1;
        queue.is_writing = false;
        drop(queue);
        self.changed.notify_all();
    }

    /// Waits until all is written, while somebody reads it; whether all is.
    pub fn finish(&self) -> bool {
        let mut queue = self.queue();
        while !queue.is_done() {
            let turns = queue.turns;
            let (waited, _) = self
                .changed
                .wait_timeout_while(queue, PATIENCE, |queue| queue.turns == turns && !queue.is_done())
                .unwrap_or_else(PoisonError::into_inner);
            if waited.turns == turns && !waited.is_done() {
                return false;
            }
            queue = waited;
        }
        true
    }

    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Piece> Queue<T> {
    fn new() -> Queue<T> {
        Queue { waiting: VecDeque::new(), bytes: 0, lost: 0, turns: 0, is_writing: false }
    }

    fn push(&mut self, piece: T) {
        if self.waiting.back().is_some_and(|before| piece.replaces(before)) {
            self.bytes -= self.waiting.pop_back().map_or(0, |before| before.bytes());
        }
        self.bytes += piece.bytes();
        self.waiting.push_back(piece);
        while self.bytes > ROOM && self.waiting.len() > 1 {
            self.bytes -= self.waiting.pop_front().map_or(0, |piece| piece.bytes());
            self.lost += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && !self.is_writing
    }

    fn take(&mut self) -> (u64, Vec<T>) {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < AT_ONCE
            && let Some(piece) = self.waiting.pop_front()
        {
            bytes += piece.bytes();
            taken.push(piece);
        }
        self.bytes -= bytes;
        self.is_writing = !taken.is_empty();
        (std::mem::take(&mut self.lost), taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_much_the_oldest_is_dropped_and_counted() {
        let mut queue = Queue::new();
        let line = |n: usize| format!("{n:>1023}\n");
        (0..1030).for_each(|n| queue.push(line(n)));
        let (lost, lines) = queue.take();
        assert_eq!((lost, lines.len(), &lines[0]), (6, AT_ONCE >> 10, &line(6)));
        assert_eq!(queue.take().0, 0, "each loss is told once");
        queue.push("x".repeat(2 * ROOM));
        assert_eq!((queue.waiting.len(), queue.bytes), (1, 2 * ROOM), "the newest is there, whatever its size");
    }
}
