//! Who is only there as long as others are.

use std::fmt;

use sinew_sys as sys;

/// Whether a publisher, a subscriber, a client or a provider is there for its own sake, or only as long as others are: for tools and gateways, which look at topics and must not keep them. A ghost on a topic that is not there
/// is refused with [`ErrorKind::Unavailable`](crate::ErrorKind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ghost {
    /// It is none: it is there for its own sake.
    #[default]
    No,
    /// It carries messages into the domain and out of it, as gateways and bridges do. It meets no other carrier, so that what one has brought in none takes out again.
    Carrier,
    /// It looks at what there is, as tools do, also at what carriers bring; no gateway brings a topic for it. What it publishes gateways take out, as that of others.
    Observer,
}

impl fmt::Display for Ghost {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Ghost::No => "no",
            Ghost::Carrier => "carrier",
            Ghost::Observer => "observer",
        })
    }
}

impl Ghost {
    pub(crate) fn in_c(self) -> u8 {
        let ghost = match self {
            Ghost::No => sys::SINEW_GHOST_NO,
            Ghost::Carrier => sys::SINEW_GHOST_CARRIER,
            Ghost::Observer => sys::SINEW_GHOST_OBSERVER,
        };
        ghost as u8
    }

    /// Of what the library tells.
    pub(crate) fn told(ghost: u8) -> Ghost {
        match u32::from(ghost) {
            sys::SINEW_GHOST_CARRIER => Ghost::Carrier,
            sys::SINEW_GHOST_OBSERVER => Ghost::Observer,
            _ => Ghost::No,
        }
    }
}
