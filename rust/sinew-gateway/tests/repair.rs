//! Symbols that make up for packets that are lost (G30 to G32).

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::relay::Relay;
use common::stranger::{Stranger, open, record};
use common::{PATIENCE, Robot, all, image, next, number_of, subscriber, until};
use sinew::Qos;
use sinew::raw::Subscriber;
use sinew_gateway::protocol::{Packing, RecordHead, RepairHead, TopicHead};
use sinew_gateway::repair::{Cover, SYMBOL};
use tokio::time::timeout;

/// A base where somebody looks at images, and a stranger who sends them on a channel.
async fn watched() -> (Robot, Subscriber, Stranger, u32) {
    let base = Robot::on_this_machine("base", all());
    let seen = subscriber(&base.node("viewer"), "camera/image", &Qos::default());
    let mut stranger = Stranger::introduced(&base).await;
    let channel = stranger.wanted("camera/image").await;
    stranger.say(&open(channel)).await;
    until("the stranger publishes", || seen.statistics().publishers == 1);
    (base, seen, stranger, channel)
}

/// The streams for the repair of the message with the number 1.
fn repairs(channel: u32, cover: &Cover, message: &[u8]) -> Vec<Vec<u8>> {
    let symbols = cover.encode(&[Bytes::copy_from_slice(message)]).expect("it can be encoded");
    let (size, first, repairs) = (cover.size as u32, cover.first as u32, cover.repairs as u16);
    let head = |index| RepairHead { channel, sequence: 1, size, first, repairs, index }.encode();
    symbols.chunks(SYMBOL).enumerate().map(|(index, symbol)| [&head(index as u16), symbol].concat()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_end_does_not_come_is_put_together_from_symbols_and_its_stream_stopped() {
    let (_base, seen, stranger, channel) = watched().await;
    let whole = image(1, 100_000);
    let cover = Cover { size: whole.len(), first: 50_176, repairs: 12 };
    let head = [TopicHead { channel, index: 0 }.encode(), record(whole.len() as u32, Packing::None, whole.len() as u32)].concat();
    let mut stream = stranger.connection.open_uni().await.expect("a stream can be opened");
    // Ten symbols are missing, and a part of one.
    stream.write_all(&[&head, &whole[..whole.len() - 10 * SYMBOL]].concat()).await.expect("it can be written");
    for repair in repairs(channel, &cover, &whole).into_iter().rev() {
        let mut again = stranger.connection.open_uni().await.expect("a stream can be opened");
        again.write_all(&repair).await.expect("it can be written");
        let _ = again.finish();
        let _ = again.stopped().await;
    }
    assert_eq!(number_of(&next(&seen)), 1);
    assert_eq!(stream.stopped().await.expect("the connection is there").map(|code| code.into_inner()), Some(9));
    assert!(stranger.connection.close_reason().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn symbols_for_a_message_that_nobody_knows_are_dropped() {
    let (_base, seen, stranger, channel) = watched().await;
    let whole = image(1, 10_000);
    let cover = Cover { size: whole.len(), first: 0, repairs: 4 };
    for repair in repairs(channel, &cover, &whole).iter().chain(&repairs(4711, &cover, &whole)) {
        stranger.uni(repair).await;
    }
    stranger
        .uni(&[TopicHead { channel, index: 0 }.encode(), record(whole.len() as u32, Packing::None, whole.len() as u32), whole].concat())
        .await;
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(stranger.connection.close_reason().is_none());
}

// Of one thread, so that all that has come is there before anything of it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn symbols_that_come_twice_before_they_are_read_are_read_once() {
    let base = Robot::on_this_machine("base", all());
    let relay = Relay::to(base.address()).await;
    let mut stranger = Stranger::dialing(relay.address).await.expect("it is accepted");
    stranger.introduce().await;
    let whole = image(1, 10_000);
    let repair = repairs(4711, &Cover { size: whole.len(), first: 0, repairs: 4 }, &whole).swap_remove(0);
    for _ in 0..20 {
        relay.hold();
        let mut streams = Vec::new();
        for _ in 0..20 {
            let mut stream = stranger.connection.open_uni().await.expect("a stream can be opened");
            stream.write_all(&repair).await.expect("it can be written");
            let _ = stream.finish();
            streams.push(stream);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // What is held was sent again meanwhile, as if it were lost, and held again.
        tokio::time::sleep(Duration::from_millis(100)).await;
        relay.release();
        for stream in &mut streams {
            let stopped = timeout(PATIENCE, stream.stopped()).await.expect("it is taken");
            assert_eq!(stopped.expect("nobody has closed the connection"), None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn symbols_that_cannot_be_are_a_violation() {
    let whole = image(1, 10_000);
    let good = Cover { size: whole.len(), first: 0, repairs: 4 };
    for case in 0..6 {
        let (_base, _seen, stranger, channel) = watched().await;
        let head = [TopicHead { channel, index: 0 }.encode(), record(whole.len() as u32, Packing::None, whole.len() as u32)].concat();
        let mut stream = stranger.connection.open_uni().await.expect("a stream can be opened");
        stream.write_all(&[&head, &whole[..5_000]].concat()).await.expect("it can be written");
        let first = repairs(channel, &good, &whole).swap_remove(0);
        let bytes = match case {
            0 => first[..first.len() - 1].to_vec(),
            1 => first[..=RepairHead::SIZE].to_vec(),
            2 => [&first[..], &[0; 2 * SYMBOL]].concat(),
            // More symbols than there are bytes to repair, and a begin behind the end.
            3 => RepairHead { channel, sequence: 1, size: 1_000, first: 0, repairs: 3, index: 0 }.encode(),
            4 => RepairHead { channel, sequence: 1, size: 1_000, first: 1_000, repairs: 1, index: 0 }.encode(),
            // Of a larger message, which would have more of them.
            _ => RepairHead { channel, sequence: 1, size: 100_000, first: 0, repairs: 100, index: 0 }.encode(),
        };
        let bytes = if case < 3 { bytes } else { [bytes, vec![0; SYMBOL]].concat() };
        // It may be ahead of what it repairs, and dropped then.
        while stranger.connection.close_reason().is_none() {
            stranger.uni(&bytes).await;
        }
        assert_eq!(stranger.disconnected().await.0, 1, "case {case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_stream_comes_late_is_handed_on_while_no_later_one_was() {
    let (_base, seen, stranger, channel) = watched().await;
    for (index, number) in [(5, 1), (3, 2), (0, 3), (1, 4)] {
        let whole = image(number, 10);
        let size = whole.len() as u32;
        let sequence = u64::from(number);
        let head = RecordHead { sequence, origin: sequence, age_ns: 0, packing: Packing::None, size, unpacked: size };
        stranger.uni(&[TopicHead { channel, index }.encode(), head.encode(), whole].concat()).await;
        assert_eq!(number_of(&next(&seen)), number);
    }
}
