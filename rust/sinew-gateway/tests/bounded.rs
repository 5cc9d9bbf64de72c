//! What a peer, or somebody who wants to be one, can make a gateway keep.

mod common;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use common::initials::Initials;
use common::machine::Machine;
use common::program::Program;
use common::stranger::{Stranger, open, record};
use common::{PATIENCE, Robot, all, node, subscriber, until};
use quinn::{ConnectionError, TransportErrorCode, VarInt, WriteError};
use sinew::Qos;
use sinew_gateway::protocol::{Packing, TopicHead};
use tokio::task::JoinHandle;

/// Handshakes at a time.
const PLACES: usize = 64;

#[tokio::test(flavor = "multi_thread")]
async fn strangers_who_say_nothing_take_64_places_and_lose_them_soon() {
    const MORE: usize = 16;
    let base = Robot::on_this_machine("base", all());
    // At once, so that all ask for a place before the first one loses it, also on a busy machine.
    let address = base.address();
    let dialing: Vec<_> = (0..PLACES + MORE).map(|_| tokio::spawn(Stranger::dialing(address))).collect();
    let (mut silent, mut refused) = (Vec::new(), 0);
    for dialing in dialing {
        match dialing.await.expect("it ends") {
            Ok(stranger) => silent.push(stranger),
            Err(ConnectionError::ConnectionClosed(closed)) if closed.error_code == TransportErrorCode::CONNECTION_REFUSED => refused += 1,
            // It has a place, and this machine no time for its handshake.
            Err(ConnectionError::TimedOut) => {}
            Err(ConnectionError::ConnectionClosed(closed)) if closed.error_code == TransportErrorCode::APPLICATION_ERROR => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(refused, MORE, "there is no place for another one");
    for stranger in silent {
        assert_eq!(stranger.disconnected().await.0, 1);
    }
    let mut late = Stranger::new(&base).await;
    late.introduce().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn handshakes_that_do_not_go_on_take_half_of_the_places_for_a_while_whoever_says_that_they_do() {
    let base = Robot::on_this_machine("base", all());
    let address = base.address();
    let mut endless: Vec<Initials> = (0..PLACES + 16).map(|_| Initials::to(address)).collect();
    let begun = endless.iter().filter(|initials| initials.is_begun()).count();
    assert_eq!(begun, PLACES / 2);
    let (stop, is_stopped) = channel::<()>();
    let pinging = std::thread::spawn(move || {
        while is_stopped.recv_timeout(Duration::from_millis(500)) == Err(RecvTimeoutError::Timeout) {
            endless.iter_mut().for_each(Initials::ping);
        }
    });
    let mut peer = Stranger::new(&base).await;
    peer.introduce().await;
    until("there are places again", || Initials::to(address).is_begun());
    drop(stop);
    pinging.join().expect("all was sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_a_peer_takes_no_place_of_those_who_are_yet_to_be() {
    let base = Robot::on_this_machine("base", all());
    let robots: Vec<Robot> = (0..3).map(|at| Robot::dialing(&format!("drone {at}"), all(), &[&base])).collect();
    until("all are connected", || base.gateway.as_ref().is_some_and(|gateway| gateway.connections().len() == robots.len()));
    let mut silent = Vec::new();
    for _ in 0..PLACES {
        silent.push(Stranger::new(&base).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_never_end_take_room_for_three_and_what_quic_holds_and_the_others_are_stopped() {
    const MOST: usize = 4_000_000;
    const STREAMS: usize = 200;
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (config, domain) = (folder.path().join("base.json"), folder.path().join("domain"));
    let domain = domain.to_str().expect("a path is a text");
    let rules = r#"[{ "topics": { "base_rule": "both" } }]"#;
    let text = format!(r#"{{ "security": "ad-hoc", "discovery": false, "listen": "[::1]:0", "max_message": "4 MB", "rules": {rules} }}"#);
    std::fs::write(&config, text).expect("it can be written");
    let base = Program::run(&Machine::this(), &config, domain);
    let mut stranger = Stranger::dialing(base.address()).await.expect("it is accepted");
    stranger.introduce().await;
    let viewer = node(domain, "viewer");
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    let channel = stranger.wanted("camera/image").await;
    stranger.say(&open(channel)).await;
    until("it publishes", || seen.statistics().publishers == 1);
    let before = base.memory();
    // All of a message but its last byte, as often as the connection takes it.
    let mut streams = Vec::new();
    for index in 0..STREAMS {
        let mut stream = stranger.connection.open_uni().await.expect("a stream can be opened");
        let head = TopicHead { channel, index: index as u64 }.encode();
        let bytes = [head, record(MOST as u32, Packing::None, MOST as u32), vec![7; MOST - 1]].concat();
        streams.push(tokio::spawn(async move {
            if let Err(WriteError::Stopped(code)) = stream.write_all(&bytes).await {
                return code.into_inner();
            }
            stream.stopped().await.ok().flatten().map_or(0, VarInt::into_inner)
        }));
    }
    // Until all but those with room are stopped, which takes until they have waited for it, and no more is taken.
    let begin = Instant::now();
    let mut sent = (0, Instant::now());
    let open = || streams.iter().filter(|stream| !stream.is_finished()).count();
    while sent.1.elapsed() < Duration::from_secs(1) || open() > 3 {
        assert!(begin.elapsed() < 3 * PATIENCE, "it goes on and on, and {} are open", open());
        let now = stranger.connection.stats().udp_tx.bytes;
        if now > sent.0 + 100_000 {
            sent = (now, Instant::now());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let grown = base.memory().saturating_sub(before);
    // Room for three messages in shared memory, 16 MiB that nobody has read, and what quinn needs to hold them.
    assert!(grown < 3 * MOST + (48 << 20), "{grown} bytes more");
    assert!(stranger.connection.close_reason().is_none());
    let (stopped, open): (Vec<_>, Vec<_>) = streams.into_iter().partition(JoinHandle::is_finished);
    assert_eq!(open.len(), 3);
    for stopped in stopped {
        assert_eq!(stopped.await.expect("it ends"), 10, "there is no room for it");
    }
    open.iter().for_each(JoinHandle::abort);
}
