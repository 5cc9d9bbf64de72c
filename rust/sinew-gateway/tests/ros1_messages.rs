//! Messages of ROS 1, of all kinds, and those that programs in C++ take and bring.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::ros1::{Master, Robot, publishes, subscribes};
use common::texts::reliable;
use common::{all, image, next, number_of, publisher, subscriber, until};
use sinew::msg::ros1::{Definition, Library};
use sinew::msg::stream::Reader;
use sinew::msg::{Field, Number, Structure, Type, schema};

/// Where Debian has the definitions of ROS 1.
const DEBIAN: &str = "/usr/share";
const STANDARD: [&str; 15] = [
    "actionlib_msgs",
    "diagnostic_msgs",
    "geometry_msgs",
    "map_msgs",
    "move_base_msgs",
    "nav_msgs",
    "pcl_msgs",
    "rosgraph_msgs",
    "sensor_msgs",
    "shape_msgs",
    "std_msgs",
    "stereo_msgs",
    "tf2_msgs",
    "trajectory_msgs",
    "visualization_msgs",
];

const IMAGE: &str = "sensor_msgs/msg/Image{header:std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;};height:uint32;width:uint32;encoding:string;is_bigendian:uint8;step:uint32;data:uint8[];}";

#[tokio::test(flavor = "multi_thread")]
async fn images_go_over_byte_for_byte() {
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("camera") else { return };
    let Some(definition) = Library::new(vec![DEBIAN.into()]).find("sensor_msgs/Image").expect("it is one") else {
        return eprintln!("not tried: there is no definition of sensor_msgs/Image; `tools/setup test` installs Debian's packages of ROS 1");
    };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    assert_eq!(peer.ty("sensor_msgs/Image", &definition.text()), "060021388200f6f0f447d0fcd9c64743");
    let data: Vec<u8> = (0..1_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let message = |seq: u8| {
        let header = [&[seq, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0][..], b"cam"].concat();
        let rest = [&[1u8, 0, 0, 0, 64, 66, 15, 0, 5, 0, 0, 0][..], b"mono8", &[0, 64, 66, 15, 0, 64, 66, 15, 0]].concat();
        [header, rest, data.clone()].concat()
    };
    peer.write("front", "/front", "sensor_msgs/Image", false);
    let seen = subscribes(&node, "front", IMAGE, &reliable(5));
    peer.connected("front", 1);
    peer.publish("front", "sensor_msgs/Image", &message(0));
    let frame = next(&seen);
    assert!(frame.to_vec().ends_with(&data), "{} bytes", frame.size());

    peer.read("rear", "/rear", "sensor_msgs/Image");
    let images = publishes(&node, "rear", IMAGE, &reliable(5));
    until("somebody there wants it", || images.statistics().subscribers == 1);
    for seq in 0..3 {
        images.publish(&frame.extents().collect::<Vec<_>>()).expect("it is published");
        assert!(peer.messages("rear", 1) == [message(seq)], "image {seq} has arrived damaged");
    }
}

/// As msggen makes it of a definition of ROS 1: with the names, times and headers of ROS 2.
fn natural(ty: Type) -> Type {
    match ty {
        Type::Structure(Structure { name, .. }) if name.starts_with("ros/") => {
            let fields = [("sec", Number::Int32), ("nanosec", Number::Uint32)];
            let fields = fields.map(|(name, number)| Field { name: name.to_owned(), ty: Type::Number(number) }).into();
            Type::Structure(Structure { name: name.replace("ros/", "builtin_interfaces/msg/"), fields })
        }
        Type::Structure(Structure { name, fields }) => {
            let is_kept = |field: &Field| name != "std_msgs/Header" || field.name != "seq";
            let fields = fields.into_iter().filter(is_kept).map(|field| Field { name: field.name, ty: natural(field.ty) }).collect();
            Type::Structure(Structure { name: name.replace('/', "/msg/"), fields })
        }
        Type::Vector(element) => Type::Vector(Box::new(natural(*element))),
        Type::Array(element, length) => Type::Array(Box::new(natural(*element)), length),
        other => other,
    }
}

/// With what Debian has of them.
fn standard() -> Vec<(String, Definition)> {
    let library = Library::new(vec![DEBIAN.into()]);
    let mut found = Vec::new();
    for package in STANDARD {
        let Ok(files) = std::fs::read_dir(Path::new(DEBIAN).join(package).join("msg")) else { continue };
        let names = files.map(|file| file.expect("it can be read").path());
        for path in names.filter(|path| path.extension().is_some_and(|end| end == "msg")) {
            let name = format!("{package}/{}", path.file_stem().expect("it has one").display());
            let definition = library.find(&name).expect("it is one").expect("it is there");
            found.push((name, definition));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn all_standard_messages_go_over_and_come_back_as_they_were() {
    let standard = standard();
    if standard.len() < 100 {
        return eprintln!("not tried: {} definitions of ROS 1 are here; `tools/setup test` installs Debian's packages", standard.len());
    }
    let Some(master) = Master::new() else { return };
    let Some(mut peer) = master.peer("peer") else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let mut ends = Vec::new();
    for (n, (name, definition)) in standard.iter().enumerate() {
        let ty = natural(schema::parse(name, "ros1msg", &definition.text()).expect("it is one"));
        assert_eq!(peer.ty(name, &definition.text()), definition.md5sum(), "{name}");
        peer.write(&format!("out{n}"), &format!("/out{n}"), name, false);
        peer.read(&format!("back{n}"), &format!("/back{n}"), name);
        let signature = ty.to_string();
        let out = subscribes(&node, &format!("out{n}"), &signature, &reliable(10));
        let back = publishes(&node, &format!("back{n}"), &signature, &reliable(10));
        ends.push((name, ty, out, back));
    }
    for (n, (name, ty, out, back)) in ends.iter().enumerate() {
        peer.connected(&format!("out{n}"), 1);
        until(name, || back.statistics().subscribers == 1 && out.statistics().publishers == 1);
        // The number of a header is the bridge's own.
        let has_header = |ty: &Type| matches!(ty, Type::Structure(structure) if structure.name == "std_msgs/msg/Header");
        let is_counted = has_header(ty)
            || matches!(ty, Type::Structure(structure) if structure.fields.first().is_some_and(|first| has_header(&first.ty)));
        for _ in 0..3 {
            let message = peer.random(name);
            peer.publish(&format!("out{n}"), name, &message);
            let frame = next(out);
            let extents: Vec<&[u8]> = frame.extents().collect();
            let mut reader = Reader::new(&extents).expect("it is a stream");
            reader.skip_value(ty).and_then(|()| reader.finish()).unwrap_or_else(|why| panic!("{name}: {why}"));
            back.publish(&extents).expect("it is published");
            let mut came = peer.messages(&format!("back{n}"), 1).remove(0);
            if is_counted {
                came[..4].fill(0);
            }
            assert_eq!(came, message, "{name}");
        }
    }
    for (n, (name, ..)) in ends.iter().enumerate() {
        let (sent, received) = (robot.channel(&format!("back{n}"), true), robot.channel(&format!("out{n}"), false));
        let lost = [sent, received].map(|channel| channel.expect("it is open").lost);
        assert_eq!(lost, [0, 0], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn relay_of_roscpp_takes_what_is_published_here_and_brings_it_back() {
    let places = ["/usr/lib/topic_tools/relay", "/usr/lib/x86_64-linux-gnu/topic_tools/relay", "/usr/libexec/topic_tools/relay"];
    let Some(relay) = places.into_iter().find(|place| Path::new(place).is_file()) else {
        return eprintln!("not tried: there is no relay of topic_tools; `tools/setup test` installs Debian's packages of ROS 1");
    };
    let Some(master) = Master::new() else { return };
    let robot = Robot::new(all(), &master.uri);
    let node = robot.node("node");
    let (images, seen) = (publisher(&node, "here", &reliable(50)), subscriber(&node, "there", &reliable(50)));
    let mut command = Command::new(relay);
    command.args(["/here", "/there"]).stdout(Stdio::null());
    master.environment(&mut command);
    let mut child = command.spawn().expect("it is a program");
    until("it takes it", || images.statistics().subscribers == 1);
    // It publishes nothing before it knows the type of what it gets, and whoever comes then misses that.
    let mut number = 0;
    until("it brings it back", || {
        images.publish(&[&image(number, 100)]).expect("it is published");
        std::thread::sleep(Duration::from_millis(50));
        seen.take(Duration::ZERO).expect("it can be taken").is_some()
    });
    for _ in 0..20 {
        number += 1;
        images.publish(&[&image(number, 50_000 * number as usize)]).expect("it is published");
        while number_of(&next(&seen)) != number {}
    }
    let _ = child.kill();
    let _ = child.wait();
}
