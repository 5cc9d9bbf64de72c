//! Subscribers that lost messages.

use std::cmp::Reverse;

use crate::doctor::{Finding, Patient};
use crate::domain::in_domain;

/// What a subscriber has counted of a publisher.
struct Count {
    topic: String,
    who: String,
    lost: u64,
    all: u64,
}

/// Looks at what each has counted of each publisher.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    let view = &domain.view;
    let mut counts = Vec::new();
    for topic in view.topics() {
        for pair in view.pairs(topic.id) {
            let Some(counted) = domain.pairs.get(&(pair.publisher, pair.subscriber)) else { continue };
            let who = format!("{} -> {}", view.owner_of(pair.publisher), view.owner_of(pair.subscriber));
            let all = counted.messages.saturating_add(counted.missed);
            counts.push(Count { topic: topic.name.clone(), who, lost: counted.missed, all });
        }
    }
    Some(judge(counts, &in_domain(patient.asked.as_deref())))
}

fn judge(mut counts: Vec<Count>, in_domain: &str) -> Finding {
    counts.sort_by_key(|count| Reverse(count.lost));
    let many: Vec<&Count> = counts.iter().filter(|count| count.lost > 0 && count.lost.saturating_mul(100) >= count.all).collect();
    match (counts.first().filter(|most| most.lost > 0), many.first()) {
        (None, _) => Finding::ok("nobody lost a message"),
        (Some(Count { topic, who, lost, all }), None) => Finding::ok(format!("few were lost, most on {topic}, {who}: {lost} of {all}")),
        (_, Some(most)) => {
            let told = |Count { topic, who, lost, all }: &Count| {
                let percent = *lost as f64 / (*all).max(1) as f64 * 100.0;
                format!("{topic}: {who}: {lost} of {all} lost, {percent:.1} %")
            };
            Finding::warning(
                format!("who lost one message of a hundred or more, taking too long with each: {} of {}", many.len(), counts.len()),
                format!(
                    "sinew explain {}{in_domain}; take them faster, keep_last() more, or only every n-th (every, max_rate)",
                    most.topic
                ),
            )
            .with(many.into_iter().map(told))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn many_are_told_of() {
        let of = |lost| judge(vec![Count { topic: "image".to_owned(), who: "camera -> viewer".to_owned(), lost, all: 1000 }], "");
        assert_eq!(
            (of(0).level(), of(9).level(), of(10).level(), judge(vec![], "").level()),
            (Level::Ok, Level::Ok, Level::Warning, Level::Ok)
        );
        assert!(of(10).remedy().is_some_and(|remedy| remedy.starts_with("sinew explain image;")));
        assert_eq!(of(10).each().0, ["image: camera -> viewer: 10 of 1000 lost, 1.0 %"]);
    }
}
