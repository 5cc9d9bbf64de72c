//! `"transport"`, and what of a configuration does not fit it.

use super::node::Table;
use super::source::Outcome;
use super::{Transport, ros1, ros2, zenoh};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quic,
    Zenoh,
    Ros2,
    Ros1,
}

const ALL: [(&str, Kind); 4] = [("quic", Kind::Quic), ("zenoh", Kind::Zenoh), ("ros2", Kind::Ros2), ("ros1", Kind::Ros1)];

/// Why no rule of a bridge says "onward": so nothing goes round in circles through a network that two domains have a bridge to (G38).
pub const STAYS: &str = "leave it out: a bridge takes to its network what nodes of the domain publish, and never what gateways and other bridges have brought there";

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
            Transport::Ros2(table.read("ros2", ros2::ros2)?.map_or_else(|| ros2::unsaid(table), Ok)?)
        }
        Kind::Ros1 => {
            without(table, ros1::TAG, &ros1::ELSEWHERE)?;
            Transport::Ros1(table.read("ros1", ros1::ros1)?.unwrap_or_default())
        }
    })
}

/// What a rule may not say with this transport.
pub fn shaping(table: &Table<'_>, transport: &Transport) -> Outcome<()> {
    match transport {
        Transport::Quic => Ok(()),
        Transport::Zenoh(_) => without(table, zenoh::TAG, &zenoh::SHAPED_ELSEWHERE),
        Transport::Ros2(_) => without(table, ros2::TAG, &ros2::SHAPED_ELSEWHERE),
        Transport::Ros1(_) => without(table, ros1::TAG, &ros1::SHAPED_ELSEWHERE),
    }
}

/// What a ruleset may not be for with this transport.
pub fn ruled(table: &Table<'_>, transport: &Transport) -> Outcome<()> {
    match transport {
        Transport::Quic | Transport::Zenoh(_) | Transport::Ros2(_) => Ok(()),
        Transport::Ros1(_) => without(table, ros1::TAG, &ros1::UNRULED),
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
