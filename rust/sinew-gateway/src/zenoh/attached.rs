//! What stands beside the payload of a message or a call, as its attachment (spec/zenoh.md, Z2 to Z4). Pure.
//!
//! Integers are little-endian; a text is a `u32` and so many bytes of UTF-8. An attachment begins with "SINEW", its version (`u8`), which is 1, and its kind (`u8`): 0 for a message, 1 for a call, 2 for the end of one. Those of other programs, which begin otherwise, mean nothing here. What is decoded comes from strangers.

use crate::protocol::{Decoded, Fields, Offer, put_string, violation};

const MAGIC: &[u8; 5] = b"SINEW";
const VERSION: u8 = 1;
/// Bytes of the name of a type, as in a domain.
const MOST: usize = 255;

/// By which a call is known.
pub type CallId = [u8; 16];

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attached {
    /// Beside the stream of a message.
    Message(Message),
    /// Beside the request of a call.
    Call(Call),
    /// Of a call that nobody waits for any more.
    Cancel(CallId),
}

/// A type, by what two ends have to agree on, and its name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeTag {
    /// [`sinew::msg::Type::hash`].
    pub hash: [u8; 16],
    /// Longer ones are cut.
    pub name: String,
}

/// Where a message is from, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its type.
    pub ty: TypeTag,
    /// As in G20: the same wherever and whenever the message is sent.
    pub origin: u64,
    /// The channel that sends it, drawn by lot.
    pub source: u64,
    /// The channel's count, from 1, of those that it has sent or lost. 0: the message is not counted, as it was asked for.
    pub sequence: u64,
    /// It was published before it was known that somebody wants it.
    pub is_kept: bool,
    /// What its publishers offer.
    pub offer: Offer,
    /// (Z10)
    pub clock: i64,
}

/// Of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Drawn by lot.
    pub id: CallId,
    /// Of the request.
    pub request: TypeTag,
    /// That the response is to have.
    pub response: TypeTag,
    /// (Z10)
    pub clock: i64,
}

impl Attached {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        match self {
            Attached::Message(message) => {
                bytes.push(0);
                message.ty.encode(&mut bytes);
                for number in [message.origin, message.source, message.sequence] {
                    bytes.extend(number.to_le_bytes());
                }
                bytes.push(u8::from(message.is_kept));
                message.offer.encode(&mut bytes);
                bytes.extend(message.clock.to_le_bytes());
            }
            Attached::Call(call) => {
                bytes.push(1);
                bytes.extend(call.id);
                call.request.encode(&mut bytes);
                call.response.encode(&mut bytes);
                bytes.extend(call.clock.to_le_bytes());
            }
            Attached::Cancel(id) => {
                bytes.push(2);
                bytes.extend(id);
            }
        }
        bytes
    }

    /// From bytes. None: it is another program's.
    pub fn decode(bytes: &[u8]) -> Decoded<Option<Attached>> {
        let Some(bytes) = bytes.strip_prefix(MAGIC) else { return Ok(None) };
        let mut fields = Fields(bytes);
        match fields.u8()? {
            VERSION => {}
            other => return violation(format!("an attachment of version {other}, where {VERSION} is known")),
        }
        let attached = match fields.u8()? {
            0 => Attached::Message(Message {
                ty: TypeTag::decode(&mut fields)?,
                origin: fields.u64()?,
                source: fields.u64()?,
                sequence: fields.u64()?,
                is_kept: fields.bool()?,
                offer: Offer::decode(&mut fields)?,
                clock: fields.i64()?,
            }),
            1 => Attached::Call(Call {
                id: fields.id()?,
                request: TypeTag::decode(&mut fields)?,
                response: TypeTag::decode(&mut fields)?,
                clock: fields.i64()?,
            }),
            2 => Attached::Cancel(fields.id()?),
            other => return violation(format!("an attachment of the kind {other}")),
        };
        fields.end()?;
        Ok(Some(attached))
    }
}

impl TypeTag {
    /// Of a type.
    pub fn of(ty: &sinew::msg::Type) -> TypeTag {
        let mut name = ty.name();
        let end = (0..=name.len().min(MOST)).rev().find(|at| name.is_char_boundary(*at)).unwrap_or_default();
        name.truncate(end);
        TypeTag { hash: ty.hash(), name }
    }

    fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.hash);
        put_string(into, &self.name);
    }

    fn decode(fields: &mut Fields<'_>) -> Decoded<TypeTag> {
        Ok(TypeTag { hash: fields.id()?, name: fields.string(MOST)? })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn all() -> [Attached; 3] {
        let ty = |name: &str| TypeTag { hash: [7; 16], name: name.to_owned() };
        let offer = Offer { depth: 5, reliable: true, lifespan: Some(Duration::from_secs(2)), ..Offer::default() };
        [
            Attached::Message(Message { ty: ty("robot/Image"), origin: u64::MAX, source: 3, sequence: 9, is_kept: true, offer, clock: -1 }),
            Attached::Call(Call { id: [1; 16], request: ty("a/Request"), response: ty(""), clock: 8 }),
            Attached::Cancel([2; 16]),
        ]
    }

    #[test]
    fn what_was_encoded_is_decoded_and_no_part_of_it_is() {
        for attached in all() {
            let bytes = attached.encode();
            assert_eq!(Attached::decode(&bytes), Ok(Some(attached)));
            for end in MAGIC.len()..bytes.len() {
                assert!(Attached::decode(&bytes[..end]).is_err(), "{end} bytes of {}", bytes.len());
            }
            assert!(Attached::decode(&[bytes, vec![0]].concat()).is_err());
        }
    }

    #[test]
    fn what_later_versions_say_is_told_as_such() {
        let error = Attached::decode(b"SINEW\x02\x00").expect_err("it is not known");
        assert_eq!(error.0, "an attachment of version 2, where 1 is known");
        assert!(Attached::decode(b"SINEW\x01\x03").is_err());
    }

    #[test]
    fn attachments_of_other_programs_are_none() {
        for bytes in [b"".as_slice(), b"SINE", b"\x01\x02\x03", b"sinew\x01"] {
            assert_eq!(Attached::decode(bytes), Ok(None));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn no_bytes_crash_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0..3_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let _ = Attached::decode(&bytes);
            let mut nearly = all()[which].encode();
            let at = at.index(nearly.len());
            nearly[at] = byte;
            if let Ok(Some(attached)) = Attached::decode(&nearly) {
                prop_assert_eq!(attached.encode(), nearly);
            }
        }
    }
}
