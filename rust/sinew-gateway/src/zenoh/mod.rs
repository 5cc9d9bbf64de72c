//! A Zenoh network in place of peers: topics and services of the domain as key expressions. The network as a whole is one peer, whose tag is `zenoh`.
//!
//! | file | what is there |
//! | --- | --- |
//! | `key`, `attached`, `due`, `qos` | names as key expressions, what stands beside payloads, what is to be open, priorities; pure |
//! | `network` | the session |
//! | `bridge`, `exchange` | a whole gateway, and its thread, which opens and closes what is to go over |
//! | `outlet`, `kept` | topics that go to the network, and what was kept of them, for those who ask |
//! | `inlet`, `delivery`, `waiting` | topics that come from it |
//! | `served`, `provided` | services that are called from there, and here |

mod attached;
mod bridge;
mod delivery;
mod due;
mod exchange;
mod inlet;
mod kept;
mod key;
mod network;
mod outlet;
mod provided;
mod qos;
mod served;
mod waiting;

use sinew::msg::Type;
use sinew::msg::stream::Reader;
use zenoh::bytes::ZBytes;

pub use bridge::Bridge;

/// Whether a payload is a stream of this type; else why not, as half a sentence. For what strangers send: sinew's own programs look again when they read it.
fn check(payload: &ZBytes, ty: &Type) -> Result<(), String> {
    let slices: Vec<&[u8]> = payload.slices().collect();
    let checked = Reader::new(&slices).and_then(|mut reader| {
        reader.skip_value(ty)?;
        reader.finish()
    });
    checked.map_err(|why| why.to_string())
}

/// What Zenoh says of an error, without the places in its source.
fn said(why: &zenoh::Error) -> String {
    let text = why.to_string();
    let mut parts = text.split(" at ");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(".rs:") {
            Some((_, behind)) => said += behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'),
            None => said.extend([" at ", part]),
        }
    }
    said.trim().to_owned()
}

/// The parts, joined, without a copy.
fn joined(parts: Vec<bytes::Bytes>) -> ZBytes {
    let mut writer = ZBytes::writer();
    for part in parts {
        writer.append(part.into());
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_error_of_zenoh_the_places_in_its_source_are_not_told() {
        let why: zenoh::Error = "No link [refused at /a/tcp.rs:105.] to tcp/a:1 at all at b.rs:7.".into();
        assert_eq!(said(&why), "No link [refused] to tcp/a:1 at all");
    }
}
