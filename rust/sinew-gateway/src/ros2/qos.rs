//! Quality of service, here and there. Pure.

use std::time::Duration;

use crate::channels::{DEEPEST, State};
use crate::protocol::Offer;

/// What is longer is for ever in a domain (W60).
const LONGEST: Duration = Duration::from_secs(36_525 * 86_400);

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

/// Likewise, of one that keeps messages itself for those who come late: no more of them than a domain does.
pub fn of_keeper(offer: &Offer) -> Qos {
    let depth = match offer.depth {
        0 if offer.transient_local => DEEPEST,
        depth if offer.transient_local => depth.min(DEEPEST),
        depth => depth,
    };
    Qos { depth, ..of_writer(offer) }
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

/// The first policy of which more is asked for than this offers, as DDS calls it. None: it is enough.
pub fn lacking(offered: &Offer, asked: &Qos) -> Option<&'static str> {
    // Nothing said is for ever, which is less than any time.
    let is_longer = |offered: Option<Duration>, asked: Option<Duration>| asked.is_some_and(|asked| offered.is_none_or(|time| time > asked));
    let policies = [
        (asked.reliable && !offered.reliable, "reliability"),
        (asked.transient_local && !offered.transient_local, "durability"),
        (is_longer(offered.deadline, asked.deadline), "deadline"),
        (is_longer(offered.lease, asked.lease), "liveliness"),
    ];
    policies.into_iter().find_map(|(is_lacking, policy)| is_lacking.then_some(policy))
}

/// Whether this is more than what is offered so far: a policy that somebody may ask for, or a longer life.
pub fn is_more(offered: &Offer, now: &Offer) -> bool {
    let is_longer = offered.lifespan.is_some_and(|before| now.lifespan.is_none_or(|time| time > before));
    is_longer || lacking(offered, &of_writer(now)).is_some()
}

/// What is now offered, and what was before where that was more: who comes and offers less in one policy, and more in another, takes nothing from others, either.
pub fn no_less(before: Option<&Offer>, now: Offer) -> Offer {
    let Some(before) = before else { return now };
    let shorter = |before: Option<Duration>, now: Option<Duration>| before.into_iter().chain(now).min();
    Offer {
        deadline: shorter(before.deadline, now.deadline),
        lease: shorter(before.lease, now.lease),
        lifespan: before.lifespan.zip(now.lifespan).map(|(before, now)| before.max(now)),
        ..now
    }
}

/// How a topic stands of which ghosts here offer this, for those in the domain who together ask for `wanted`, and of whom so many are connected with each.
pub fn stands<'a>(wanted: &Offer, ghosts: impl Iterator<Item = (&'a Offer, u64)> + Clone) -> State {
    let asked = of_writer(wanted);
    let policy = ghosts.clone().find_map(|(offered, _)| lacking(offered, &asked));
    match policy {
        None => State::Open,
        Some(policy) if ghosts.map(|(_, subscribers)| subscribers).sum::<u64>() == 0 => State::Refused(offers_less(policy)),
        Some(policy) => State::OpenBut(offers_less(policy)),
    }
}

/// What writers of a topic offer that decides who hears them. Of each there is a ghost of its own, since who offers less would else take from others what they offer. Each is more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grade {
    reliable: bool,
    transient_local: bool,
}

impl Grade {
    /// Of what somebody offers, for those who want what was kept, or who do not.
    pub fn of(offered: &Qos, wants_kept: bool) -> Grade {
        // What is not reliable is not kept, either.
        Grade { reliable: offered.reliable, transient_local: offered.reliable && offered.transient_local && wants_kept }
    }

    /// Whether those who come late get what was kept.
    pub fn is_kept(self) -> bool {
        self.transient_local
    }
}

/// Why somebody here gets nothing from a writer there.
pub fn offers_less(policy: &str) -> String {
    format!("a publisher there offers less than subscribers here ask for: {policy}")
}

/// Why somebody there gets nothing from here, or not as he should.
pub fn asks_for_more(policy: &str) -> String {
    format!("a subscriber there asks for more than publishers here offer: {policy}")
}

/// What may be offered in the domain of what these writers publish.
pub fn offered<'a>(wanted: &Offer, writers: impl Iterator<Item = &'a Qos> + Clone) -> Offer {
    let asked = of_reader(wanted, writers.clone());
    let longest = |of: fn(&Qos) -> Option<Duration>| {
        let mut times = writers.clone().map(of);
        let first = times.next().flatten()?;
        times.try_fold(first, |longest, time| Some(longest.max(time?))).filter(|longest| *longest <= LONGEST)
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
    fn what_is_asked_for_and_not_offered_has_the_name_of_its_policy() {
        let second = Some(Duration::from_secs(1));
        let offered = Offer { reliable: true, deadline: second, ..Offer::default() };
        assert_eq!(lacking(&offered, &writer(true, false, 1000)), None);
        assert_eq!(lacking(&offered, &writer(true, true, 0)), Some("durability"));
        assert_eq!(lacking(&offered, &writer(false, false, 10)), Some("deadline"));
        assert_eq!(lacking(&offered, &Qos { lease: second, ..Qos::default() }), Some("liveliness"));
        assert_eq!(lacking(&Offer::default(), &writer(true, true, 0)), Some("reliability"));
    }

    #[test]
    fn who_keeps_messages_for_those_who_come_late_keeps_no_more_than_a_domain() {
        let depth = |transient_local, depth| of_keeper(&Offer { depth, reliable: true, transient_local, ..Offer::default() }).depth;
        assert_eq!([depth(true, 0), depth(true, 3), depth(true, 5000)], [DEEPEST, 3, DEEPEST]);
        assert_eq!([depth(false, 0), depth(false, 3), depth(false, 5000)], [0, 3, 5000]);
    }

    #[test]
    fn times_are_offered_that_all_writers_keep() {
        let wanted = Offer { depth: 1, ..Offer::default() };
        let deadline = |writers: &[Qos]| offered(&wanted, writers.iter()).deadline;
        assert_eq!(deadline(&[writer(true, true, 10), writer(true, true, 30)]), Some(Duration::from_millis(30)));
        assert_eq!(deadline(&[writer(true, true, 10), writer(true, true, 0)]), None);
        assert_eq!(deadline(&[]), None);
        assert_eq!(deadline(&[writer(true, true, 10), writer(true, true, u64::MAX)]), None, "that is for ever");
    }

    #[test]
    fn the_policy_is_named_of_which_too_little_is_offered() {
        let deadline = |ms| Some(Duration::from_millis(ms));
        let wanted = Qos { reliable: true, deadline: deadline(20), ..Qos::default() };
        let offered = Offer { reliable: true, transient_local: true, deadline: deadline(10), ..Offer::default() };
        assert_eq!(lacking(&offered, &wanted), None);
        assert_eq!(lacking(&Offer { reliable: false, ..offered.clone() }, &wanted), Some("reliability"));
        let kept = Qos { transient_local: true, ..wanted.clone() };
        assert_eq!(lacking(&Offer { transient_local: false, ..offered.clone() }, &kept), Some("durability"));
        assert_eq!(lacking(&Offer { deadline: deadline(30), ..offered.clone() }, &wanted), Some("deadline"));
        assert_eq!(lacking(&Offer { deadline: None, ..offered.clone() }, &wanted), Some("deadline"));
        assert_eq!(lacking(&offered, &Qos { lease: deadline(20), ..wanted }), Some("liveliness"));
    }

    #[test]
    fn more_is_offered_where_somebody_could_ask_for_it_or_messages_live_longer() {
        let times = |deadline, lifespan| Offer {
            deadline: Some(deadline).filter(|ms| *ms > 0).map(Duration::from_millis),
            lifespan: Some(lifespan).filter(|ms| *ms > 0).map(Duration::from_millis),
            ..Offer::default()
        };
        for (before, now) in [((0, 0), (50, 0)), ((50, 0), (10, 0)), ((0, 10), (0, 50)), ((0, 10), (0, 0))] {
            let (before, now) = (times(before.0, before.1), times(now.0, now.1));
            assert!(is_more(&before, &now) && !is_more(&now, &before) && !is_more(&now, &now), "{before:?} {now:?}");
        }
    }

    #[test]
    fn what_is_offered_less_of_than_before_is_offered_as_before() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let strict = Offer { deadline: ms(10), lease: ms(30), lifespan: ms(1000), ..Offer::default() };
        let lasting = Offer { depth: 3, deadline: None, lease: ms(20), lifespan: None, ..Offer::default() };
        let both = Offer { depth: 3, deadline: ms(10), lease: ms(20), lifespan: None, ..Offer::default() };
        assert_eq!(no_less(Some(&strict), lasting.clone()), both);
        assert_eq!(no_less(Some(&lasting), Offer { depth: 3, ..strict.clone() }), both);
        for now in [strict, lasting] {
            assert!(!is_more(&both, &now), "it is no reason to offer anything anew: {now:?}");
        }
    }

    #[test]
    fn a_topic_of_which_too_little_is_offered_is_open_for_those_who_ask_for_no_more() {
        let wanted = Offer { reliable: true, ..Offer::default() };
        let less = "a publisher there offers less than subscribers here ask for: reliability".to_owned();
        let stands = |ghosts: &[(Offer, u64)]| super::stands(&wanted, ghosts.iter().map(|(offer, count)| (offer, *count)));
        assert_eq!(stands(&[(wanted.clone(), 0)]), State::Open);
        assert_eq!(stands(&[(Offer::default(), 0)]), State::Refused(less.clone()));
        assert_eq!(stands(&[(Offer::default(), 1)]), State::OpenBut(less.clone()));
        assert_eq!(stands(&[(Offer::default(), 0), (wanted.clone(), 1)]), State::OpenBut(less));
    }

    #[test]
    fn who_offers_more_is_of_a_higher_grade() {
        let grades = [(false, false), (true, false), (true, true)].map(|(reliable, kept)| Grade::of(&writer(reliable, kept, 0), true));
        assert!(grades.is_sorted_by(|before, next| before < next));
        assert_eq!(Grade::of(&writer(false, true, 0), true), grades[0]);
        assert_eq!(Grade::of(&writer(true, true, 0), false), grades[1], "nobody wants what was kept");
    }
}
