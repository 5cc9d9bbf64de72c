//! What goes over between this domain and one peer.
//!
//! | file | what is there |
//! | --- | --- |
//! | `ledger` | which channels are wanted and open; pure |
//! | `asked` | messages that others have brought into this domain, to be sent onward |
//! | `outlet`, `taking` | messages of this domain on their way to the peer |
//! | `inlet`, `turns`, `received`, `gathering`, `ghost`, `meeting` | messages of the peer on their way into this domain |
//! | `times` | times of actions that come, by the clock of the peer's machine |
//! | `calls/` | services: those that are called here and provided there, and the other way round |

mod asked;
mod calls;
mod gathering;
mod ghost;
mod inlet;
mod ledger;
mod meeting;
mod origin;
mod outlet;
mod received;
mod room;
mod taking;
pub(crate) mod times;
mod turns;

pub use asked::{Asked, Asking};
pub use calls::{Memory, Provided, Served};
pub use inlet::{Inlet, Ordered};
pub use ledger::{Act, Ending, Ledger, State};
pub use outlet::{Outlet, Supply, Taken};
pub use received::Received;
pub use taking::LeftOff;
pub(crate) use {
    calls::Counts,
    gathering::rest,
    ghost::{ghost, is_held_back},
    meeting::Meeting,
    outlet::{DEEPEST, Reading, published},
};
#[cfg(feature = "zenoh")]
pub(crate) use {
    origin::Recent,
    outlet::{outgoing, parts_of},
};
