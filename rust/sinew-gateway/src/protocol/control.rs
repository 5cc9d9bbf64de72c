//! Messages of the control stream.

use super::bytes::{Fields, put_string};
use super::{Decoded, GatewayId, Offer, violation};

/// (G7) Bytes of a message at most, its type included.
pub const MAX_CONTROL: usize = 131_072;
/// (G10), W7
const MAX_NAME: usize = 255;
const MAX_SIGNATURE: usize = 32_768;
const MAX_TEXT: usize = 16_384;

/// A message of the control stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Who speaks: the first message, and only that.
    Hello(Hello),
    /// (G13)
    Want(Want),
    /// (G13)
    Unwant {
        /// The want's.
        channel: u32,
    },
    /// (G14)
    Open {
        /// The want's.
        channel: u32,
        /// (G21)
        ordered: bool,
        /// (G37) The number behind which those of its messages begin.
        after: u64,
        /// What all of its publishers offer.
        offer: Offer,
    },
    /// (G35)
    Close {
        /// The want's.
        channel: u32,
        /// How far it went.
        end: End,
    },
    /// (G15)
    Refuse {
        /// The want's.
        channel: u32,
        /// In a word.
        reason: Refusal,
        /// For people.
        text: String,
    },
    /// (G4) The dialer keeps this connection.
    Ready,
    /// (G38)
    Onward {
        /// The want's.
        channel: u32,
    },
    /// (G40)
    Taken {
        /// The want's.
        channel: u32,
        /// Of the last message.
        sequence: u64,
    },
    /// (G47)
    Anew {
        /// The want's.
        channel: u32,
    },
    /// (G48)
    Forgotten,
}

/// How far a channel went, by the numbers of its messages (G20); 0 is none. A channel of a service has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The last that was sent as a whole.
    pub sent: u64,
    /// The last that there was: what is behind `sent` was given up.
    pub last: u64,
}

/// Who a gateway is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Of the protocol.
    pub version: u32,
    /// (G3)
    pub id: GatewayId,
    /// For people.
    pub name: String,
    /// What the peer's rules may be chosen by.
    pub tag: String,
    /// (G5)
    pub node: String,
    /// (G11)
    pub compression: u8,
    /// (G11)
    pub max_message: u64,
    /// (G45)
    pub clock: i64,
}

/// A topic or service that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// A number that the sender has not used before.
    pub channel: u32,
    /// Of which.
    pub kind: Kind,
    /// Of the topic or service.
    pub name: String,
    /// The type of the topic, or of the service's requests.
    pub signature: String,
    /// The type of the service's responses.
    pub response: String,
    /// What its subscribers ask for.
    pub offer: Offer,
}

/// What a channel is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Messages go from its publishers to its subscribers.
    Topic,
    /// Requests go from its clients to its provider, and answers back.
    Service,
}

/// Why a channel is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The peer has it with another type.
    Type,
    /// The peer has too many channels.
    Room,
    /// The peer's domain does not let its gateway.
    Domain,
}

impl Kind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Topic => "topic",
            Kind::Service => "service",
        }
    }
}

impl Control {
    /// From what follows the length of a message. None: it is of a type that a later version may have (G8).
    pub fn decode(message: &[u8]) -> Decoded<Option<Control>> {
        let mut fields = Fields(message);
        let control = match fields.u8()? {
            1 => Control::Hello(Hello::decode(&mut fields)?),
            2 => Control::Want(Want::decode(&mut fields)?),
            3 => Control::Unwant { channel: fields.u32()? },
            4 => {
                Control::Open { channel: fields.u32()?, ordered: fields.bool()?, after: fields.u64()?, offer: Offer::decode(&mut fields)? }
            }
            5 => Control::Close { channel: fields.u32()?, end: End::decode(&mut fields)? },
            6 => Control::Refuse { channel: fields.u32()?, reason: Refusal::decode(fields.u8()?)?, text: fields.string(MAX_TEXT)? },
            7 => Control::Ready,
            8 => Control::Onward { channel: fields.u32()? },
            9 => Control::Taken { channel: fields.u32()?, sequence: fields.u64()? },
            10 => Control::Anew { channel: fields.u32()? },
            11 => Control::Forgotten,
            0 => return violation("a control message of type 0"),
            _ => return Ok(None),
        };
        fields.end()?;
        Ok(Some(control))
    }

    /// With its length. Texts that are too long are cut.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        match self {
            Control::Hello(hello) => {
                out.push(1);
                hello.encode(&mut out);
            }
            Control::Want(want) => {
                out.push(2);
                want.encode(&mut out);
            }
            Control::Unwant { channel } => {
                out.push(3);
                out.extend(channel.to_le_bytes());
            }
            Control::Open { channel, ordered, after, offer } => {
                out.push(4);
                out.extend(channel.to_le_bytes());
                out.push(u8::from(*ordered));
                out.extend(after.to_le_bytes());
                offer.encode(&mut out);
            }
            Control::Close { channel, end } => {
                out.push(5);
                out.extend(channel.to_le_bytes());
                out.extend(end.sent.to_le_bytes());
                out.extend(end.last.to_le_bytes());
            }
            Control::Refuse { channel, reason, text } => {
                out.push(6);
                out.extend(channel.to_le_bytes());
                out.push(*reason as u8 + 1);
                put_string(&mut out, cut(text, MAX_TEXT));
            }
            Control::Ready => out.push(7),
            Control::Onward { channel } => {
                out.push(8);
                out.extend(channel.to_le_bytes());
            }
            Control::Taken { channel, sequence } => {
                out.push(9);
                out.extend(channel.to_le_bytes());
                out.extend(sequence.to_le_bytes());
            }
            Control::Anew { channel } => {
                out.push(10);
                out.extend(channel.to_le_bytes());
            }
            Control::Forgotten => out.push(11),
        }
        let size = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&size.to_le_bytes());
        out
    }
}

fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

impl End {
    fn decode(fields: &mut Fields<'_>) -> Decoded<End> {
        let end = End { sent: fields.u64()?, last: fields.u64()? };
        if end.sent > end.last {
            return violation(format!("a channel whose message {} was sent, and that ended with message {}", end.sent, end.last));
        }
        Ok(end)
    }
}

impl Hello {
    fn decode(fields: &mut Fields<'_>) -> Decoded<Hello> {
        Ok(Hello {
            version: fields.u32()?,
            id: fields.id()?,
            name: fields.string(MAX_NAME)?,
            tag: fields.string(MAX_NAME)?,
            node: fields.string(MAX_NAME)?,
            compression: fields.u8()?,
            max_message: fields.u64()?,
            clock: fields.i64()?,
        })
    }

    fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.version.to_le_bytes());
        into.extend(self.id);
        for text in [&self.name, &self.tag, &self.node] {
            put_string(into, cut(text, MAX_NAME));
        }
        into.push(self.compression);
        into.extend(self.max_message.to_le_bytes());
        into.extend(self.clock.to_le_bytes());
    }
}

/// (G12) Kind, name, both types, and what is offered or asked for.
pub(super) fn interface(fields: &mut Fields<'_>) -> Decoded<(Kind, String, String, String, Offer)> {
    let kind = match fields.u8()? {
        0 => Kind::Topic,
        1 => Kind::Service,
        other => return violation(format!("something of the unknown kind {other}")),
    };
    let name = fields.string(MAX_NAME)?;
    let (signature, response) = (fields.string(MAX_SIGNATURE)?, fields.string(MAX_SIGNATURE)?);
    if name.is_empty() {
        return violation("a topic or service without a name");
    }
    if kind == Kind::Topic && !response.is_empty() {
        return violation(format!("the topic '{name}' with a type of responses"));
    }
    Ok((kind, name, signature, response, Offer::decode(fields)?))
}

impl Want {
    fn decode(fields: &mut Fields<'_>) -> Decoded<Want> {
        let channel = fields.u32()?;
        let (kind, name, signature, response, offer) = interface(fields)?;
        Ok(Want { channel, kind, name, signature, response, offer })
    }

    fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.channel.to_le_bytes());
        into.push(self.kind as u8);
        for text in [&self.name, &self.signature, &self.response] {
            put_string(into, text);
        }
        self.offer.encode(into);
    }
}

impl Refusal {
    fn decode(reason: u8) -> Decoded<Refusal> {
        match reason {
            1 => Ok(Refusal::Type),
            2 => Ok(Refusal::Room),
            3 => Ok(Refusal::Domain),
            other => violation(format!("a refusal for the unknown reason {other}")),
        }
    }
}
