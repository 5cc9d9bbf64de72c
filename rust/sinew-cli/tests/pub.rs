//! `sinew topic pub`: messages from text, to subscribers of this test.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::{Domain, IMAGE, Running, eventually, interrupt, is_stopped, manager};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sinew::msg::value::Value;
use sinew::raw::Subscriber;
use sinew::{Node, Qos};

const FOR_LONG: Duration = Duration::from_secs(30);

struct Viewer {
    subscriber: Subscriber,
    _node: Node,
}

impl Viewer {
    fn new(domain: &Domain, qos: &Qos) -> Viewer {
        let node = domain.node("viewer");
        Viewer { subscriber: Subscriber::new(&node, "camera/image", IMAGE, qos, Default::default()).unwrap(), _node: node }
    }

    fn take(&self) -> Vec<u8> {
        self.subscriber.take(FOR_LONG).unwrap().expect("a message comes").to_vec()
    }
}

/// The stream of an image.
fn image(json: &str) -> Vec<u8> {
    Value::from_json(json).unwrap().to_stream(&IMAGE.parse().unwrap()).unwrap()
}

fn publish(domain: &Domain, arguments: &[&str]) -> Running {
    Running::new(domain.command("topic pub").args(arguments))
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn path(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().unwrap()
}

#[test]
fn one_message_waits_for_a_subscriber_and_what_is_left_out_is_zero() {
    let domain = Domain::new();
    let publisher = publish(&domain, &["--once", "/camera/image", IMAGE, "header: {stamp_ns: 7}\ndata: [1, 2]"]);
    let observer = domain.node("observer");
    assert!(eventually(|| observer.domain_state().unwrap().topic("camera/image").is_some()));
    let viewer = Viewer::new(&domain, &Qos::default());
    assert_eq!(viewer.take(), image(r#"{"header": {"stamp_ns": 7}, "data": [1, 2]}"#));
    let (status, out, _) = publisher.end();
    assert_eq!((status, out.as_str()), (Some(0), ""));
    assert!(viewer.subscriber.take(Duration::ZERO).unwrap().is_none(), "it was one");
}

/// Reads what it says until it waits for a subscriber to take the message.
fn said_that_it_waits(publisher: &mut Running) -> bool {
    let mut lines = BufReader::new(publisher.0.stderr.as_mut().unwrap()).lines().map_while(Result::ok);
    lines.any(|line| line == "the subscriber of 'camera/image' has not taken all that was published yet: waiting")
}

#[test]
fn who_is_there_already_is_not_waited_for_aloud() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    // Where connecting takes longer than it may on a machine that is not busy it is told of, so then it is published again.
    let is_silent = || {
        let publisher = publish(&domain, &["--once", "camera/image", "width: 5"]);
        assert_eq!(viewer.take(), image(r#"{"width": 5}"#));
        let (status, out, said) = publisher.end();
        assert_eq!((status, out.as_str()), (Some(0), ""));
        said.is_empty()
    };
    assert!((0..10).any(|_| is_silent()));
}

#[test]
fn one_message_is_published_until_its_subscriber_has_taken_it() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let mut publisher = publish(&domain, &["--once", "camera/image", "width: 5"]);
    assert!(said_that_it_waits(&mut publisher));
    assert_eq!(viewer.take(), image(r#"{"width": 5}"#));
    assert_eq!(publisher.end().0, Some(0));
}

#[test]
fn who_does_not_wait_until_a_message_is_taken_is_told_and_it_is_there_nevertheless() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let file = file(&format!("data: [{}]", vec!["7"; 1 << 18].join(", ")));
    let mut publisher = publish(&domain, &["--once", "--file", path(&file), "camera/image"]);
    assert!(said_that_it_waits(&mut publisher));
    interrupt(&publisher);
    let wanted = "error: the subscriber of 'camera/image' has not taken all that was published, and may never get it\n";
    assert_eq!(publisher.end(), (Some(1), String::new(), wanted.to_owned()));
    assert_eq!(viewer.take().iter().filter(|byte| **byte == 7).count(), 1 << 18);
}

#[test]
fn who_came_in_the_place_of_another_subscriber_is_not_waited_for_where_it_has_not_got_all() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let mut publisher = publish(&domain, &["--wait", "1", "camera/image", "-"]);
    let mut input = publisher.0.stdin.take().unwrap();
    let (goes_on, is_over) = mpsc::channel::<()>();
    let writes = std::thread::spawn(move || {
        while is_over.recv_timeout(Duration::from_millis(50)) == Err(mpsc::RecvTimeoutError::Timeout) {
            writeln!(input, "{{\"width\": 5}}").unwrap();
        }
    });
    (0..10).for_each(|_| drop(viewer.take()));
    drop(viewer);
    let viewer = Viewer::new(&domain, &Qos::default());
    viewer.take();
    drop(goes_on);
    writes.join().unwrap();
    assert!(eventually(|| {
        while viewer.subscriber.take(Duration::ZERO).unwrap().is_some() {}
        publisher.0.try_wait().unwrap().is_some()
    }));
    let (status, _, said) = publisher.end();
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn who_is_connected_is_waited_for_though_the_manager_answers_nobody_any_more() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let mut publisher = publish(&domain, &["--wait", "1", "camera/image", "-"]);
    let mut input = publisher.0.stdin.take().unwrap();
    writeln!(input, "{{\"width\": 1}}").unwrap();
    viewer.take();
    let manager = Pid::from_raw(manager(&domain.path()));
    kill(manager, Signal::SIGSTOP).unwrap();
    assert!(eventually(|| is_stopped(manager.as_raw())));
    writeln!(input, "{{\"width\": 2}}").unwrap();
    drop(input);
    let waits = said_that_it_waits(&mut publisher);
    kill(manager, Signal::SIGCONT).unwrap();
    assert!(waits);
    assert_eq!(viewer.take(), image(r#"{"width": 2}"#));
    assert_eq!(publisher.end().0, Some(0));
}

#[test]
fn it_publishes_at_a_rate_until_the_count_or_an_interrupt() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::reliable());
    let message = r#"{"width": 640, "header": {"frame_id": "left"}}"#;
    let publisher = publish(&domain, &["--rate", "1000", "--count", "3", "--wait", "1", "camera/image", message]);
    assert_eq!([viewer.take(), viewer.take(), viewer.take()], [image(message), image(message), image(message)]);
    assert_eq!(publisher.end().0, Some(0));
    assert!(viewer.subscriber.take(Duration::ZERO).unwrap().is_none(), "they were three");

    let publisher = publish(&domain, &["-r", "100", "--json", "camera/image", message]);
    viewer.take();
    viewer.take();
    interrupt(&publisher);
    let (status, out, _) = publisher.end();
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &told["topic"], &told["subscribers"]), (Some(0), &"camera/image".into(), &1.into()));
    assert!(told["published"].as_u64().unwrap() >= 2, "{told}");
}

#[test]
fn who_is_there_and_does_not_fit_is_named_with_what_would() {
    let domain = Domain::new();
    let mut publisher = publish(&domain, &["--once", "--wait", "3", "camera/image", IMAGE]);
    let mut lines = BufReader::new(publisher.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "waiting for 3 subscribers of 'camera/image'"));
    let _fits = Viewer::new(&domain, &Qos::default());
    let node = domain.node("goalsub");
    let late = Qos { transient_local: true, ..Qos::reliable() };
    let _late = Subscriber::new(&node, "camera/image", IMAGE, &late, Default::default()).unwrap();
    assert_eq!(lines.next().unwrap(), "goalsub is there, but asks for transient local: --transient-local");
    let node = domain.node("hasty");
    let hasty = Qos { deadline: Some(Duration::from_millis(100)), ..Qos::default() };
    let _hasty = Subscriber::new(&node, "camera/image", IMAGE, &hasty, Default::default()).unwrap();
    let said = lines.next().unwrap();
    assert!(said.starts_with("hasty is there, but does not fit: deadline: the publisher offers "), "{said}");
    interrupt(&publisher);
    assert_eq!(lines.next().unwrap(), "error: it was interrupted before all was published", "each is named once");
}

#[test]
fn who_interrupts_it_before_a_message_is_published_is_told() {
    let domain = Domain::new();
    let mut publisher = publish(&domain, &["--once", "--wait", "2", "camera/image", IMAGE]);
    let mut lines = BufReader::new(publisher.0.stderr.as_mut().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "waiting for 2 subscribers of 'camera/image'"));
    interrupt(&publisher);
    assert_eq!(publisher.end(), (Some(1), String::new(), "error: it was interrupted before all was published\n".to_owned()));
}

#[test]
fn messages_are_published_as_they_come_from_the_standard_input() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let mut publisher = publish(&domain, &["--wait", "1", "camera/image", "-"]);
    let mut input = publisher.0.stdin.take().unwrap();
    for width in 1..=3 {
        let line = format!("{{\"width\": {width}}}");
        writeln!(input, "{line}").unwrap();
        assert_eq!(viewer.take(), image(&line), "before the next one is written");
    }
    input.write_all(b"width: 4\n---\nwidht: 5\n---\nwidth: 6\n").unwrap();
    assert_eq!(viewer.take(), image(r#"{"width": 4}"#));
    drop(input);
    let (status, _, said) = publisher.end();
    assert_eq!(status, Some(1));
    assert!(said.contains("message 5 is no robot/Image: robot/Image has no field 'widht': did you mean 'width'?"), "{said}");
    assert!(viewer.subscriber.take(Duration::ZERO).unwrap().is_none(), "nothing behind what is none");
}

#[test]
fn who_interrupts_it_ends_it_though_messages_come_from_the_standard_input_without_a_pause() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let mut publisher = publish(&domain, &["--wait", "1", "camera/image", "-"]);
    let mut input = publisher.0.stdin.take().unwrap();
    // Nobody reads any more when the publisher has ended.
    let writes = std::thread::spawn(move || {
        let until = Instant::now() + FOR_LONG;
        std::iter::repeat_with(|| {
            std::thread::sleep(Duration::from_millis(5));
            writeln!(input, "width: 1\n---").is_ok() && Instant::now() < until
        })
        .take_while(|goes_on| *goes_on)
        .count();
        Instant::now() < until
    });
    viewer.take();
    interrupt(&publisher);
    assert_eq!(publisher.end().0, Some(0));
    assert!(writes.join().unwrap(), "it ended with what it reads, and not before");
}

#[test]
fn with_keep_all_it_waits_for_subscribers_that_are_slow() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::reliable());
    let text: String = (0..3000).map(|n| format!("{{\"width\": {n}}}\n")).collect();
    let file = file(&text);
    let publisher = publish(&domain, &["--keep-all", "--rate", "inf", "--wait", "1", "--file", path(&file), "camera/image"]);
    for n in 0..3000 {
        assert_eq!(viewer.take(), image(&format!("{{\"width\": {n}}}")));
    }
    assert_eq!(publisher.end().0, Some(0));
}

#[test]
fn it_keeps_messages_for_subscribers_that_come_late_where_it_is_asked_to() {
    let domain = Domain::new();
    let mut publisher = publish(&domain, &["--transient-local", "--depth", "1", "--stdin", "camera/image", IMAGE]);
    let mut input = publisher.0.stdin.take().unwrap();
    input.write_all(b"{\"width\": 1}\n{\"width\": 2}\n").unwrap();
    let observer = domain.node("observer");
    assert!(eventually(|| observer.domain_state().is_ok_and(|state| state.topic("camera/image").is_some())));
    let counters = observer.domain_counters().unwrap();
    assert!(eventually(|| counters.read().unwrap().publishers.iter().any(|publisher| publisher.messages == 2)));
    let viewer = Viewer::new(&domain, &Qos { transient_local: true, ..Qos::default() });
    assert_eq!(viewer.take(), image(r#"{"width": 2}"#));
    drop(input);
    assert_eq!(publisher.end().0, Some(0));
}

#[test]
fn what_does_not_fit_is_refused_with_the_place_and_nothing_is_published() {
    let domain = Domain::new();
    let viewer = Viewer::new(&domain, &Qos::default());
    let complaint = |arguments: &[&str]| {
        let (status, out, said) = publish(&domain, arguments).end();
        assert_eq!(out, "");
        (status, said)
    };
    let (status, said) = complaint(&["camera/image", "{header: {stamp_ns: -1}}"]);
    let wanted = "the message is no robot/Image: field 'header.stamp_ns': -1 is given, and uint64 (0 to 18446744073709551615) is expected";
    assert_eq!((status, said.as_str()), (Some(1), format!("error: {wanted}\n").as_str()));
    assert!(complaint(&["camera/image", "width: [1"]).1.contains("the message is no robot/Image: the YAML cannot be read: "));
    let (status, said) = complaint(&["camera/imgae", "width: 1"]);
    let wanted =
        "there is no topic 'camera/imgae': did you mean 'camera/image'?; a new topic needs a type: sinew topic pub TOPIC TYPE MESSAGE";
    assert_eq!((status, said.as_str()), (Some(3), format!("error: {wanted}\n").as_str()));
    let (status, said) = complaint(&["camera/image", "robot/Image{width:uint64;}"]);
    assert_eq!(status, Some(1));
    assert!(said.contains("topic 'camera/image' carries robot/Image"), "{said}");
    assert_eq!(complaint(&["--file", "/nowhere", "camera/image"]).0, Some(1));
    let (status, said) = complaint(&["--stdin", "camera/image", "width: 1"]);
    let wanted = "'width: 1' is no type, and a message cannot be given beside those of --stdin or --file";
    assert_eq!((status, said.as_str()), (Some(1), format!("error: {wanted}\n").as_str()));
    assert_eq!(complaint(&["--stdin", "camera/image", IMAGE, "width: 1"]).0, Some(2));
    assert_eq!(complaint(&["--rate", "0", "camera/image"]).0, Some(2));
    assert!(viewer.subscriber.take(Duration::ZERO).unwrap().is_none());
}

#[test]
fn what_the_library_logs_is_said_only_where_it_is_asked_for() {
    let domain = Domain::new();
    let observer = domain.node("observer");
    let said_with = |log: Option<&str>, word: &str| {
        let mut command = domain.command("topic pub --rate 1000 camera/image");
        command.args([IMAGE, "data: [1]"]).env_remove("SINEW_LOG");
        if let Some(level) = log {
            command.env("SINEW_LOG", level);
        }
        let mut publisher = Running::new(&mut command);
        assert!(eventually(|| observer.domain_state().unwrap().topic("camera/image").is_some()));
        let asked = Qos { transient_local: true, ..Qos::default() };
        let viewer = Subscriber::new(&observer, "camera/image", IMAGE, &asked, Default::default()).unwrap();
        assert!(eventually(|| viewer.statistics().incompatible == 1));
        if log.is_some() {
            let mut lines = BufReader::new(publisher.0.stderr.as_mut().unwrap()).lines().map_while(Result::ok);
            assert!(lines.any(|line| line.contains(word)), "what is not said was there to be said");
        } else {
            std::thread::sleep(Duration::from_millis(100)); // both sides are told by the manager at the same time
        }
        interrupt(&publisher);
        let (_, _, said) = publisher.end();
        drop(viewer);
        assert!(eventually(|| observer.domain_state().unwrap().topic("camera/image").is_none()));
        said.contains(word)
    };
    assert!(!said_with(None, "sinew [warn]"));
    said_with(Some("warn"), "are not connected");
}
