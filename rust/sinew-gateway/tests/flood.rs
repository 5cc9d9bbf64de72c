//! Peers that say more than there is to say, and others beside them (G41); and what the log says of it.

mod common;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::machine::Machine;
use common::program::Program;
use common::stranger::{Stranger, hello, want};
use common::{PATIENCE, Robot, all, connected, node, publisher, subscriber};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint};
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::version::TLS13;
use sinew::Qos;
use sinew_gateway::protocol::{Control, Hello, Kind, Offer, Want};

/// As many as a peer may want.
const WANTS: u32 = 4096;

/// That it wants images as what they are not, and wants them no more. It is refused with a text that says what there is, and what was wanted.
fn wanted_otherwise(channel: u32) -> Vec<u8> {
    let signature = format!("robot/{}{{width:uint32;}}", "Image".repeat(2000));
    let (name, response) = ("camera/image".to_owned(), String::new());
    let want = Control::Want(Want { channel, kind: Kind::Topic, name, signature, response, offer: Offer::default() });
    [want.encode(), Control::Unwant { channel }.encode()].concat()
}

/// Of a program, in this folder.
fn base_in(folder: &Path, domain: &str) -> Program {
    let config = folder.join("base.json");
    let text = r#"{ "security": "ad-hoc", "discovery": false, "listen": "[::1]:0", "rules": [{ "topics": { "base_rule": "both" } }] }"#;
    std::fs::write(&config, text).expect("it can be written");
    Program::run(&Machine::this(), &config, domain)
}

/// What the log says is bounded, and tells of what it does not say.
fn says_little(base: &Program) {
    base.says("more lines, which were left out)");
    let said = base.said();
    assert!(said.lines().count() < 100, "{} lines", said.lines().count());
    assert!(said.lines().all(|line| line.len() < 2048));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_says_little_of_strangers_however_often_they_dial() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let base = base_in(folder.path(), folder.path().join("domain").to_str().expect("a path is a text"));
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider())).with_protocol_versions(&[&TLS13]);
    let mut config = config.expect("ring has TLS 1.3").with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    config.alpn_protocols = vec![b"another".to_vec()];
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(config).expect("ring has the cipher that QUIC begins with")));
    let endpoint = Endpoint::client(SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 0))).expect("there is a port");
    let address = base.address();
    let dial = || endpoint.connect_with(config.clone(), address, "sinew").expect("it can be dialed");
    for _ in 0..500 {
        dial().await.expect_err("it is no gateway");
    }
    // When something may be said again.
    tokio::time::sleep(Duration::from_secs(2)).await;
    dial().await.expect_err("it is no gateway");
    says_little(&base);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_says_little_of_a_peer_however_often_it_comes_and_goes() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let base = base_in(folder.path(), folder.path().join("domain").to_str().expect("a path is a text"));
    let come_and_go = async |number: u8| {
        let mut stranger = Stranger::dialing(base.address()).await.expect("it is accepted");
        let Control::Hello(hello) = hello() else { unreachable!("it is one") };
        stranger.introduce_as(Hello { id: [number; 16], ..hello }).await;
        assert_eq!(stranger.hear().await, Control::Forgotten, "now it is one of the peers");
        stranger.connection.close(0u32.into(), b"enough");
    };
    for number in 1..=100 {
        come_and_go(number).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    come_and_go(101).await;
    says_little(&base);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_says_little_of_a_peer_however_often_it_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let domain = folder.path().join("domain");
    let domain = domain.to_str().expect("a path is a text");
    let base = base_in(folder.path(), domain);
    let _images = publisher(&node(domain, "camera"), "camera/image", &Qos::default());
    let mut stranger = Stranger::dialing(base.address()).await.expect("it is accepted");
    stranger.introduce().await;
    // Until it has one, nobody is refused.
    stranger.say(&want(u32::MAX, "camera/image")).await;
    while !matches!(stranger.hear().await, Control::Open { .. }) {}
    stranger.say(&Control::Unwant { channel: u32::MAX }).await;
    let refused = async |stranger: &mut Stranger, channel| {
        stranger.send.write_all(&wanted_otherwise(channel)).await.expect("it can be said");
        while !matches!(stranger.hear().await, Control::Refuse { .. }) {}
    };
    for channel in 0..500 {
        refused(&mut stranger, channel).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    refused(&mut stranger, 500).await;
    says_little(&base);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_want_comes_between_however_much_a_peer_says() {
    let base = Robot::on_this_machine("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let mut stranger = Stranger::introduced(&base).await;
    for channel in 0..WANTS {
        stranger.say(&want(channel, &format!("topic_{channel}"))).await;
    }
    let unknown = Control::Unwant { channel: u32::MAX }.encode().repeat(1000);
    let flood = tokio::spawn(async move { while stranger.send.write_all(&unknown).await.is_ok() {} });
    for topic in ["one", "two", "three"] {
        let (maps, seen) = (publisher(&mapper, topic, &Qos::default()), subscriber(&planner, topic, &Qos::default()));
        connected(&maps, &[&seen]);
    }
    assert!(!flood.is_finished(), "it was disconnected");
    flood.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_what_it_is_told_is_disconnected() {
    let base = Robot::on_this_machine("base", all());
    let _images = publisher(&base.node("camera"), "camera/image", &Qos::default());
    let mut stranger = Stranger::introduced(&base).await;
    let flood = async {
        for channel in 0.. {
            if stranger.send.write_all(&wanted_otherwise(channel)).await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, flood).await.expect("it is disconnected");
    let (code, why) = stranger.disconnected().await;
    assert_eq!((code, why.as_str()), (1, "it does not read what it is told"));
}
