//! `sinew foxglove`: topics that only other machines have. The end of a gateway that brings one is a carrier (W72), here of the test.

mod common;
#[path = "common/foxglove.rs"]
mod foxglove;
#[path = "common/gateway.rs"]
mod gateway;

use std::time::{Duration, Instant};

use common::{Domain, eventually};
use foxglove::{Client, Server};
use gateway::{Gateway, NUMBER, kept, number, publisher};
use serde_json::json;
use sinew::msg::schema;
use sinew::raw::Subscriber;
use sinew::{Ghost, Id, Node, Qos};

/// Under which id the topic `number` is here.
fn here(node: &Node) -> Option<Id> {
    node.domain_state().unwrap().topic("number").map(|topic| topic.id)
}

/// Subscribers of the topic `number` for whose sake a gateway brings it.
fn wanting(node: &Node) -> usize {
    let state = node.domain_state().unwrap();
    let topic = state.topic("number").map(|topic| topic.id);
    state.endpoints.values().filter(|end| end.topic.is_some() && end.topic == topic && !end.publishes && end.ghost == Ghost::No).count()
}

/// Something that others have published here on the topic `number` has come to somebody who only looks on.
fn is_looked_at(node: &Node) -> bool {
    let (state, counts) = (node.domain_state().unwrap(), node.domain_counters().unwrap().read().unwrap());
    let topic = state.topic("number").map(|topic| topic.id);
    let is_on_it = |id, ghost| state.endpoints.get(id).is_some_and(|end| end.topic.is_some() && end.topic == topic && end.ghost == ghost);
    let mut pairs = counts.pairs.iter().filter(|pair| pair.messages > 0);
    pairs.any(|pair| is_on_it(&pair.publisher, Ghost::No) && is_on_it(&pair.subscriber, Ghost::Observer))
}

/// What the server tells until now is known to the client.
fn is_up_to_date(client: &mut Client) {
    client.send(json!({"op": "getParameters", "parameterNames": ["none"], "id": "now"}));
    while client.json("parameterValues")["id"] != "now" {}
}

#[test]
fn what_only_another_machine_has_is_a_channel_and_comes_here_while_a_client_looks_at_it() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let _gateway = Gateway::new(&node, &["a", "number", "raw"]);
    let server = Server::start(&domain, "number raw --exclude raw");
    let mut client = Client::connect(&server);
    let channel = client.channel("/number");
    assert_eq!(channel["schemaName"], "test/msg/Number");
    assert_eq!(channel["schema"], schema::of(&NUMBER.parse().unwrap()).text);
    is_up_to_date(&mut client);
    assert_eq!(client.channels.len(), 1, "others are not meant");
    assert_eq!(here(&node), None, "nobody looks at it");

    for value in [5, 6] {
        client.subscribe("/number", 1);
        assert!(eventually(|| wanting(&node) == 1));
        let carrier = publisher(&node, Ghost::Carrier, &kept());
        carrier.publish(&[&number(value)]).unwrap();
        assert_eq!(client.message().2, number(value));
        client.unsubscribe(1);
        assert!(eventually(|| here(&node).is_none()), "nobody looks at it any more");
    }
    is_up_to_date(&mut client);
    assert_eq!(client.channels["/number"], channel);
}

#[test]
fn gateways_are_asked_when_a_client_comes_and_not_before_nor_at_a_high_rate_nor_when_none_is_there() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let gateway = Gateway::new(&node, &["number"]);
    let server = Server::start(&domain, "");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(gateway.asked(), 0, "no client is there");
    let begin = Instant::now();
    for _ in 0..10 {
        let mut client = Client::connect(&server);
        client.channel("/number");
        std::thread::sleep(Duration::from_millis(200));
        drop(client);
        std::thread::sleep(Duration::from_millis(200));
    }
    let seconds = begin.elapsed().as_secs();
    assert!((1..=1 + seconds / 5).contains(&gateway.asked()), "{} times in {seconds} s", gateway.asked());

    std::thread::sleep(Duration::from_secs(1));
    let asked = gateway.asked();
    gateway.is_connected_with(&["far"]);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(gateway.asked(), asked, "no client is there any more");
    let _client = Client::connect(&server);
    assert!(eventually(|| gateway.asked() == asked + 1));
}

#[test]
fn what_a_peer_has_that_is_connected_later_comes_to_be_offered_at_once() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let gateway = Gateway::new(&node, &[]);
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    assert!(eventually(|| gateway.asked() == 1));
    gateway.has(true, &["number"]);
    let begin = Instant::now();
    gateway.is_connected_with(&["far"]);
    client.channel("/number");
    assert!(begin.elapsed() < Duration::from_secs(20), "that is not only now and then");
}

#[test]
fn who_looks_at_what_is_brought_goes_on_receiving_when_it_comes_to_be_here_and_when_it_goes() {
    let domain = Domain::new();
    let (node, robot) = (domain.node("gateway_1"), domain.node("robot"));
    let _gateway = Gateway::new(&node, &["number"]);
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    let channel = client.channel("/number");
    client.subscribe("/number", 1);
    assert!(eventually(|| wanting(&node) == 1));
    let brings = publisher(&node, Ghost::Carrier, &Qos::default());
    assert!(eventually(|| brings.statistics().subscribers == 1));
    brings.publish(&[&number(1)]).unwrap();
    assert_eq!(client.message().2, number(1));

    let local = publisher(&robot, Ghost::No, &Qos::default());
    assert!(eventually(|| local.statistics().subscribers == 1));
    local.publish(&[&number(2)]).unwrap();
    assert_eq!(client.message().2, number(2));
    std::thread::sleep(Duration::from_millis(500)); // that it is here is known by now
    assert_eq!(wanting(&node), 1, "from the other machine it is wanted on");
    drop(local);
    brings.publish(&[&number(3)]).unwrap();
    assert_eq!(client.message().2, number(3));
    assert_eq!(client.channels["/number"], channel);
}

#[test]
fn who_looks_at_what_is_here_goes_on_receiving_when_only_another_machine_has_it_and_when_it_is_here_again() {
    let domain = Domain::new();
    let (node, viewer) = (domain.node("gateway_1"), domain.node("viewer"));
    let _gateway = Gateway::new(&node, &["number", "other"]);
    let wants = Subscriber::new(&viewer, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let brings = publisher(&node, Ghost::Carrier, &Qos::default());
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.channel("/other"); // what the gateway tells is known by now
    let channel = client.channel("/number");
    client.subscribe("/number", 1);
    assert!(eventually(|| brings.statistics().subscribers == 2));
    brings.publish(&[&number(1)]).unwrap();
    assert_eq!(client.message().2, number(1));
    assert_eq!(wanting(&node), 1, "the client's only looks on");

    let before = here(&node);
    drop((wants, brings));
    assert!(eventually(|| here(&node).is_some_and(|now| Some(now) != before)), "the client's wants it now");
    let brings = publisher(&node, Ghost::Carrier, &Qos::default());
    assert!(eventually(|| brings.statistics().subscribers == 1));
    brings.publish(&[&number(2)]).unwrap();
    assert_eq!(client.message().2, number(2));

    let local = publisher(&viewer, Ghost::No, &Qos::default());
    let is_seen = || {
        local.publish(&[&number(3)]).unwrap();
        is_looked_at(&node)
    };
    assert!(eventually(is_seen));
    assert_eq!(client.message().2, number(3));
    assert!(eventually(|| wanting(&node) == 0), "the client's only looks on again");
    assert_eq!(client.channels["/number"], channel);
}

#[test]
fn what_is_brought_is_wanted_on_while_another_client_gets_what_was_kept_and_until_the_last_one_goes() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let _gateway = Gateway::new(&node, &["number"]);
    let server = Server::start(&domain, "");
    let (mut one, mut other) = (Client::connect(&server), Client::connect(&server));
    one.subscribe("/number", 1);
    assert!(eventually(|| wanting(&node) == 1));
    let carrier = publisher(&node, Ghost::Carrier, &kept());
    carrier.publish(&[&number(5)]).unwrap();
    assert_eq!(one.message().2, number(5));
    let id = here(&node);
    other.subscribe("/number", 2);
    assert_eq!(other.message().2, number(5));
    assert!(id.is_some() && here(&node) == id, "it was not gone in between");
    drop(one);
    carrier.publish(&[&number(6)]).unwrap();
    while other.message().2 != number(6) {}
    assert_eq!(here(&node), id);
    drop(other);
    assert!(eventually(|| here(&node).is_none()));
}

#[test]
fn what_a_peer_has_stays_offered_when_it_does_not_answer_in_time_and_not_when_it_has_it_no_more() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let gateway = Gateway::new(&node, &["number", "other"]);
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    let channel = client.channel("/number");
    gateway.has(false, &[]);
    let _second = Client::connect(&server);
    assert!(eventually(|| gateway.asked() == 2));
    std::thread::sleep(Duration::from_millis(500));
    is_up_to_date(&mut client);
    assert_eq!(client.channels.get("/number"), Some(&channel));

    client.subscribe("/number", 1);
    assert!(eventually(|| wanting(&node) == 1));
    gateway.has(true, &[]);
    let _third = Client::connect(&server);
    client.gone("/other");
    let carrier = publisher(&node, Ghost::Carrier, &kept());
    carrier.publish(&[&number(7)]).unwrap();
    assert_eq!(client.message().2, number(7), "who looks at it waits on");
    client.unsubscribe(1);
    client.gone("/number");
}

#[test]
fn what_has_another_type_at_the_peer_since_it_is_looked_at_is_offered_anew() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let gateway = Gateway::new(&node, &["number"]);
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    let channel = client.channel("/number");
    client.subscribe("/number", 1);
    assert!(eventually(|| wanting(&node) == 1));
    gateway.has_of("test/Other{text:string;}", true, &["number"]);
    let _second = Client::connect(&server);
    while client.channels.get("/number").is_none_or(|now| *now == channel) {
        client.next().expect("it goes on");
    }
    assert_eq!(client.channels["/number"]["schemaName"], "test/msg/Other");
    assert!(eventually(|| here(&node).is_none()), "that of the old type is not wanted any more");
    client.subscribe("/number", 2);
    assert!(eventually(|| wanting(&node) == 1));
}

#[test]
fn what_gateways_have_told_is_offered_no_more_when_they_are_gone() {
    let domain = Domain::new();
    let node = domain.node("gateway_1");
    let gateway = Gateway::new(&node, &["number"]);
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.channel("/number");
    drop(gateway);
    let _second = Client::connect(&server);
    client.gone("/number");
}
