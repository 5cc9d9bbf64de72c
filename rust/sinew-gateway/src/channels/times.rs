//! Times of actions ([A2](../../../../spec/actions.md)) that come from another machine, and are by its clock (G45, Z10).

use crate::protocol::Kind;
use crate::ros2::action::{Clock, Part};

/// Behind the encapsulation, which is what alignment counts from.
const BEGIN: usize = 4;
/// `sent_at` of a goal and of a wish, behind the id.
const SENT_AT: usize = 16;
/// `ended_at` of what a goal is answered with, behind the state, the server and the last feedback's number.
const ENDED_AT: usize = 24;
/// Bytes of an id.
const ID: usize = 16;

/// What the clock here says: nanoseconds of CLOCK_MONOTONIC.
pub fn now() -> i64 {
    Clock::now().monotonic()
}

/// Nanoseconds that it says more than another one, which says this now.
pub fn ahead_of(clock: i64) -> i64 {
    now().saturating_sub(clock)
}

/// What a topic, or a service with such requests, has to do with an action, if there are times in it.
pub fn part_of(kind: Kind, name: &str, signature: &str) -> Option<Part> {
    let (_, part) = Part::of(name, signature)?;
    let of_part = if part == Part::Goals { Kind::Service } else { Kind::Topic };
    (part != Part::Feedback && kind == of_part).then_some(part)
}

/// A goal, a wish or a status from where the clock says `ahead` ns less than here.
pub fn shift(part: Part, stream: &mut [u8], ahead: i64) {
    match part {
        Part::Goals | Part::Cancel => change(stream, SENT_AT, |time| time.saturating_add(ahead)),
        Part::Status => shift_statuses(stream, ahead),
        Part::Feedback => {}
    }
}

/// What a goal is answered with, likewise.
pub fn shift_answer(stream: &mut [u8], ahead: i64) {
    change(stream, ENDED_AT, |time| time.saturating_add(ahead));
}

/// The same, where nothing is known of the clock there: it has ended now.
#[cfg(feature = "zenoh")]
pub fn date_answer(stream: &mut [u8]) {
    change(stream, ENDED_AT, |_| now());
}

fn shift_statuses(stream: &mut [u8], ahead: i64) {
    let mut at = size_of::<u32>();
    // Each begins with an id, and ends with a state of one byte. How many there are the length says, too.
    while BEGIN + at + ID < stream.len() {
        let accepted_at = (at + ID).next_multiple_of(size_of::<i64>());
        change(stream, accepted_at, |time| time.saturating_add(ahead));
        at = accepted_at + size_of::<i64>() + 1;
    }
}

/// What has no such place stays as it is: whoever reads it finds that it is no such message.
fn change(stream: &mut [u8], at: usize, changed: impl FnOnce(i64) -> i64) {
    let is_big = stream.get(1) == Some(&0);
    let Some(time) = stream.get_mut(BEGIN + at..).and_then(|rest| rest.first_chunk_mut()) else { return };
    let read = if is_big { i64::from_be_bytes } else { i64::from_le_bytes };
    let changed = changed(read(*time));
    *time = if is_big { changed.to_be_bytes() } else { changed.to_le_bytes() };
}

#[cfg(test)]
mod tests {
    use sinew::msg::value::Value;

    use super::*;

    const GOAL: &str = "sinew/ActionGoal<a/B>{id:uint8[16];sent_at:int64;goal:a/B{x:string;};}";
    const ANSWER: &str = "sinew/GoalResult<a/B>{state:sinew/GoalState(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:a/B{x:string;};text:string;}";
    const STATUS: &str = "sinew/ActionStatus{goals:sinew/GoalStatus{id:uint8[16];accepted_at:int64;state:sinew/GoalState(uint8);}[];}";
    const CANCEL: &str = "sinew/ActionCancel{id:uint8[16];sent_at:int64;}";
    const AN_ID: &str = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]";

    fn stream(signature: &str, json: &str) -> Vec<u8> {
        Value::from_json(json).unwrap().to_stream(&signature.parse().unwrap()).unwrap()
    }

    #[test]
    fn each_time_is_shifted_and_nothing_else() {
        let goal = |at: i64| stream(GOAL, &format!(r#"{{"id":{AN_ID},"sent_at":{at},"goal":{{"x":"y"}}}}"#));
        let wish = |at: i64| stream(CANCEL, &format!(r#"{{"id":{AN_ID},"sent_at":{at}}}"#));
        let answer = |at: i64| {
            stream(ANSWER, &format!(r#"{{"state":4,"server":5,"last_feedback":6,"ended_at":{at},"result":{{"x":"y"}},"text":"z"}}"#))
        };
        let status = |times: &[i64]| {
            let goals: Vec<_> = times.iter().map(|at| format!(r#"{{"id":{AN_ID},"accepted_at":{at},"state":4}}"#)).collect();
            stream(STATUS, &format!(r#"{{"goals":[{}]}}"#, goals.join(",")))
        };
        for (part, mut shifted, expected) in [
            (Part::Goals, goal(1000), goal(700)),
            (Part::Cancel, wish(5), wish(-295)),
            (Part::Cancel, wish(i64::MIN), wish(i64::MIN)),
            (Part::Status, status(&[]), status(&[])),
            (Part::Status, status(&[1, 2, 300]), status(&[-299, -298, 0])),
        ] {
            shift(part, &mut shifted, -300);
            assert_eq!(shifted, expected, "{part:?}");
        }
        let mut shifted = answer(1000);
        shift_answer(&mut shifted, 300);
        assert_eq!(shifted, answer(1300));
    }

    #[test]
    fn in_either_order_of_bytes() {
        let mut stream = [&[0, 0, 0, 0][..], &[7; 16], &1000_i64.to_be_bytes()].concat();
        shift(Part::Cancel, &mut stream, 24);
        assert_eq!(stream[20..], 1024_i64.to_be_bytes());
    }

    #[test]
    fn what_is_cut_off_stays_as_it_is() {
        for part in [Part::Goals, Part::Cancel, Part::Status] {
            for size in 0..28 {
                let mut stream = vec![1; size];
                shift(part, &mut stream, 1);
                shift_answer(&mut stream, 1);
                assert_eq!(stream, vec![1; size], "{part:?}");
            }
        }
    }

    #[test]
    fn only_what_belongs_to_an_action_has_times() {
        assert_eq!(part_of(Kind::Service, "arm/go/_action/goal", GOAL), Some(Part::Goals));
        assert_eq!(part_of(Kind::Topic, "arm/go/_action/cancel", CANCEL), Some(Part::Cancel));
        assert_eq!(part_of(Kind::Topic, "arm/go/_action/status", STATUS), Some(Part::Status));
        assert_eq!(part_of(Kind::Topic, "arm/go/_action/goal", GOAL), None);
        assert_eq!(part_of(Kind::Topic, "arm/go/_action/feedback", "sinew/ActionFeedback<a/B>{id:uint8[16];}"), None);
        assert_eq!(part_of(Kind::Topic, "arm/go", CANCEL), None);
    }
}
