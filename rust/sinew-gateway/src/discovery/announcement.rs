//! What gateways say of themselves on the local link (G28), as bytes.

use crate::protocol::GatewayId;

const MAGIC: [u8; 6] = *b"SINEW\x01";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    pub id: GatewayId,
    /// Of the QUIC endpoint.
    pub port: u16,
    pub leaving: bool,
}

impl Announcement {
    pub const SIZE: usize = 25;

    pub fn encode(&self) -> [u8; Announcement::SIZE] {
        let mut out = [0; Announcement::SIZE];
        out[..6].copy_from_slice(&MAGIC);
        out[6..22].copy_from_slice(&self.id);
        out[22..24].copy_from_slice(&self.port.to_le_bytes());
        out[24] = u8::from(self.leaving);
        out
    }

    /// None: it is something else.
    pub fn decode(datagram: &[u8]) -> Option<Announcement> {
        let rest = datagram.strip_prefix(&MAGIC)?;
        let (id, rest) = rest.split_first_chunk::<16>()?;
        let (port, rest) = rest.split_first_chunk::<2>()?;
        let port = u16::from_le_bytes(*port);
        match rest {
            [leaving @ (0 | 1)] if port != 0 => Some(Announcement { id: *id, port, leaving: *leaving == 1 }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_understood_and_nothing_else_is() {
        let said = Announcement { id: [7; 16], port: 0x1d27, leaving: true };
        let bytes = said.encode();
        assert_eq!(bytes, *b"SINEW\x01\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x27\x1d\x01");
        assert_eq!(Announcement::decode(&bytes), Some(said));
        for end in 0..bytes.len() {
            assert_eq!(Announcement::decode(&bytes[..end]), None);
        }
        assert_eq!(Announcement::decode(&[&bytes[..], &[0]].concat()), None);
        for (at, byte) in [(0, b's'), (5, 2), (24, 2)] {
            let mut other = bytes;
            other[at] = byte;
            assert_eq!(Announcement::decode(&other), None, "byte {at}");
        }
        assert_eq!(Announcement::decode(&Announcement { port: 0, ..said }.encode()), None);
    }
}
