//! What a peer opens, and this domain does not let its gateway publish (G43).

mod common;

use common::stranger::{Stranger, open};
use common::{PATIENCE, Robot, all, image, next, number_of, subscriber, until};
use sinew::Qos;
use sinew_gateway::protocol::{Control, Offer, Packing, RecordHead, TopicHead};

/// No domain has topics of such a depth.
const TOO_DEEP: Offer = Offer { depth: 100_000, reliable: false, transient_local: false, deadline: None, lifespan: None, lease: None };

/// Messages that may be on their way over one connection.
const STREAMS: u64 = 1024;

fn message(channel: u32, number: u64) -> Vec<u8> {
    let whole = image(number as u32, 10);
    let size = whole.len() as u32;
    let record = RecordHead { sequence: number, origin: number, age_ns: 0, packing: Packing::None, size, unpacked: size };
    [TopicHead { channel, index: number - 1 }.encode(), record.encode(), whole].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_published_here_is_refused_and_unwanted_and_holds_up_nothing_else() {
    let base = Robot::on_this_machine("base", all());
    let viewer = base.node("viewer");
    let _odd = subscriber(&viewer, "odd", &Qos::default());
    let mut stranger = Stranger::introduced(&base).await;
    let odd = stranger.wanted("odd").await;
    stranger.say(&Control::Open { channel: odd, ordered: false, after: 0, offer: TOO_DEEP }).await;
    // As many as there is room for, from a peer that has not heard yet.
    let mut streams = Vec::new();
    for number in 1..=STREAMS {
        let opened = tokio::time::timeout(PATIENCE, stranger.connection.open_uni()).await;
        let mut stream = opened.expect("there is room for another one").expect("the connection is there");
        let _ = stream.write_all(&message(odd, number)).await;
        streams.push(stream);
    }
    until("it is refused", || matches!(base.refusals().as_slice(), [why] if why.contains("'odd'")));
    for stream in streams {
        let stopped = tokio::time::timeout(PATIENCE, stream.stopped()).await.expect("it does not wait");
        assert_eq!(stopped.expect("the connection is there").map(|code| code.into_inner()), Some(6));
    }
    let good = subscriber(&viewer, "good", &Qos::default());
    let channel = stranger.wanted("good").await;
    stranger.say(&open(channel)).await;
    until("it publishes", || good.statistics().publishers == 1);
    stranger.uni(&message(channel, 1)).await;
    assert_eq!(number_of(&next(&good)), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_published_here_is_wanted_again_and_may_be_by_then() {
    let base = Robot::on_this_machine("base", all());
    let seen = subscriber(&base.node("viewer"), "odd", &Qos::default());
    let mut stranger = Stranger::introduced(&base).await;
    let first = stranger.wanted("odd").await;
    stranger.say(&Control::Open { channel: first, ordered: false, after: 0, offer: TOO_DEEP }).await;
    let unwanted = async { while stranger.hear().await != (Control::Unwant { channel: first }) {} };
    tokio::time::timeout(PATIENCE, unwanted).await.expect("it is unwanted");
    let channel = tokio::time::timeout(PATIENCE, stranger.wanted("odd")).await.expect("it is wanted again");
    assert_ne!(channel, first);
    stranger.say(&open(channel)).await;
    until("it publishes", || seen.statistics().publishers == 1);
    stranger.uni(&message(channel, 1)).await;
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(base.refusals().is_empty(), "{:?}", base.refusals());
}
