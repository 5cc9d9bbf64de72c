//! `sinew record --last`: what was published last is in the file, also of a process that was killed.

mod common;
#[path = "common/flight.rs"]
mod flight;
#[path = "common/terminal.rs"]
mod terminal;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Running, eventually, interrupt};
use flight::{NUMBER, Recorder, Scene, number, read};
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Client, Node, NodeOptions, Qos};
use sinew_bag::Bag;
use terminal::Stopped;

const IMAGE: &str = "test/Image{number:uint64;data:uint8[];}";

fn image(number: u64) -> Vec<u8> {
    let size = 100_000 + number as usize;
    let data: Vec<u8> = (0..size).map(|at| (at as u64 * (number + 3)) as u8).collect();
    [&[0, 1, 0, 0][..], &number.to_le_bytes(), &(size as u32).to_le_bytes(), &data].concat()
}

const PUBLISHED: u64 = 40;

/// Not a test: the process that is killed, when it is started with that variable.
#[test]
fn process_that_is_killed() {
    let Ok(domain) = std::env::var("SINEW_TEST_IS_KILLED") else { return };
    let node = Node::with_options("camera", &NodeOptions { domain, by_caller: false }).unwrap();
    let images = Publisher::new(&node, "camera/image", IMAGE, &Qos::keep_last(4), PublisherOptions::default()).unwrap();
    assert!(eventually(|| images.statistics().subscribers == 1));
    (0..PUBLISHED).for_each(|n| images.publish(&[&image(n)]).unwrap());
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[test]
fn it_ends_also_while_a_condition_comes_to_hold_again_and_again() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--when", "number.value > 0", "--after", "0s"]);
    let node = scene.domain.node("flapping");
    let publisher = scene.publisher(&node, "number");
    let images = Publisher::new(&node, "image", IMAGE, &Qos::default(), PublisherOptions::default()).unwrap();
    assert!(eventually(|| images.statistics().subscribers == 1));
    // To be written again takes longer than until it holds again.
    (0..100).for_each(|n| images.publish(&[&image(n)]).unwrap());
    recorder.has_received(100);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in (0..=1).cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                publisher.publish(&[&number(n)]).unwrap();
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        recorder.written();
        recorder.interrupt();
        let many = 100;
        let written = recorder.lines.by_ref().take(many).count();
        is_over.store(true, Ordering::Relaxed);
        assert!(written < many);
    });
    recorder.has_ended();
}

#[test]
fn all_that_a_process_published_before_it_was_killed_is_in_the_file() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--on-death"]);
    let mut camera = Command::new(std::env::current_exe().unwrap());
    camera.args(["--exact", "process_that_is_killed"]).env("SINEW_TEST_IS_KILLED", scene.domain.path());
    let ended = camera.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(9));
    let written = recorder.written();
    assert_eq!(written["reasons"], serde_json::json!(["node 'camera' died"]));
    assert_eq!((&written["messages"], &written["lost"]), (&PUBLISHED.into(), &0.into()));
    assert!(written["by_reference"].as_u64().unwrap() > 0, "{written}");
    assert!(read(&written, "/camera/image") == (0..PUBLISHED).map(image).collect::<Vec<_>>());
    recorder.end();
}

#[test]
fn it_writes_what_it_holds_whenever_it_is_asked_and_goes_on() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s"]);
    let node = scene.domain.node("robot");
    let numbers = scene.publisher(&node, "number");
    for round in 1..=3 {
        numbers.publish(&[&number(round)]).unwrap();
        recorder.has_received(round);
        let told = scene.domain.json("trigger --reason test");
        let written = recorder.written();
        assert_eq!((&told["path"], &written["reasons"]), (&written["path"], &serde_json::json!(["test"])));
        let text = scene.domain.text(&format!("bag info {}", told["path"].as_str().unwrap()));
        assert!(text.contains("\nreason    test\n"), "{text}");
        assert_eq!(read(&written, "/number"), (1..=round).map(number).collect::<Vec<_>>());
    }
    recorder.end();
}

#[test]
fn it_goes_on_where_what_it_tells_cannot_be_written() {
    let (nobody_reads, closed) = std::io::pipe().unwrap();
    drop(nobody_reads);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    for (out, why) in [(Stdio::from(full), "No space left on device"), (Stdio::from(closed), "nobody reads the output any more")] {
        let scene = Scene::new();
        let mut command = scene.domain.command("record --last 60s --after 0s -o");
        command.arg(scene.folder.path()).stdout(out).stderr(Stdio::piped());
        let mut recorder = Running(command.spawn().unwrap());
        let trigger = || scene.domain.run("trigger").status.success();
        assert!(eventually(trigger), "it is there");
        assert!(trigger(), "{why}");
        interrupt(&recorder);
        let mut said = String::new();
        recorder.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((recorder.0.wait().unwrap().code(), said.matches(why).count()), (Some(0), 1), "{said}");
        assert_eq!(std::fs::read_dir(scene.folder.path()).unwrap().count(), 2);
    }
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_no_trigger_and_no_new_topic() {
    let (scene, terminal) = (Scene::new(), Stopped::new());
    let mut command = scene.domain.command("record --last 60s --after 0s -o");
    command.arg(scene.folder.path()).stdout(terminal.theirs()).stderr(terminal.theirs());
    let mut recorder = Running(command.spawn().unwrap());
    let trigger = || {
        let mut asks = Running::new(&mut scene.domain.command("trigger"));
        eventually(|| asks.0.try_wait().unwrap().is_some()) && asks.0.wait().unwrap().success()
    };
    assert!(eventually(trigger), "it is there, and answers");
    // It has told of a file by now.
    let node = scene.domain.node("robot");
    scene.publisher(&node, "number").publish(&[&number(1)]).unwrap();
    assert!(trigger());
    interrupt(&recorder);
    assert!(eventually(|| recorder.0.try_wait().unwrap().is_some()), "it waits for the terminal");
    assert_eq!(recorder.0.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(scene.folder.path()).unwrap().count(), 2);
}

#[test]
fn it_goes_on_for_a_time_after_a_trigger() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "2s", "--when", "number.value == 1"]);
    let node = scene.domain.node("robot");
    let numbers = scene.publisher(&node, "number");
    numbers.publish(&[&number(1)]).unwrap();
    // Of a minute, so that it is there before the file.
    numbers.publish(&[&number(2)]).unwrap();
    recorder.has_received(2);
    assert_eq!(read(&recorder.written(), "/number"), [number(1), number(2)]);
    recorder.end();
}

#[test]
fn what_is_to_be_written_after_a_time_is_written_at_once_when_it_is_interrupted() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "1h"]);
    let node = scene.domain.node("robot");
    let numbers = scene.publisher(&node, "number");
    numbers.publish(&[&number(1)]).unwrap();
    recorder.has_received(1);
    let asks = Running::new(&mut scene.domain.command("trigger --reason test --json"));
    // The call, of which it only then knows.
    recorder.has_received(2);
    // It counts it before it handles it.
    std::thread::sleep(Duration::from_secs(1));
    recorder.interrupt();
    let written = recorder.written();
    assert_eq!((&written["reasons"], read(&written, "/number")), (&serde_json::json!(["test"]), vec![number(1)]));
    let (status, told, said) = asks.end();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap()["path"], written["path"]);
    recorder.has_ended();
}

#[test]
fn a_death_for_which_a_launcher_stops_all_is_in_a_file() {
    // A busy machine may tell the recorder of it so late that the node seems to have been stopped, too.
    assert!((0..4).any(|_| is_in_a_file_when_a_launcher_stops_all()));
}

/// Whether there is a file of it.
fn is_in_a_file_when_a_launcher_stops_all() -> bool {
    let scene = Scene::new();
    let (sinew, test) = (env!("CARGO_BIN_EXE_sinew"), std::env::current_exe().unwrap());
    let launch = format!(
        "processes:\n  recorder: {{command: {sinew} record --json --last 60s --on-death -o flight.mcap}}\n  camera:\n    command: {} --exact process_that_is_killed\n    environment: {{SINEW_TEST_IS_KILLED: {}}}\n    required: true\n    restart: never\n",
        test.display(),
        scene.domain.path()
    );
    let file = scene.folder.path().join("robot.yaml");
    std::fs::write(&file, launch).unwrap();
    let (status, log, said) = Running::new(&mut scene.domain.command(&format!("launch {}", file.display()))).end();
    assert_eq!((status, said.as_str()), (Some(1), "error: camera was ended by SIGKILL\n"), "{log}");
    let files = std::fs::read_dir(scene.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let written: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "mcap")).collect();
    assert!(written.len() <= 1, "{log}");
    let Some(path) = written.first() else { return false };
    let bag = Bag::open(path).unwrap();
    assert_eq!((bag.cut(), bag.metadata("sinew.flight").unwrap()["reason"].as_str()), (None, "node 'camera' died"));
    assert!(bag.messages(Default::default()).count() > 0);
    true
}

#[test]
fn a_condition_triggers_when_it_becomes_true_also_of_a_topic_that_is_not_held() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["held", "--after", "0s", "--when", "/battery.value < 10", "--when", "battery.vaule > 0"]);
    let node = scene.domain.node("robot");
    let (battery, held) = (scene.publisher(&node, "battery"), scene.publisher(&node, "held"));
    held.publish(&[&number(7)]).unwrap();
    recorder.has_received(1);
    for value in [20, 9, 8, 11, 5] {
        battery.publish(&[&number(value)]).unwrap();
        if [9, 5].contains(&value) {
            let written = recorder.written();
            assert_eq!(written["reasons"], serde_json::json!(["/battery.value < 10"]));
            assert_eq!((read(&written, "/battery").len(), read(&written, "/held")), (0, vec![number(7)]));
        }
    }
    let said = recorder.end();
    assert!(said.contains("'battery.vaule > 0' will never be so: test/Number has no field 'vaule': did you mean 'value'?"), "{said}");
}

#[test]
fn a_condition_that_holds_for_one_publisher_all_along_triggers_once_whatever_another_one_publishes() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s", "--when", "battery.value < 10"]);
    let (left, right) = (scene.domain.node("left"), scene.domain.node("right"));
    let (low, full) = (scene.publisher(&left, "battery"), scene.publisher(&right, "battery"));
    for round in 1..=20 {
        low.publish(&[&number(5)]).unwrap();
        recorder.has_received(2 * round - 1);
        full.publish(&[&number(20)]).unwrap();
        recorder.has_received(2 * round);
    }
    recorder.interrupt();
    assert_eq!(recorder.lines.by_ref().count(), 1);
    recorder.has_ended();
}

#[test]
fn the_message_by_which_a_condition_holds_is_in_the_file() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s", "--when", "number.value == 1"]);
    let node = scene.domain.node("robot");
    let numbers = scene.publisher(&node, "number");
    for round in 1..=50 {
        numbers.publish(&[&number(0)]).unwrap();
        numbers.publish(&[&number(1)]).unwrap();
        assert_eq!(read(&recorder.written(), "/number").len(), 2 * round);
    }
    recorder.end();
}

#[test]
fn only_nodes_that_are_meant_and_die_trigger_it() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s", "--on-death={arm,leg}/*"]);
    let is_killed = |name: &str| {
        let mut node = Command::new(std::env::current_exe().unwrap());
        node.args(["--exact", "process_that_is_killed"]).env("SINEW_TEST_IS_KILLED", scene.domain.path()).env("SINEW_NODE", name);
        node.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    };
    is_killed("camera");
    drop(scene.domain.node("leg/left"));
    is_killed("arm/left");
    assert_eq!(recorder.written()["reasons"], serde_json::json!(["node 'arm/left' died"]));
    recorder.end();
}

#[test]
fn who_is_started_again_at_once_has_died_all_the_same() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s", "--on-death"]);
    let mut camera = Command::new(std::env::current_exe().unwrap());
    camera.args(["--exact", "process_that_is_killed"]).env("SINEW_TEST_IS_KILLED", scene.domain.path());
    camera.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let options = NodeOptions { domain: scene.domain.path().to_owned(), by_caller: false };
    let mut next = None;
    assert!(eventually(|| {
        next = Node::with_options("camera", &options).ok();
        next.is_some()
    }));
    assert_eq!(recorder.written()["reasons"], serde_json::json!(["node 'camera' died"]));
    recorder.end();
}

#[test]
fn a_node_that_loses_its_manager_and_comes_again_is_not_dead() {
    // On a busy machine it may come again later than the dead are waited for.
    assert!((0..4).any(|_| is_not_dead_that_comes_again()));
}

/// Whether there is no file for which it has died.
fn is_not_dead_that_comes_again() -> bool {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s", "--on-death", "--when", "number.value == 1"]);
    let node = scene.domain.node("robot");
    let numbers = scene.publisher(&node, "number");
    let id = || node.domain_state().unwrap().nodes.values().find(|each| each.name == "robot").map(|robot| robot.id);
    let before = id();
    node.disconnect("robot").unwrap();
    assert!(eventually(|| id().is_some() && id() != before));
    // Longer than the dead are waited for.
    std::thread::sleep(std::time::Duration::from_millis(700));
    numbers.publish(&[&number(1)]).unwrap();
    let written = recorder.written();
    if written["reasons"].as_array().unwrap().contains(&"node 'robot' died".into()) {
        return false;
    }
    assert_eq!(written["reasons"], serde_json::json!(["number.value == 1"]));
    assert_eq!(read(&written, "/number"), [number(1)], "once");
    recorder.end();
    true
}

#[test]
fn it_holds_no_more_than_its_budget_and_says_what_it_copied() {
    let scene = Scene::new();
    let mut recorder = scene.recorder(&["--after", "0s", "--budget", "200kB"]);
    let node = scene.domain.node("robot");
    let numbers = scene.publisher(&node, "number");
    for n in 0..300 {
        numbers.publish(&[&number(n)]).unwrap();
        recorder.has_received(n + 1);
    }
    scene.domain.json("trigger");
    let written = recorder.written();
    // Each takes 512 bytes beside its own.
    assert_eq!(
        (written["messages"].as_u64(), written["reasons"][0].as_str().map(|reason| reason.ends_with("asked for it"))),
        (Some(300), Some(true))
    );
    let (by_reference, copied) = (written["by_reference"].as_u64().unwrap(), written["copied"].as_u64().unwrap());
    assert!(by_reference + copied == 300 && by_reference <= 119, "{written}");
    for n in 300..500 {
        numbers.publish(&[&number(n)]).unwrap();
        recorder.has_received(n + 1);
    }
    scene.domain.json("trigger");
    let newest = read(&recorder.written(), "/number");
    assert_eq!(newest.len(), 200_000 / (512 + 12));
    assert!(newest == (500 - newest.len() as u64..500).map(number).collect::<Vec<_>>());
    recorder.end();
}

#[test]
fn what_publishers_keep_is_in_the_file_when_it_is_older() {
    let scene = Scene::new();
    let mut command = scene.domain.command("record --json --last 10ms --after 0s -o");
    command.arg(scene.folder.path().join("flight.mcap")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let node = scene.domain.node("robot");
    let map =
        Publisher::new(&node, "map", NUMBER, &Qos { transient_local: true, ..Qos::keep_last(1) }, PublisherOptions::default()).unwrap();
    map.publish(&[&number(5)]).unwrap();
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(eventually(|| map.statistics().subscribers == 1));
    let mut recorder = Recorder { child, lines, counters: node.domain_counters().unwrap(), _node: node.clone() };
    recorder.has_received(1);
    let numbers = scene.publisher(&node, "number");
    numbers.publish(&[&number(1)]).unwrap();
    recorder.has_received(2);
    std::thread::sleep(std::time::Duration::from_millis(20));
    scene.domain.json("trigger");
    let written = recorder.written();
    assert_eq!((read(&written, "/map"), read(&written, "/number").len()), (vec![number(5)], 0));
    recorder.end();
}

#[test]
fn what_publishers_keep_is_in_the_file_also_where_the_first_one_of_the_topic_kept_nothing() {
    for stays in [false, true] {
        let scene = Scene::new();
        let mut recorder = Recorder::lasting("10ms", &scene.domain, scene.folder.path(), &["--after", "0s"]);
        let node = scene.domain.node("robot");
        let first = scene.publisher(&node, "map");
        first.publish(&[&number(1)]).unwrap();
        recorder.has_received(1);
        let _first = stays.then_some(first);
        assert!(stays || eventually(|| recorder.received() == 0), "with its publisher");
        let map = Publisher::new(&node, "map", NUMBER, &Qos { transient_local: true, ..Qos::keep_last(1) }, Default::default()).unwrap();
        assert!(eventually(|| map.statistics().subscribers == 1));
        map.publish(&[&number(5)]).unwrap();
        recorder.has_received(1 + u64::from(stays));
        std::thread::sleep(std::time::Duration::from_millis(20));
        scene.domain.json("trigger");
        assert_eq!(read(&recorder.written(), "/map"), [number(5)], "{stays}");
        recorder.end();
    }
}

#[test]
fn what_is_not_there_or_not_possible_is_said() {
    let scene = Scene::new();
    let (status, complaint) = scene.domain.complaint("trigger");
    assert_eq!((status, complaint.as_str()), (3, "error: there is no flight recorder 'recorder': `sinew record --last 30s` starts one\n"));
    let recorder = scene.recorder(&["--name", "front"]);
    assert!(scene.domain.complaint("trigger back").1.contains("there is: front"));
    let (status, complaint) = scene.domain.complaint("record --last 1s --name front");
    assert_eq!(status, 1);
    assert!(complaint.contains("there is a flight recorder 'front' already"), "{complaint}");
    recorder.end();
    assert_eq!(scene.domain.complaint("record --budget 1GB").0, 2);
    assert_eq!(scene.domain.complaint("record --last 1s --when nonsense").0, 2);
    assert_eq!(scene.domain.complaint("record --last 1s --split-size 1GB").0, 2);
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "sinew/flight/Request")]
struct Request {
    reason: String,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "sinew/flight/Response")]
struct Response {
    path: String,
    messages: u64,
    bytes: u64,
}

sinew::message!(Request);
sinew::message!(Response);

#[test]
fn a_program_that_is_to_trigger_one_is_none_itself() {
    let scene = Scene::new();
    let supervisor = scene.domain.node("supervisor");
    let client = Client::<Request, Response>::new(&supervisor, "sinew/flight/recorder", &Default::default()).unwrap();
    let (status, complaint) = scene.domain.complaint("trigger");
    assert!(status == 3 && complaint.contains("there is no flight recorder 'recorder'"), "{complaint}");
    let mut recorder = scene.recorder(&[]);
    let numbers = scene.publisher(&supervisor, "number");
    numbers.publish(&[&number(1)]).unwrap();
    recorder.has_received(1);
    let told = client.call(&Request { reason: "it shook".to_owned() }, Duration::from_secs(60)).unwrap();
    let told = told.read().unwrap();
    assert_eq!((told.path.as_str(), told.messages), (recorder.written()["path"].as_str().unwrap(), 1));
    recorder.end();
}

#[test]
fn who_asked_is_told_when_it_cannot_be_written_and_so_is_who_started_it() {
    let scene = Scene::new();
    let folder = scene.folder.path().join("goes");
    std::fs::create_dir(&folder).unwrap();
    let mut recorder = Recorder::start(&scene.domain, &folder, &["--after", "0s"]);
    std::fs::remove_dir(&folder).unwrap();
    let (status, complaint) = scene.domain.complaint("trigger");
    assert_eq!(status, 1);
    assert!(complaint.contains("cannot be created: No such file or directory"), "{complaint}");
    std::fs::create_dir(&folder).unwrap();
    scene.domain.json("trigger");
    recorder.written();
    recorder.interrupt();
    let (status, said) = recorder.status();
    assert_eq!(status, Some(1), "{said}");
    assert!(said.lines().last().is_some_and(|last| last.starts_with("error: ") && last.contains("cannot be created")), "{said}");
}

#[test]
fn who_starts_it_is_told_at_once_when_no_file_could_be_written() {
    let scene = Scene::new();
    let path = |name: &str| scene.folder.path().join(name);
    std::fs::write(path("file"), "").unwrap();
    std::fs::create_dir(path("locked")).unwrap();
    std::fs::set_permissions(path("locked"), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    for (folder, why) in [("none", "No such file or directory"), ("file", "it is no folder"), ("locked", "Permission denied")] {
        if folder == "locked" && rustix::process::geteuid().is_root() {
            continue; // whom nothing is denied
        }
        let folder = path(folder);
        let arguments = format!("record --last 1s --max-duration 10ms -o {}/flight.mcap", folder.display());
        let (status, complaint) = scene.domain.complaint(&arguments);
        assert_eq!(status, 1, "{complaint}");
        let expected = format!("error: no file could be written into {}: {why}", folder.display());
        assert!(complaint.starts_with(&expected) && complaint.contains("--output"), "{complaint}");
    }
}
