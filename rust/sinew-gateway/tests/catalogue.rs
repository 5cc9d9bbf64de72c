//! What a gateway tells its domain of what its peers have.

mod common;

use std::time::Duration;

use common::relay::through_a_relay;
use common::services::{NUMBER, provider};
use common::stranger::Stranger;
use common::{IMAGE, PATIENCE, Robot, all, publisher, rules, subscriber, until};
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{
    Client, GatewayCatalogue, GatewayCatalogueRequest, GatewayEntry, GatewayPeerCatalogue, GatewayStatus, Ghost, Node, Qos, signature_of,
};
use sinew_gateway::protocol::{Answer, CallHead, Control, Kind, LOOK_STREAM, Offer, Packing, Status, Want};

/// Asks the gateway of the node's domain.
fn asked(node: &Node, peer: &str) -> Vec<GatewayPeerCatalogue> {
    let state = node.domain_state().expect("there is a manager");
    let gateway = state.nodes.values().find(|node| node.name.starts_with("gateway_")).expect("there is a gateway");
    let client =
        Client::<GatewayCatalogueRequest, GatewayCatalogue>::new(node, &GatewayCatalogue::service(&gateway.name), &Default::default());
    let answer = client.expect("it may call").call(&GatewayCatalogueRequest { peer: peer.to_owned() }, PATIENCE).expect("it is answered");
    answer.read().expect("it is one").peers
}

fn knows_a_peer(robot: &Robot) -> bool {
    robot.gateway.as_ref().is_some_and(|gateway| !gateway.connections().is_empty())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_peers_have_and_let_out_is_told_before_anything_of_it_comes_over() {
    let lets_out = rules(
        r#"{ "topics": { "base_rule": "out", "exceptions": [{ "name": "secret", "rule": "none" }, { "name": "map", "rule": "in" }] }, "services": { "base_rule": "out" } }"#,
    );
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", lets_out, &[&base]);
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let kept = Qos { transient_local: true, reliable: true, ..Qos::keep_last(3) };
    let _had = ["image", "secret", "map"].map(|topic| publisher(&camera, topic, &kept));
    let _wanted = subscriber(&camera, "wanted", &Qos::default());
    let ghost = PublisherOptions { ghost: Ghost::Carrier, ..PublisherOptions::default() };
    let _ghost = Publisher::new(&camera, "wanted", IMAGE, &Qos::default(), ghost).expect("it may publish");
    let _provided = provider(&camera, drop);
    until("they are connected", || knows_a_peer(&base));
    let double = GatewayEntry {
        name: "double".to_owned(),
        kind: "service".to_owned(),
        signature: NUMBER.to_owned(),
        response: NUMBER.to_owned(),
        ..GatewayEntry::default()
    };
    let image = GatewayEntry {
        name: "image".to_owned(),
        kind: "topic".to_owned(),
        signature: IMAGE.to_owned(),
        response: String::new(),
        depth: 3,
        reliable: true,
        transient_local: true,
    };
    let told = GatewayPeerCatalogue { name: "drone".to_owned(), answered: true, entries: vec![image, double] };
    until("the drone's gateway knows its domain", || asked(&viewer, "") == vec![told.clone()]);
    assert_eq!(asked(&viewer, "drone"), vec![told]);
    assert_eq!(asked(&viewer, "another"), vec![]);
    let nothing = GatewayPeerCatalogue { name: "base".to_owned(), answered: true, entries: vec![] };
    assert_eq!(asked(&camera, ""), vec![nothing]);
    let state = viewer.domain_state().expect("there is a manager");
    assert!(state.topic("image").is_none() && state.topic(GatewayStatus::TOPIC).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_does_not_answer_in_time_is_told_as_such() {
    let (base, relay, drone) = through_a_relay().await;
    let viewer = base.node("viewer");
    until("they are connected", || knows_a_peer(&base));
    until("it answers in time", || asked(&viewer, "").iter().map(|peer| peer.answered).collect::<Vec<_>>() == [true]);
    relay.cut(true);
    assert_eq!(asked(&viewer, "").iter().map(|peer| (peer.name.as_str(), peer.answered)).collect::<Vec<_>>(), [("drone", false)]);
    drop(drone);
}

// Of one thread, so that all that has come is there before anything of it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_comes_twice_of_an_answer_before_it_is_read_is_read_once() {
    let (base, relay, drone) = through_a_relay().await;
    let viewer = base.node("viewer");
    let _had = publisher(&drone.node("camera"), "image", &Qos::default());
    until("they are connected", || knows_a_peer(&base));
    let connection = || base.gateway.as_ref().expect("it runs").connections()[0].number;
    let before = connection();
    let told = || asked(&viewer, "").iter().map(|peer| (peer.answered, peer.entries.len())).collect::<Vec<_>>();
    until("the drone's gateway knows its domain", || told() == [(true, 1)]);
    let are_all_answered = || {
        relay.hold();
        std::thread::scope(|scope| {
            let asks: Vec<_> = (0..10).map(|_| scope.spawn(told)).collect();
            // What is held was sent again meanwhile, as if it were lost, and held again.
            std::thread::sleep(Duration::from_millis(100));
            relay.release();
            let told: Vec<_> = asks.into_iter().map(|asks| asks.join().expect("it is told")).collect();
            assert!(told.iter().all(|told| matches!(told[..], [(true, 1) | (false, _)])), "{told:?}");
            told.iter().all(|told| told[0].0)
        })
    };
    // On a busy machine an answer may come too late.
    for _ in 0..20 {
        assert!((0..10).any(|_| are_all_answered()));
    }
    assert_eq!(connection(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_answers_with_what_is_no_catalogue_is_disconnected() {
    let base = Robot::on_this_machine("base", all());
    let viewer = base.node("viewer");
    let head = |packing, size, unpacked| Answer { status: Status::Executed, packing, size, unpacked }.encode();
    let answers = [
        [head(Packing::None, 5, 5), vec![7; 5]].concat(),
        [head(Packing::None, 100, 100), vec![0; 5]].concat(),
        [head(Packing::Zstd, 5, 1 << 20), vec![0; 5]].concat(),
        head(Packing::None, u32::MAX, u32::MAX),
        vec![99; Answer::SIZE],
    ];
    for answer in answers {
        let stranger = Stranger::introduced(&base).await;
        until("they are connected", || knows_a_peer(&base));
        let asks = std::thread::spawn({
            let viewer = viewer.clone();
            move || asked(&viewer, "")
        });
        let (mut send, mut receive) = stranger.connection.accept_bi().await.expect("it is asked");
        assert_eq!(receive.read_to_end(10).await.expect("no more is asked"), [LOOK_STREAM]);
        send.write_all(&answer).await.expect("it can be written");
        let _ = send.finish();
        assert!(asks.join().expect("it is told").iter().all(|peer| !peer.answered));
        assert_eq!(stranger.disconnected().await.0, 1, "{answer:?}");
        until("it is gone", || !knows_a_peer(&base));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_fifty_times_before_it_reads_is_answered_fifty_times() {
    let base = Robot::on_this_machine("base", all());
    let camera = base.node("camera");
    let _images = publisher(&camera, "image", &Qos::default());
    let stranger = Stranger::introduced(&base).await;
    let mut asked = Vec::new();
    for _ in 0..50 {
        let (mut send, receive) = stranger.connection.open_bi().await.expect("a stream can be opened");
        send.write_all(&[LOOK_STREAM]).await.expect("it can be written");
        send.finish().expect("it is open");
        asked.push(receive);
    }
    for mut receive in asked {
        let answer = receive.read_to_end(10_000).await.expect("it is answered");
        assert_eq!(answer[0], Status::Executed as u8);
    }
    assert!(stranger.connection.close_reason().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_peer_is_told_what_other_peers_have_by_whatever_gateway_of_the_domain() {
    const DOUBLE: u32 = 99;
    let base = Robot::on_this_machine("base", all());
    let _beside = base.beside("another", all(), &[]);
    let calculator = base.node("calculator");
    let state = calculator.domain_state().expect("there is a manager");
    let gateways: Vec<&String> = state.nodes.values().map(|node| &node.name).filter(|name| name.starts_with("gateway_")).collect();
    let services: Vec<String> = gateways.into_iter().map(|name| GatewayCatalogue::service(name)).collect();
    assert_eq!(services.len(), 2);
    // Whoever knows of it knows of what was there before.
    let _provided = provider(&calculator, drop);
    let mut stranger = Stranger::introduced(&base).await;
    let (request, response) = (signature_of::<GatewayCatalogueRequest>(), signature_of::<GatewayCatalogue>());
    let (request, response) = (request.expect("it is a message"), response.expect("it is one"));
    let want = |channel, name: &str, signature: &str, response: &str| {
        let [name, signature, response] = [name, signature, response].map(str::to_owned);
        Control::Want(Want { channel, kind: Kind::Service, name, signature, response, offer: Offer::default() })
    };
    for (channel, name) in (0..).zip(&services) {
        stranger.say(&want(channel, name, &request, &response)).await;
    }
    stranger.say(&want(DOUBLE, "double", NUMBER, NUMBER)).await;
    loop {
        if let Control::Open { channel, .. } = stranger.hear().await {
            assert_eq!(channel, DOUBLE);
            break;
        }
    }
    for channel in 0..2 {
        let (mut send, mut receive) = stranger.connection.open_bi().await.expect("a stream can be opened");
        let body = [0, 1, 0, 0, 1, 0, 0, 0, 0];
        let size = body.len() as u32;
        let head = CallHead { channel, call: 1, packing: Packing::None, size, unpacked: size };
        // That it is not read to its end is no failure.
        let _ = send.write_all(&[&head.encode()[..], &body].concat()).await;
        let _ = send.finish();
        let answer = receive.read_to_end(10_000).await.expect("it is answered");
        assert_eq!(answer[0], Status::Gone as u8);
    }
    // The domain itself is told as ever.
    assert_eq!(asked(&calculator, "nobody"), []);
}
