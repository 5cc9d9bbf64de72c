//! The feedback that the domain was told of goals that are executed by others. Pure but for what is drawn by lot.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::messages::GoalId;
use crate::gateway::drawn;

/// Goals that are remembered whose results nobody has asked for here: others see their feedback, too.
const MOST: usize = 1024;

/// Of one action. For the domain it is of one server, which draws a number and counts what it tells.
pub struct Feedbacks {
    server: u64,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    number: u64,
    last: HashMap<GoalId, u64>,
    /// As they came.
    order: VecDeque<GoalId>,
}

impl Default for Feedbacks {
    fn default() -> Feedbacks {
        Feedbacks { server: u128::from_le_bytes(drawn()) as u64, told: Mutex::default() }
    }
}

impl Feedbacks {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that the domain knows it by.
    pub fn server(&self) -> u64 {
        self.server
    }

    /// What the next feedback is to be numbered.
    pub fn next_number(&self) -> u64 {
        self.told().number + 1
    }

    /// That was told, of this goal.
    pub fn told_of(&self, id: GoalId) {
        let mut told = self.told();
        told.number += 1;
        let number = told.number;
        if told.last.insert(id, number).is_some() {
            return;
        }
        told.order.push_back(id);
        while told.order.len() > MOST {
            if let Some(oldest) = told.order.pop_front() {
                told.last.remove(&oldest);
            }
        }
    }

    /// The number of the last that was told of a goal which has ended; 0: there was none.
    pub fn last_of(&self, id: &GoalId) -> u64 {
        let mut told = self.told();
        told.order.retain(|each| each != id);
        told.last.remove(id).unwrap_or(0)
    }
}

/// By the names of actions. Shared by those that tell feedback and those that tell results.
#[derive(Default)]
pub struct OfActions(Mutex<HashMap<String, Weak<Feedbacks>>>);

impl OfActions {
    /// As long as anybody has it, it is the same.
    pub fn of(&self, action: &str) -> Arc<Feedbacks> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = all.get(action).and_then(Weak::upgrade) {
            return there;
        }
        all.retain(|_, feedbacks| feedbacks.strong_count() > 0);
        let new = Arc::<Feedbacks>::default();
        all.insert(action.to_owned(), Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_is_numbered_over_all_goals() {
        let all = OfActions::default();
        let (one, same, other) = (all.of("go"), all.of("go"), all.of("come"));
        assert!(one.server() == same.server() && one.server() != other.server());
        for id in [[1; 16], [2; 16], [1; 16]] {
            assert!(one.next_number() > 0);
            one.told_of(id);
        }
        assert_eq!((same.next_number(), other.next_number()), (4, 1));
        assert_eq!([[1; 16], [2; 16], [3; 16], [1; 16]].map(|id| same.last_of(&id)), [3, 2, 0, 0]);
    }

    #[test]
    fn goals_whose_results_nobody_asks_for_are_forgotten() {
        let feedbacks = Feedbacks::default();
        for n in 0..=MOST {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&(n as u64).to_le_bytes());
            feedbacks.told_of(id);
        }
        assert_eq!(feedbacks.told().last.len(), MOST);
        assert_eq!(feedbacks.last_of(&[0; 16]), 0, "it was the first");
    }
}
