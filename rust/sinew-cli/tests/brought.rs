//! What a gateway or a bridge brings into the domain, and the command beside it. Their ends in the domain are carriers (W72), here of the test.

mod common;

use std::path::Path;

use common::{Domain, Running, eventually, interrupt};
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, Qos};
use sinew_bag::Bag;

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
