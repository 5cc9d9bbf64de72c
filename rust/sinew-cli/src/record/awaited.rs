//! What is to be recorded and is not here: where another domain has it, it comes while somebody here wants it, and the recorder has to be that.

use std::collections::BTreeSet;

use sinew::Node;

use super::flight::Condition;
use crate::beyond::{Beyond, Far};
use crate::catalogues::Catalogues;
use crate::commands::record::Record;
use crate::domain::{View, service_of};
use crate::missing;
use crate::output::{say, shown};

/// Topics that are called by their whole names, and those that conditions look at.
pub struct Awaited {
    node: Node,
    names: Vec<String>,
    conditions: Vec<Condition>,
    catalogues: Catalogues,
    /// What was said: once, also of topics that then cannot be had.
    said: BTreeSet<String>,
}

/// Those of them that are not here.
struct Missing {
    names: Vec<String>,
    conditions: Vec<Condition>,
}

impl Awaited {
    /// Of what is asked for that is wanted.
    pub fn new(node: &Node, asked: &Record, wanted: impl Fn(&str) -> bool) -> Awaited {
        Awaited {
            node: node.clone(),
            names: asked.topics.names().filter(|name| wanted(name)).map(str::to_owned).collect(),
            conditions: asked.when.clone(),
            catalogues: Catalogues::new(node),
            said: BTreeSet::new(),
        }
    }

    /// Those that only other domains have. Blocks until gateways have told, where something is not here, and says of names that nobody has which ones may be meant.
    pub fn ask(&mut self, view: &View) -> Vec<(String, Far)> {
        let missing = self.missing(|is_meant| is_here(view, is_meant));
        if missing.count() == 0 {
            return Vec::new();
        }
        let beyond = Beyond::of(&self.node, view);
        self.catalogues.were_asked(missing.count());
        let nowhere: BTreeSet<&String> = missing.names.iter().filter(|name| beyond.topic(name).is_none()).collect();
        nowhere.into_iter().for_each(|name| missing::tell(view, name));
        missing.found(&beyond, &mut self.said)
    }

    /// The same, whenever gateways have told. Waits for none of them. The view may be older than what the recorder holds here.
    pub fn follow(&mut self, view: &View, is_held: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Vec<(String, Far)> {
        let missing = self.missing(|is_meant| is_here(view, is_meant) || is_held(is_meant));
        let was_asking = self.catalogues.is_asking();
        self.catalogues.follow(view, missing.count());
        // What they told before may not be so any more.
        if !was_asking || self.catalogues.is_asking() {
            return Vec::new();
        }
        missing.found(self.catalogues.beyond(), &mut self.said)
    }

    /// `is_here`: some topic that is meant.
    fn missing(&self, is_here: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Missing {
        // A service is there by its topics.
        let is_named = |name: &&String| is_here(&|topic: &str| topic == name.as_str() || service_of(topic) == Some(name.as_str()));
        let is_met = |condition: &&Condition| is_here(&|topic: &str| condition.is_about(topic));
        Missing {
            names: self.names.iter().filter(|name| !is_named(name)).cloned().collect(),
            conditions: self.conditions.iter().filter(|condition| !is_met(condition)).cloned().collect(),
        }
    }
}

impl Missing {
    fn count(&self) -> usize {
        self.names.len() + self.conditions.len()
    }

    fn found(&self, beyond: &Beyond, said: &mut BTreeSet<String>) -> Vec<(String, Far)> {
        // Names of topics may have dots, too: the longest one counts.
        let about =
            |condition: &Condition| beyond.topics.keys().filter(|name| condition.is_about(name)).max_by_key(|name| name.len()).cloned();
        let names: BTreeSet<String> = self.names.iter().cloned().chain(self.conditions.iter().filter_map(about)).collect();
        let far = names.iter().filter_map(|name| beyond.topic(name));
        let can_come = far.filter(|(name, far)| {
            let line = match far.ty() {
                Ok(_) => format!("topic '{}': {} has it, and it comes here while this runs", shown(name), far.places()),
                Err(why) => format!("topic '{}' is not recorded: {why}", shown(name)),
            };
            if said.insert(line.clone()) {
                say!("{line}");
            }
            far.ty().is_ok()
        });
        can_come.map(|(name, far)| (name.to_owned(), far.clone())).collect()
    }
}

fn is_here(view: &View, is_meant: &dyn Fn(&str) -> bool) -> bool {
    view.state.topics.values().any(|topic| is_meant(&topic.name))
}
