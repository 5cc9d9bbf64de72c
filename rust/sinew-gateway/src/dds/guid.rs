//! Who somebody is in DDS, and which message.

use std::fmt;

/// A participant, or one of its writers or readers: 12 bytes of the participant, and 4 of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// What all have in common that are of one participant.
    pub fn participant(&self) -> [u8; 12] {
        let mut prefix = [0; 12];
        prefix.copy_from_slice(&self.0[..12]);
        prefix
    }

    /// Nobody's.
    pub fn is_unknown(&self) -> bool {
        self.0 == [0; 16]
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(to, "{byte:02x}"))
    }
}

/// A message, by who has written it, and his number of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Of it.
    pub writer: Guid,
    /// From 1.
    pub number: u64,
}
