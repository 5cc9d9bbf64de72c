//! Quality of service on its way (G10).

use std::time::Duration;

use sinew::Qos;

use super::bytes::Fields;
use super::{Decoded, violation};

/// A hundred years, as in W60.
const LONGEST_NS: u64 = 3_155_760_000_000_000_000;

/// What a channel offers, or is wanted with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// 0: keep all.
    pub depth: u32,
    /// In the sense of [`Qos::reliable`].
    pub reliable: bool,
    /// In the sense of [`Qos::transient_local`].
    pub transient_local: bool,
    /// Between two messages at most.
    pub deadline: Option<Duration>,
    /// Messages that are older are not delivered.
    pub lifespan: Option<Duration>,
    /// A sign of life at least so often.
    pub lease: Option<Duration>,
}

impl Offer {
    /// From its fields.
    pub fn decode(fields: &mut Fields<'_>) -> Decoded<Offer> {
        let time = |fields: &mut Fields<'_>| match fields.u64()? {
            0 => Ok(None),
            ns if ns <= LONGEST_NS => Ok(Some(Duration::from_nanos(ns))),
            ns => violation(format!("a time of {ns} ns, which is more than a hundred years")),
        };
        Ok(Offer {
            depth: fields.u32()?,
            reliable: fields.bool()?,
            transient_local: fields.bool()?,
            deadline: time(fields)?,
            lifespan: time(fields)?,
            lease: time(fields)?,
        })
    }

    /// As its fields.
    pub fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.depth.to_le_bytes());
        into.push(u8::from(self.reliable));
        into.push(u8::from(self.transient_local));
        for time in [self.deadline, self.lifespan, self.lease] {
            let ns = time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(LONGEST_NS).clamp(1, LONGEST_NS));
            into.extend(ns.to_le_bytes());
        }
    }

    /// For an interface of this domain.
    pub fn qos(&self) -> Qos {
        Qos {
            depth: self.depth,
            keep_all: self.depth == 0,
            reliable: self.reliable,
            transient_local: self.transient_local,
            manual_by_topic: false,
            deadline: self.deadline,
            lifespan: self.lifespan,
            lease: self.lease,
        }
    }
}
