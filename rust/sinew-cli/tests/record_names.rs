//! `sinew record` and `sinew foxglove` of topics that are named: one that is not there may be a slip of the pen.

mod common;

use std::io::{BufRead, BufReader, Lines, Read};

use common::{Domain, Running, eventually, interrupt};
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, Qos};

const NUMBER: &str = "test/Number{value:uint64;}";
const SEVEN: [u8; 12] = [0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];

/// A publisher that keeps its newest message for who comes late, and has one.
fn chatter(domain: &Domain) -> (Node, Publisher) {
    let node = domain.node("talker");
    let qos = Qos { transient_local: true, ..Qos::keep_last(1) };
    let publisher = Publisher::new(&node, "chatter", NUMBER, &qos, PublisherOptions::default()).unwrap();
    publisher.publish(&[&SEVEN]).unwrap();
    (node, publisher)
}

/// What is recorded in a short time, into a file of its own: the status, what is printed, and what is said.
fn record(domain: &Domain, arguments: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let command = &mut domain.command(&format!("record --max-duration 500ms -o {}/n.mcap {arguments}", folder.path().display()));
    Running::new(command).end()
}

fn lines<R: Read>(from: Option<R>) -> Lines<BufReader<R>> {
    BufReader::new(from.expect("nobody has taken it")).lines()
}

#[test]
fn a_misspelt_topic_is_told_at_once_with_what_may_be_meant_and_ends_with_status_3() {
    let domain = Domain::new();
    let _chatter = chatter(&domain);
    let (status, text, said) = record(&domain, "chater");
    assert_eq!(status, Some(3), "{said}");
    assert!(said.starts_with("no topic 'chater' yet: did you mean 'chatter'? Waiting for it\n"), "{said}");
    assert!(said.ends_with("error: nothing was recorded: no message came on 'chater'\n"), "{said}");
    assert!(text.contains("0 messages of 0 topics"), "{text}");
    let (status, text, said) = record(&domain, "--json imu odometry");
    assert!(said.starts_with("no topic 'imu' yet: waiting for it\nno topic 'odometry' yet: waiting for it\n"), "{said}");
    assert!(said.ends_with("error: nothing was recorded: no message came on 'imu', 'odometry'\n"), "{said}");
    assert_eq!((status, serde_json::from_str::<serde_json::Value>(&text).unwrap()["messages"].as_u64()), (Some(3), Some(0)));
}

#[test]
fn a_flight_recorder_ends_with_status_3_when_nothing_came_on_topics_that_are_named() {
    let domain = Domain::new();
    let _chatter = chatter(&domain);
    let folder = tempfile::tempdir().unwrap();
    let mut command = domain.command(&format!("record --last 10s --max-duration 500ms -o {} chater", folder.path().display()));
    // What comes for a condition alone is not held.
    let (status, _, said) = Running::new(command.args(["--when", "chatter.value == 8"])).end();
    assert_eq!(status, Some(3), "{said}");
    assert!(said.ends_with("error: nothing was recorded: no message came on 'chater'\n"), "{said}");
}

#[test]
fn a_named_topic_that_gave_nothing_is_warned_of_beside_others_that_did() {
    let domain = Domain::new();
    let (node, _chatter) = chatter(&domain);
    let silent = Publisher::new(&node, "silent", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recorder = Running::new(&mut domain.command(&format!("record -o {}/n.mcap chatter silent chater", folder.path().display())));
    // However long that takes on a busy machine.
    let counters = node.domain_counters().unwrap();
    assert!(eventually(|| counters.read().unwrap().pairs.iter().any(|pair| pair.messages == 1)));
    assert!(eventually(|| silent.statistics().subscribers == 1));
    interrupt(&recorder);
    let (status, text, said) = recorder.end();
    assert!(text.contains("1 message of 2 topics"), "{text}");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.ends_with("warning: no message came on 'silent', 'chater'\n"), "{said}");
    assert!(!said.contains("no topic 'silent'"), "it is there: {said}");
}

#[test]
fn a_topic_that_comes_later_is_waited_for_and_no_failure() {
    let domain = Domain::new();
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Running::new(&mut domain.command(&format!("record -o {}/n.mcap chatter", folder.path().display())));
    let mut said = BufReader::new(recorder.0.stderr.as_mut().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "no topic 'chatter' yet: waiting for it");
    let (_node, publisher) = chatter(&domain);
    assert!(eventually(|| publisher.statistics().subscribers == 1));
    // What is small is written within a second.
    assert!(eventually(|| sinew_bag::Bag::open(&folder.path().join("n.mcap")).is_ok_and(|bag| bag.topics().count() == 1)));
    interrupt(&recorder);
    assert_eq!(recorder.end().0, Some(0));
}

#[test]
fn patterns_and_all_topics_may_record_nothing() {
    let domain = Domain::new();
    for arguments in ["camera/*", "--all", "--exclude chatter"] {
        let (status, text, said) = record(&domain, arguments);
        assert_eq!(status, Some(0), "{arguments}: {said}");
        assert!(text.contains("0 messages") && !said.contains("no topic") && !said.contains("warning"), "{said}");
    }
}

#[test]
fn foxglove_tells_of_a_topic_that_is_not_there_yet() {
    let domain = Domain::new();
    let _chatter = chatter(&domain);
    let mut server = Running::new(&mut domain.command("foxglove --port 0 chater chatter **/image"));
    let (mut told, said) = (lines(server.0.stdout.take()), lines(server.0.stderr.take()));
    assert!(told.next().unwrap().unwrap().contains("is served at"));
    interrupt(&server);
    let said: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(said, ["no topic 'chater' yet: did you mean 'chatter'? Waiting for it"]);
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}
