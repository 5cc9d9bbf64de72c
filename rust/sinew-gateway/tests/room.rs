//! What cannot be taken yet keeps nothing else from coming (G39, G40).

mod common;

use std::time::Duration;

use common::stranger::{Stranger, open, record};
use common::{IMAGE, PATIENCE, Robot, all, connected, image, next, number_of, publisher, subscriber, until};
use quinn::RecvStream;
use sinew::Qos;
use sinew::raw::{Client, ClientOptions, Provider, ProviderOptions, Publisher, Subscriber};
use sinew_gateway::gateway::Gateway;
use sinew_gateway::protocol::{Control, Kind, Offer, Packing, RecordHead, TopicHead, Want};
use tokio::time::timeout;

/// Bytes of the largest message, and of those that are published.
const MOST: u64 = 4 << 20;
const LARGE: usize = 4_000_000;

/// A base, and a drone that dials it; neither takes large messages.
async fn small_ones() -> (Robot, Robot) {
    let mut base = Robot::on_this_machine("base", all());
    base.stop().await;
    base.settings.max_message = MOST;
    base.start();
    let mut drone = Robot::dialing("drone", all(), &[&base]);
    drone.stop().await;
    drone.settings.max_message = MOST;
    drone.start();
    (base, drone)
}

/// Of these topics, from the drone to the base.
fn ends(base: &Robot, drone: &Robot, topics: std::ops::Range<u32>, qos: &Qos) -> Vec<(Publisher, Subscriber)> {
    let (camera, viewer) = (drone.node(&format!("camera_{}", topics.start)), base.node(&format!("viewer_{}", topics.start)));
    let topic = |at| format!("camera/{at}");
    let ends: Vec<_> = topics.map(|at| (publisher(&camera, &topic(at), qos), subscriber(&viewer, &topic(at), qos))).collect();
    ends.iter().for_each(|(images, seen)| connected(images, &[seen]));
    ends
}

#[tokio::test(flavor = "multi_thread")]
async fn more_large_messages_at_once_than_there_is_room_for_arrive_one_after_the_other() {
    let (base, drone) = small_ones().await;
    let images = ends(&base, &drone, 0..10, &Qos::reliable());
    let commands = ends(&base, &drone, 10..11, &Qos::default()).remove(0);
    let whole = image(1, LARGE);
    images.iter().for_each(|(images, _)| images.publish(&[&whole]).expect("it is published"));
    commands.0.publish(&[&image(2, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&commands.1)), 2);
    images.iter().for_each(|(_, seen)| assert_eq!(number_of(&next(seen)), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_arrive_beside_more_large_messages_than_there_is_room_for() {
    let (base, drone) = small_ones().await;
    let images = ends(&base, &drone, 0..8, &Qos::default());
    let commands = ends(&base, &drone, 8..9, &Qos::default()).remove(0);
    let whole = image(1, LARGE);
    for number in 0..20 {
        images.iter().for_each(|(images, _)| images.publish(&[&whole]).expect("it is published"));
        commands.0.publish(&[&image(number, 10)]).expect("it is published");
        assert_eq!(number_of(&next(&commands.1)), number);
    }
    images.iter().for_each(|(_, seen)| _ = number_of(&next(seen)));
}

#[tokio::test(flavor = "multi_thread")]
async fn more_large_requests_at_once_than_there_is_room_for_are_answered_one_after_the_other() {
    let (base, drone) = small_ones().await;
    let (calculator, user) = (base.node("calculator"), drone.node("user"));
    let options = ProviderOptions::default();
    let _provider = Provider::new(&calculator, "count", IMAGE, IMAGE, &options, |call| {
        let size: usize = call.extents().map(<[u8]>::len).sum();
        call.answer(&[&image(size as u32, 0)]).expect("somebody waits");
    });
    let client = Client::new(&user, "count", IMAGE, IMAGE, &ClientOptions::default()).expect("it may call");
    let calls: Vec<_> = (0..8).map(|_| client.start(image(1, LARGE), PATIENCE).expect("it is called")).collect();
    for call in calls {
        assert_eq!(number_of(&call.await.expect("it is answered")), LARGE as u32 + 12);
    }
}

fn lost(gateway: &Gateway) -> u64 {
    gateway.status().iter().flat_map(|peer| &peer.channels).map(|channel| channel.lost).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_begins_more_than_there_is_room_for_is_stopped_and_what_is_small_goes_on() {
    let (base, _drone) = small_ones().await;
    let seen = subscriber(&base.node("viewer"), "camera/image", &Qos::default());
    let mut stranger = Stranger::introduced(&base).await;
    let channel = stranger.wanted("camera/image").await;
    stranger.say(&open(channel)).await;
    until("it publishes", || seen.statistics().publishers == 1);
    let begun = |at: u64, bytes: &[u8]| {
        let size = bytes.len() as u32;
        let record = RecordHead { sequence: at + 1, origin: at, age_ns: 0, packing: Packing::None, size, unpacked: size };
        [TopicHead { channel, index: at }.encode(), record.encode(), bytes.to_vec()].concat()
    };
    let mut streams = Vec::new();
    for at in 0..5 {
        let mut stream = stranger.connection.open_uni().await.expect("a stream can be opened");
        stream.write_all(&begun(at, &image(1, LARGE))[..100]).await.expect("it can be written");
        streams.push(stream);
    }
    for stream in &mut streams[3..] {
        let stopped = timeout(PATIENCE, stream.stopped()).await.expect("it is stopped");
        assert_eq!(stopped.expect("the connection is there").map(u64::from), Some(10));
    }
    stranger.uni(&begun(5, &image(6, 10))).await;
    assert_eq!(number_of(&next(&seen)), 6);
    // Those that have room are not whole, and come too late now.
    until("all are counted, a moment after this one has arrived", || base.gateway.as_ref().map(lost) == Some(5));
    assert!(stranger.connection.close_reason().is_none());
}

fn keep_all() -> Qos {
    Qos { keep_all: true, ..Qos::reliable() }
}

/// What the stranger wants is open.
async fn opened(stranger: &mut Stranger, channel: u32, name: &str, offer: Offer) {
    let (name, signature, response) = (name.to_owned(), IMAGE.to_owned(), String::new());
    stranger.say(&Control::Want(Want { channel, kind: Kind::Topic, name, signature, response, offer })).await;
    while !matches!(stranger.hear().await, Control::Open { channel: opened, .. } if opened == channel) {}
}

/// The next stream, and its channel.
async fn accepted(stranger: &Stranger) -> (u32, RecvStream) {
    let mut stream = timeout(PATIENCE, stranger.connection.accept_uni()).await.expect("it comes in time").expect("it is there");
    let mut head = [0; 1 + TopicHead::SIZE];
    stream.read_exact(&mut head).await.expect("it has a head");
    (TopicHead::decode(head[1..].try_into().expect("as long")).channel, stream)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_nothing_of_an_ordered_topic_gets_all_others() {
    const MAPS: u32 = 200;
    const SIZE: usize = 100_000;
    let base = Robot::on_this_machine("base", all());
    let mapper = base.node("mapper");
    let (maps, commands) = (publisher(&mapper, "map", &keep_all()), publisher(&mapper, "command", &Qos::default()));
    let mut stranger = Stranger::introduced(&base).await;
    opened(&mut stranger, 1, "map", Offer { reliable: true, ..Offer::default() }).await;
    opened(&mut stranger, 2, "command", Offer { depth: 1, ..Offer::default() }).await;
    // It has told the stranger before those who publish hear of it.
    until("the gateway takes both", || [&maps, &commands].iter().all(|publisher| publisher.statistics().subscribers == 1));
    for number in 0..MAPS {
        maps.publish(&[&image(number, SIZE)]).expect("it is published");
    }
    let sent = || base.gateway.as_ref().expect("it runs").status()[0].channels.iter().map(|channel| channel.messages).sum::<u64>();
    until("it sends", || sent() > 10);
    let mut unread = Vec::new();
    for number in 0..20 {
        commands.publish(&[&image(number, 10)]).expect("it is published");
        loop {
            match accepted(&stranger).await {
                (2, mut command) => {
                    let record = command.read_to_end(1000).await.expect("it is whole");
                    // It may come a second time (G22).
                    if record[RecordHead::SIZE..] == image(number, 10) {
                        break;
                    }
                }
                (_, map) => unread.push(map),
            }
        }
    }
    // Half of what may be under way at a time is for those who stand still, and half of that for one of them alone.
    assert!((2..=43).contains(&unread.len()), "{} maps are there", unread.len());
    let mut unread = unread.into_iter();
    for number in 0..MAPS {
        let mut map = match unread.next() {
            Some(map) => map,
            None => loop {
                if let (1, map) = accepted(&stranger).await {
                    break map;
                }
            },
        };
        let record = timeout(PATIENCE, map.read_to_end(SIZE + 1000)).await.expect("it comes in time").expect("it is whole");
        assert!(record[RecordHead::SIZE..] == image(number, SIZE), "map {number}");
        stranger.say(&Control::Taken { channel: 1, sequence: u64::from(number) + 1 }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_in_order_is_told_what_was_taken() {
    let base = Robot::on_this_machine("base", all());
    let seen = subscriber(&base.node("viewer"), "map", &keep_all());
    let mut stranger = Stranger::introduced(&base).await;
    let channel = stranger.wanted("map").await;
    let offer = Offer { reliable: true, ..Offer::default() };
    stranger.say(&Control::Open { channel, ordered: true, after: 7, offer }).await;
    until("it publishes", || seen.statistics().publishers == 1);
    let record = |sequence: u64, size: usize| {
        let bytes = image(sequence as u32, size);
        let size = bytes.len() as u32;
        [RecordHead { sequence, origin: sequence, age_ns: 0, packing: Packing::None, size, unpacked: size }.encode(), bytes].concat()
    };
    let mut shared = stranger.connection.open_uni().await.expect("a stream can be opened");
    shared.write_all(&[TopicHead { channel, index: 0 }.encode(), record(8, 10), record(9, 10)].concat()).await.expect("it can be written");
    let told = |sequence| Control::Taken { channel, sequence };
    // It stays open, and nothing follows.
    while stranger.hear().await != told(9) {}
    shared.write_all(&record(10, 40_000)).await.expect("it can be written");
    while stranger.hear().await != told(10) {}
    let _ = shared.finish();
    stranger.uni(&[TopicHead { channel, index: 1 }.encode(), record(11, 100_000)].concat()).await;
    while stranger.hear().await != told(11) {}
    for number in 8..12 {
        assert_eq!(number_of(&next(&seen)), number);
    }
    assert!(seen.take(Duration::ZERO).expect("it can be taken").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_all_and_stands_still_gets_all_when_he_goes_on() {
    // More than the memory of a publisher has entries for.
    const ALL: u32 = 1600;
    let base = Robot::new("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let maps = publisher(&mapper, "map", &keep_all());
    let seen = subscriber(&planner, "map", &keep_all());
    connected(&maps, &[&seen]);
    for number in 0..ALL {
        maps.publish(&[&image(number, 10)]).expect("it is published");
        // Its own gateway is to miss none.
        std::thread::sleep(Duration::from_millis(1));
    }
    let counted = || base.channels("map").pop().map_or((0, 0), |map| (map.messages, map.lost));
    until("no more can be taken", || counted().0 == 1024);
    // For much longer than one message is tried.
    std::thread::sleep(Duration::from_secs(2));
    for number in 0..ALL {
        assert_eq!(number_of(&next(&seen)), number);
    }
    until("all are counted", || counted() == (u64::from(ALL), 0));
}

/// Bytes of a map of which a publisher has memory for so many.
const VAST: usize = 60_000_000;
const FULL: u32 = 17;

/// Of whose bytes all but so many can be packed.
fn vast(number: u32, loose: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(u64::from(number));
    let loose: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(loose).collect();
    [&[0, 1, 0, 0], &number.to_le_bytes()[..], &(VAST as u32).to_le_bytes(), &loose, &vec![0; VAST - loose.len()]].concat()
}

/// A stream of an ordered channel that has it, packed.
fn packed(channel: u32, number: u32, whole: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(whole, 1).expect("it can be packed");
    let (sequence, size, unpacked) = (u64::from(number), packed.len() as u32, whole.len() as u32);
    let head = RecordHead { sequence, origin: sequence, age_ns: 0, packing: Packing::Zstd, size, unpacked };
    [TopicHead { channel, index: sequence - 1 }.encode(), head.encode(), packed].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_all_and_stands_still_gets_all_where_memory_ends_before_there_are_too_many() {
    const MAPS: u32 = 20;
    let base = Robot::on_this_machine("base", all());
    let seen = subscriber(&base.node("planner"), "map", &keep_all());
    let mut stranger = Stranger::introduced(&base).await;
    let channel = stranger.wanted("map").await;
    let offer = Offer { reliable: true, ..Offer::default() };
    stranger.say(&Control::Open { channel, ordered: true, after: 0, offer }).await;
    until("it publishes", || seen.statistics().publishers == 1);
    for number in 1..=MAPS {
        // Hardly anything on the way.
        stranger.uni(&packed(channel, number, &vast(number, 0))).await;
    }
    let counted = || base.channels("map").pop().map_or((0, 0), |map| (map.messages, map.lost));
    until("memory is nearly used up", || counted().0 >= u64::from(FULL));
    // For much longer than one message is tried.
    std::thread::sleep(Duration::from_secs(1));
    for number in 1..=MAPS {
        assert!(next(&seen).to_vec() == vast(number, 0), "map {number}");
    }
    until("all are counted", || counted() == (u64::from(MAPS), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn large_messages_that_cannot_be_taken_for_want_of_memory_keep_nothing_of_another_topic_from_coming() {
    let base = Robot::on_this_machine("base", all());
    let (planner, pilot) = (base.node("planner"), base.node("pilot"));
    let seen = subscriber(&planner, "map", &keep_all());
    let mut stranger = Stranger::introduced(&base).await;
    let maps = stranger.wanted("map").await;
    let offer = Offer { reliable: true, ..Offer::default() };
    stranger.say(&Control::Open { channel: maps, ordered: true, after: 0, offer }).await;
    let heard = subscriber(&pilot, "command", &Qos::default());
    let commands = stranger.wanted("command").await;
    stranger.say(&open(commands)).await;
    until("it publishes both", || [&seen, &heard].iter().all(|subscriber| subscriber.statistics().publishers == 1));
    for number in 1..=FULL {
        stranger.uni(&packed(maps, number, &vast(number, 0))).await;
    }
    let counted = || base.channels("map").pop().map_or((0, 0), |map| (map.messages, map.lost));
    until("memory is used up", || counted().0 == u64::from(FULL));
    // One that is next to be taken, and one behind it that is as large as may wait: together all that may be under way.
    let loose = [12 << 20, (8 << 20) - 10_000];
    let mut going = tokio::task::JoinSet::new();
    for (number, loose) in (FULL + 1..).zip(loose) {
        let mut stream = stranger.connection.open_uni().await.expect("a stream can be opened");
        let map = packed(maps, number, &vast(number, loose));
        going.spawn(async move { stream.write_all(&map).await.map(|()| stream.finish()) });
    }
    // For much longer than they take.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let command = image(1, 60_000);
    let size = command.len() as u32;
    let command = [TopicHead { channel: commands, index: 0 }.encode(), record(size, Packing::None, size), command].concat();
    timeout(PATIENCE, stranger.uni(&command)).await.expect("it arrives");
    assert_eq!(number_of(&next(&heard)), 1);
    assert_eq!(counted(), (u64::from(FULL), 0));
    for number in 1..=FULL + 2 {
        let loose = number.checked_sub(FULL + 1).map_or(0, |at| loose[at as usize]);
        assert!(next(&seen).to_vec() == vast(number, loose), "map {number}");
    }
    until("all are counted", || counted() == (u64::from(FULL) + 2, 0));
}
