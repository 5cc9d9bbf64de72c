//! Telling the domain what its peers have.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sinew::raw::ProviderOptions;
use sinew::{Call, GatewayCatalogue, GatewayCatalogueRequest, GatewayEntry, GatewayPeerCatalogue, Node, Provider};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::peers::{Session, Shared};
use crate::protocol::Had;

/// How long a peer has to answer.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The service that tells it.
pub type Catalogue = Provider<GatewayCatalogueRequest, GatewayCatalogue>;

/// Provides it. Blocks until the manager has agreed; where it does not, that is logged, and nothing is told.
pub fn provide(node: &Node, shared: Arc<Shared>, runtime: Handle) -> Option<Catalogue> {
    let answer = move |call: Call<GatewayCatalogueRequest, GatewayCatalogue>| {
        let shared = Arc::clone(&shared);
        runtime.spawn(async move {
            let told = match call.request() {
                Ok(asked) => look(&shared, &asked.peer).await,
                Err(why) => {
                    let _ = call.fail(&why.to_string());
                    return;
                }
            };
            if let Err(why) = call.answer(&told) {
                log::debug!("what peers have could not be told: {why}");
            }
        });
    };
    let provided = Provider::new(node, &GatewayCatalogue::service(&node.name()), &ProviderOptions::default(), answer);
    provided.map_err(|why| log::warn!("what peers have is not told in the domain: {why}")).ok()
}

async fn look(shared: &Shared, name: &str) -> GatewayCatalogue {
    let sessions = shared.known.all();
    let asked = sessions.iter().filter(|session| name.is_empty() || session.hello.name == name).map(|session| look_at(session));
    let mut peers = join_all(asked).await;
    peers.sort_by(|a, b| a.name.cmp(&b.name));
    GatewayCatalogue { peers }
}

async fn look_at(session: &Session) -> GatewayPeerCatalogue {
    let told = timeout(PATIENCE, session.look()).await.ok().flatten();
    GatewayPeerCatalogue {
        name: session.hello.name.clone(),
        answered: told.is_some(),
        entries: told.unwrap_or_default().into_iter().map(entry).collect(),
    }
}

fn entry(had: Had) -> GatewayEntry {
    GatewayEntry {
        name: had.name,
        kind: had.kind.name().to_owned(),
        signature: had.signature,
        response: had.response,
        depth: had.offer.depth,
        reliable: had.offer.reliable,
        transient_local: had.offer.transient_local,
    }
}
