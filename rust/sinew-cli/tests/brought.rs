//! What a gateway or a bridge brings into the domain, and the command beside it. Their ends in the domain are carriers (W72), here of the test.

mod common;

use std::path::Path;

use common::{Domain, Running, eventually, interrupt};
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{GatewayCatalogue, GatewayCatalogueRequest, GatewayEntry, GatewayPeerCatalogue, GatewayStatus, Ghost, Node, Provider, Qos};
use sinew_bag::{Bag, qos};

const NUMBER: &str = "test/Number{value:uint64;}";

fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

fn kept() -> Qos {
    Qos { transient_local: true, reliable: true, ..Qos::keep_last(3) }
}

fn publisher(node: &Node, ghost: Ghost, qos: &Qos) -> Publisher {
    Publisher::new(node, "number", NUMBER, qos, PublisherOptions { ghost, ..PublisherOptions::default() }).unwrap()
}

/// Somebody for whose sake a gateway brings the topic.
fn wants(node: &Node) -> Subscriber {
    Subscriber::new(node, "number", NUMBER, &Qos::default(), SubscriberOptions::default()).unwrap()
}

/// Until so many messages were received here by the subscribers of pairs that there are.
fn has_come(node: &Node, count: u64) {
    let counters = node.domain_counters().unwrap();
    let received = || counters.read().unwrap().pairs.iter().map(|pair| pair.messages).sum::<u64>();
    assert!(eventually(|| received() >= count), "{} came", received());
}

fn read(path: &Path) -> Vec<Vec<u8>> {
    let bag = Bag::open(path).unwrap();
    assert!(bag.topics().all(|(_, topic)| topic.name == "/number"));
    bag.messages(Default::default()).map(|message| message.unwrap().to_vec().unwrap()).collect()
}

#[test]
fn it_is_recorded_as_is_what_a_person_publishes_by_a_tool() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let (node, path) = (domain.node("station"), folder.path().join("a.mcap"));
    let _wants = wants(&node);
    let recorder = Running::new(&mut domain.command(&format!("record -o {}", path.display())));
    for (n, ghost) in [Ghost::Carrier, Ghost::Observer].into_iter().enumerate() {
        let publisher = publisher(&node, ghost, &Qos::default());
        assert!(eventually(|| publisher.statistics().subscribers == 2));
        publisher.publish(&[&number(n as u64)]).unwrap();
        has_come(&node, 1);
    }
    interrupt(&recorder);
    assert_eq!(recorder.end().0, Some(0));
    assert_eq!(read(&path), [number(0), number(1)]);
}

#[test]
fn it_is_printed_and_its_ends_are_shown_as_those_of_a_carrier() {
    let domain = Domain::new();
    let node = domain.node("gateway");
    let _wants = wants(&node);
    let carrier = publisher(&node, Ghost::Carrier, &kept());
    carrier.publish(&[&number(5)]).unwrap();
    assert_eq!(domain.text("topic echo --once number.value"), "5\n");
    let told = domain.json("topic info number");
    assert_eq!((&told["publishers"][0]["ghost"], &told["subscribers"][0]["ghost"]), (&"carrier".into(), &serde_json::Value::Null));
    let text = domain.text("topic info number");
    assert!(text.contains("ghost (carrier)"), "{text}");
    let ends = &domain.json("domain state")["endpoints"];
    assert!(ends.as_array().unwrap().iter().any(|end| end["ghost"] == "carrier"), "{ends}");
}

/// A gateway that tells what its peer `far` has.
fn gateway(node: &Node) -> (sinew::Publisher<GatewayStatus>, Provider<GatewayCatalogueRequest, GatewayCatalogue>) {
    let status = sinew::Publisher::new(node, GatewayStatus::TOPIC, &GatewayStatus::qos()).unwrap();
    status.publish(&GatewayStatus::default()).unwrap();
    let entry = |name: &str| GatewayEntry {
        kind: "topic".to_owned(),
        name: name.to_owned(),
        signature: NUMBER.to_owned(),
        depth: 3,
        reliable: true,
        transient_local: true,
        ..GatewayEntry::default()
    };
    let provider = Provider::new(node, &GatewayCatalogue::service(&node.name()), &Default::default(), move |call| {
        let entries = ["number", "other", "many/a", "without"].map(entry).into();
        let far = GatewayPeerCatalogue { name: "far".to_owned(), answered: true, entries };
        call.answer(&GatewayCatalogue { peers: vec![far] }).unwrap();
    });
    (status, provider.unwrap())
}

#[test]
fn what_is_to_be_recorded_by_its_name_and_only_another_domain_has_is_brought_here() {
    for flight in ["", "--last 30s "] {
        let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
        let (node, path) = (domain.node("gateway_1"), folder.path().join("a.mcap"));
        let _gateway = gateway(&node);
        let arguments = format!("record {flight}-o {} /number many/* without here --exclude without", path.display());
        let recorder = Running::new(&mut domain.command(&arguments));
        let state = || node.domain_state().unwrap();
        assert!(eventually(|| state().topic("number").is_some()));
        let carrier = publisher(&node, Ghost::Carrier, &kept());
        assert!(eventually(|| carrier.statistics().subscribers == 1));
        carrier.publish(&[&number(5)]).unwrap();
        assert!(eventually(|| state().pairs.values().any(|pair| pair.delivery.is_some())));
        let there = state();
        assert!(["other", "many/a", "without", "here"].iter().all(|name| there.topic(name).is_none()), "they are not wanted");
        if !flight.is_empty() {
            continue;
        }
        let counters = node.domain_counters().unwrap();
        let of_carrier = |pair: &sinew::PairCounts| there.endpoints.get(&pair.publisher).is_some_and(|end| end.ghost == Ghost::Carrier);
        assert!(eventually(|| counters.read().unwrap().pairs.iter().any(|pair| of_carrier(pair) && pair.messages == 1)));
        interrupt(&recorder);
        let (status, _, said) = recorder.end();
        assert_eq!(status, Some(0));
        assert!(said.contains("topic 'number': far has it, and it comes here while this runs"), "{said}");
        assert_eq!(read(&path), [number(5)]);
        let bag = Bag::open(&path).unwrap();
        let (_, described) = bag.topics().next().unwrap();
        assert!(described.metadata[qos::OFFERED_QOS].contains("depth: 3\n  reliability: 1\n  durability: 1\n"), "{described:?}");
    }
}
