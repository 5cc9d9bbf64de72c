//! Who is told of connections, in which order, and whatever becomes of those who serve them (G4).

mod common;

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use common::PATIENCE;
use common::stranger::{Stranger, hello, want};
use quinn::Endpoint;
use sinew_gateway::config::Security;
use sinew_gateway::lines::Lines;
use sinew_gateway::link::Budget;
use sinew_gateway::peers::{Known, PeerEvent, Shared, accept};
use sinew_gateway::protocol::{Control, Hello};
use sinew_gateway::security::Identity;

/// A gateway that tells of its connections, and where it listens.
fn telling(tell: impl Fn(PeerEvent) + Send + Sync + 'static) -> (Arc<Shared>, Endpoint) {
    let Control::Hello(hello) = hello() else { unreachable!("it is one") };
    let shared = Arc::new(Shared {
        hello: Hello { id: [1; 16], node: "gateway".to_owned(), ..hello },
        known: Known::new(),
        budget: Arc::new(Budget::new(None)),
        tell: Box::new(tell),
        is_in_domain: Box::new(|_| false),
        catalogue: Box::new(|_| Vec::new()),
        strangers: Lines::new(),
        dialed: Lines::new(),
    });
    let identity = Identity::load(&Security::default()).expect("an identity is made on the fly");
    let endpoint = Endpoint::server(identity.server(), "[::1]:0".parse().expect("it is an address")).expect("there is a port");
    tokio::spawn(accept(endpoint.clone(), Arc::clone(&shared)));
    (shared, endpoint)
}

async fn introduced(endpoint: &Endpoint) -> Stranger {
    let mut stranger = Stranger::dialing(endpoint.local_addr().expect("it has one")).await.expect("it is accepted");
    stranger.introduce().await;
    stranger
}

/// The next event: the number of a connection, and whether it is up.
fn next(told: &Receiver<(u64, bool)>) -> (u64, bool) {
    told.recv_timeout(PATIENCE).expect("it is told")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_whose_task_fails_is_over_for_everybody_and_the_next_one_is_taken() {
    let (tell, told) = channel();
    let (shared, endpoint) = telling(move |event| match event {
        PeerEvent::Up(session) => tell.send((session.number, true)).expect("the test goes on"),
        PeerEvent::Down { number, .. } => tell.send((number, false)).expect("the test goes on"),
        PeerEvent::Heard(..) => panic!("as a task may, by a mistake"),
    });
    let mut stranger = introduced(&endpoint).await;
    let (number, is_up) = next(&told);
    assert!(is_up);
    stranger.say(&want(1, "image")).await;
    assert_eq!(next(&told), (number, false));
    assert!(shared.known.all().is_empty());
    assert_eq!(stranger.disconnected().await.0, 0);
    let _another = introduced(&endpoint).await;
    assert!(next(&told).1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_comes_in_the_place_of_a_connection_before_that_was_told_of() {
    let known: Arc<OnceLock<Weak<Shared>>> = Arc::default();
    let (tell, told) = channel();
    let (tell, looks) = (Mutex::new(tell), Arc::clone(&known));
    let (shared, endpoint) = telling(move |event| {
        let PeerEvent::Up(_) = event else { return };
        let shared = looks.get().and_then(Weak::upgrade).expect("it is there");
        let (say, said) = channel();
        std::thread::spawn(move || say.send(shared.known.all().len()));
        let is_in_between = said.recv_timeout(Duration::from_millis(200)).is_ok();
        tell.lock().expect("nobody fails with it").send((0, is_in_between)).expect("the test goes on");
    });
    known.set(Arc::downgrade(&shared)).expect("it was not known");
    let _stranger = introduced(&endpoint).await;
    assert!(!next(&told).1, "somebody else could have come");
}
