//! Who was a peer once, and could not come now.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::Shared;
use crate::protocol::Closed;
use crate::security::Trusted;

/// Between two looks whether certificates have expired, or somebody came just before others were to be trusted.
const LOOK: Duration = Duration::from_secs(5);

/// Ends connections with those who are not trusted any more, until nobody says any more who is.
pub async fn expel(shared: Arc<Shared>, mut trusted: watch::Receiver<Trusted>) {
    loop {
        let now = trusted.borrow_and_update().clone();
        let sessions = shared.known.all();
        for session in sessions.iter().filter(|session| session.connection.close_reason().is_none()) {
            if let Err(why) = now.check(&session.connection, session.is_dialed) {
                log::warn!("the connection with {} is ended: {why}", session.shown());
                session.close(Closed::Untrusted, "");
            }
        }
        tokio::select! {
            changed = trusted.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}
