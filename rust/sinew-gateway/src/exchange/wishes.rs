//! What a peer wants that others, as bridges, are to bring into this domain (G38).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::Id;

use crate::channels::{Asked, Asking};
use crate::nodes::Nodes;
use crate::protocol::Want;
use crate::rules::Traffic;

/// How long what is not wanted any more is asked for all the same: a want that follows at once, as it does on each change, is the same one to bridges.
const LINGERS: Duration = Duration::from_secs(2);

/// Of one peer, by topics.
#[derive(Default)]
pub struct Wishes(HashMap<String, Wish>);

struct Wish {
    asking: Asking,
    asked: Result<Arc<Asked>, String>,
    /// Of the topic that it was refused for.
    topic: Option<Id>,
    /// Since it is not wanted any more.
    until: Option<Instant>,
}

impl Wishes {
    /// Who asks for what the peer wants. Blocks until the manager has agreed, where nobody did.
    pub fn asked(&mut self, nodes: &Nodes, want: &Want, traffic: &Traffic) -> sinew::Result<Arc<Asked>> {
        let asking = Asking::of(want, traffic);
        if let Some(Wish { asking: before, asked: Ok(asked), .. }) = self.0.get(&want.name)
            && *before == asking
        {
            return Ok(Arc::clone(asked));
        }
        self.open(nodes, asking, None)
    }

    /// From now on these are wanted, with the topics that there are, and no others. What cannot be asked for, and why, comes back once.
    pub fn follow(&mut self, nodes: &Nodes, now: Vec<(u32, Asking, Option<Id>)>) -> Vec<(u32, String)> {
        let ends = Instant::now() + LINGERS;
        for (name, wish) in &mut self.0 {
            let is_wanted = now.iter().any(|(_, asking, _)| asking.name == *name);
            wish.until = if is_wanted { None } else { Some(wish.until.map_or(ends, |until| until.min(ends))) };
        }
        let mut refused = Vec::new();
        for (channel, asking, topic) in now {
            let is_as_it_was = |wish: &Wish| wish.asking == asking && (wish.asked.is_ok() || wish.topic == topic);
            if !self.0.get(&asking.name).is_some_and(is_as_it_was)
                && let Err(why) = self.open(nodes, asking, topic)
            {
                refused.push((channel, why.to_string()));
            }
        }
        refused
    }

    fn open(&mut self, nodes: &Nodes, asking: Asking, topic: Option<Id>) -> sinew::Result<Arc<Asked>> {
        let asked = nodes.second().and_then(|node| Asked::open(&node, nodes.own_name(), asking.clone())).map(Arc::new);
        let told = asked.as_ref().map(Arc::clone).map_err(ToString::to_string);
        // What was there before goes when this one is there: bridges see that it is wanted all the time.
        self.0.insert(asking.name.clone(), Wish { asking, asked: told, topic, until: None });
        asked
    }

    /// What could not be asked for is tried again by the next [`Wishes::follow`].
    pub fn retry(&mut self) {
        self.0.retain(|_, wish| wish.asked.is_ok());
    }

    /// Nothing is wanted any more, unless it is again until then.
    pub fn end(&mut self, until: Instant) {
        self.0.values_mut().for_each(|wish| wish.until = Some(until));
    }

    /// Of what was not wanted for a while nobody here is asked any more.
    pub fn forget(&mut self, now: Instant) {
        self.0.retain(|_, wish| wish.until.is_none_or(|until| now < until));
    }
}
