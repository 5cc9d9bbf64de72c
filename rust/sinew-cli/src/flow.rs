//! What flows: counts of one moment and of a later one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sinew::{DomainCounters, DomainCounts, Id, Latency, PairCounts, PublisherCounts};

use crate::domain::{View, looks_on};
use crate::failure::Done;

/// Counts of one moment.
pub struct Moment {
    /// When.
    pub at: Instant,
    publishers: HashMap<Id, PublisherCounts>,
    pairs: HashMap<(Id, Id), Vec<PairCounts>>,
    known_publishers: Known<u64, PublisherCounts>,
    known_pairs: Known<(u64, u64), Vec<PairCounts>>,
}

/// What was counted last, and when, by the identities of who counts: when a node registers anew, its endpoints are gone for a moment, and then there with other ids.
type Known<Identity, Counts> = HashMap<Identity, (Instant, Counts)>;

/// How long an endpoint that is gone may take to be there again, where moments are not further apart.
const KNOWN: Duration = Duration::from_secs(60);

/// What flowed on a topic between two moments, and what is held.
#[derive(Clone, Debug, Default)]
pub struct TopicFlow {
    /// That are there, without those that only look on.
    pub publishers: usize,
    /// Likewise.
    pub subscribers: usize,
    /// Messages a second.
    pub hz: f64,
    /// Of messages that were written into shared memory.
    pub bytes_per_second: f64,
    /// Of these; none: nothing was written.
    pub mean_bytes: Option<f64>,
    /// Of all its pairs.
    pub latency: Latency,
    /// Messages that subscribers keep, now.
    pub held: u64,
    /// Messages that were lost to subscribers, or not published.
    pub lost: u64,
    /// The same since the publishers and subscribers came, as far as it is told of: what was lost over a connection goes with it.
    pub lost_ever: u64,
}

/// What a publisher published.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublisherFlow {
    /// Messages a second.
    pub hz: f64,
    /// Of messages that were written into shared memory.
    pub bytes_per_second: f64,
}

/// What flowed between a publisher and a subscriber.
#[derive(Clone, Debug, Default)]
pub struct PairFlow {
    /// Messages a second.
    pub hz: f64,
    /// Messages that were lost.
    pub lost: u64,
    /// Messages that the subscriber keeps, now.
    pub held: u64,
    /// How long they took.
    pub latency: Latency,
}

impl Moment {
    /// Now, after one that was before, if there was one.
    pub fn of(counters: &DomainCounters, before: Option<&Moment>) -> Done<Moment> {
        Ok(Moment::after(before, Instant::now(), counters.read()?))
    }

    /// When this was counted, likewise.
    pub fn after(before: Option<&Moment>, at: Instant, counts: DomainCounts) -> Moment {
        // Who is gone at one moment may be there again at the next, however long that takes.
        let long = before.map_or(KNOWN, |before| KNOWN.max(2 * (at - before.at)));
        let publishers = counts.publishers.iter().map(|counts| (counts.identity, (at, counts.clone())));
        let pairs = rows_by(&counts.pairs, |counts| (counts.publisher_identity, counts.subscriber_identity));
        let pairs = pairs.into_iter().map(|(identities, rows)| (identities, (at, rows)));
        Moment {
            at,
            known_publishers: still_known(before.map(|before| &before.known_publishers), at, long).chain(publishers).collect(),
            known_pairs: still_known(before.map(|before| &before.known_pairs), at, long).chain(pairs).collect(),
            publishers: counts.publishers.into_iter().map(|counts| (counts.publisher, counts)).collect(),
            pairs: rows_by(&counts.pairs, |counts| (counts.publisher, counts.subscriber)),
        }
    }

    /// What flowed on a topic since then. Of what was not there then, all that it has counted.
    pub fn topic(&self, view: &View, topic: Id, before: &Moment) -> TopicFlow {
        let (mut flow, mut messages, mut bytes) = (TopicFlow::default(), 0, 0);
        for end in view.endpoints(topic, true) {
            flow.publishers += usize::from(!looks_on(end));
            let Some(now) = self.publishers.get(&end.id) else { continue };
            let (seen, then) = before.then_published(now);
            let (more, more_bytes) = (since(now.messages, then.map(|then| then.messages)), since(now.bytes, then.map(|then| then.bytes)));
            let seconds = (self.at - seen).as_secs_f64();
            (messages, bytes) = (messages + more, bytes + more_bytes);
            flow.hz += more as f64 / seconds;
            flow.bytes_per_second += more_bytes as f64 / seconds;
            flow.lost += since(now.refused, then.map(|then| then.refused));
            flow.lost_ever += now.refused;
        }
        flow.subscribers = view.counted(topic, false);
        for pair in view.pairs(topic) {
            let key = (pair.publisher, pair.subscriber);
            let of_pair = self.pair(key, before);
            flow.lost += of_pair.lost;
            flow.lost_ever += self.rows(key).map(|row| row.missed).sum::<u64>();
            flow.held += of_pair.held;
            flow.latency += &of_pair.latency;
        }
        flow.mean_bytes = (bytes > 0 && messages > 0).then(|| bytes as f64 / messages as f64);
        flow
    }

    /// What the publisher of these counts had counted when it was seen last.
    fn then_published(&self, now: &PublisherCounts) -> (Instant, Option<&PublisherCounts>) {
        let known = self.known_publishers.get(&now.identity);
        (known.map_or(self.at, |(seen, _)| *seen), known.map(|(_, then)| then))
    }

    /// What a publisher has published since then.
    pub fn publisher(&self, id: Id, before: &Moment) -> PublisherFlow {
        let Some(now) = self.publishers.get(&id) else { return PublisherFlow::default() };
        let (seen, then) = before.then_published(now);
        let seconds = (self.at - seen).as_secs_f64();
        PublisherFlow {
            hz: since(now.messages, then.map(|then| then.messages)) as f64 / seconds,
            bytes_per_second: since(now.bytes, then.map(|then| then.bytes)) as f64 / seconds,
        }
    }

    /// What a pair has counted: over each of its connections, as the one before is told of while its messages are held.
    fn rows(&self, key: (Id, Id)) -> impl Iterator<Item = &PairCounts> {
        self.pairs.get(&key).into_iter().flatten()
    }

    /// What flowed between two since then.
    pub fn pair(&self, key: (Id, Id), before: &Moment) -> PairFlow {
        let mut flow = PairFlow::default();
        let mut rows: Vec<&PairCounts> = self.rows(key).collect();
        // All of a pair have the same identities.
        let Some(first) = rows.first() else { return flow };
        let known = before.known_pairs.get(&(first.publisher_identity, first.subscriber_identity));
        let seen = known.map_or(before.at, |(seen, _)| *seen);
        let mut left: Vec<&PairCounts> = known.into_iter().flat_map(|(_, rows)| rows).collect();
        // What has counted least goes on from the fewest of them, so it chooses before the others.
        rows.sort_by_key(|row| row.messages);
        for now in rows {
            let place = (0..left.len()).filter(|place| goes_on(now, left[*place])).max_by_key(|place| left[*place].messages);
            let then = place.map(|place| left.swap_remove(place));
            let begin = if then.is_some() { seen } else { before.at };
            flow.hz += since(now.messages, then.map(|then| then.messages)) as f64 / (self.at - begin).as_secs_f64();
            flow.lost += since(now.missed, then.map(|then| then.missed));
            flow.held += now.held;
            flow.latency += &then.map_or_else(|| now.latency.clone(), |then| now.latency.since(&then.latency));
        }
        flow
    }
}

/// What each pair has counted, over all of its connections that are told of.
pub fn counts_of_pairs(counts: Vec<PairCounts>) -> HashMap<(Id, Id), PairCounts> {
    let mut pairs: HashMap<(Id, Id), PairCounts> = HashMap::new();
    for more in counts {
        pairs.entry((more.publisher, more.subscriber)).and_modify(|all| add(all, &more)).or_insert(more);
    }
    pairs
}

fn add(all: &mut PairCounts, more: &PairCounts) {
    let counts = [
        (&mut all.messages, more.messages),
        (&mut all.missed, more.missed),
        (&mut all.withdrawn, more.withdrawn),
        (&mut all.expired, more.expired),
        (&mut all.skipped, more.skipped),
        (&mut all.over_quota, more.over_quota),
        (&mut all.bytes_copied, more.bytes_copied),
        (&mut all.held, more.held),
    ];
    for (sum, count) in counts {
        *sum = sum.saturating_add(count);
    }
    all.latency += &more.latency;
}

fn rows_by(pairs: &[PairCounts], key: impl Fn(&PairCounts) -> (u64, u64)) -> HashMap<(u64, u64), Vec<PairCounts>> {
    let mut rows: HashMap<(u64, u64), Vec<PairCounts>> = HashMap::new();
    for pair in pairs {
        rows.entry(key(pair)).or_default().push(pair.clone());
    }
    rows
}

fn still_known<Identity: Copy, Counts: Clone>(
    before: Option<&Known<Identity, Counts>>,
    at: Instant,
    long: Duration,
) -> impl Iterator<Item = (Identity, (Instant, Counts))> {
    let known = before.into_iter().flatten().filter(move |(_, (seen, _))| at - *seen < long);
    known.map(|(identity, seen)| (*identity, seen.clone()))
}

/// A pair that was connected anew is of the same identities, and counts from nothing. A bucket begins again from 0 after 2^32 - 1: one that
/// seems to be more than half of that ahead has gone back.
fn goes_on(now: &PairCounts, then: &PairCounts) -> bool {
    let mut buckets = now.latency.buckets.iter().zip(&then.latency.buckets);
    now.messages >= then.messages
        && now.missed >= then.missed
        && now.latency.total_ns >= then.latency.total_ns
        && buckets.all(|(now, then)| now.wrapping_sub(*then) <= u32::MAX / 2)
}

fn since(now: u64, then: Option<u64>) -> u64 {
    now.saturating_sub(then.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use sinew::{DomainPair, DomainState};

    use super::*;
    use crate::domain::end_on;

    fn counted(publisher: Id, identity: u64, messages: u64) -> DomainCounts {
        let bytes = 8 * messages;
        let published = PublisherCounts {
            publisher,
            identity,
            messages,
            bytes,
            bytes_copied: 0,
            bytes_exported: 0,
            refused: 0,
            withdrawn: 0,
            newest_ns: 0,
        };
        DomainCounts { publishers: vec![published], pairs: Vec::new() }
    }

    #[test]
    fn of_who_is_there_again_with_another_id_only_what_is_new_flowed() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let first = Moment::after(None, at(0), counted(1, 77, 1000));
        let gone = Moment::after(Some(&first), at(1), DomainCounts::default());
        let again = Moment::after(Some(&gone), at(2), counted(5, 77, 1030));
        assert_eq!(again.publisher(5, &gone).hz, 15.0, "since it was seen last");
        let other = Moment::after(Some(&again), at(3), counted(6, 78, 7));
        assert_eq!(other.publisher(6, &again).hz, 7.0, "all that a new one has counted");
        let late = Moment::after(Some(&other), at(103), DomainCounts::default());
        let later = Moment::after(Some(&late), at(203), counted(9, 78, 207));
        assert_eq!(later.publisher(9, &late).hz, 1.0, "after a long interval as well");
        assert!(Moment::after(Some(&late), at(104), DomainCounts::default()).known_publishers.is_empty());
    }

    fn pair(publisher: Id, messages: u64, times: u32) -> PairCounts {
        let mut latency = Latency::default();
        (latency.buckets[3], latency.total_ns) = (times, 1000 * u64::from(times));
        let (missed, withdrawn, expired, skipped, over_quota, bytes_copied, held) = (0, 0, 0, 0, 0, 0, 0);
        let (subscriber, publisher_identity, subscriber_identity) = (publisher + 1, 77, 78);
        PairCounts {
            publisher,
            subscriber,
            publisher_identity,
            subscriber_identity,
            messages,
            missed,
            withdrawn,
            expired,
            skipped,
            over_quota,
            bytes_copied,
            held,
            latency,
        }
    }

    /// Of topic 9, with a publisher and a subscriber that are connected.
    fn view(publisher: Id) -> View {
        let subscriber = publisher + 1;
        let (mut state, delivery) = (DomainState::default(), Some(sinew::raw::Delivery::View));
        state.endpoints.extend([(publisher, end_on(9, publisher, true)), (subscriber, end_on(9, subscriber, false))]);
        state.pairs.insert((publisher, subscriber), DomainPair { publisher, subscriber, delivery, why: String::new() });
        View::new(state, "")
    }

    #[test]
    fn on_a_topic_whose_ends_are_there_again_with_other_ids_only_what_is_new_flowed() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let counts = |publisher, messages, missed, times| {
            let pairs = vec![PairCounts { missed, ..pair(publisher, messages, times) }];
            DomainCounts { pairs, ..counted(publisher, 77, messages) }
        };
        let first = Moment::after(None, at(0), counts(1, 1000, 40, 900));
        let gone = Moment::after(Some(&first), at(1), DomainCounts::default());
        assert_eq!(gone.topic(&view(1), 9, &first).hz, 0.0);
        let again = Moment::after(Some(&gone), at(2), counts(5, 1030, 42, 920));
        let flow = again.topic(&view(5), 9, &gone);
        assert_eq!((flow.hz, flow.bytes_per_second, flow.mean_bytes), (15.0, 120.0, Some(8.0)));
        assert_eq!((flow.lost, flow.lost_ever, flow.latency.count()), (2, 42, 20));
    }

    #[test]
    fn of_a_pair_that_is_connected_anew_all_that_it_has_counted_flowed() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let counted = |pair| DomainCounts { publishers: Vec::new(), pairs: vec![pair] };
        let first = Moment::after(None, at(0), counted(pair(1, 100, 90)));
        let moved = Moment::after(Some(&first), at(1), counted(pair(5, 110, 95)));
        let flow = moved.pair((5, 6), &first);
        assert_eq!((flow.hz, flow.latency.buckets[3]), (10.0, 5));
        let anew = Moment::after(Some(&moved), at(2), counted(pair(5, 7, 6)));
        let flow = anew.pair((5, 6), &moved);
        assert_eq!((flow.hz, flow.latency.buckets[3]), (7.0, 6));
        let mut slower = pair(5, 300, 0);
        (slower.latency.buckets[8], slower.latency.total_ns) = (4, 1_000_000);
        let later = Moment::after(Some(&anew), at(3), counted(slower));
        assert_eq!(later.pair((5, 6), &anew).latency.count(), 4, "more than before in all, but none where there were some");
    }

    #[test]
    fn of_a_pair_whose_connection_before_is_told_of_as_well_what_came_over_both_flowed() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let old = PairCounts { missed: 40, held: 3, ..pair(1, 1000, 900) };
        let told = |flow: &PairFlow| (flow.hz, flow.lost, flow.held, flow.latency.count());
        for is_old_first in [true, false] {
            let counts = |messages, missed, times| {
                let new = PairCounts { missed, held: 1, ..pair(1, messages, times) };
                let pairs = if is_old_first { vec![old.clone(), new] } else { vec![new, old.clone()] };
                DomainCounts { publishers: Vec::new(), pairs }
            };
            let first = Moment::after(None, at(0), DomainCounts { publishers: Vec::new(), pairs: vec![old.clone()] });
            let anew = Moment::after(Some(&first), at(1), counts(20, 2, 15));
            assert_eq!(told(&anew.pair((1, 2), &first)), (20.0, 2, 4, 15));
            let later = Moment::after(Some(&anew), at(2), counts(990, 45, 950));
            assert_eq!(told(&later.pair((1, 2), &anew)), (970.0, 43, 4, 935));
            // The new one could go on from both now.
            let last = Moment::after(Some(&later), at(3), counts(1005, 46, 960));
            assert_eq!(told(&last.pair((1, 2), &later)), (15.0, 1, 4, 10));
            let topic = last.topic(&view(1), 9, &later);
            assert_eq!((topic.lost, topic.lost_ever, topic.held, topic.latency.count()), (1, 86, 4, 10));
        }
    }

    #[test]
    fn what_a_pair_has_counted_over_two_connections_is_added_up() {
        let old = PairCounts { missed: 4, held: 3, ..pair(1, 1000, 900) };
        let new = PairCounts { missed: 1, over_quota: 5, ..pair(1, 7, 6) };
        let counts = counts_of_pairs(vec![old, pair(5, 8, 8), new]);
        let both = PairCounts { missed: 5, over_quota: 5, held: 3, ..pair(1, 1007, 906) };
        assert_eq!((counts.len(), &counts[&(1, 2)]), (2, &both));
    }
}
