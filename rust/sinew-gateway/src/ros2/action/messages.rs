//! What is told about goals, here and there: streams of the one made into streams of the other. Pure.
//!
//! What comes from there was looked through before, so that it is of its type; what stands in the domain may be anything.

use std::ops::Range;

use sinew::msg::stream::{Malformed, Reader};
use sinew::msg::value::Value;
use sinew::msg::{Number, Type, schema, transcode};

use super::clock::{Clock, Stamp};

/// Drawn by who has sent it, the same here and there. Zeros are no goal's.
pub type GoalId = [u8; 16];

/// What has become of a goal. The numbers are the same here and there but for ACCEPTED, which there is none of here, and for REJECTED, which there is none of there.
pub mod state {
    /// Nobody knows it.
    pub const UNKNOWN: u8 = 0;
    pub const ACCEPTED: u8 = 1;
    pub const EXECUTING: u8 = 2;
    pub const CANCELLING: u8 = 3;
    pub const SUCCEEDED: u8 = 4;
    pub const ABORTED: u8 = 6;
    pub const REJECTED: u8 = 7;
}

/// A goal, as its server tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub id: GoalId,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub accepted_at: i64,
    pub state: u8,
}

const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];
/// Of a goal in a stream, wherever it is first.
const ID: Range<usize> = 4..20;
/// What stands between the id and a goal, or feedback, in the domain alone. Both begin where any number may stand, with and without.
const SENT_AT: Range<usize> = 20..28;
const COUNTED: Range<usize> = 20..36;
/// Bytes that feedback has more in the domain.
pub const MORE: usize = COUNTED.end - COUNTED.start;

// --- goals ---------------------------------------------------------------------------------------------------------------------------------

/// Of a goal that comes from there, and what the domain's servers are asked. None: it has no id.
pub fn goal_in(request: &[u8], sent_at: i64) -> Option<(GoalId, Vec<u8>)> {
    let (before, goal) = request.split_at_checked(ID.end)?;
    let id = id_in(before)?;
    let sent_at = if is_big(request) { sent_at.to_be_bytes() } else { sent_at.to_le_bytes() };
    Some((id, [before, &sent_at, goal].concat()))
}

/// What servers there are asked of what those here are, of a goal of this type.
pub fn goal_out<'a>(request: impl Iterator<Item = &'a [u8]>, goal: &Type) -> Vec<&'a [u8]> {
    without(request, SENT_AT, schema::padding(goal))
}

/// Whether a server has accepted a goal, and when.
pub fn accepted(is_accepted: bool, stamp: Stamp) -> Vec<u8> {
    let mut stream = [&ENCAPSULATION[..], &[u8::from(is_accepted)]].concat();
    put_stamp(&mut stream, stamp);
    stream
}

/// The other way round.
pub fn is_accepted(response: &[u8]) -> bool {
    Reader::new(&[response]).and_then(|mut reader| reader.bool()).unwrap_or(false)
}

// --- results -------------------------------------------------------------------------------------------------------------------------------

/// What there is to be asked for the result of a goal.
pub fn result_of(id: &GoalId) -> Vec<u8> {
    [&ENCAPSULATION[..], id].concat()
}

/// The goal whose result is asked for. None: it has no id.
pub fn id_in(request: &[u8]) -> Option<GoalId> {
    GoalId::try_from(request.get(ID)?).ok().filter(|id| *id != GoalId::default())
}

/// What has become of a goal, as it is told there, of a response of the domain with a result of this type.
pub fn result_out(mut reader: Reader<'_>, result: &Type) -> Result<Vec<u8>, Malformed> {
    let state = reader.number::<u8>()?;
    let (_server, _last_feedback, _ended_at): (u64, u64, i64) = (reader.number()?, reader.number()?, reader.number()?);
    let mut stream = [&ENCAPSULATION[..], &[state]].concat();
    transcode::append(&mut stream, &mut reader, result)?;
    stream.extend(schema::padding(result));
    Ok(stream)
}

/// Why there is no result, in a response of the domain with a result of this type.
pub fn text_of(mut reader: Reader<'_>, result: &Type) -> Result<String, Malformed> {
    let _state = reader.number::<u8>()?;
    let (_server, _last_feedback, _ended_at): (u64, u64, i64) = (reader.number()?, reader.number()?, reader.number()?);
    reader.skip_value(result)?;
    reader.text()
}

/// The other way round of [`result_out`]. `server` and `last_feedback` are what the domain was told with the feedback of the goal.
pub fn result_in(response: &[u8], result: &Type, server: u64, last_feedback: u64, ended_at: i64) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(&[response])?;
    let status = reader.number::<u8>()?;
    let (state, text) = match status {
        state::SUCCEEDED..=state::ABORTED => (status, if status == state::ABORTED { "the server there has aborted it" } else { "" }),
        _ => (state::ABORTED, "the server there does not know the goal any more"),
    };
    let mut stream = [&ENCAPSULATION[..], &[state]].concat();
    put(&mut stream, server.to_le_bytes());
    put(&mut stream, last_feedback.to_le_bytes());
    put(&mut stream, ended_at.to_le_bytes());
    transcode::append(&mut stream, &mut reader, result)?;
    put(&mut stream, (text.len() as u32 + 1).to_le_bytes());
    stream.extend(text.bytes().chain([0]));
    Ok(stream)
}

/// A response of this type, with this state and why there is no result: of the domain, or of there. None: none of its type can be made without one.
pub fn without_result(response: &Type, state: u8, text: &str) -> Option<Vec<u8>> {
    let fields: Vec<(String, Value)> = match response {
        Type::Structure(structure) if structure.field("text").is_some() => {
            vec![("state".to_owned(), Value::Integer(state.into())), ("text".to_owned(), Value::Text(text.to_owned()))]
        }
        _ => vec![("status".to_owned(), Value::Integer(state.into()))],
    };
    Value::Map(fields).to_stream(response).ok()
}

// --- feedback ------------------------------------------------------------------------------------------------------------------------------

/// Feedback as it is told there, of feedback of this type here.
pub fn feedback_out<'a>(message: impl Iterator<Item = &'a [u8]>, feedback: &Type) -> Vec<&'a [u8]> {
    without(message, COUNTED, schema::padding(feedback))
}

/// Makes feedback of the domain of what came from there, and stands [`MORE`] bytes behind the begin: whose it is. None: it has no id.
pub fn feedback_in(message: &mut [u8], server: u64, number: u64) -> Option<GoalId> {
    let came = message.get(MORE..)?;
    let (id, is_big) = (id_in(came)?, is_big(came));
    message.copy_within(MORE..MORE + ID.end, 0);
    let (server, number) = if is_big { (server.to_be_bytes(), number.to_be_bytes()) } else { (server.to_le_bytes(), number.to_le_bytes()) };
    message[COUNTED].copy_from_slice(&[server, number].concat());
    Some(id)
}

// --- how goals stand -----------------------------------------------------------------------------------------------------------------------

/// What a server of the domain has published about its goals.
pub fn statuses(mut reader: Reader<'_>) -> Result<Vec<Status>, Malformed> {
    let count = reader.count(&at_least(25))?;
    (0..count).map(|_| Ok(Status { id: id_of(&mut reader)?, accepted_at: reader.number()?, state: reader.number()? })).collect()
}

/// As it is told there.
pub fn status_out(reader: Reader<'_>, clock: &Clock) -> Result<Vec<u8>, Malformed> {
    let goals = statuses(reader)?;
    let mut stream = ENCAPSULATION.to_vec();
    put(&mut stream, (goals.len() as u32).to_le_bytes());
    for goal in &goals {
        stream.extend(goal.id);
        put_stamp(&mut stream, clock.stamp(goal.accepted_at));
        stream.push(goal.state);
    }
    Ok(stream)
}

/// The other way round.
pub fn status_in(message: &[u8], clock: &Clock) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(&[message])?;
    let count = reader.count(&at_least(25))?;
    let mut stream = ENCAPSULATION.to_vec();
    put(&mut stream, (count as u32).to_le_bytes()); // as it was read
    for _ in 0..count {
        let (id, stamp, state) = (id_of(&mut reader)?, stamp_of(&mut reader)?, reader.number::<u8>()?);
        stream.extend(id);
        put(&mut stream, clock.monotonic_of(stamp).to_le_bytes());
        stream.push(if state == state::ACCEPTED { state::EXECUTING } else { state });
    }
    Ok(stream)
}

/// What takes at least so many bytes in a stream.
fn at_least(bytes: u32) -> Type {
    Type::Array(Box::new(Type::Number(Number::Uint8)), bytes)
}

// --- wishes to cancel ----------------------------------------------------------------------------------------------------------------------

/// A wish, as the domain has it: of a goal, or, with zeros, of all that were sent until then.
pub fn wish(id: &GoalId, sent_at: i64) -> Vec<u8> {
    let mut stream = [&ENCAPSULATION[..], id].concat();
    put(&mut stream, sent_at.to_le_bytes());
    stream
}

/// What a wish, or a goal, of the domain begins with: of which goal it is, and when it was sent.
pub fn begin_of(mut reader: Reader<'_>) -> Result<(GoalId, i64), Malformed> {
    Ok((id_of(&mut reader)?, reader.number()?))
}

/// A wish, as servers there are asked: of a goal, of all that were accepted until a time, of both, or, with zeros in both, of all.
pub fn cancel(id: &GoalId, stamp: Stamp) -> Vec<u8> {
    let mut stream = [&ENCAPSULATION[..], id].concat();
    put_stamp(&mut stream, stamp);
    stream
}

/// The other way round.
pub fn cancel_of(request: &[u8]) -> Result<(GoalId, Stamp), Malformed> {
    let mut reader = Reader::new(&[request])?;
    Ok((id_of(&mut reader)?, stamp_of(&mut reader)?))
}

/// What became of a wish there, and of which goals.
pub fn cancelling(code: u8, goals: &[(GoalId, Stamp)]) -> Vec<u8> {
    let mut stream = [&ENCAPSULATION[..], &[code]].concat();
    put(&mut stream, (goals.len() as u32).to_le_bytes());
    for (id, stamp) in goals {
        stream.extend(id);
        put_stamp(&mut stream, *stamp);
    }
    stream
}

// --- parts of streams ----------------------------------------------------------------------------------------------------------------------

/// A stream without some bytes of it, and with others behind it.
fn without<'a>(stream: impl Iterator<Item = &'a [u8]>, gap: Range<usize>, behind: &'static [u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for part in stream {
        let end = begin + part.len();
        let within = |at: usize| at.clamp(begin, end) - begin;
        parts.extend([&part[..within(gap.start)], &part[within(gap.end)..]].into_iter().filter(|kept| !kept.is_empty()));
        begin = end;
    }
    parts.push(behind);
    parts
}

fn is_big(stream: &[u8]) -> bool {
    stream.get(1) == Some(&0)
}

fn id_of(reader: &mut Reader<'_>) -> Result<GoalId, Malformed> {
    let mut id = GoalId::default();
    id.copy_from_slice(&reader.elements::<u8>(16)?);
    Ok(id)
}

fn stamp_of(reader: &mut Reader<'_>) -> Result<Stamp, Malformed> {
    Ok(Stamp { sec: reader.number()?, nanosec: reader.number()? })
}

fn put_stamp(stream: &mut Vec<u8>, stamp: Stamp) {
    put(stream, stamp.sec.to_le_bytes());
    put(stream, stamp.nanosec.to_le_bytes());
}

/// A number, where it is aligned in the body.
fn put<const SIZE: usize>(stream: &mut Vec<u8>, number: [u8; SIZE]) {
    let body = stream.len() - ENCAPSULATION.len();
    stream.resize(ENCAPSULATION.len() + body.next_multiple_of(SIZE), 0);
    stream.extend(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: GoalId = [7; 16];
    const HEAD: [u8; 20] = [0, 1, 0, 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7];

    fn ty(signature: &str) -> Type {
        signature.parse().expect("it is a type")
    }

    fn made(signature: &str, json: &str) -> Vec<u8> {
        Value::from_json(json).expect("it is one").to_stream(&ty(signature)).expect("it is of the type")
    }

    const CLOCK_ID: &str = "[7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7]";

    #[test]
    fn a_goal_is_the_same_goal_there() {
        let here = "G{id:uint8[16];sent_at:int64;goal:B{x:float64;n:string;};}";
        let there = "G{id:uint8[16];goal:B{x:float64;n:string;};}";
        let goal = r#""goal":{"x":1.5,"n":"up"}"#;
        let (ours, theirs) =
            (made(here, &format!(r#"{{"id":{CLOCK_ID},"sent_at":9,{goal}}}"#)), made(there, &format!(r#"{{"id":{CLOCK_ID},{goal}}}"#)));
        assert_eq!(goal_in(&theirs, 9), Some((ID, ours.clone())));
        assert_eq!(goal_out([&ours[..15], &ours[15..25], &ours[25..]].into_iter(), &ty("B{x:float64;}")).concat(), theirs);
        assert_eq!(begin_of(Reader::new(&[&ours]).expect("it is a stream")), Ok((ID, 9)));
        assert_eq!(goal_in(&HEAD[..19], 9), None);
        assert_eq!(goal_in(&[0; 20], 9), None, "zeros are no goal's");
        // A goal of nothing is one byte to them.
        assert_eq!(goal_out([&[&HEAD[..], &[0; 8]].concat()[..]].into_iter(), &ty("B{}")).concat(), [&HEAD[..], &[0]].concat());
    }

    #[test]
    fn a_result_is_aligned_where_it_stands() {
        let result = "R{at:uint8;x:float64;n:string;}";
        let here = format!("G{{state:E(uint8);server:uint64;last_feedback:uint64;ended_at:int64;result:{result};text:string;}}");
        let there = format!("G{{status:uint8;result:{result};}}");
        let value = r#""result":{"at":3,"x":1.5,"n":"up"}"#;
        let theirs = made(&there, &format!(r#"{{"status":4,{value}}}"#));
        let ours = made(&here, &format!(r#"{{"state":4,"server":5,"last_feedback":6,"ended_at":7,{value},"text":""}}"#));
        assert_eq!(result_out(Reader::new(&[&ours]).expect("it is a stream"), &ty(result)), Ok(theirs.clone()));
        assert_eq!(result_in(&theirs, &ty(result), 5, 6, 7), Ok(ours));
        let unknown = without_result(&ty(&there), state::UNKNOWN, "").expect("it is one");
        let told = result_in(&unknown, &ty(result), 5, 0, 7).expect("it is one");
        let expected = r#"{"state":6,"server":5,"ended_at":7,"text":"the server there does not know the goal any more"}"#;
        assert_eq!(told, made(&here, expected));
        assert_eq!(without_result(&ty(&here), state::REJECTED, "no"), Some(made(&here, r#"{"state":7,"text":"no"}"#)));
    }

    #[test]
    fn feedback_is_told_without_its_number_and_gets_one() {
        let (here, there) =
            ("F{id:uint8[16];server:uint64;number:uint64;feedback:A{x:uint32;};}", "F{id:uint8[16];feedback:A{x:uint32;};}");
        let ours = made(here, &format!(r#"{{"id":{CLOCK_ID},"server":5,"number":6,"feedback":{{"x":9}}}}"#));
        let theirs = made(there, &format!(r#"{{"id":{CLOCK_ID},"feedback":{{"x":9}}}}"#));
        assert_eq!(feedback_out([&ours[..30], &ours[30..]].into_iter(), &ty("A{x:uint32;}")).concat(), theirs);
        let mut room = [&[0xff; MORE][..], &theirs].concat();
        assert_eq!(feedback_in(&mut room, 5, 6), Some(ID));
        assert_eq!(room, ours);
        assert_eq!(feedback_in(&mut [0; 35], 5, 6), None);
    }

    #[test]
    fn how_goals_stand_is_told_with_the_time_on_the_wall() {
        let here = "S{goals:G{id:uint8[16];accepted_at:int64;state:E(uint8);}[];}";
        let there = "S{status_list:G{goal_info:I{id:uint8[16];sec:int32;nanosec:uint32;};status:uint8;}[];}";
        let clock = Clock::now();
        let at = clock.monotonic();
        let Stamp { sec, nanosec } = clock.stamp(at);
        let two = |one: &dyn Fn(u8) -> String| format!("[{},{}]", one(2), one(6));
        let ours =
            made(here, &format!(r#"{{"goals":{}}}"#, two(&|state| format!(r#"{{"id":{CLOCK_ID},"accepted_at":{at},"state":{state}}}"#))));
        let info = format!(r#""goal_info":{{"id":{CLOCK_ID},"sec":{sec},"nanosec":{nanosec}}}"#);
        let theirs = made(there, &format!(r#"{{"status_list":{}}}"#, two(&|state| format!(r#"{{{info},"status":{state}}}"#))));
        assert_eq!(status_out(Reader::new(&[&ours]).expect("it is a stream"), &clock), Ok(theirs.clone()));
        assert_eq!(status_in(&theirs, &clock), Ok(ours));
        assert!(status_in(&theirs[..30], &clock).is_err());
    }

    #[test]
    fn wishes_are_told_as_each_side_has_them() {
        let stamp = Stamp { sec: 3, nanosec: 4 };
        assert_eq!(cancel_of(&cancel(&ID, stamp)), Ok((ID, stamp)));
        assert_eq!(begin_of(Reader::new(&[&wish(&ID, 5)]).expect("it is a stream")), Ok((ID, 5)));
        assert_eq!(wish(&ID, 5), [&HEAD[..], &[5, 0, 0, 0, 0, 0, 0, 0]].concat());
        let goals = "C{code:uint8;goals:I{id:uint8[16];sec:int32;nanosec:uint32;}[];}";
        let told = made(goals, &format!(r#"{{"code":1,"goals":[{{"id":{CLOCK_ID},"sec":3,"nanosec":4}}]}}"#));
        assert_eq!(cancelling(1, &[(ID, stamp)]), told);
        assert!(is_accepted(&accepted(true, stamp)) && !is_accepted(&accepted(false, stamp)) && !is_accepted(&[]));
        assert_eq!(id_in(&result_of(&ID)), Some(ID));
    }
}
