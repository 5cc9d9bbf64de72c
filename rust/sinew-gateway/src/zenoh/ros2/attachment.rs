//! What stands beside the messages and calls of rmw_zenoh: 33 bytes. Pure.
//!
//! Two `i64`, little-endian, are the number of the message or call, from 1, and when it was published, in nanoseconds of the system clock; a byte says that 16 more follow, which are the gid of whoever sends it. What is decoded comes from strangers.

use twox_hash::XxHash3_128;

/// Bytes of an attachment.
const SIZE: usize = 33;
/// Of a gid, which stands before it.
const GID: usize = 16;

/// Who a publisher, a subscriber, a server or a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(pub [u8; GID]);

impl Gid {
    /// Of who has this token: XXH3 of its text, in 128 bits.
    pub fn of(token: &str) -> Gid {
        Gid(XxHash3_128::oneshot(token.as_bytes()).to_le_bytes())
    }
}

/// An attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Of the sender.
    pub sequence: i64,
    /// Since 1970.
    pub time_ns: i64,
    /// Of the sender; beside a reply, of the client that it is for.
    pub gid: Gid,
}

impl Attachment {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE);
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend(self.time_ns.to_le_bytes());
        bytes.push(GID as u8);
        bytes.extend(self.gid.0);
        bytes
    }

    /// From bytes. None: these are none of rmw_zenoh.
    pub fn decode(bytes: &[u8]) -> Option<Attachment> {
        let bytes: &[u8; SIZE] = bytes.try_into().ok()?;
        let number = |at: usize| i64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let attachment = Attachment { sequence: number(0), time_ns: number(8), gid: Gid(std::array::from_fn(|byte| bytes[17 + byte])) };
        (usize::from(bytes[16]) == GID && attachment.sequence >= 0).then_some(attachment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gid_is_that_of_whoever_computes_it_from_the_token() {
        // That of nothing is known to everybody.
        assert_eq!(u128::from_le_bytes(Gid::of("").0), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        // XXH3 computes each of these lengths in another way. Of libxxhash 0.8.1.
        for (length, hash) in [
            (5, 0x3ab1_59ce_d9a3_c63c_4c2d_b8c5_03b9_9b30),
            (40, 0xeec6_03cd_b14b_5bdd_004a_4498_4c60_3077),
            (200, 0xcffe_968d_25cc_79da_c865_4f5c_4603_4008),
            (300, 0x5e56_3f2c_b28d_2005_c1d1_7581_d8eb_7e21),
            (1500, 0xf3ed_3638_8eaa_d3d7_242a_2ef7_a240_7da1_u128),
        ] {
            assert_eq!(u128::from_le_bytes(Gid::of(&"a".repeat(length)).0), hash, "{length}");
        }
    }

    #[test]
    fn it_has_33_bytes_and_what_is_otherwise_is_none() {
        let attachment = Attachment { sequence: 1, time_ns: 0x0102_0304, gid: Gid(std::array::from_fn(|at| at as u8)) };
        let bytes = attachment.encode();
        let expected = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &[4, 3, 2, 1, 0, 0, 0, 0], &[16], &(0..16).collect::<Vec<u8>>()].concat();
        assert_eq!((bytes.as_slice(), Attachment::decode(&bytes)), (expected.as_slice(), Some(attachment)));
        let with = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            bytes
        };
        for other in [vec![], bytes[..32].to_vec(), [&bytes[..], &[0]].concat(), with(16, 15), with(7, 0x80), b"sequence_number".to_vec()] {
            assert_eq!(Attachment::decode(&other), None, "{other:?}");
        }
    }
}
