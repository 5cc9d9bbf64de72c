//! Which topics clients are offered: those of the domain, and those that only other machines have.

use std::collections::BTreeMap;

use sinew::Id;

use crate::beyond::Beyond;
use crate::domain::{View, is_of_service};
use crate::patterns::Topics;

/// What is known of a topic.
pub struct Offer<'a> {
    pub signature: &'a str,
    /// None: only other machines have it. It may be here all the same, for a client alone.
    pub here: Option<Id>,
    /// All publishers keep messages for who comes late.
    pub keeps: bool,
}

/// By the names of topics. What this domain and another one have is that of this one.
pub fn offers<'a>(topics: &Topics, view: &'a View, beyond: &'a Beyond) -> BTreeMap<&'a str, Offer<'a>> {
    let is_meant = |name: &str| !is_of_service(name) && topics.has(name);
    let far = beyond.topics.iter().filter(|(name, _)| is_meant(name)).map(|(name, far)| {
        let offer = Offer { signature: &far.signature, here: None, keeps: far.offered.transient_local };
        (name.as_str(), offer)
    });
    let mut offers: BTreeMap<_, _> = far.collect();
    for topic in view.state.topics.values().filter(|topic| is_meant(&topic.name)) {
        if !view.is_own(topic.id) {
            let offer = Offer { signature: &topic.signature, here: Some(topic.id), keeps: view.keeps(topic.id) };
            offers.insert(&topic.name, offer);
        } else if let Some(far) = offers.get_mut(topic.name.as_str())
            && view.endpoints(topic.id, true).next().is_some()
        {
            // Who brings it knows better than what was told before.
            far.keeps = view.keeps(topic.id);
        }
    }
    offers
}
