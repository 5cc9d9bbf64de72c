//! What clients of `sinew foxglove` publish.

mod common;
#[path = "common/foxglove.rs"]
mod foxglove;

use std::time::{Duration, Instant};

use common::{Domain, eventually, manager};
use foxglove::{Client, NUMBER, Server, Told, number, publisher, subscribers};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Ghost, Qos};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn what_a_gateway_brings_comes_and_what_clients_publish_it_takes() {
    let domain = Domain::new();
    let node = domain.node("station");
    let _wants = Subscriber::new(&node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let carrier = PublisherOptions { ghost: Ghost::Carrier, ..PublisherOptions::default() };
    let brings = Publisher::new(&node, "number", NUMBER, &Qos::default(), carrier).unwrap();
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    client.subscribe("/number", 1);
    subscribers(&brings, 2);
    brings.publish(&[&number(3)]).unwrap();
    assert_eq!(client.message().2, number(3));

    let carrier = SubscriberOptions { ghost: Ghost::Carrier, ..SubscriberOptions::default() };
    let takes = Subscriber::new(&node, "number", NUMBER, &Qos::default(), carrier).unwrap();
    advertise(&mut client, 1, "/number", "cdr");
    assert!(eventually(|| takes.statistics().publishers == 1), "of the two it meets the client's alone");
    publish(&mut client, 1, &number(4));
    assert_eq!(takes.take(LONG).unwrap().expect("it comes").to_vec(), number(4));
}

fn advertise(client: &mut Client, id: u32, topic: &str, encoding: &str) {
    client.send(json!({"op": "advertise", "channels": [{"id": id, "topic": topic, "encoding": encoding, "schemaName": ""}]}));
}

fn publish(client: &mut Client, id: u32, payload: &[u8]) {
    client.send_binary(&[&[1], &id.to_le_bytes(), payload]);
}

#[test]
fn clients_publish_json_and_cdr_where_they_may() {
    let domain = Domain::new();
    let node = domain.node("robot");
    // One that a publisher of other quality would not fit.
    let qos = Qos { reliable: true, transient_local: true, ..Qos::default() };
    let numbers = Subscriber::new(&node, "number", NUMBER, &qos, Default::default()).unwrap();
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    assert!(client.server["capabilities"].as_array().unwrap().contains(&json!("clientPublish")));
    assert_eq!(client.server["supportedEncodings"], json!(["cdr", "json"]));
    client.channel("/number");
    advertise(&mut client, 1, "/number", "json");
    advertise(&mut client, 2, "number", "cdr");
    assert!(eventually(|| numbers.statistics().publishers == 2));
    publish(&mut client, 1, br#"{"value": 3}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(3));
    publish(&mut client, 2, &number(4));
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(4));

    publish(&mut client, 1, br#"{"value": "three"}"#);
    let complaint = client.json("status")["message"].as_str().unwrap().to_owned();
    assert!(complaint.contains("field 'value'"), "{complaint}");
    publish(&mut client, 2, &number(4)[..10]);
    let complaint = client.json("status")["message"].as_str().unwrap().to_owned();
    assert!(complaint.contains("this is no test/Number"), "{complaint}");
    publish(&mut client, 1, br#"{"value": 5}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(5));

    advertise(&mut client, 3, "/speed", "json");
    let complaint = client.json("status")["message"].as_str().unwrap().to_owned();
    assert!(complaint.contains("only on topics that are there"), "{complaint}");
    client.send(json!({"op": "unadvertise", "channelIds": [1]}));
    assert!(eventually(|| numbers.statistics().publishers == 1));
    drop(client);
    assert!(eventually(|| numbers.statistics().publishers == 0));
}

#[test]
fn clients_do_not_publish_unless_they_may() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let numbers = Subscriber::new(&node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.channel("/number");
    advertise(&mut client, 1, "/number", "json");
    assert_eq!(client.json("status")["level"], 2);
    publish(&mut client, 1, br#"{"value": 3}"#);
    assert_eq!(client.json("status")["level"], 2);
    assert_eq!((numbers.statistics().publishers, numbers.statistics().received), (0, 0));
}

#[test]
fn what_clients_publish_goes_on_when_the_topic_has_come_back() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let subscribe = || Subscriber::new(&node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let numbers = subscribe();
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    client.channel("/number");
    advertise(&mut client, 1, "/number", "json");
    assert!(eventually(|| numbers.statistics().publishers == 1));
    drop(numbers);
    client.gone("/number");
    publish(&mut client, 1, br#"{"value": 3}"#);
    let complaint = client.json("status")["message"].as_str().unwrap().to_owned();
    assert!(complaint.contains("only on topics that are there"), "{complaint}");
    let numbers = subscribe();
    assert!(eventually(|| numbers.statistics().publishers == 1));
    publish(&mut client, 1, br#"{"value": 4}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(4));
}

#[test]
fn what_clients_publish_goes_on_where_another_manager_gives_a_topic_that_has_come_back_the_same_id() {
    assert!((0..10).any(|_| goes_on_where_another_manager_gives_a_topic_that_has_come_back_the_same_id()));
}

/// Whether it had the same, which it has where the server's node is known to the manager before it.
fn goes_on_where_another_manager_gives_a_topic_that_has_come_back_the_same_id() -> bool {
    let domain = Domain::new();
    let server = Server::start(&domain, "--allow-publish");
    let node = domain.node("robot");
    let subscribe = || Subscriber::new(&node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let id = || node.domain_state().unwrap().topic("number").map(|topic| topic.id);
    // As many ids as the nodes that come again take of the other manager.
    drop(subscribe());
    let numbers = subscribe();
    let mut client = Client::connect(&server);
    client.channel("/number");
    advertise(&mut client, 1, "/number", "json");
    assert!(eventually(|| numbers.statistics().publishers == 1));
    let before = id();
    drop(numbers);
    client.gone("/number");
    kill(Pid::from_raw(manager(&domain.path())), Signal::SIGKILL).unwrap();
    assert!(eventually(|| node.domain_state().is_ok_and(|state| state.nodes.len() == 2)));
    let numbers = subscribe();
    assert!(eventually(|| numbers.statistics().publishers == 1));
    let is_same = id() == before;
    publish(&mut client, 1, br#"{"value": 3}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(3));
    is_same
}

#[test]
fn what_clients_publish_comes_also_where_the_topic_does_later_and_what_is_lost_before_is_told_once() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    advertise(&mut client, 1, "/number", "json");
    assert!(client.json("status")["message"].as_str().unwrap().contains("'number' is not: what is published until it is is lost"));
    for _ in 0..100 {
        publish(&mut client, 1, br#"{"value": 3}"#);
    }
    // It answers in order.
    client.send(json!({"op": "getParameters", "parameterNames": ["none"], "id": "told"}));
    let mut told = Vec::new();
    loop {
        match client.next().expect("it goes on") {
            Told::Json(answer) if answer["id"] == "told" => break,
            Told::Json(status) if status["op"] == "status" => told.push(status["message"].as_str().unwrap().to_owned()),
            _ => {}
        }
    }
    assert!(told.len() == 1 && told[0].contains("'number' is not: what is published until it is is lost"), "{told:?}");

    let numbers = Subscriber::new(&node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    assert!(eventually(|| numbers.statistics().publishers == 1));
    publish(&mut client, 1, br#"{"value": 4}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(4));
}

#[test]
fn the_first_message_of_a_client_comes_also_where_it_follows_at_once() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let numbers = Subscriber::new(&node, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    client.channel("/number");
    for id in 0..20 {
        let begun = Instant::now();
        advertise(&mut client, id, "/number", "cdr");
        publish(&mut client, id, &number(id.into()));
        assert!(eventually(|| numbers.statistics().publishers == u64::from(id) + 1));
        // Nobody is waited for longer than that.
        if begun.elapsed() < Duration::from_secs(1) {
            while numbers.take(LONG).unwrap().expect("it comes").to_vec() != number(id.into()) {}
        }
    }
}

#[test]
fn what_clients_publish_reaches_also_who_comes_later_and_asks_for_more() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let _keeps_it = publisher(&node, "number", NUMBER);
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    client.channel("/number");
    advertise(&mut client, 1, "/number", "json");
    let publishers = || {
        let state = node.domain_state().unwrap();
        let topic = state.topic("number").map(|topic| topic.id);
        state.endpoints.values().filter(|end| end.publishes && end.topic == topic).count()
    };
    assert!(eventually(|| publishers() == 2));
    let (hour, usual) = (Some(Duration::from_secs(3600)), Qos::default());
    let more = [
        Qos { reliable: true, ..usual.clone() },
        Qos { transient_local: true, ..usual.clone() },
        Qos { deadline: hour, lease: hour, ..usual },
    ];
    for qos in more {
        let numbers = Subscriber::new(&node, "number", NUMBER, &qos, Default::default()).unwrap();
        let comes = || {
            publish(&mut client, 1, br#"{"value": 3}"#);
            numbers.take(Duration::from_millis(10)).unwrap().is_some()
        };
        assert!(eventually(comes), "{qos:?}");
    }
}

#[test]
fn what_clients_have_published_stays_for_those_who_come_late_when_somebody_asks_for_more() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let latched = Qos { transient_local: true, ..Qos::default() };
    let subscribe = |qos: &Qos| Subscriber::new(&node, "number", NUMBER, qos, Default::default()).unwrap();
    let numbers = subscribe(&latched);
    let server = Server::start(&domain, "--allow-publish");
    let mut client = Client::connect(&server);
    client.channel("/number");
    advertise(&mut client, 1, "/number", "json");
    assert!(eventually(|| numbers.statistics().publishers == 1));
    publish(&mut client, 1, br#"{"value": 3}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(3));
    for more in [Qos { reliable: true, ..Qos::default() }, Qos { deadline: Some(Duration::from_secs(3600)), ..Qos::default() }] {
        let asks = subscribe(&more);
        assert!(eventually(|| asks.statistics().publishers == 1), "{more:?}");
        let late = subscribe(&latched);
        assert_eq!(late.take(LONG).unwrap().expect("it was kept").to_vec(), number(3));
    }
    publish(&mut client, 1, br#"{"value": 4}"#);
    assert_eq!(numbers.take(LONG).unwrap().expect("it comes").to_vec(), number(4));
    assert!(eventually(|| numbers.statistics().publishers == 1));
    assert_eq!(subscribe(&latched).take(LONG).unwrap().expect("it was kept").to_vec(), number(4));
}
