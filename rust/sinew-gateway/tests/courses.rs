//! Nothing of a channel that is over gets between the messages of the next one, and nobody is to blame for it (G42).

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{IMAGE, Robot, all, connected, image, next, node, number_of, publisher, subscriber, until};
use quinn::{Connection, Endpoint, RecvStream, SendStream};
use sinew::Qos;
use sinew_gateway::channels::{Inlet, Received};
use sinew_gateway::config::Security;
use sinew_gateway::protocol::{Decoded, Kind, Offer, Packing, RecordHead, TopicHead, Want};
use sinew_gateway::security::Identity;

/// More than a subscriber's queue has room for: whoever publishes to one that takes nothing waits for it then, message by message.
const MANY: u32 = 1600;

fn keep_all() -> Qos {
    Qos { keep_all: true, ..Qos::reliable() }
}

/// Messages of a topic that a gateway has handed on, and those that it has lost.
fn counted(robot: &Robot, topic: &str) -> (u64, u64) {
    robot.channels(topic).iter().fold((0, 0), |(messages, lost), channel| (messages + channel.messages, lost + channel.lost))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_goes_before_a_reader_who_stands_still_has_taken_all_costs_what_is_left_and_no_connection() {
    let base = Robot::on_this_machine("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let seen = subscriber(&planner, "map", &keep_all());
    let maps = publisher(&mapper, "map", &keep_all());
    connected(&maps, &[&seen]);
    let connections = base.gateway.as_ref().expect("it runs").connections();
    for number in 0..MANY {
        maps.publish(&[&image(number, 10)]).expect("it is published");
        // No faster than they leave: what is lost before that is none of this.
        until("the ones before leave", || number % 50 != 0 || counted(&drone, "map").0 + 100 > u64::from(number));
    }
    drop(maps);
    until("the channel is over", || {
        let (messages, lost) = counted(&base, "map");
        messages + lost == u64::from(MANY) && seen.statistics().publishers == 0
    });
    // Who comes next is heard behind all that was handed on.
    while seen.take(Duration::ZERO).expect("it can be taken").is_some() {}
    let maps = publisher(&mapper, "map", &keep_all());
    connected(&maps, &[&seen]);
    maps.publish(&[&image(MANY, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), MANY);
    assert!(connections[0].connection.close_reason().is_none());
}

/// A record of an image, in a channel and among all that are ever sent.
fn record(sequence: u64, number: u32) -> Vec<u8> {
    let whole = image(number, 10);
    let size = whole.len() as u32;
    let head = RecordHead { sequence, origin: u64::from(number), age_ns: 0, packing: Packing::None, size, unpacked: size };
    [head.encode(), whole].concat()
}

/// Two ends of a connection, and the sockets that they are at.
async fn pair() -> (Connection, Connection, [Endpoint; 2]) {
    let identity = Identity::load(&Security::default()).expect("an identity is made on the fly");
    let here = "[::1]:0".parse().expect("it is an address");
    let server = Endpoint::server(identity.server(), here).expect("there is a port");
    let client = Endpoint::client(here).expect("there is a port");
    let address = server.local_addr().expect("it has one");
    let dialed = client.connect_with(identity.client(), address, "sinew").expect("it can be dialed");
    let accepted = async { server.accept().await.expect("it is there").await };
    let (sends, receives) = tokio::join!(dialed, accepted);
    (sends.expect("they are connected"), receives.expect("they are connected"), [client, server])
}

/// Sends these bytes over a stream of its own, which is taken in.
async fn sent(sends: &Connection, receives: &Connection, bytes: &[u8]) -> (SendStream, RecvStream) {
    let mut stream = sends.open_uni().await.expect("a stream can be opened");
    stream.write_all(bytes).await.expect("it can be written");
    (stream, receives.accept_uni().await.expect("it comes"))
}

async fn taken(inlet: &Inlet, stream: RecvStream) -> Decoded<()> {
    match inlet.take_messages(stream).await? {
        Some(ordered) => inlet.take_ordered(ordered, |_, _| {}).await,
        None => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_channel_before_has_left_at_hand_is_dropped_when_the_next_one_counts_from_1_again() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let domain = folder.path().join("domain");
    let domain = domain.to_str().expect("a path is a text");
    let (gateway, planner) = (node(domain, "gateway"), node(domain, "planner"));
    let (sends, receives, _endpoints) = pair().await;
    for (ordered, topic) in [(true, "map"), (false, "image")] {
        let seen = subscriber(&planner, topic, &keep_all());
        let offer = Offer { depth: 8, reliable: true, ..Offer::default() };
        let (signature, response) = (IMAGE.to_owned(), String::new());
        let want = Want { channel: 1, kind: Kind::Topic, name: topic.to_owned(), signature, response, offer: offer.clone() };
        let received = Arc::new(Received::open(&gateway, false, &want, 1, &offer, ordered).expect("it may publish"));
        let (old, new) = (Arc::new(Inlet::new(1 << 20)), Inlet::new(1 << 20));
        let begin = |inlet: &Inlet, after| {
            inlet.expect(1);
            inlet.open(1, Arc::clone(&received), received.begin(after, None, 0));
        };
        begin(&old, 0);
        let head = |index| TopicHead { channel: 1, index }.encode();
        let (mut stream, arriving) = sent(&sends, &receives, &[head(0), record(1, 1)].concat()).await;
        let at_hand = Arc::clone(&old);
        let first = tokio::spawn(async move { taken(&at_hand, arriving).await });
        assert_eq!(number_of(&next(&seen)), 1);
        // Not that it is over, which a task hears when it waits: it is the next one that is on.
        begin(&new, 0);
        if ordered {
            stream.write_all(&record(2, 2)).await.expect("it can be written");
        } else {
            let (_stream, arriving) = sent(&sends, &receives, &[head(1), record(2, 2)].concat()).await;
            taken(&old, arriving).await.expect("it is no violation");
        }
        let _ = stream.finish();
        first.await.expect("it goes on").expect("it is no violation");
        let (_stream, arriving) = sent(&sends, &receives, &[head(0), record(1, 3)].concat()).await;
        let _second = tokio::spawn(async move { taken(&new, arriving).await });
        assert_eq!(number_of(&next(&seen)), 3, "ordered: {ordered}");
        assert_eq!(received.last(), 1);
    }
}
