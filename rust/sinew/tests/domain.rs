//! What there is in a domain, and what is counted in it.

mod common;

use std::sync::{Arc, Mutex};

use common::{Domain, LONG, eventually};
use sinew::raw::{Delivery, Publisher, Subscriber, SubscriberOptions};
use sinew::{DomainState, ErrorKind, Ghost, Id, Qos};

const NUMBER: &str = "test/Number{value:uint64;}";
const ONE: [u8; 12] = [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn the_state_names_nodes_topics_endpoints_and_pairs() {
    let domain = Domain::new();
    let (camera, viewer) = (domain.node("camera"), domain.node("viewer"));
    let publisher = Publisher::new(&camera, "n", NUMBER, &Qos::keep_last(3), Default::default()).unwrap();
    let _subscriber = Subscriber::new(&viewer, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    assert!(eventually(|| publisher.statistics().subscribers == 1));
    let mut state = DomainState::default();
    assert!(eventually(|| {
        state = viewer.domain_state().unwrap();
        state.pairs.values().any(|pair| pair.delivery.is_some())
    }));
    let names: Vec<_> = state.nodes.values().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["camera", "viewer"]);
    assert!(state.nodes.values().all(|node| node.pid == i64::from(std::process::id())));
    let topic = state.topic("n").unwrap();
    assert_eq!((topic.type_name.as_str(), topic.signature.as_str()), ("test/Number", NUMBER));
    let publishes: Vec<_> = state.endpoints.values().map(|endpoint| (endpoint.publishes, endpoint.topic, endpoint.depth)).collect();
    assert_eq!(publishes, [(true, Some(topic.id), 3), (false, Some(topic.id), 8)]);
    let pair = state.pairs.values().next().unwrap();
    assert_eq!(pair.delivery, Some(Delivery::View), "{}", pair.why);
    assert_ne!(pair.why, "");
}

#[test]
fn a_watch_tells_of_what_comes_and_goes() {
    let domain = Domain::new();
    let node = domain.node("node");
    let state = Arc::new(Mutex::new(DomainState::default()));
    let followed = Arc::clone(&state);
    let watch = node.watch_domain(move |update| followed.lock().unwrap().apply(update)).unwrap();
    let has = |topic: &str| state.lock().unwrap().topic(topic).is_some();
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    assert!(eventually(|| has("n")));
    drop(publisher);
    assert!(eventually(|| !has("n")));
    drop(watch);
    assert_eq!(Arc::strong_count(&state), 1);
}

#[test]
fn a_node_that_is_disconnected_is_told_as_lost_and_comes_again() {
    let domain = Domain::new();
    let (node, _other) = (domain.node("node"), domain.node("other"));
    let told = Arc::new(Mutex::new((DomainState::default(), Vec::<Id>::new())));
    let followed = Arc::clone(&told);
    let _watch = node
        .watch_domain(move |update| {
            let mut told = followed.lock().unwrap();
            told.1.extend(&update.lost);
            told.0.apply(update);
        })
        .unwrap();
    let id_of_other = || told.lock().unwrap().0.nodes.values().find(|node| node.name == "other").map(|node| node.id);
    assert!(eventually(|| id_of_other().is_some()));
    let before = id_of_other().unwrap();
    node.disconnect("other").unwrap();
    assert!(eventually(|| id_of_other().is_some_and(|id| id != before)));
    assert_eq!(told.lock().unwrap().1, [before]);
    assert_eq!(node.disconnect("nobody").unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn who_waits_for_a_message_on_a_topic_that_goes_is_told() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    let ghost =
        Subscriber::new(&node, "n", NUMBER, &Qos::default(), SubscriberOptions { ghost: Ghost::Observer, ..Default::default() }).unwrap();
    drop(publisher);
    assert!(eventually(|| ghost.take(LONG).is_err_and(|error| error.kind() == ErrorKind::Closed)));
}

#[test]
fn counters_tell_of_messages_latency_and_holders_without_subscribing() {
    let domain = Domain::new();
    let (node, tool) = (domain.node("node"), domain.node("tool"));
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    let subscriber = Subscriber::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    let counters = tool.domain_counters().unwrap();
    assert!(eventually(|| publisher.statistics().subscribers == 1));
    let mut held = Vec::new();
    for _ in 0..3 {
        publisher.publish(&[&ONE]).unwrap();
        held.push(subscriber.take(LONG).unwrap().unwrap());
    }
    let mut counts = counters.read().unwrap();
    assert!(eventually(|| {
        counts = counters.read().unwrap();
        counts.publishers.len() == 1 && counts.pairs.len() == 1
    }));
    assert_eq!((counts.publishers[0].messages, counts.pairs[0].messages, counts.pairs[0].held), (3, 3, 3));
    assert!(counts.publishers[0].newest_ns > 0);
    assert!(counts.pairs[0].latency.quantile_ns(0.5).is_some());
    let (identity, pair) = (counts.publishers[0].identity, &counts.pairs[0]);
    assert_eq!(pair.publisher_identity, identity);
    assert!(pair.subscriber_identity != identity && pair.subscriber_identity != 0 && identity != 0);
    held.clear();
    assert!(eventually(|| counters.read().unwrap().pairs[0].held == 0));
    assert_eq!(publisher.statistics().subscribers, 1, "nobody subscribes");
}
