//! Publishers that are short of memory.

use sinew::PublisherCounts;

use crate::doctor::{Finding, Patient};
use crate::domain::in_domain;
use crate::units::bytes;

/// What a publisher may have unless it says otherwise. What it has said, nobody else knows.
const USUAL_BUDGET: u64 = 1 << 30;

/// Looks at what each has, and whether it was enough.
pub fn look(patient: &Patient) -> Option<Finding> {
    let domain = patient.joined()?;
    let view = &domain.view;
    let (mut all, mut count, mut short) = (0_u64, 0, Vec::new());
    for topic in view.topics() {
        for end in view.endpoints(topic.id, true) {
            count += 1;
            all = all.saturating_add(end.memory);
            if let Some(what) = judge(end.memory, domain.publishers.get(&end.id)) {
                short.push((topic, format!("{} on {}: {what}", view.name_of(end.node), topic.name)));
            }
        }
    }
    let Some((topic, _)) = short.first() else {
        return Some(Finding::ok(format!("they have {} of shared memory, and that is enough", bytes(all as f64))));
    };
    let in_domain = in_domain(patient.asked.as_deref());
    let remedy = format!("sinew explain {}{in_domain} tells who holds what; raise memory_budget, or let subscribers hold less", topic.name);
    Some(Finding::warning(format!("short of memory: {} of {count}", short.len()), remedy).with(short.into_iter().map(|(_, told)| told)))
}

fn judge(memory: u64, counts: Option<&PublisherCounts>) -> Option<String> {
    let (refused, withdrawn) = counts.map_or((0, 0), |counts| (counts.refused, counts.withdrawn));
    if refused > 0 || withdrawn > 0 {
        return Some(format!(
            "{refused} messages were not published, and {withdrawn} taken back, for want of memory or of somebody's time"
        ));
    }
    (memory >= USUAL_BUDGET / 10 * 9).then(|| {
        format!("it has {} of shared memory; unless it says otherwise it may have {}", bytes(memory as f64), bytes(USUAL_BUDGET as f64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_could_not_publish_or_soon_cannot_is_told_of() {
        let counts = |refused, withdrawn| PublisherCounts {
            publisher: 1,
            identity: 1,
            messages: 9,
            bytes: 9,
            bytes_copied: 0,
            bytes_exported: 0,
            refused,
            withdrawn,
            newest_ns: 0,
        };
        assert_eq!(judge(5, Some(&counts(0, 0))), None);
        assert!(judge(5, Some(&counts(3, 0))).is_some_and(|told| told.starts_with("3 messages were not published")));
        assert!(judge(5, Some(&counts(0, 1))).is_some());
        assert!(judge(1_000_000_000, None).is_some());
    }
}
