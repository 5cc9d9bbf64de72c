//! What a gateway or a bridge brings into the domain, and the command beside it. Their ends in the domain are carriers (W72), here of the test.

mod common;
#[path = "common/gateway.rs"]
mod gateway;

use std::path::Path;

use common::{Domain, Running, eventually, interrupt};
use gateway::{Gateway, NUMBER, kept, number, publisher};
use sinew::raw::{Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, Qos};
use sinew_bag::{Bag, qos};

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

#[test]
fn what_is_to_be_recorded_by_its_name_and_only_another_domain_has_is_brought_here() {
    for flight in ["", "--last 30s "] {
        let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
        let (node, path) = (domain.node("gateway_1"), folder.path().join("a.mcap"));
        let _gateway = Gateway::new(&node, &["number", "other", "many/a", "without"]);
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

#[test]
fn what_a_condition_looks_at_and_only_another_domain_has_is_brought_here() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let node = domain.node("gateway_1");
    let _gateway = Gateway::new(&node, &["num", "number", "other"]);
    let mut command = domain.command(&format!("record --last 30s --after 0s -o {} held", folder.path().join("a.mcap").display()));
    let recorder = Running::new(command.args(["--when", "/number.value > 3", "--when", "nobody.has == 1"]));
    let state = || node.domain_state().unwrap();
    assert!(eventually(|| state().topic("number").is_some()));
    let carrier = publisher(&node, Ghost::Carrier, &kept());
    assert!(eventually(|| carrier.statistics().subscribers == 1));
    carrier.publish(&[&number(5)]).unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    assert!(eventually(|| files() == 1), "the condition holds");
    assert!(["num", "other"].iter().all(|name| state().topic(name).is_none()), "they are not wanted");
    interrupt(&recorder);
    let (status, told, said) = recorder.end();
    assert_eq!(status, Some(3), "nothing came on the topic that is named: {said}");
    assert!(told.contains("/number.value > 3"), "{told}");
    assert!(said.contains("topic 'number': far has it, and it comes here while this runs"), "{said}");
}

#[test]
fn what_a_peer_has_that_is_connected_later_is_brought_here_too() {
    for (arguments, when) in [("", None), ("--last 30s ", None), ("--last 30s --after 0s ", Some("number.value > 3"))] {
        let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
        let (node, path) = (domain.node("gateway_1"), folder.path().join("a.mcap"));
        let gateway = Gateway::new(&node, &[]);
        let named = if when.is_none() { "number" } else { "held" };
        let mut command = domain.command(&format!("record {arguments}-o {} {named}", path.display()));
        let recorder = Running::new(command.args(when.iter().flat_map(|condition| ["--when", *condition])));
        assert!(eventually(|| gateway.asked() == 1), "{arguments}");
        gateway.has(true, &["number", "other"]);
        gateway.is_connected_with(&["far"]);
        let state = || node.domain_state().unwrap();
        assert!(eventually(|| state().topic("number").is_some()), "{arguments}");
        let carrier = publisher(&node, Ghost::Carrier, &kept());
        assert!(eventually(|| carrier.statistics().subscribers == 1));
        carrier.publish(&[&number(5)]).unwrap();
        assert!(state().topic("other").is_none(), "it is not wanted");
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        assert!(when.is_none() || eventually(|| files() == 1), "the condition holds");
        if arguments.is_empty() {
            assert!(eventually(|| Bag::open(&path).is_ok_and(|bag| bag.topics().count() == 1)));
        }
        interrupt(&recorder);
        let (_, _, said) = recorder.end();
        assert!(said.contains(&format!("no topic '{named}' yet: waiting for it")), "{said}");
        assert!(said.contains("topic 'number': far has it, and it comes here while this runs"), "{said}");
        assert!(!arguments.is_empty() || read(&path) == [number(5)]);
    }
}

#[test]
fn what_somebody_else_has_held_here_is_brought_for_the_recorder_when_that_one_goes() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let (node, path) = (domain.node("gateway_1"), folder.path().join("a.mcap"));
    let _gateway = Gateway::new(&node, &["number"]);
    let (echo, carrier) = (wants(&node), publisher(&node, Ghost::Carrier, &kept()));
    let recorder = Running::new(&mut domain.command(&format!("record -o {} number", path.display())));
    assert!(eventually(|| carrier.statistics().subscribers == 2));
    carrier.publish(&[&number(1)]).unwrap();
    // What is small is written within a second.
    assert!(eventually(|| Bag::open(&path).is_ok_and(|bag| bag.topics().count() == 1)));
    let here = || node.domain_state().unwrap().topic("number").map(|topic| topic.id);
    let before = here();
    drop((echo, carrier));
    assert!(eventually(|| here().is_some_and(|now| Some(now) != before)), "the recorder wants it");
    let carrier = publisher(&node, Ghost::Carrier, &kept());
    assert!(eventually(|| carrier.statistics().subscribers == 1));
    carrier.publish(&[&number(2)]).unwrap();
    let has_come = |bag: Bag| bag.messages(Default::default()).count() == 2;
    assert!(eventually(|| Bag::open(&path).is_ok_and(has_come)));
    interrupt(&recorder);
    let (status, _, said) = recorder.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("topic 'number': far has it, and it comes here while this runs"), "{said}");
    assert_eq!(read(&path), [number(1), number(2)]);
}
