//! Goals that came from there, as long as somebody may ask for their results. Pure.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;

use super::messages::{GoalId, Status, state};

/// Goals that are executed at a time, of all.
const MOST: usize = 1024;
/// Results that are kept after goals have ended, the newest.
const KEPT: usize = 128;
/// Those who wait for the result of one goal, the newest: nobody tells who has lost interest.
const WAITING: usize = 64;
/// Goals of whom the domain's servers have told, that are remembered.
const SEEN: usize = 4096;

/// Of one action. `Waiting` is who is to be told a result.
pub struct Goals<Waiting> {
    sent: BTreeMap<GoalId, Goal<Waiting>>,
    /// As they did.
    ended: VecDeque<GoalId>,
    /// What servers have told of any goal, whoever has sent it.
    seen: BTreeMap<GoalId, Status>,
    /// As they were seen first.
    order: VecDeque<GoalId>,
}

enum Goal<Waiting> {
    Executing { accepted: Option<oneshot::Sender<i64>>, waiting: Vec<Waiting> },
    Ended(Arc<Vec<u8>>),
}

/// What there is to be told about a result.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is told when it is there.
    Later,
    /// This.
    Now(Arc<Vec<u8>>),
    /// Nobody knows the goal.
    Unknown,
}

impl<Waiting> Default for Goals<Waiting> {
    fn default() -> Goals<Waiting> {
        Goals { sent: BTreeMap::new(), ended: VecDeque::new(), seen: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<Waiting> Goals<Waiting> {
    /// A new one, with when it is accepted. None: it was sent before, or there are too many.
    pub fn send(&mut self, id: GoalId) -> Option<oneshot::Receiver<i64>> {
        if self.sent.contains_key(&id) || self.sent.len().saturating_sub(self.ended.len()) >= MOST {
            return None;
        }
        let (accepted, is_accepted) = oneshot::channel();
        self.sent.insert(id, Goal::Executing { accepted: Some(accepted), waiting: Vec::new() });
        Some(is_accepted)
    }

    /// It was not accepted.
    pub fn forget(&mut self, id: &GoalId) {
        self.sent.remove(id);
    }

    /// A server tells how its goals stand.
    pub fn see(&mut self, statuses: Vec<Status>) {
        for status in statuses {
            if let Some(Goal::Executing { accepted, .. }) = self.sent.get_mut(&status.id)
                && let Some(accepted) = accepted.take()
            {
                let _ = accepted.send(status.accepted_at);
            }
            if self.seen.insert(status.id, status).is_none() {
                self.order.push_back(status.id);
            }
        }
        while self.order.len() > SEEN {
            if let Some(oldest) = self.order.pop_front() {
                self.seen.remove(&oldest);
            }
        }
    }

    /// It has ended, and with what. Who waits for that is to be told.
    pub fn end(&mut self, id: GoalId, result: Arc<Vec<u8>>) -> Vec<Waiting> {
        let Some(Goal::Executing { waiting, .. }) = self.sent.insert(id, Goal::Ended(result)) else { return Vec::new() };
        self.ended.push_back(id);
        while self.ended.len() > KEPT {
            if let Some(oldest) = self.ended.pop_front() {
                self.sent.remove(&oldest);
            }
        }
        waiting
    }

    /// Somebody asks for a result.
    pub fn result(&mut self, id: &GoalId, who: Waiting) -> Answer {
        match self.sent.get_mut(id) {
            Some(Goal::Executing { waiting, .. }) => {
                if waiting.len() == WAITING {
                    waiting.remove(0);
                }
                waiting.push(who);
                Answer::Later
            }
            Some(Goal::Ended(result)) => Answer::Now(Arc::clone(result)),
            None => Answer::Unknown,
        }
    }

    /// Goals that a wish is about, which are executed: this one, and those that were accepted until then.
    pub fn meant(&self, id: &GoalId, until: Option<i64>) -> Vec<Status> {
        let is_under_way = |status: &Status| matches!(status.state, state::EXECUTING | state::CANCELLING);
        // That one has ended its result may tell before its server's status does.
        let runs = |status: &&Status| is_under_way(status) && !self.has_ended(&status.id);
        let is_meant = |status: &&Status| status.id == *id || until.is_some_and(|until| status.accepted_at <= until);
        self.seen.values().filter(runs).filter(is_meant).copied().collect()
    }

    /// Whether anything is known of it.
    pub fn is_known(&self, id: &GoalId) -> bool {
        self.seen.contains_key(id) || self.has_ended(id)
    }

    fn has_ended(&self, id: &GoalId) -> bool {
        matches!(self.sent.get(id), Some(Goal::Ended(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: GoalId = [1; 16];

    fn status(id: GoalId, accepted_at: i64, state: u8) -> Status {
        Status { id, accepted_at, state }
    }

    #[test]
    fn a_result_is_told_to_all_who_ask_before_and_after() {
        let mut goals = Goals::<u8>::default();
        assert_eq!(goals.result(&ID, 0), Answer::Unknown);
        let mut accepted = goals.send(ID).expect("it is new");
        assert!(goals.send(ID).is_none(), "it was sent before");
        goals.see(vec![status([2; 16], 4, 2), status(ID, 5, 2)]);
        goals.see(vec![status(ID, 6, 2)]);
        assert_eq!(accepted.try_recv(), Ok(5));
        assert_eq!((goals.result(&ID, 1), goals.result(&ID, 2)), (Answer::Later, Answer::Later));
        let result = Arc::new(vec![9]);
        assert_eq!(goals.end(ID, Arc::clone(&result)), [1, 2]);
        assert_eq!(goals.result(&ID, 3), Answer::Now(result));
    }

    #[test]
    fn only_the_newest_results_are_kept() {
        let mut goals = Goals::<u8>::default();
        for n in 0..=KEPT {
            let id = [n as u8; 16];
            let _accepted = goals.send(id).expect("it is new");
            goals.end(id, Arc::default());
        }
        assert_eq!(goals.result(&[0; 16], 1), Answer::Unknown);
        assert_eq!(goals.result(&[1; 16], 1), Answer::Now(Arc::default()));
        goals.forget(&[1; 16]);
        assert_eq!(goals.result(&[1; 16], 1), Answer::Unknown);
    }

    #[test]
    fn a_wish_is_about_a_goal_or_about_those_until_a_time() {
        let mut goals = Goals::<u8>::default();
        let [first, second, third, ended] = [[1; 16], [2; 16], [3; 16], [4; 16]];
        goals.see(vec![status(first, 10, 2), status(second, 20, 3), status(third, 30, 2), status(ended, 5, 4)]);
        let meant = |id: GoalId, until| goals.meant(&id, until).iter().map(|status| status.id).collect::<Vec<_>>();
        assert_eq!(meant(third, None), [third]);
        assert_eq!(meant([0; 16], Some(20)), [first, second]);
        assert_eq!(meant(third, Some(10)), [first, third]);
        assert!(meant(ended, None).is_empty() && goals.is_known(&ended) && !goals.is_known(&[9; 16]));
        let _accepted = goals.send(first).expect("it is new");
        goals.end(first, Arc::default());
        assert!(goals.meant(&first, None).is_empty(), "its server has not told yet that it has ended");
    }

    #[test]
    fn only_the_newest_who_wait_are_kept() {
        let mut goals = Goals::<usize>::default();
        let _accepted = goals.send(ID).expect("it is new");
        for who in 0..=WAITING {
            assert_eq!(goals.result(&ID, who), Answer::Later);
        }
        assert!(goals.end(ID, Arc::default()).into_iter().eq(1..=WAITING));
    }
}
