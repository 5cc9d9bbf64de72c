//! Peers that say what no gateway says: they are disconnected, and nobody else notices.

mod common;

use common::stranger::{Stranger, hello, open, record, want};
use common::{Robot, all, connected, image, next, number_of, publisher, subscriber, until};
use sinew::Qos;
use sinew_gateway::protocol::{CallHead, Control, Hello, Packing, TopicHead};

/// Checks, when it is dropped, that two other domains still hear of each other.
struct Others {
    base: Robot,
    _drone: Robot,
    seen: sinew::raw::Subscriber,
    images: sinew::raw::Publisher,
}

impl Others {
    fn new() -> Others {
        let base = Robot::on_this_machine("base", all());
        let drone = Robot::dialing("drone", all(), &[&base]);
        let images = publisher(&drone.node("camera"), "camera/image", &Qos::default());
        let seen = subscriber(&base.node("viewer"), "camera/image", &Qos::default());
        connected(&images, &[&seen]);
        Others { base, _drone: drone, seen, images }
    }

    fn go_on(&self) {
        self.images.publish(&[&image(5, 100)]).expect("it is published");
        assert_eq!(number_of(&next(&self.seen)), 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_introduce_itself_properly_is_disconnected_alone() {
    let others = Others::new();
    let garbage: [&[u8]; 6] = [
        &[0, 0, 0, 0],
        &[0xff; 64],
        &Control::Ready.encode(),
        &want(1, "camera/image").encode(),
        &[&hello().encode()[..], &hello().encode()].concat(),
        &[5, 0, 0, 0, 1, 2, 3, 4, 5],
    ];
    for bytes in garbage {
        let mut stranger = Stranger::new(&others.base).await;
        stranger.send.write_all(bytes).await.expect("it can be said");
        let (code, why) = stranger.disconnected().await;
        assert_eq!((code, why.is_empty()), (1, false), "{bytes:?}");
    }
    others.go_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_speaks_another_version_is_told() {
    let others = Others::new();
    let mut stranger = Stranger::new(&others.base).await;
    let Control::Hello(old) = hello() else { unreachable!("it is one") };
    stranger.say(&Control::Hello(Hello { version: 99, ..old })).await;
    let (code, why) = stranger.disconnected().await;
    assert_eq!(code, 5);
    assert!(why.contains("version 1") && why.contains("99"), "{why}");
    others.go_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_violates_the_protocol_later_is_disconnected_alone() {
    let others = Others::new();
    let said: [&[Control]; 4] =
        [&[hello()], &[Control::Ready], &[want(1, "camera/image"), want(2, "camera/image")], &[want(1, "one"), want(1, "another")]];
    for controls in said {
        let mut stranger = Stranger::introduced(&others.base).await;
        for control in controls {
            stranger.say(control).await;
        }
        assert_eq!(stranger.disconnected().await.0, 1, "{controls:?}");
    }
    let mut stranger = Stranger::introduced(&others.base).await;
    let channel = stranger.wanted("camera/image").await;
    stranger.say(&open(channel)).await;
    stranger.say(&open(channel)).await;
    assert_eq!(stranger.disconnected().await.0, 1);
    others.go_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_are_none_are_a_violation() {
    let others = Others::new();
    let head = |channel| TopicHead { channel, index: 0 }.encode();
    let whole = image(1, 10);
    for case in 0..6 {
        let mut stranger = Stranger::introduced(&others.base).await;
        let channel = stranger.wanted("camera/image").await;
        stranger.say(&open(channel)).await;
        let size = whole.len() as u32;
        let bytes = match case {
            0 => vec![9, 1, 2, 3],
            1 => [head(channel), record(u32::MAX, Packing::None, u32::MAX)].concat(),
            2 => [head(channel), record(size, Packing::None, size + 1), whole.clone()].concat(),
            3 => [head(channel), record(size, Packing::None, size), whole[..5].to_vec()].concat(),
            4 => [head(channel), record(size, Packing::Zstd, 1 << 20), whole.clone()].concat(),
            _ => [head(channel), record(size, Packing::Lz4, 1 << 20), whole.clone()].concat(),
        };
        stranger.uni(&bytes).await;
        assert_eq!(stranger.disconnected().await.0, 1, "case {case}");
    }
    others.go_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_no_stream_is_dropped_and_counted() {
    let others = Others::new();
    let mut stranger = Stranger::introduced(&others.base).await;
    let channel = stranger.wanted("camera/image").await;
    stranger.say(&open(channel)).await;
    until("the stranger publishes", || others.seen.statistics().publishers == 2);
    stranger.uni(&[TopicHead { channel, index: 0 }.encode(), record(100, Packing::None, 100), vec![0xee; 100]].concat()).await;
    let lost = |name: &str| {
        let status = others.base.gateway.as_ref().map(sinew_gateway::gateway::Gateway::status).unwrap_or_default();
        status.into_iter().filter(|peer| peer.name.contains(name)).flat_map(|peer| peer.channels).map(|channel| channel.lost).sum::<u64>()
    };
    until("it is counted", || lost("stranger") == 1);
    assert!(stranger.connection.close_reason().is_none());
    others.go_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_calls_for_channels_that_nobody_knows_are_dropped() {
    let others = Others::new();
    let stranger = Stranger::introduced(&others.base).await;
    let whole = image(1, 10);
    let size = whole.len() as u32;
    stranger.uni(&[TopicHead { channel: 4711, index: 0 }.encode(), record(size, Packing::None, size), whole].concat()).await;
    let (mut send, mut receive) = stranger.connection.open_bi().await.expect("a stream can be opened");
    let head = CallHead { channel: 4711, call: 1, packing: Packing::None, size: 0, unpacked: 0 };
    send.write_all(&head.encode()).await.expect("it can be written");
    let answer = receive.read_to_end(100).await.expect("it is answered");
    assert_eq!(answer[0], 2, "there is no such provider");
    assert!(stranger.connection.close_reason().is_none());
    others.go_on();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_wants_too_much_is_refused_what_is_too_much() {
    let others = Others::new();
    let mut stranger = Stranger::introduced(&others.base).await;
    for channel in 0..4097 {
        stranger.say(&want(channel, &format!("topic_{channel}"))).await;
    }
    loop {
        if let Control::Refuse { channel, text, .. } = stranger.hear().await {
            assert_eq!((channel, text.contains("4096")), (4096, true), "{text}");
            break;
        }
    }
    others.go_on();
}
