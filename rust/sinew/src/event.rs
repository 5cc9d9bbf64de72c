//! Events: what happens beside messages.

use std::ops::BitOr;

use sinew_sys as sys;

use crate::error::text_at;

/// Kinds of events. Others than those that are asked for cost nothing.
///
/// ```
/// use sinew::Events;
///
/// let asked = Events::MATCHED | Events::MESSAGE_LOST;
/// assert!(asked.contains(Events::MATCHED));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Events(u32);

impl Events {
    /// Peers came or went.
    pub const MATCHED: Events = Events(sys::SINEW_EVENT_MATCHED);
    /// A peer was not connected.
    pub const INCOMPATIBLE_QOS: Events = Events(sys::SINEW_EVENT_INCOMPATIBLE_QOS);
    /// Whole periods passed without a message.
    pub const DEADLINE_MISSED: Events = Events(sys::SINEW_EVENT_DEADLINE_MISSED);
    /// Of a publisher: it showed no sign of life for a lease.
    pub const LIVELINESS_LOST: Events = Events(sys::SINEW_EVENT_LIVELINESS_LOST);
    /// Of a subscriber: of its publishers.
    pub const LIVELINESS_CHANGED: Events = Events(sys::SINEW_EVENT_LIVELINESS_CHANGED);
    /// Of a subscriber.
    pub const MESSAGE_LOST: Events = Events(sys::SINEW_EVENT_MESSAGE_LOST);
    /// It is a ghost, and its topic is gone.
    pub const DETACHED: Events = Events(sys::SINEW_EVENT_DETACHED);

    /// Whether all of these are among them.
    pub fn contains(self, these: Events) -> bool {
        self.0 & these.0 == these.0
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for Events {
    type Output = Events;
    fn bitor(self, others: Events) -> Events {
        Events(self.0 | others.0)
    }
}

/// Something that happened beside messages. What happens until the callback runs is told by one call: totals are as things stand, changes are since the last call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Peers came or went.
    Matched {
        /// Peers ever connected.
        total: u64,
        /// Of these, since the last call.
        total_change: u64,
        /// Peers now.
        current: u64,
        /// Since the last call.
        current_change: i64,
    },
    /// Peers were not connected, as their quality of service does not fit.
    IncompatibleQos {
        /// Peers.
        total: u64,
        /// Since the last call.
        total_change: u64,
        /// The last one's node.
        node: String,
        /// Which policies keep it apart, as a sentence.
        text: String,
    },
    /// Whole periods passed without a message.
    DeadlineMissed {
        /// Periods.
        total: u64,
        /// Since the last call.
        total_change: u64,
    },
    /// The publisher showed no sign of life for a lease.
    LivelinessLost {
        /// How often.
        total: u64,
        /// Since the last call.
        total_change: u64,
    },
    /// Publishers fell silent, or showed a sign of life again.
    LivelinessChanged {
        /// Publishers that are alive.
        alive: u64,
        /// Since the last call.
        alive_change: i64,
        /// Publishers that are connected and silent.
        not_alive: u64,
        /// Since the last call.
        not_alive_change: i64,
        /// The last one's node.
        node: String,
    },
    /// Messages were lost to the subscriber.
    MessageLost {
        /// Messages.
        total: u64,
        /// Since the last call.
        total_change: u64,
        /// Of all: by newer ones before they were taken.
        pushed_out: u64,
        /// Of all: by a publisher whose memory was full.
        withdrawn: u64,
        /// Of all: older than their lifespan.
        expired: u64,
    },
    /// The ghost's topic is gone.
    Detached {
        /// That topic.
        topic: String,
    },
}

impl Event {
    /// None for a kind of a later version of the library.
    ///
    /// # Safety
    /// The event's texts are there meanwhile.
    pub(crate) unsafe fn of(event: &sys::sinew_event) -> Option<Event> {
        let (total, total_change) = (event.total_count, event.total_count_change);
        // SAFETY: as the caller has promised.
        let (node, text) = unsafe { (text_at(event.node), text_at(event.text)) };
        Some(match event.kind {
            sys::SINEW_EVENT_MATCHED => {
                Event::Matched { total, total_change, current: event.current_count, current_change: event.current_count_change }
            }
            sys::SINEW_EVENT_INCOMPATIBLE_QOS => Event::IncompatibleQos { total, total_change, node, text },
            sys::SINEW_EVENT_DEADLINE_MISSED => Event::DeadlineMissed { total, total_change },
            sys::SINEW_EVENT_LIVELINESS_LOST => Event::LivelinessLost { total, total_change },
            sys::SINEW_EVENT_LIVELINESS_CHANGED => Event::LivelinessChanged {
                alive: event.current_count,
                alive_change: event.current_count_change,
                not_alive: event.not_alive_count,
                not_alive_change: event.not_alive_count_change,
                node,
            },
            sys::SINEW_EVENT_MESSAGE_LOST => {
                Event::MessageLost { total, total_change, pushed_out: event.pushed_out, withdrawn: event.withdrawn, expired: event.expired }
            }
            sys::SINEW_EVENT_DETACHED => Event::Detached { topic: text },
            _ => return None,
        })
    }
}

/// What is called for an event.
pub(crate) type OnEvent = Box<dyn FnMut(Event) + Send>;
