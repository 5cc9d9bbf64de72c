//! Quality of service as rosbag2 writes it down: YAML with the numbers of ROS, or with its words since version 9 of its metadata.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::Qos;

use crate::error::{BagError, Result};

/// The key of a topic's metadata under which it stands.
pub const OFFERED_QOS: &str = "offered_qos_profiles";

/// Longer texts are none that anybody writes.
const LONGEST: usize = 1 << 20;
/// Longer than anything that was ever recorded: ROS has several numbers for "for ever".
const FOR_EVER: u64 = i32::MAX as u64;

#[derive(Serialize, Deserialize)]
struct Profile {
    history: Policy,
    #[serde(default)]
    depth: u64,
    reliability: Policy,
    durability: Policy,
    deadline: Time,
    lifespan: Time,
    liveliness: Policy,
    liveliness_lease_duration: Time,
    #[serde(default)]
    avoid_ros_namespace_conventions: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Policy {
    Number(i64),
    Word(String),
}

#[derive(Serialize, Deserialize)]
struct Time {
    sec: u64,
    nsec: u64,
}

impl Policy {
    fn is(&self, number: i64, word: &str) -> bool {
        match self {
            Policy::Number(given) => *given == number,
            Policy::Word(given) => given == word,
        }
    }
}

impl Time {
    fn new(duration: Option<Duration>) -> Time {
        // As ROS says "for ever": 2^63 - 1 nanoseconds.
        duration.map_or(Time { sec: 9_223_372_036, nsec: 854_775_807 }, |duration| Time {
            sec: duration.as_secs(),
            nsec: u64::from(duration.subsec_nanos()),
        })
    }

    fn duration(&self) -> Option<Duration> {
        let duration = Duration::from_secs(self.sec.min(FOR_EVER)).saturating_add(Duration::from_nanos(self.nsec));
        (!duration.is_zero() && self.sec < FOR_EVER).then_some(duration)
    }
}

/// What publishers offer, for [`OFFERED_QOS`].
pub fn to_yaml(offered: &[Qos]) -> Result<String> {
    const USUAL_DEPTH: u32 = 8;
    let number = |condition: bool, yes: i64, no: i64| Policy::Number(if condition { yes } else { no });
    let profiles: Vec<Profile> = offered
        .iter()
        .map(|qos| Profile {
            history: number(qos.keep_all, 2, 1),
            depth: match (qos.keep_all, qos.depth) {
                (true, _) => 0,
                (false, 0) => USUAL_DEPTH.into(),
                (false, depth) => depth.into(),
            },
            reliability: number(qos.reliable, 1, 2),
            durability: number(qos.transient_local, 1, 2),
            deadline: Time::new(qos.deadline),
            lifespan: Time::new(qos.lifespan),
            liveliness: number(qos.manual_by_topic, 3, 1),
            liveliness_lease_duration: Time::new(qos.lease),
            avoid_ros_namespace_conventions: false,
        })
        .collect();
    serde_norway::to_string(&profiles).map_err(|why| BagError::new(format!("quality of service cannot be written as YAML: {why}")))
}

/// What one publisher is to offer so that all are connected to it who were to one of these. Where there is none, as in bags of ROS 1, nobody who wants all is to miss any.
pub fn from_yaml(text: &str) -> Result<Qos> {
    let complaint = |why: &str| BagError::new(format!("the quality of service cannot be read: {why}"));
    if text.len() > LONGEST {
        return Err(complaint("it is too long"));
    }
    if text.trim().is_empty() {
        return Ok(unknown());
    }
    let profiles: Vec<Profile> = serde_norway::from_str(text).map_err(|why| complaint(&why.to_string()))?;
    Ok(profiles.iter().map(Profile::qos).reduce(stronger).unwrap_or_else(unknown))
}

fn unknown() -> Qos {
    Qos::reliable()
}

impl Profile {
    fn qos(&self) -> Qos {
        const DEEPEST: u64 = 512;
        let keep_all = self.history.is(2, "keep_all");
        let lease = self.liveliness_lease_duration.duration();
        Qos {
            depth: match (keep_all, self.depth) {
                (true, _) => 0,
                (false, 0) => Qos::default().depth, // that of the system, in ROS 2
                (false, depth) => depth.min(DEEPEST) as u32,
            },
            keep_all,
            reliable: self.reliability.is(1, "reliable"),
            transient_local: self.durability.is(1, "transient_local"),
            // Who may be silent for ever shows nothing, and sinew has no such publisher.
            manual_by_topic: lease.is_some() && self.liveliness.is(3, "manual_by_topic"),
            deadline: self.deadline.duration(),
            lifespan: self.lifespan.duration(),
            lease,
        }
    }
}

/// What offers enough for those to whom one or the other does.
pub fn stronger(one: Qos, other: Qos) -> Qos {
    let shorter = |one: Option<Duration>, other: Option<Duration>| one.into_iter().chain(other).min();
    let keep_all = one.keep_all || other.keep_all;
    Qos {
        depth: if keep_all { 0 } else { one.depth.max(other.depth) },
        keep_all,
        reliable: one.reliable || other.reliable,
        transient_local: one.transient_local || other.transient_local,
        manual_by_topic: one.manual_by_topic || other.manual_by_topic,
        deadline: shorter(one.deadline, other.deadline),
        lifespan: one.lifespan.zip(other.lifespan).map(|(one, other)| one.max(other)),
        lease: shorter(one.lease, other.lease),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_again() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for qos in [
            Qos::keep_last(3),
            Qos { transient_local: true, ..Qos::reliable() },
            Qos { manual_by_topic: true, deadline: seconds(1), lifespan: seconds(2), lease: seconds(3), ..Qos::keep_last(512) },
        ] {
            assert_eq!(from_yaml(&to_yaml(std::slice::from_ref(&qos)).unwrap()), Ok(qos));
        }
    }

    #[test]
    fn it_is_written_as_rosbag2_does() {
        let infinite = "    sec: 9223372036\n    nsec: 854775807\n";
        let expected = format!(
            "- history: 1\n  depth: 8\n  reliability: 2\n  durability: 1\n  deadline:\n{infinite}  lifespan:\n{infinite}  liveliness: 1\n  liveliness_lease_duration:\n{infinite}  avoid_ros_namespace_conventions: false\n"
        );
        assert_eq!(to_yaml(&[Qos { transient_local: true, ..Qos::default() }]).unwrap(), expected);
    }

    #[test]
    fn words_of_later_versions_are_read_too() {
        let time = "{sec: 2147483647, nsec: 4294967295}";
        let text = format!(
            "- {{history: keep_all, depth: 0, reliability: reliable, durability: volatile, deadline: {time}, lifespan: {time}, liveliness: automatic, liveliness_lease_duration: {time}, avoid_ros_namespace_conventions: false}}"
        );
        assert_eq!(from_yaml(&text), Ok(Qos::reliable()));
    }

    #[test]
    fn a_depth_of_nothing_is_the_usual_one() {
        let text = to_yaml(&[Qos::default()]).unwrap().replace("depth: 8", "depth: 0");
        assert_eq!(from_yaml(&text), Ok(Qos::default()));
    }

    #[test]
    fn who_may_be_silent_for_ever_need_not_show_that_it_is_alive() {
        let of = |lease: &str| {
            let time = "{sec: 9223372036, nsec: 854775807}";
            let text = format!(
                "- {{history: 2, depth: 0, reliability: 1, durability: 2, deadline: {time}, lifespan: {time}, liveliness: 3, liveliness_lease_duration: {lease}}}"
            );
            from_yaml(&text).unwrap()
        };
        for none in ["{sec: 9223372036, nsec: 854775807}", "{sec: 2147483647, nsec: 4294967295}", "{sec: 0, nsec: 0}"] {
            assert_eq!(of(none), Qos::reliable());
        }
        assert_eq!(of("{sec: 2, nsec: 0}"), Qos { manual_by_topic: true, lease: Some(Duration::from_secs(2)), ..Qos::reliable() });
    }

    #[test]
    fn who_was_connected_to_one_publisher_is_connected_to_the_one_that_stands_for_all() {
        let (one, other) = (Qos { reliable: true, ..Qos::keep_last(1) }, Qos { transient_local: true, ..Qos::keep_last(5) });
        let both = from_yaml(&to_yaml(&[one, other]).unwrap()).unwrap();
        assert_eq!(both, Qos { reliable: true, transient_local: true, ..Qos::keep_last(5) });
    }

    #[test]
    fn what_is_none_is_an_error_and_nothing_is_reliable() {
        assert_eq!((from_yaml(""), from_yaml("[]")), (Ok(unknown()), Ok(unknown())));
        for text in ["7", "- history: [1]", "- {history: 1}", "&a [*a]", "\u{0}"] {
            assert!(from_yaml(text).is_err(), "{text}");
        }
    }
}
