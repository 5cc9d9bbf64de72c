//! What a domain has, for somebody in another one who wants to know (G33, G34).

use super::bytes::{Fields, put_string};
use super::control::interface;
use super::{Decoded, Kind, Offer, violation};

/// (G33) The first byte of a stream that asks for it.
pub const LOOK_STREAM: u8 = 4;
/// (G34) Bytes of a catalogue at most, unpacked.
pub const MAX_CATALOGUE: usize = 4 << 20;
/// (G34) Entries of one at most.
const MAX_ENTRIES: usize = 4096;

/// A topic or service that a domain has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Had {
    /// Of which.
    pub kind: Kind,
    /// Of the topic or service.
    pub name: String,
    /// The type of the topic, or of the service's requests.
    pub signature: String,
    /// The type of the service's responses.
    pub response: String,
    /// What its publishers offer.
    pub offer: Offer,
}

impl Had {
    /// All of them, one behind the other. What does not fit is left out.
    pub fn encode_all(had: &[Had]) -> Vec<u8> {
        let mut out = Vec::new();
        for had in had.iter().take(MAX_ENTRIES) {
            let begin = out.len();
            out.push(had.kind as u8);
            for text in [&had.name, &had.signature, &had.response] {
                put_string(&mut out, text);
            }
            had.offer.encode(&mut out);
            if out.len() > MAX_CATALOGUE {
                out.truncate(begin);
                break;
            }
        }
        out
    }

    /// All that there are.
    pub fn decode_all(bytes: &[u8]) -> Decoded<Vec<Had>> {
        let mut fields = Fields(bytes);
        let mut all = Vec::new();
        while !fields.0.is_empty() {
            if all.len() == MAX_ENTRIES {
                return violation(format!("a catalogue of more than {MAX_ENTRIES} entries"));
            }
            let (kind, name, signature, response, offer) = interface(&mut fields)?;
            all.push(Had { kind, name, signature, response, offer });
        }
        Ok(all)
    }
}
