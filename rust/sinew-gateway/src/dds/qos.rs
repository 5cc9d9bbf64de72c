//! Quality of service, here and there. Pure.

use std::time::Duration;

use crate::protocol::Offer;

/// Of an endpoint in DDS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qos {
    /// As in [`Offer`], as all that is not said otherwise.
    pub reliable: bool,
    /// Likewise.
    pub transient_local: bool,
    /// Likewise; discovery tells none, which is 0.
    pub depth: u32,
    /// Likewise.
    pub lease: Option<Duration>,
    /// Likewise.
    pub deadline: Option<Duration>,
    /// Likewise.
    pub lifespan: Option<Duration>,
}

/// What a writer offers of a topic of the domain. Whether its publishers are alive their own connections tell, not DDS.
pub fn of_writer(offer: &Offer) -> Qos {
    Qos {
        reliable: offer.reliable,
        transient_local: offer.transient_local,
        depth: offer.depth,
        lease: offer.lease,
        deadline: offer.deadline,
        lifespan: offer.lifespan,
    }
}

/// What a reader asks for, so that it fits each of these writers, for those in the domain who ask for `wanted`: never more than all of them offer.
pub fn of_reader<'a>(wanted: &Offer, writers: impl Iterator<Item = &'a Qos>) -> Qos {
    let mut writers = writers.peekable();
    // What writers send again anyway is not lost for want of asking.
    let reliable = wanted.reliable || writers.peek().is_some();
    let mut asked = Qos { reliable, transient_local: wanted.transient_local, depth: wanted.depth, ..Qos::default() };
    for offered in writers {
        asked.reliable &= offered.reliable;
        asked.transient_local &= offered.transient_local;
    }
    // What is not reliable is not kept, either.
    asked.transient_local &= asked.reliable;
    asked
}

/// What may be offered in the domain of what these writers publish.
pub fn offered<'a>(wanted: &Offer, writers: impl Iterator<Item = &'a Qos> + Clone) -> Offer {
    let asked = of_reader(wanted, writers.clone());
    let longest = |of: fn(&Qos) -> Option<Duration>| {
        let mut times = writers.clone().map(of);
        let first = times.next().flatten()?;
        times.try_fold(first, |longest, time| Some(longest.max(time?)))
    };
    Offer {
        depth: wanted.depth,
        reliable: asked.reliable,
        transient_local: asked.transient_local,
        deadline: longest(|writer| writer.deadline),
        lifespan: longest(|writer| writer.lifespan),
        lease: longest(|writer| writer.lease),
    }
}

/// The first policy of which less is offered than is asked for. None: it is enough.
pub fn lacking(wanted: &Offer, offered: &Offer) -> Option<&'static str> {
    // Nothing said is for ever, which is less than any time.
    let is_longer = |wanted: Option<Duration>, offered: Option<Duration>| wanted.is_some_and(|most| offered.is_none_or(|time| time > most));
    if wanted.reliable && !offered.reliable {
        Some("reliability")
    } else if wanted.transient_local && !offered.transient_local {
        Some("durability")
    } else if is_longer(wanted.deadline, offered.deadline) {
        Some("deadline")
    } else if is_longer(wanted.lease, offered.lease) {
        Some("liveliness")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(reliable: bool, transient_local: bool, deadline_ms: u64) -> Qos {
        let deadline = (deadline_ms > 0).then(|| Duration::from_millis(deadline_ms));
        Qos { reliable, transient_local, deadline, ..Qos::default() }
    }

    #[test]
    fn a_reader_never_asks_for_more_than_each_writer_offers() {
        let wanted = Offer { depth: 7, reliable: true, transient_local: true, ..Offer::default() };
        let asked = |writers: &[Qos]| of_reader(&wanted, writers.iter());
        let both = asked(&[writer(true, true, 0), writer(true, true, 0)]);
        assert_eq!((both.reliable, both.transient_local, both.depth), (true, true, 7));
        let one = asked(&[writer(true, true, 0), writer(true, false, 0)]);
        assert_eq!((one.reliable, one.transient_local), (true, false));
        let none = asked(&[writer(true, true, 0), writer(false, true, 0)]);
        assert_eq!((none.reliable, none.transient_local), (false, false));
        let volatile = of_reader(&Offer { transient_local: false, ..wanted.clone() }, [writer(true, true, 0)].iter());
        assert!(!volatile.transient_local, "nobody wants what was kept");
    }

    #[test]
    fn times_are_offered_that_all_writers_keep() {
        let wanted = Offer { depth: 1, ..Offer::default() };
        let deadline = |writers: &[Qos]| offered(&wanted, writers.iter()).deadline;
        assert_eq!(deadline(&[writer(true, true, 10), writer(true, true, 30)]), Some(Duration::from_millis(30)));
        assert_eq!(deadline(&[writer(true, true, 10), writer(true, true, 0)]), None);
        assert_eq!(deadline(&[]), None);
    }

    #[test]
    fn the_policy_is_named_of_which_too_little_is_offered() {
        let deadline = |ms| Some(Duration::from_millis(ms));
        let wanted = Offer { reliable: true, deadline: deadline(20), ..Offer::default() };
        let offered = Offer { reliable: true, transient_local: true, deadline: deadline(10), ..Offer::default() };
        assert_eq!(lacking(&wanted, &offered), None);
        assert_eq!(lacking(&wanted, &Offer { reliable: false, ..offered.clone() }), Some("reliability"));
        assert_eq!(
            lacking(&Offer { transient_local: true, ..wanted.clone() }, &Offer { transient_local: false, ..offered.clone() }),
            Some("durability")
        );
        assert_eq!(lacking(&wanted, &Offer { deadline: deadline(30), ..offered.clone() }), Some("deadline"));
        assert_eq!(lacking(&wanted, &Offer { deadline: None, ..offered.clone() }), Some("deadline"));
        assert_eq!(lacking(&Offer { lease: deadline(20), ..wanted }, &offered), Some("liveliness"));
    }
}
