//! Tools of others read what is recorded, message by message, and what they write is played.

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Domain, eventually};
use serde_json::{Value as Json, json};
use sinew::Qos;
use sinew::raw::{Frame, Publisher, PublisherOptions, Subscriber, SubscriberOptions};

/// What others.py prints. Nothing where there is no Python that has the tools.
fn others(arguments: &[&str]) -> Option<Vec<Json>> {
    let Ok(python) = std::env::var("SINEW_TEST_PYTHON") else {
        println!("not tried: SINEW_TEST_PYTHON is not set; tools/python_env.py makes an interpreter for it");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/others.py");
    let output = Command::new(python).arg(script).args(arguments).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    Some(String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A message of a topic, and what the first of its fields is.
struct Given {
    topic: usize,
    stream: Vec<u8>,
    first: Json,
}

const TOPICS: [(&str, &str, &str); 4] = [
    ("camera/image", "robot/msg/Image", "robot/Image{stamp_ns:uint64;data:uint8[];}"),
    (
        "odometry",
        "robot_nav/msg/Odometry",
        "robot/nav/Odometry{frameId:string;pose:robot/Pose{x:float64;y:float64;};mode:robot/Mode(uint8);}",
    ),
    ("status", "robot/msg/Status", "robot/Status{text:string?;values:entry<string,float32>{key:string;value:float32;}[];}"),
    ("stop", "robot/msg/Stop", "robot/Stop{}"),
];

fn messages() -> Vec<Given> {
    let mut messages = Vec::new();
    for n in 0..30_u8 {
        let size = if n % 5 == 0 { 300_000 } else { 50 + usize::from(n) };
        let image = [&[0, 1, 0, 0][..], &u64::from(n).to_le_bytes(), &(size as u32).to_le_bytes(), &vec![n; size]].concat();
        messages.push(Given { topic: 0, stream: image, first: n.into() });
        let odometry = [&[0, 1, 0, 0, 4, 0, 0, 0][..], b"map\0", &f64::from(n).to_le_bytes(), &[0; 8], &[n]].concat();
        messages.push(Given { topic: 1, stream: odometry, first: "map".into() });
        let text = [&[1, 0, 0, 0, 3, 0, 0, 0][..], b"ok\0\0"].concat();
        let status = [&[0, 1, 0, 0][..], if n % 2 == 0 { &text } else { &[0; 4] }, &[0; 4]].concat();
        messages.push(Given { topic: 2, stream: status, first: (1 - n % 2).into() });
        messages.push(Given { topic: 3, stream: vec![0, 1, 0, 0, 0], first: 0.into() });
    }
    messages
}

/// Records all messages.
fn record(domain: &Domain, path: &Path, compression: &str) {
    let node = domain.node("robot");
    let qos = Qos { reliable: true, ..Qos::keep_last(200) };
    let publishers = TOPICS.map(|(name, _, signature)| Publisher::new(&node, name, signature, &qos, PublisherOptions::default()).unwrap());
    let mut command = domain.command(&format!("record -o {} -z {compression}", path.display()));
    let mut recorder: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(eventually(|| publishers.iter().all(|publisher| publisher.statistics().subscribers == 1)));
    let counters = node.domain_counters().unwrap();
    for (n, message) in messages().iter().enumerate() {
        // What stands behind the message without bytes, the recorder writes.
        let stream = if message.topic == 3 { &message.stream[..4] } else { &message.stream };
        publishers[message.topic].publish(&[stream]).unwrap();
        assert!(eventually(|| counters.read().unwrap().pairs.iter().map(|pair| pair.messages).sum::<u64>() > n as u64));
    }
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(recorder.id() as i32), nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(recorder.wait().unwrap().success());
}

#[test]
fn mcap_and_rosbags_read_every_message_as_it_was_published() {
    if std::env::var("SINEW_TEST_PYTHON").is_err() {
        others(&[]);
        return;
    }
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    for compression in ["none", "lz4", "zstd"] {
        let path = folder.path().join(format!("{compression}.mcap"));
        record(&domain, &path, compression);
        let told = others(&["read", path.to_str().unwrap()]).unwrap();
        assert_eq!(told.iter().map(|told| told[0].as_str().unwrap()).collect::<Vec<_>>(), ["mcap", "rosbags"]);
        for told in told {
            let read = told[1].as_array().unwrap();
            let given = messages();
            assert_eq!(read.len(), given.len());
            let mut last = 0;
            for (read, given) in read.iter().zip(given) {
                let (name, type_name, _) = TOPICS[given.topic];
                let [topic, ty, time, stream, first] = [0, 1, 2, 3, 4].map(|n| &read[n]);
                assert_eq!((topic, ty), (&json!(format!("/{name}")), &json!(type_name)), "{}", told[0]);
                assert!(stream.as_str() == Some(&hex(&given.stream)), "{} {topic} {time}", told[0]);
                assert_eq!(*first, given.first, "{} {topic}", told[0]);
                assert!(time.as_u64().unwrap() > last);
                last = time.as_u64().unwrap();
            }
            if told[0] == "rosbags" {
                assert_eq!(told[2]["/odometry"], json!([["RELIABLE", "VOLATILE", "KEEP_LAST", 200]]));
            }
        }
    }
}

#[test]
fn bags_of_ros_2_and_ros_1_are_played_and_databases_by_way_of_rosbags() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    if others(&["write", folder.path().to_str().unwrap()]).is_none() {
        return;
    }
    let node = domain.node("listens");
    let chatter =
        Subscriber::new(&node, "chatter", "std_msgs/msg/String{data:string;}", &Qos::reliable(), SubscriberOptions::default()).unwrap();
    for name in ["ros2", "none.bag", "bz2.bag", "lz4.bag", "from_db3"] {
        let told = domain.json(&format!("play {}", folder.path().join(name).display()));
        assert_eq!((&told["messages"], &told["refused"]), (&5.into(), &json!([])), "{name}: {told}");
        for n in 0..5 {
            let message = chatter.take(Duration::from_secs(30)).unwrap().unwrap().to_vec();
            let expected = [&[0, 1, 0, 0, 8, 0, 0, 0][..], format!("hello {n}\0").as_bytes()].concat();
            // There may be padding.
            assert_eq!(message[..expected.len()], expected, "{name}");
        }
    }
    let (_, complaint) = domain.complaint(&format!("play {}", folder.path().join("db3").display()));
    assert!(complaint.contains("a database of rosbag2") && complaint.contains("rosbags-convert --src"), "{complaint}");
}

const POSE: &str = "geometry_msgs/PoseStamped{header:std_msgs/Header{seq:uint32;stamp:ros/Time{sec:uint32;nsec:uint32;};frame_id:string;};\
    pose:geometry_msgs/Pose{position:geometry_msgs/Point{x:float64;y:float64;z:float64;};\
    orientation:geometry_msgs/Quaternion{x:float64;y:float64;z:float64;w:float64;};};}";

fn pose_of(frame: &Frame) -> Json {
    let mut reader = frame.reader().unwrap();
    let [seq, sec, nsec] = [(); 3].map(|()| reader.number::<u32>().unwrap());
    let frame_id = String::from_utf8(reader.string().unwrap().into_owned()).unwrap();
    let numbers = [(); 7].map(|()| reader.number::<f64>().unwrap());
    json!([seq, sec, nsec, frame_id, numbers])
}

#[test]
fn a_real_bag_of_ros_1_arrives_message_for_message() {
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/evo");
    let Some(given) = others(&["evo", folder]) else { return };
    let bag = given[0].as_str().unwrap();
    let topics = ["ORB_SLAM", "S_PTAM", "groundtruth"];
    let domain = Domain::new();
    let node = domain.node("listens");
    let (_, complaint) = domain.complaint(&format!("play --rate 1000 --topics S-PTAM {bag}"));
    assert!(complaint.contains("character '-' is in it") && complaint.contains("--remap S-PTAM:=OTHER"), "{complaint}");

    let received: Vec<_> = (topics.iter().zip(&given[1..]))
        .map(|(name, given)| {
            let topic = Subscriber::new(&node, name, POSE, &Qos::reliable(), SubscriberOptions::default()).unwrap();
            let count = given.as_array().unwrap().len();
            std::thread::spawn(move || {
                (0..count).map(|_| pose_of(&topic.take(Duration::from_secs(60)).unwrap().unwrap())).collect::<Vec<_>>()
            })
        })
        .collect();
    let told = domain.json(&format!("play --rate 500 --remap ORB-SLAM:=ORB_SLAM --remap S-PTAM:=S_PTAM {bag}"));
    assert_eq!((&told["messages"], &told["refused"]), (&26566.into(), &json!([])), "{told}");
    for ((topic, given), received) in topics.iter().zip(&given[1..]).zip(received) {
        assert!(received.join().unwrap() == *given.as_array().unwrap(), "{topic}");
    }
}
