//! The files of `sinew record`, of which others have some.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{Domain, Running, eventually, interrupt};
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, Qos};
use sinew_bag::Bag;

const NUMBER: &str = "test/Number{value:uint64;}";

fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

struct Scene {
    folder: tempfile::TempDir,
    domain: Domain,
    node: Node,
    numbers: Publisher,
}

impl Scene {
    fn new() -> Scene {
        let domain = Domain::new();
        let node = domain.node("robot");
        let numbers = Publisher::new(&node, "number", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
        Scene { folder: tempfile::tempdir().unwrap(), domain, node, numbers }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A recorder that is connected.
    fn record(&self, arguments: &str) -> Running {
        let recorder = Running::new(&mut self.domain.command(&format!("record{arguments} -o {}", self.path("a.mcap").display())));
        assert!(eventually(|| self.numbers.statistics().subscribers == 1));
        recorder
    }

    /// Publishes that, until the recorder, which has received so many before, has it.
    fn publish(&self, value: u64) {
        self.numbers.publish(&[&number(value)]).unwrap();
        let counters = self.node.domain_counters().unwrap();
        assert!(eventually(|| counters.read().unwrap().pairs.iter().any(|pair| pair.messages == value + 1)));
    }
}

fn read(path: &Path) -> Vec<Vec<u8>> {
    let bag = Bag::open(path).unwrap();
    assert_eq!(bag.cut(), None, "{}", path.display());
    bag.messages(Default::default()).map(|message| message.unwrap().to_vec().unwrap()).collect()
}

#[test]
fn a_number_that_is_taken_is_left_out_and_all_is_recorded() {
    let scene = Scene::new();
    for taken in [1, 2, 4] {
        fs::write(scene.path(&format!("a_{taken}.mcap")), "dear").unwrap();
    }
    let recorder = scene.record(" --split-time 1ms --json");
    for value in 0..4 {
        scene.publish(value);
        std::thread::sleep(Duration::from_millis(2));
    }
    interrupt(&recorder);
    let (status, told, said) = recorder.end();
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((told["messages"].as_u64(), told["files"].as_array().unwrap().len()), (Some(4), 4));
    for (value, n) in [0, 3, 5, 6].into_iter().enumerate() {
        let path = scene.path(&format!("a_{n}.mcap"));
        assert_eq!(told["files"][value]["path"], path.to_str().unwrap());
        assert_eq!(read(&path), [number(value as u64)]);
    }
    assert_eq!(fs::read(scene.path("a_4.mcap")).unwrap(), b"dear");
}

#[test]
fn a_recorder_that_is_started_again_goes_on_behind_the_files_of_the_one_before() {
    let scene = Scene::new();
    for file in 0..2 {
        let recorder = scene.record(" --split-time 1h");
        scene.publish(0);
        interrupt(&recorder);
        let (status, _, said) = recorder.end();
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(read(&scene.path(&format!("a_{file}.mcap"))), [number(0)]);
        // The next one is not to be taken for it.
        let is_known = || scene.node.domain_state().unwrap().nodes.values().any(|node| node.name.starts_with("sinew-record"));
        assert!(eventually(|| scene.numbers.statistics().subscribers == 0 && !is_known()));
    }
}

#[test]
fn a_file_that_is_deleted_or_replaced_meanwhile_is_told_at_once_and_is_a_failure() {
    for is_replaced in [false, true] {
        let scene = Scene::new();
        let mut recorder = scene.record("");
        let said = BufReader::new(recorder.0.stderr.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || said.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let next = || lines.recv_timeout(Duration::from_secs(30));
        assert!(next().unwrap().starts_with("recording to "));
        scene.publish(0);
        fs::remove_file(scene.path("a.mcap")).unwrap();
        if is_replaced {
            fs::write(scene.path("a.mcap"), "another").unwrap();
        }
        // Nothing comes meanwhile.
        let warning = next().expect("it is told");
        assert!(
            warning.ends_with("a.mcap is not there any more: it was deleted, renamed or replaced, and is still recorded into"),
            "{warning}"
        );
        interrupt(&recorder);
        let rest: Vec<String> = lines.iter().collect();
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert!(rest[0].starts_with("error: deleted, renamed or replaced while it was recorded: "), "{rest:?}");
        assert_eq!(recorder.0.wait().unwrap().code(), Some(1));
    }
}

#[test]
fn a_file_that_is_finished_may_be_taken_away() {
    let scene = Scene::new();
    let recorder = scene.record(" --split-time 1ms");
    for value in 0..2 {
        scene.publish(value);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(eventually(|| Bag::open(&scene.path("a_0.mcap")).is_ok_and(|bag| bag.cut().is_none())));
    fs::remove_file(scene.path("a_0.mcap")).unwrap();
    interrupt(&recorder);
    let (status, _, said) = recorder.end();
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn files_of_no_time_are_refused() {
    let scene = Scene::new();
    for time in ["0", "0ms"] {
        let (status, complaint) =
            scene.domain.complaint(&format!("record --max-duration 10ms --split-time {time} -o {}", scene.path("a.mcap").display()));
        assert!(status == 2 && complaint.contains("a file is to be of some time, as 10min"), "{complaint}");
    }
}
