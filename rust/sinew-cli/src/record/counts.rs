//! What became of the messages of topics.

use serde::Serialize;

/// Whose messages are not recorded.
#[derive(Clone, Debug, Serialize)]
pub struct NotRecorded {
    /// Of the topic.
    pub name: String,
    pub why: String,
}

/// What happened to the messages of a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Received.
    pub received: u64,
    /// Lost before they were received.
    pub lost: u64,
    /// Copied by the library, since so many were held already.
    pub copied: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.received += other.received;
        self.lost += other.lost;
        self.copied += other.copied;
    }
}
