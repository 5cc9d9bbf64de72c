//! Topics of ROS 2, over DDS.

mod common;

use std::time::{Duration, Instant};

use common::program::Program;
use common::ros2::{Domain, Peer, Robot, told};
use common::texts::{STRING, latched, reliable, text};
use common::{PATIENCE, all, connected, image, next, number_of, publisher, rules, subscriber, until};
use serde_json::json;
use sinew::msg::Type;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{GatewayEntry, Qos};

/// Without what others add behind a message, so that its size is a multiple of four.
fn plain(mut stream: Vec<u8>) -> Vec<u8> {
    let size = 8 + u32::from_le_bytes(stream[4..8].try_into().expect("four")) as usize;
    assert!(stream.len() < size + 4, "{stream:?}");
    stream.truncate(size);
    stream
}

/// Published until it arrives: that a writer knows a reader does not mean that the reader knows it, too, and what is sent before is lost.
fn arrives(peer: &mut Peer, heard: &Subscriber, data: &str) {
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < PATIENCE, "in vain: {data} arrives");
        peer.publish("said", "std_msgs/msg/String", &text(data));
        if let Some(frame) = heard.take(Duration::from_millis(100)).expect("it can be taken")
            && plain(frame.to_vec()) == text(data)
        {
            return;
        }
    }
}

fn chatter(node: &sinew::Node, qos: &Qos) -> Publisher {
    Publisher::new(node, "chatter", STRING, qos, PublisherOptions::default()).expect("it may publish")
}

fn listener(node: &sinew::Node, qos: &Qos) -> Subscriber {
    Subscriber::new(node, "chatter", STRING, qos, SubscriberOptions::default()).expect("it may subscribe")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_another_domain_byte_for_byte() {
    let domain = Domain::new();
    let (drone, base) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &reliable(50));
    let seen = subscriber(&viewer, "camera/image", &reliable(50));
    connected(&images, &[&seen]);
    for number in 0..20 {
        images.publish(&[&image(number, 100_000 * number as usize)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
    }
    // They are counted a moment after they have gone, and a moment after they were handed on.
    for (robot, outgoing) in [(&drone, true), (&base, false)] {
        until("all are counted", || robot.channel("camera/image", outgoing).is_some_and(|told| told.messages >= 20));
        let told = robot.channel("camera/image", outgoing).expect("it is open");
        assert_eq!((told.state.as_str(), told.messages, told.lost), ("open", 20, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_with_both_on_both_sides_is_no_loop() {
    let domain = Domain::new();
    let robots = [Robot::new(all(), &domain), Robot::new(all(), &domain)];
    let nodes = [robots[0].node("node"), robots[1].node("node")];
    let (here, there) = (publisher(&nodes[0], "image", &reliable(50)), publisher(&nodes[1], "image", &reliable(50)));
    let (seen_here, seen_there) = (subscriber(&nodes[0], "image", &reliable(50)), subscriber(&nodes[1], "image", &reliable(50)));
    until("all are connected", || {
        let has_both = [&here, &there].iter().all(|images| images.statistics().subscribers == 2);
        has_both && [&seen_here, &seen_there].iter().all(|seen| seen.statistics().publishers == 2)
    });
    here.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!((number_of(&next(&seen_here)), number_of(&next(&seen_there))), (1, 1));
    there.publish(&[&image(2, 10)]).expect("it is published");
    assert_eq!((number_of(&next(&seen_here)), number_of(&next(&seen_there))), (2, 2));
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        seen_here.take(Duration::ZERO).expect("it can be taken").is_none()
            && seen_there.take(Duration::ZERO).expect("it can be taken").is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_bridge_of_the_same_domain_brings_nothing_back() {
    let domain = Domain::new();
    let mut robot = Robot::new(all(), &domain);
    let first = robot.bridge.take();
    robot.start();
    let node = robot.node("node");
    let (images, seen) = (publisher(&node, "image", &Qos::default()), subscriber(&node, "image", &Qos::default()));
    connected(&images, &[&seen]);
    std::thread::sleep(Duration::from_secs(2));
    images.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(seen.take(Duration::from_millis(500)).expect("it can be taken").is_none());
    assert_eq!(seen.statistics().publishers, 1);
    drop(first);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_domain_is_read_only_while_somebody_there_subscribes() {
    let domain = Domain::new();
    let (drone, base) = (Robot::new(all(), &domain), Robot::new(all(), &domain));
    let camera = drone.node("camera");
    let images = publisher(&camera, "image", &Qos::default());
    until("the bridge is connected", || base.bridge.as_ref().is_some_and(|bridge| bridge.status()[0].connected));
    assert_eq!((images.statistics().subscribers, drone.channel("image", true)), (0, None));
    let viewer = base.node("viewer");
    let seen = subscriber(&viewer, "image", &Qos::default());
    connected(&images, &[&seen]);
    drop(seen);
    until("nobody reads it any more", || images.statistics().subscribers == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_do_not_let_stays() {
    let domain = Domain::new();
    let only_out = rules(r#"{ "topics": { "base_rule": "none", "exceptions": [{ "name": "right", "rule": "out" }] } }"#);
    let (drone, base) = (Robot::new(only_out, &domain), Robot::new(all(), &domain));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let (right, wrong) = (publisher(&camera, "right", &Qos::default()), publisher(&camera, "wrong", &Qos::default()));
    let (seen, unseen) = (subscriber(&viewer, "right", &Qos::default()), subscriber(&viewer, "wrong", &Qos::default()));
    connected(&right, &[&seen]);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((wrong.statistics().subscribers, unseen.statistics().publishers), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn cyclone_dds_reads_what_is_published_here_and_the_other_way_round() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.read("heard", "rt/chatter", "std_msgs/msg/String", &json!({}));
    let said = chatter(&node, &reliable(10));
    peer.matched("heard", 1);
    until("somebody there wants it", || said.statistics().subscribers == 1);
    said.publish(&[&text("hello")]).expect("it is published");
    assert_eq!(peer.streams("heard", 1), [text("hello")]);
    drop(said);

    let heard = listener(&node, &reliable(10));
    peer.write("said", "rt/chatter", "std_msgs/msg/String", &json!({}));
    until("somebody there has it", || heard.statistics().publishers == 1);
    // Its own reader, and the bridge's.
    peer.matched("said", 2);
    arrives(&mut peer, &heard, "world");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_what_was_kept_both_ways() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let kept = json!({"transient_local": true, "depth": 3});
    let said = chatter(&node, &latched(3));
    for data in ["1", "2", "3", "4", "5"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    for _life in 0..2 {
        let Some(mut peer) = Peer::new(&domain) else { return };
        peer.ty("std_msgs/msg/String", "string data\n");
        peer.read("heard", "rt/chatter", "std_msgs/msg/String", &kept);
        assert_eq!(peer.streams("heard", 3), [text("3"), text("4"), text("5")]);
        drop(peer);
        until("nobody reads it any more", || said.statistics().subscribers == 0);
    }
    drop(said);

    let Some(mut peer) = Peer::new(&domain) else { return };
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.write("said", "rt/chatter", "std_msgs/msg/String", &kept);
    for data in ["1", "2", "3", "4", "5"] {
        peer.publish("said", "std_msgs/msg/String", &text(data));
    }
    let heard = listener(&node, &latched(3));
    for data in ["3", "4", "5"] {
        assert_eq!(plain(next(&heard).to_vec()), text(data));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_differs_is_told() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    peer.ty("std_msgs/msg/Int32", "int32 data\n");
    let node = robot.node("node");
    // Who is there first does not matter.
    let early = listener(&node, &Qos::default());
    until("it is wanted", || robot.state("chatter", false) == "waiting");
    peer.write("said", "rt/chatter", "std_msgs/msg/Int32", &json!({}));
    let why = "refused: 'chatter' has std_msgs::msg::dds_::Int32_ in the ROS 2 network, and std_msgs::msg::dds_::String_ in this domain";
    until("it is told", || robot.state("chatter", false) == why);
    drop(early);
    until("nobody wants it any more", || robot.channel("chatter", false).is_none());
    let _late = listener(&node, &Qos::default());
    until("it is told again", || robot.state("chatter", false) == why);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_asks_for_more_is_told_with_the_policy() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    peer.ty("std_msgs/msg/String", "string data\n");
    let node = robot.node("node");
    let _said = chatter(&node, &reliable(1));
    peer.read("heard", "rt/chatter", "std_msgs/msg/String", &json!({"transient_local": true}));
    let why = "refused: a subscriber there asks for more than publishers here offer: durability";
    until("it is told", || robot.state("chatter", true) == why);
    // Those who ask for no more hear it, and of the others it is told all the same.
    peer.read("easy", "rt/chatter", "std_msgs/msg/String", &json!({}));
    let why = "open: a subscriber there asks for more than publishers here offer: durability";
    until("it is open", || robot.state("chatter", true) == why);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_offers_less_is_told_with_the_policy() {
    for (qos, policy) in [(json!({"reliable": false}), "reliability"), (json!({}), "durability")] {
        let domain = Domain::new();
        let Some(mut peer) = Peer::new(&domain) else { return };
        let robot = Robot::new(all(), &domain);
        peer.ty("std_msgs/msg/String", "string data\n");
        let node = robot.node("node");
        let heard = listener(&node, &latched(1));
        peer.write("said", "rt/chatter", "std_msgs/msg/String", &qos);
        let why = format!("refused: a publisher there offers less than subscribers here ask for: {policy}");
        until("it is told", || robot.state("chatter", false) == why);
        assert_eq!(heard.statistics().publishers, 0);
        // Those who ask for no more hear it, and of the others it is told all the same.
        let easy = listener(&node, &Qos::default());
        let why = format!("open: a publisher there offers less than subscribers here ask for: {policy}");
        until("it is open", || robot.state("chatter", false) == why && easy.statistics().publishers == 1);
        assert_eq!(heard.statistics().publishers, 0);
        drop(heard);
        until("nobody asks for more", || robot.state("chatter", false) == "open");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_that_a_program_closes_is_not_read_for_any_more() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::with_key_hashes(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    peer.ty("std_msgs/msg/String", "string data\n");
    let node = robot.node("node");
    let said = chatter(&node, &reliable(10));
    for _life in 0..2 {
        peer.read("heard", "rt/chatter", "std_msgs/msg/String", &json!({}));
        until("somebody there wants it", || said.statistics().subscribers == 1);
        peer.ask(&json!({"do": "close", "id": "heard"}));
        until("nobody there wants it any more", || said.statistics().subscribers == 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_the_domain_are_listed_with_what_they_have_there() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(all(), &domain);
    let (talker, nested) = (robot.node("talker"), robot.node("arm/planner"));
    let _said = chatter(&talker, &reliable(1));
    let _heard = listener(&nested, &reliable(1));
    let behind = format!("\n{}\nMSG: rmw_dds_common/", "=".repeat(80));
    let info = format!(
        "Gid gid\nNodeEntitiesInfo[] node_entities_info_seq{behind}Gid\nuint8[16] data{behind}NodeEntitiesInfo\nstring node_namespace\nstring node_name\nGid[] reader_gid_seq\nGid[] writer_gid_seq\n"
    );
    let name = "rmw_dds_common/msg/ParticipantEntitiesInfo";
    peer.ty(
        name,
        &info
            .replace("Gid ", "rmw_dds_common/Gid ")
            .replace("Gid[]", "rmw_dds_common/Gid[]")
            .replace("NodeEntitiesInfo[]", "rmw_dds_common/NodeEntitiesInfo[]"),
    );
    peer.read("graph", "ros_discovery_info", name, &json!({"transient_local": true, "depth": 1}));
    let begin = Instant::now();
    loop {
        let told = peer.streams("graph", 1).pop().expect("it is one");
        let nodes = nodes_in(&told);
        let has = |name: &str, readers, writers| nodes.contains(&(name.to_owned(), readers, writers));
        if has("/talker", 0, 1) && has("/arm/planner", 1, 0) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{nodes:?}");
    }
}

/// Names of nodes, and how many readers and writers they have.
fn nodes_in(message: &[u8]) -> Vec<(String, u64, u64)> {
    let parts = [message];
    let mut reader = sinew::msg::stream::Reader::new(&parts).expect("it is a stream");
    let gid: Type = "Gid{data:uint8[16];}".parse().expect("it is a type");
    reader.skip_value(&gid).expect("it is there");
    let count = reader.number::<u32>().expect("it is there");
    let text = |reader: &mut sinew::msg::stream::Reader<'_>| {
        String::from_utf8(reader.string().expect("it is there").into_owned()).expect("it is a text")
    };
    let gids = |reader: &mut sinew::msg::stream::Reader<'_>| {
        let count = reader.count(&gid).expect("it is there");
        reader.skip_values(&gid, count).expect("they are there");
        count
    };
    let node = |_| {
        let (namespace, name) = (text(&mut reader), text(&mut reader));
        (format!("{}/{name}", namespace.trim_end_matches('/')), gids(&mut reader), gids(&mut reader))
    };
    (0..count).map(node).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_ros_2_has_is_told_to_those_who_look() {
    let domain = Domain::new();
    let Some(mut peer) = Peer::new(&domain) else { return };
    let robot = Robot::new(
        rules(
            r#"{ "topics": { "base_rule": "both", "exceptions": [{ "name": "secret", "rule": "out" }] }, "services": { "base_rule": "both" } }"#,
        ),
        &domain,
    );
    let node = robot.node("viewer");
    peer.ty("std_msgs/msg/String", "string data\n");
    peer.ty("their_msgs/msg/Thing", "uint8 x\n");
    peer.write("known", "rt/known", "std_msgs/msg/String", &json!({"transient_local": true}));
    peer.write("unknown", "rt/unknown", "their_msgs/msg/Thing", &json!({"reliable": false}));
    peer.write("secret", "rt/secret", "std_msgs/msg/String", &json!({}));
    peer.read("read", "rt/read", "std_msgs/msg/String", &json!({}));
    peer.ask(&json!({"do": "serve"}));
    let entry = |name: &str, kind: &str, signature: &str| GatewayEntry {
        name: name.into(),
        kind: kind.into(),
        signature: signature.into(),
        ..GatewayEntry::default()
    };
    let known = GatewayEntry { depth: 1, reliable: true, transient_local: true, ..entry("known", "topic", STRING) };
    let unknown = GatewayEntry { depth: 1, ..entry("unknown", "topic", "their_msgs/msg/Thing") };
    let add = GatewayEntry {
        response: "example_interfaces/srv/AddTwoInts_Response{sum:int64;}".to_owned(),
        ..entry("add", "service", "example_interfaces/srv/AddTwoInts_Request{a:int64;b:int64;}")
    };
    let expected = [known, unknown, add];
    until("all is told", || told(&node) == expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_killed_and_comes_again_is_heard_again() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let heard = listener(&node, &reliable(10));
    for life in ["first", "second"] {
        let Some(mut peer) = Peer::new(&domain) else { return };
        peer.ty("std_msgs/msg/String", "string data\n");
        peer.write("said", "rt/chatter", "std_msgs/msg/String", &json!({}));
        peer.matched("said", 1);
        until("somebody there has it", || heard.statistics().publishers == 1);
        arrives(&mut peer, &heard, life);
        peer.kill();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_with_variants_is_refused_with_why() {
    let domain = Domain::new();
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let _said = Publisher::new(&node, "state", "robot/State{it:(uint8|string);}", &Qos::default(), PublisherOptions::default())
        .expect("it may publish");
    let why = "refused: 'state' cannot be opened: ROS 2 can have no type like robot/State, which has variants";
    until("it is told", || robot.state("state", true) == why);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_profiles_that_users_have_for_fast_dds_are_obeyed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let [config, profiles, here] = ["ros2.json", "profiles.xml", "domain"].map(|name| folder.path().join(name));
    // It is this test's until the end, or others would meet the bridge in it.
    let domain = Domain::new();
    std::fs::write(&config, json!({"transport": "ros2", "ros2": {"domain_id": domain.id}}).to_string()).expect("there is room");
    let segment = 77 << 20;
    let xml = format!(
        r#"<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"><transport_descriptors><transport_descriptor>
        <transport_id>memory</transport_id><type>SHM</type><segment_size>{segment}</segment_size></transport_descriptor></transport_descriptors>
        <participant profile_name="any" is_default_profile="true"><rtps><useBuiltinTransports>false</useBuiltinTransports>
        <userTransports><transport_id>memory</transport_id></userTransports></rtps></participant></profiles>"#
    );
    std::fs::write(&profiles, xml).expect("there is room");
    // Those that were killed leave theirs behind.
    let segments = || std::fs::read_dir("/dev/shm").expect("there is such a folder").flatten();
    let before: Vec<_> = segments().map(|file| file.file_name()).collect();
    let bridge = Program::told("FASTRTPS_DEFAULT_PROFILES_FILE", &profiles, &config, here.to_str().expect("a path is a text"));
    bridge.says("joins ROS 2");
    until("its segment is as large as they say", || {
        let sizes = segments().filter(|file| !before.contains(&file.file_name())).filter_map(|file| file.metadata().ok());
        sizes.map(|file| file.len()).any(|size| (segment..segment + (1 << 20)).contains(&size))
    });
    bridge.signal("TERM");
    assert_eq!(bridge.end(), Some(0));
}
