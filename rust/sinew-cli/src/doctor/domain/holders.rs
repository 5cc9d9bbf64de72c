//! Subscribers that hold much of what publishers have.

use crate::doctor::{Finding, Patient};

/// Of each publisher a subscriber holds 119 at most.
const MANY: u64 = 100;

/// Looks at how many messages each holds, and whether some had to be copied for that.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    let view = &domain.view;
    let (mut held, mut much) = (0_u64, Vec::new());
    for topic in view.topics() {
        for pair in view.pairs(topic.id) {
            let Some(counts) = domain.pairs.get(&(pair.publisher, pair.subscriber)) else { continue };
            held = held.saturating_add(counts.held);
            if let Some(what) = judge(counts.held, counts.over_quota) {
                let (from, to) = (view.owner_of(pair.publisher), view.owner_of(pair.subscriber));
                much.push(format!("{}: {} of {} {what}", &topic.name, to, from));
            }
        }
    }
    Some(if much.is_empty() {
        Finding::ok(format!("{held} messages are held, by nobody too many"))
    } else {
        Finding::warning(
            "some hold so much that further messages are copied for them",
            "let go of messages sooner, copy what is kept for long, or give the publisher a larger memory_budget",
        )
        .with(much)
    })
}

fn judge(held: u64, over_quota: u64) -> Option<String> {
    match (held, over_quota) {
        (held, 0) if held < MANY => None,
        (held, 0) => Some(format!("holds {held}")),
        (held, copied) => Some(format!("holds {held}, and {copied} were copied as it held too much")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_many_or_had_some_copied_is_told_of() {
        assert_eq!(judge(99, 0), None);
        assert_eq!(judge(100, 0).as_deref(), Some("holds 100"));
        assert!(judge(3, 7).is_some_and(|told| told.contains("7 were copied")));
    }
}
