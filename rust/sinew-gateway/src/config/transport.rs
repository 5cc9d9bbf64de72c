//! `"transport"`, and what of a configuration does not fit it.

use super::node::Table;
use super::source::Outcome;
use super::{Transport, ros2, zenoh};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quic,
    Zenoh,
    Ros2,
}

const ALL: [(&str, Kind); 3] = [("quic", Kind::Quic), ("zenoh", Kind::Zenoh), ("ros2", Kind::Ros2)];

/// Which it is, with what it needs. What of the table does not fit it is refused.
pub fn read(table: &Table<'_>) -> Outcome<Transport> {
    let kind = table.read("transport", |node| node.one_of(&ALL))?.unwrap_or(Kind::Quic);
    for (name, other) in &ALL[1..] {
        if let Some(node) = table.get(name).filter(|_| *other != kind) {
            return Err(node.error(format!("'{name}' is for \"transport\": \"{name}\" alone: say that, too, or leave this out")));
        }
    }
    Ok(match kind {
        Kind::Quic => Transport::Quic,
        Kind::Zenoh => {
            without(table, zenoh::TAG, &zenoh::ELSEWHERE)?;
            Transport::Zenoh(table.read("zenoh", zenoh::zenoh)?.unwrap_or_default())
        }
        Kind::Ros2 => {
            without(table, ros2::TAG, &ros2::ELSEWHERE)?;
            Transport::Ros2(table.read("ros2", ros2::ros2)?.unwrap_or_default())
        }
    })
}

/// What a rule may not say with this transport.
pub fn shaping(table: &Table<'_>, transport: &Transport) -> Outcome<()> {
    match transport {
        Transport::Quic => Ok(()),
        Transport::Zenoh(_) => without(table, zenoh::TAG, &zenoh::SHAPED_ELSEWHERE),
        Transport::Ros2(_) => without(table, ros2::TAG, &ros2::SHAPED_ELSEWHERE),
    }
}

fn without(table: &Table<'_>, transport: &str, elsewhere: &[(&str, &str)]) -> Outcome<()> {
    for (key, instead) in elsewhere {
        if let Some(node) = table.get(key) {
            return Err(node.error(format!("'{key}' is not for \"transport\": \"{transport}\": {instead}")));
        }
    }
    Ok(())
}
