//! Publishers and subscribers that are not connected.

use super::answer::Domain;
use crate::doctor::{Finding, Patient};
use crate::domain::in_domain;

/// Looks at all, and tells why.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(patient.joined()?, &in_domain(patient.asked.as_deref())))
}

fn judge(domain: &Domain, in_domain: &str) -> Finding {
    let (view, mut connected, mut broken, mut remedies) = (&domain.view, 0, Vec::new(), Vec::new());
    for topic in view.topics() {
        for pair in view.pairs(topic.id) {
            if pair.delivery.is_some() {
                connected += 1;
                continue;
            }
            let (from, to) = (view.owner_of(pair.publisher), view.owner_of(pair.subscriber));
            broken.push(format!("{}: {} -> {}: {}", &topic.name, from, to, &pair.why));
            remedies.push((pair.why.clone(), &topic.name));
        }
    }
    match remedies.first() {
        None if connected == 0 => Finding::ok("no publisher has a subscriber"),
        None => Finding::ok(format!("all are connected: {connected}")),
        Some((why, topic)) => {
            let more = if remedies.len() > 1 { "; and so on for the others" } else { "" };
            Finding::problem(
                format!("not connected: {} of {}", broken.len(), broken.len() + connected),
                format!("{}: sinew topic info {topic}{in_domain}{more}", remedy(why)),
            )
            .with(broken)
        }
    }
}

/// What the rules say (src/wire/compatibility.cpp) to whom it concerns.
fn remedy(why: &str) -> &'static str {
    const REMEDIES: [(&str, &str); 4] = [
        ("reliability", "make the publisher reliable, or the subscriber best effort"),
        ("durability", "make the publisher transient local, or the subscriber volatile"),
        ("deadline", "give the publisher a deadline no longer than the subscriber's, or the subscriber none"),
        ("liveliness", "give the publisher the liveliness that the subscriber asks for, with a lease no longer"),
    ];
    REMEDIES
        .iter()
        .find(|(policy, _)| why.starts_with(policy))
        .map_or("see what both sides ask for, and whether one is stopped", |(_, remedy)| remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_that_of_the_policy() {
        assert!(remedy("durability: the publisher offers volatile, the subscriber asks for transient_local").contains("transient local"));
        assert!(remedy("they wait to be introduced").contains("stopped"));
    }
}
