//! Topics of ROS 1, over TCPROS.

mod common;

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::ros1::{Master, ROS_STRING, Robot, has, publishes, ros_text, subscribes};
use common::ros2::told;
use common::texts::{STRING, latched, reliable, text};
use common::{PATIENCE, all, connected, image, next, number_of, publisher, rules, subscriber, until};
use serde_json::json;
use sinew::{GatewayChannel, GatewayEntry, Qos};

/// What a program of ROS 1 says until it ends.
fn said(command: &mut Command) -> String {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it is a program");
    let begin = Instant::now();
    while child.try_wait().expect("it is a child").is_none() {
        if begin.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("in vain: {command:?} ends");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut said = String::new();
    child.stdout.take().expect("it is a pipe").read_to_string(&mut said).expect("it is text");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_ros_1_reads_what_is_published_here_and_the_other_way_round() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    peer.read("heard", "/chatter", ROS_STRING);
    let said = publishes(&node, "chatter", STRING, &reliable(10));
    until("somebody there wants it", || said.statistics().subscribers == 1);
    said.publish(&[&text("hello")]).expect("it is published");
    assert_eq!(peer.messages("heard", 1), [ros_text("hello")]);
    let counted = |outgoing| {
        let is_counted = |channel: &GatewayChannel| (channel.state.as_str(), channel.messages, channel.lost) == ("open", 1, 0);
        until("it is counted", || robot.channel("chatter", outgoing).as_ref().is_some_and(is_counted));
    };
    counted(true);
    drop(said);

    let heard = subscribes(&node, "chatter", STRING, &reliable(10));
    peer.write("said", "/chatter", ROS_STRING, false);
    until("somebody there has it", || heard.statistics().publishers == 1);
    // Its own subscriber, and the bridge.
    peer.connected("said", 2);
    peer.publish("said", ROS_STRING, &ros_text("world"));
    assert_eq!(next(&heard).to_vec(), text("world"));
    counted(false);
}

#[tokio::test(flavor = "multi_thread")]
async fn rostopic_lists_and_shows_what_is_published_here() {
    if !has("rostopic") {
        return;
    }
    let Some(master) = Master::new() else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let chatter = publishes(&node, "front/chatter", STRING, &latched(1));
    chatter.publish(&[&text("hello")]).expect("it is published");
    let rostopic = |arguments: &[&str]| {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", "import rostopic; rostopic.rostopicmain()"]).args(arguments);
        master.environment(&mut command);
        said(&mut command)
    };
    until("the master knows it", || robot.is_connected() && rostopic(&["list"]).lines().any(|line| line == "/front/chatter"));
    assert_eq!(rostopic(&["type", "/front/chatter"]).trim(), "std_msgs/String");
    let shown = rostopic(&["echo", "-n", "1", "/front/chatter"]);
    assert!(shown.contains("data: \"hello\""), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_another_domain_byte_for_byte() {
    let Some(master) = Master::new() else { return };
    let (drone, base) = (Robot::new(all(), &master.uri), Robot::new(all(), &master.uri));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let images = publisher(&camera, "camera/image", &reliable(50));
    let seen = subscriber(&viewer, "camera/image", &reliable(50));
    connected(&images, &[&seen]);
    for number in 0..20 {
        images.publish(&[&image(number, 100_000 * number as usize)]).expect("it is published");
        assert_eq!(number_of(&next(&seen)), number);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_with_both_on_both_sides_is_no_loop() {
    let Some(master) = Master::new() else { return };
    let robots = [Robot::new(all(), &master.uri), Robot::new(all(), &master.uri)];
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
    let Some(master) = Master::new() else { return };
    let mut robot = Robot::new(all(), &master.uri);
    let first = robot.bridge.take();
    robot.start();
    let node = robot.node("node");
    let (images, seen) = (publisher(&node, "image", &Qos::default()), subscriber(&node, "image", &Qos::default()));
    connected(&images, &[&seen]);
    std::thread::sleep(Duration::from_secs(2));
    images.publish(&[&image(1, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 1);
    assert!(seen.take(Duration::from_millis(500)).expect("it can be taken").is_none());
    assert_eq!((seen.statistics().publishers, images.statistics().subscribers), (1, 1));
    drop(first);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_domain_is_read_only_while_somebody_there_subscribes() {
    let Some(master) = Master::new() else { return };
    let (drone, base) = (Robot::new(all(), &master.uri), Robot::new(all(), &master.uri));
    let camera = drone.node("camera");
    let images = publisher(&camera, "image", &Qos::default());
    until("the bridges are connected", || drone.is_connected() && base.is_connected());
    assert_eq!((images.statistics().subscribers, drone.channel("image", true)), (0, None));
    let viewer = base.node("viewer");
    let seen = subscriber(&viewer, "image", &Qos::default());
    connected(&images, &[&seen]);
    drop(seen);
    until("nobody reads it any more", || images.statistics().subscribers == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_do_not_let_stays() {
    let Some(master) = Master::new() else { return };
    let only_out = rules(r#"{ "topics": { "base_rule": "none", "exceptions": [{ "name": "right", "rule": "out" }] } }"#);
    let (drone, base) = (Robot::new(only_out, &master.uri), Robot::new(all(), &master.uri));
    let (camera, viewer) = (drone.node("camera"), base.node("viewer"));
    let (right, wrong) = (publisher(&camera, "right", &Qos::default()), publisher(&camera, "wrong", &Qos::default()));
    let (seen, unseen) = (subscriber(&viewer, "right", &Qos::default()), subscriber(&viewer, "wrong", &Qos::default()));
    connected(&right, &[&seen]);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((wrong.statistics().subscribers, unseen.statistics().publishers), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_what_was_kept_both_ways() {
    let Some(master) = Master::new() else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let said = publishes(&node, "chatter", STRING, &latched(3));
    for data in ["1", "2", "3", "4", "5"] {
        said.publish(&[&text(data)]).expect("it is published");
    }
    let mut peers = Vec::new();
    for name in ["first", "second"] {
        let Some(mut peer) = master.peer(name) else { return };
        peer.read("heard", "/chatter", ROS_STRING);
        assert_eq!(peer.messages("heard", 3), ["3", "4", "5"].map(ros_text));
        peers.push(peer);
    }
    // Each is read for itself.
    said.publish(&[&text("6")]).expect("it is published");
    for mut peer in peers {
        assert_eq!(peer.messages("heard", 1), [ros_text("6")]);
    }
    drop(said);

    let Some(mut peer) = master.peer("third") else { return };
    peer.write("said", "/said", ROS_STRING, true);
    for data in ["1", "2"] {
        peer.publish("said", ROS_STRING, &ros_text(data));
    }
    let early = subscribes(&node, "said", STRING, &latched(3));
    assert_eq!(next(&early).to_vec(), text("2"), "ROS 1 keeps the last one");
    let late = subscribes(&node, "said", STRING, &latched(3));
    assert_eq!(next(&late).to_vec(), text("2"));
    assert!(early.take(Duration::from_millis(200)).expect("it can be taken").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_differs_is_told_with_the_field() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    peer.ty("std_msgs/Int32", "int32 data\n");
    peer.write("number", "/chatter", "std_msgs/Int32", false);
    let _heard = subscribes(&node, "chatter", STRING, &Qos::default());
    let why =
        "refused: 'chatter' has std_msgs/Int32 in ROS 1, and std_msgs/String in this domain: field 'data' is string here and int32 there";
    until("it is told", || robot.state("chatter", false) == why);

    peer.read("heard", "/said", "std_msgs/Int32");
    let _said = publishes(&node, "said", STRING, &Qos::default());
    let why = "refused: /peer cannot read '/said': field 'data' is string here and int32 there";
    until("it is told", || robot.state("said", true) == why);
    peer.ask(&json!({"do": "close", "id": "heard"}));
    until("it is forgotten", || robot.channel("said", true).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_that_want_what_nobody_keeps_are_told() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let _heard = subscribes(&node, "chatter", STRING, &latched(1));
    peer.write("said", "/chatter", ROS_STRING, false);
    let why = "subscribers here ask for what was kept, and publishers there keep nothing: they are not latched";
    until("it is told", || robot.state("chatter", false) == format!("refused: {why}"));
    let _hears = subscribes(&node, "chatter", STRING, &reliable(1));
    until("somebody gets it all the same", || robot.state("chatter", false) == format!("open: {why}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_ros_1_has_is_told_to_those_who_look_and_can_be_had() {
    const POSE: &str = "float64 x\nstring label\n";
    let folder = tempfile::tempdir().expect("there is room");
    std::fs::create_dir_all(folder.path().join("robot/msg")).expect("there is room");
    std::fs::write(folder.path().join("robot/msg/Pose.msg"), POSE).expect("there is room");
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let but_one = rules(r#"{ "topics": { "base_rule": "both", "exceptions": [{ "name": "secret", "rule": "out" }] } }"#);
    let robot = Robot::knowing(vec![folder.path().to_owned()], but_one, &master.uri);
    let node = robot.node("viewer");
    peer.ty("robot/Pose", POSE);
    peer.ty("their_msgs/Thing", "uint8 x\n");
    for (id, name) in [("known", "robot/Pose"), ("unknown", "their_msgs/Thing"), ("secret", "robot/Pose")] {
        peer.write(id, &format!("/{id}"), name, false);
    }
    peer.read("read", "/read", ROS_STRING);
    // What goes there of this domain is nothing that others have.
    let _own = publishes(&node, "own", STRING, &reliable(1));
    peer.until("it is known", &json!({"do": "topics"}), |told| told["publishers"].get("/own").is_some());
    let entry = |name: &str, signature: &str| GatewayEntry {
        name: name.into(),
        kind: "topic".into(),
        signature: signature.into(),
        depth: 1,
        reliable: true,
        ..GatewayEntry::default()
    };
    let (known, unknown) = (entry("known", "robot/msg/Pose{x:float64;label:string;}"), entry("unknown", "their_msgs/Thing"));
    let both = [known.clone(), unknown.clone()];
    until("all is told", || told(&node) == both);
    let heard = subscribes(&node, "known", &known.signature, &reliable(1));
    until("it can be had", || heard.statistics().publishers == 1 && robot.state("known", false) == "open");
    peer.close("known");
    until("it is gone", || told(&node) == [unknown.clone()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_with_variants_is_refused_with_why() {
    let Some(master) = Master::new() else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let _said = publishes(&node, "state", "robot/State{it:(uint8|string);}", &Qos::default());
    let why = "refused: 'state' cannot be opened: ROS 1 can have no type like robot/State, which has variants";
    until("it is told", || robot.state("state", true) == why);
}
