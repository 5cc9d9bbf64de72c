//! `sinew topic echo`: messages of any type as text.

mod common;

use std::io::{BufRead, BufReader, Lines};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdout, Stdio};
use std::time::Duration;

use common::{Domain, IMAGE, Running, eventually, interrupt};
use sinew::raw::{Call, Client, Provider, Publisher, PublisherOptions};
use sinew::{Node, Qos};

fn image(stamp_ns: u64, data: &[u8]) -> Vec<u8> {
    let frame_id = [&5_u32.to_le_bytes()[..], b"left\0", &[0; 3]].concat();
    let (width, size) = (640_u32.to_le_bytes(), (data.len() as u32).to_le_bytes());
    [&[0, 1, 0, 0][..], &stamp_ns.to_le_bytes(), &frame_id, &width, &size, data].concat()
}

/// A publisher that keeps its newest message for who comes late.
fn camera(domain: &Domain) -> (Node, Publisher) {
    let node = domain.node("camera");
    let qos = Qos { transient_local: true, ..Qos::keep_last(1) };
    let publisher = Publisher::new(&node, "camera/image", IMAGE, &qos, PublisherOptions::default()).unwrap();
    (node, publisher)
}

#[test]
fn a_message_is_printed_as_yaml_with_long_arrays_cut_off() {
    let domain = Domain::new();
    let (_node, camera) = camera(&domain);
    camera.publish(&[&image(5, &[7; 1000])]).unwrap();
    let text = domain.text("topic echo --once --most 2 camera/image");
    assert_eq!(text, "header:\n  stamp_ns: 5\n  frame_id: \"le... 2 more\"\nwidth: 640\ndata: [7, 7, '... 998 more']\n---\n");
    let full = domain.text("topic echo -1 --full camera/image");
    assert_eq!(full.matches('7').count(), 1000);
}

#[test]
fn a_part_of_a_message_is_printed() {
    let domain = Domain::new();
    let (_node, camera) = camera(&domain);
    camera.publish(&[&image(5, &[1, 2, 3])]).unwrap();
    assert_eq!(domain.text("topic echo --once camera/image.header.stamp_ns"), "5\n");
    assert_eq!(domain.text("topic echo --once /camera/image.data[2]"), "3\n");
    assert_eq!(domain.text("topic echo --once camera/image.data[3]"), "null\n", "it has none");
    assert_eq!(domain.text("topic echo --once --json camera/image.header"), "{\"stamp_ns\":5,\"frame_id\":\"left\"}\n");
    let (status, text) = domain.complaint("topic echo camera/image.header.stamp");
    assert_eq!(status, 3);
    assert!(text.contains("did you mean 'stamp_ns'?"), "{text}");
    assert!(domain.complaint("topic echo camera/imag.header").1.contains("did you mean 'camera/image'?"));
}

#[test]
fn what_ros_2_has_behind_the_topic_may_be_said() {
    let domain = Domain::new();
    let (_node, camera) = camera(&domain);
    camera.publish(&[&image(5, &[1, 2, 3])]).unwrap();
    let whole = domain.text("topic echo --once camera/image");
    assert_eq!(domain.text("topic echo --once camera/image robot/msg/Image"), whole);
    assert_eq!(domain.text("topic echo --once --no-arr camera/image"), whole);
    assert_eq!(domain.text("topic echo --once --field header.stamp_ns camera/image"), "5\n");
    assert_eq!(domain.text("topic echo --once --field [2] camera/image.data"), "3\n");
    let wanted = "error: topic 'camera/image' carries robot/Image, and no std_msgs/msg/String: the type may be left out\n";
    assert_eq!(domain.complaint("topic echo camera/image std_msgs/msg/String"), (3, wanted.to_owned()));
}

#[test]
fn messages_are_rows_of_csv_behind_their_names() {
    let domain = Domain::new();
    let (_node, camera) = camera(&domain);
    camera.publish(&[&image(5, &[1, 2])]).unwrap();
    let text = domain.text("topic echo --once --csv camera/image");
    assert_eq!(text, "header.stamp_ns,header.frame_id,width,data\n5,left,640,\"[1,2]\"\n");
}

#[test]
fn who_echoes_so_many_is_not_counted_by_the_topic_and_ends_with_it() {
    let domain = Domain::new();
    let (node, camera) = camera(&domain);
    let mut echo = domain.command("topic echo --count 9 --json camera/image.header.stamp_ns");
    let mut echo = Running(echo.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(echo.0.stdout.take().unwrap()).lines();
    for stamp in 1..=3 {
        assert!(eventually(|| camera.statistics().subscribers == 1));
        camera.publish(&[&image(stamp, &[0])]).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), stamp.to_string());
    }
    drop((camera, node));
    assert_eq!(echo.0.wait().unwrap().code(), Some(3), "the topic is gone");
}

/// Echo, as somebody leaves it open.
struct Open {
    echo: Running,
    printed: Lines<BufReader<ChildStdout>>,
    said: Lines<BufReader<ChildStderr>>,
}

impl Open {
    fn new(domain: &Domain, arguments: &str) -> Open {
        let mut echo = Running::new(&mut domain.command(arguments));
        let (out, err) = (echo.0.stdout.take().unwrap(), echo.0.stderr.take().unwrap());
        Open { echo, printed: BufReader::new(out).lines(), said: BufReader::new(err).lines() }
    }

    fn printed(&mut self) -> String {
        self.printed.next().expect("it goes on").unwrap()
    }

    fn said(&mut self) -> String {
        self.said.next().expect("it goes on").unwrap()
    }
}

#[test]
fn programs_are_told_beside_what_they_read_what_they_missed() {
    for how in ["--json", "--csv"] {
        let domain = Domain::new();
        let (node, camera) = camera(&domain);
        camera.publish(&[&image(0, &[7])]).unwrap();
        let mut open = Open::new(&domain, &format!("topic echo --count 1000 {how} camera/image"));
        // Behind the names of values.
        while !open.printed().contains("left") {}
        // More than fits into the pipe and may wait before it.
        for stamp in 1..=100 {
            camera.publish(&[&image(stamp, &[7; 5000])]).unwrap();
        }
        loop {
            let line = open.printed();
            let is_message = match how {
                "--json" => serde_json::from_str::<serde_json::Value>(&line).is_ok(),
                _ => line.contains(",left,640,\"[7,") && line.ends_with("]\""),
            };
            assert!(is_message, "{how}: {}", &line[..line.len().min(100)]);
            if line.contains("100") {
                break;
            }
        }
        drop((camera, node));
        let said: Vec<String> = open.said.map(Result::unwrap).collect();
        assert!(said[0].ends_with(" of 'camera' missed"), "{said:?}");
        assert_eq!(open.echo.0.wait().unwrap().code(), Some(3), "the topic is gone");
    }
}

/// A node that has the topic to itself, and one message for who comes late.
fn map(domain: &Domain, signature: &str, message: &[u8]) -> (Node, Publisher) {
    let node = domain.node("cartographer");
    let qos = Qos { transient_local: true, ..Qos::keep_last(1) };
    let publisher = Publisher::new(&node, "map", signature, &qos, PublisherOptions::default()).unwrap();
    publisher.publish(&[message]).unwrap();
    (node, publisher)
}

const METRES: &str = "test/Metres{value:uint32;}";
const FIVE: [u8; 8] = [0, 1, 0, 0, 5, 0, 0, 0];
const SIX: [u8; 8] = [0, 1, 0, 0, 6, 0, 0, 0];

#[test]
fn echo_waits_for_a_topic_that_is_gone_and_goes_on_when_it_is_published_again() {
    let domain = Domain::new();
    let publishes = |value: u32| {
        let message = format!("{{\"value\":{value}}}");
        Running::new(&mut domain.command(&format!("topic pub --rate 50 map {METRES} {message}")))
    };
    let mut publisher = publishes(0);
    let watch = domain.node("watch");
    assert!(eventually(|| watch.domain_state().unwrap().topic("map").is_some()));
    let mut open = Open::new(&domain, "topic echo map.value");
    assert_eq!(open.printed(), "0");
    for value in 1..=3 {
        drop(publisher); // it is killed
        assert_eq!(open.said(), "'map' is gone: waiting until somebody publishes it again");
        publisher = publishes(value);
        while open.printed() != value.to_string() {}
    }
    interrupt(&open.echo);
    assert_eq!(open.echo.0.wait().unwrap().signal(), Some(2), "it went on until Ctrl-C");
    assert!(open.said.next().is_none(), "nothing else is said");
}

#[test]
fn echo_goes_on_with_another_type_when_the_topic_comes_again_with_it_and_says_so() {
    let domain = Domain::new();
    let first = map(&domain, METRES, &FIVE);
    let (mut open, mut field) = (Open::new(&domain, "topic echo --json map"), Open::new(&domain, "topic echo map.value"));
    let mut rows = Open::new(&domain, "topic echo --csv map");
    assert_eq!((open.printed(), field.printed(), rows.printed()), ("{\"value\":5}".into(), "5".into(), "value".into()));
    assert_eq!(rows.printed(), "5");
    drop(first);
    for open in [&mut open, &mut field, &mut rows] {
        assert_eq!(open.said(), "'map' is gone: waiting until somebody publishes it again");
    }
    let _second = map(&domain, "test/Feet{length:uint32;}", &SIX);
    assert_eq!((open.said(), open.printed()), ("'map' carries another type now: test/Feet".into(), "{\"length\":6}".into()));
    assert_eq!((field.said(), field.said()), ("'map' carries another type now: test/Feet".into(), NO_VALUE.into()));
    assert_eq!(field.echo.0.wait().unwrap().code(), Some(3));
    // Rows of something else would be read as what the first line says.
    assert_eq!(rows.said(), "error: topic 'map' carries test/Feet now, whose values are not those that the first line names");
    assert_eq!(rows.echo.0.wait().unwrap().code(), Some(3));
}

const NO_VALUE: &str = "error: topic 'map': test/Feet has no field 'value': it has: length";

#[test]
fn what_is_asked_of_a_service_is_shown_to_who_looks_on() {
    const NUMBER: &str = "test/Number{value:uint64;}";
    let domain = Domain::new();
    let (provides, asks) = (domain.node("provides"), domain.node("asks"));
    let echo_back = |call: Call| {
        let request = call.extents().collect::<Vec<_>>().concat();
        call.answer(&[&request]).unwrap();
    };
    let _provider = Provider::new(&provides, "same", NUMBER, NUMBER, &Default::default(), echo_back).unwrap();
    let client = Client::new(&asks, "same", NUMBER, NUMBER, &Default::default()).unwrap();
    let mut echo = domain.command("topic echo --json same@request.body.value");
    let mut echo = Running(echo.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(echo.0.stdout.take().unwrap()).lines();
    let shown = std::thread::spawn(move || lines.next().unwrap().unwrap());
    // Those before it looks on are not shown.
    while !shown.is_finished() {
        let seven = [0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        client.call(&[&seven], Duration::from_secs(30)).unwrap();
    }
    assert_eq!(shown.join().unwrap(), "7");
}

#[test]
fn what_does_not_come_or_is_no_message_is_a_failure() {
    let domain = Domain::new();
    let (_node, camera) = camera(&domain);
    let (status, text) = domain.complaint("topic echo --once --timeout 20ms camera/image");
    assert_eq!((status, text.as_str()), (3, "error: no message came on topic 'camera/image' in time\n"));
    camera.publish(&[&image(5, &[1, 2, 3])[..20]]).unwrap();
    let output = domain.run("topic echo --once camera/image");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("message 1 of 'camera' is no robot/Image"), "{text}");
}
