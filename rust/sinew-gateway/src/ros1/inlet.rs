//! A topic of ROS 1 that comes into the domain.

use std::sync::Arc;

use super::followed::Followed;
use super::names;
use super::network::Place;
use crate::bridge::{Channel, Due};
use crate::channels::State;

/// Wants the topic. The domain has a ghost for each who publishes it there.
pub struct Inlet {
    followed: Arc<Followed>,
    /// At least what is wanted.
    due: Due,
}

impl Inlet {
    /// What is wanted in the domain.
    pub fn open(place: &Place, name: &str, due: &Due) -> Result<Inlet, String> {
        let ty = place.types.of(&due.signature)?;
        let topic = names::topic(name);
        let followed = Arc::new(Followed::new(place.clone(), name.to_owned(), topic.clone(), due.clone(), ty));
        place.ends.follow(&topic, Arc::clone(&followed));
        Ok(Inlet { followed, due: due.clone() })
    }
}

impl Channel for Inlet {
    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((self.followed.state(), self.followed.counts.told()))
    }

    fn renew(&mut self, due: &Due) -> bool {
        let Some((doing, false)) = self.due.doing_for(due) else { return false };
        self.due = doing;
        self.followed.wants(due.offer.transient_local);
        true
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.followed.place.ends.leave(&self.followed.topic);
        self.followed.close();
    }
}
