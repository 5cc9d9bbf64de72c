//! How requests and replies of services are told apart, in the two ways that implementations of ROS 2 have. Pure.

use super::guid::Identity;
use super::strangers::Convention;
use sinew::msg::encapsulation::ENCAPSULATION;
pub use sinew::msg::encapsulation::normalize;

/// Bytes that stand before a message where it is told within: a number of the client, and one of the call.
const HEADER: usize = 16;

/// Which call a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Told beside it.
    Beside(Identity),
    /// Told within: whose, and which.
    Within(u64, u64),
}

/// A message that came, as a stream of sinew, with the call that it belongs to where that is told within. None: it is no such message.
pub fn read(convention: Convention, mut message: Vec<u8>) -> Option<(Vec<u8>, Option<Call>)> {
    let (is_big, size) = normalize(&mut message)?;
    message.truncate(size);
    if convention == Convention::Beside {
        return Some((message, None));
    }
    let header = message.get(ENCAPSULATION..ENCAPSULATION + HEADER)?;
    let number = |at: usize| {
        let bytes = <[u8; 8]>::try_from(&header[at..at + 8]).ok()?;
        Some(if is_big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    };
    let call = Call::Within(number(0)?, number(8)?);
    message.drain(ENCAPSULATION..ENCAPSULATION + HEADER);
    Some((message, Some(call)))
}

/// What is to be sent, in its parts: a stream of sinew whose numbers begin with their least byte.
pub fn parts<'a, 's: 'a>(header: &'a [u8; HEADER], call: Call, stream: impl Iterator<Item = &'s [u8]>) -> Vec<&'a [u8]> {
    let stream: Vec<&'s [u8]> = stream.collect();
    let mut parts: Vec<&'a [u8]> = stream;
    if let (Call::Within(..), Some(first)) = (call, parts.first().copied())
        && let Some((encapsulation, rest)) = first.split_at_checked(ENCAPSULATION)
    {
        parts.splice(..1, [encapsulation, header, rest]);
    }
    parts
}

impl Call {
    /// What stands before a message. Of calls that are told beside, nothing that is used.
    pub fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        if let Call::Within(client, number) = self {
            header[..8].copy_from_slice(&client.to_le_bytes());
            header[8..].copy_from_slice(&number.to_le_bytes());
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: [u8; 4] = [0, 1, 0, 0];

    #[test]
    fn what_is_told_beside_is_the_message_alone() {
        let stream = [&LITTLE[..], &[7, 0, 0, 0]].concat();
        assert_eq!(read(Convention::Beside, stream.clone()), Some((stream.clone(), None)));
        let call = Call::Beside(Identity::default());
        assert_eq!(parts(&call.header(), call, [&stream[..]].into_iter()).concat(), stream);
    }

    #[test]
    fn what_is_told_within_stands_before_the_message_in_the_order_of_its_bytes() {
        let stream = [&LITTLE[..], &[7, 0, 0, 0]].concat();
        let call = Call::Within(0x0102, 3);
        let sent = parts(&call.header(), call, [&stream[..6], &stream[6..]].into_iter()).concat();
        assert_eq!(sent, [&LITTLE[..], &[2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], &[7, 0, 0, 0]].concat());
        assert_eq!(read(Convention::Within, sent), Some((stream, Some(call))));
        let big = [&[0u8; 4][..], &[0, 0, 0, 0, 0, 0, 1, 2], &[0, 0, 0, 0, 0, 0, 0, 3], &[9]].concat();
        assert_eq!(read(Convention::Within, big), Some((vec![0, 0, 0, 0, 9], Some(call))));
    }

    #[test]
    fn what_was_added_behind_a_message_is_not_kept() {
        assert_eq!(read(Convention::Beside, vec![0, 1, 0, 3, 5, 0, 0, 0]), Some((vec![0, 1, 0, 0, 5], None)));
    }

    #[test]
    fn what_is_no_such_message_is_refused() {
        for message in [&[][..], &[0, 1, 0], &[0, 7, 0, 0], &[1, 0, 0, 0], &[0, 3, 0, 0, 1], &[0, 1, 0, 1]] {
            assert_eq!(read(Convention::Beside, message.to_vec()), None);
        }
        assert_eq!(read(Convention::Within, [&LITTLE[..], &[0; 15]].concat()), None);
    }
}
