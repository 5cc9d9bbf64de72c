//! How `sinew record` ends: what it has recorded is whole, whoever ends it, and however often.

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Domain, Running, eventually, interrupt};
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{Resource, Rlimit, prlimit};
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, Qos};
use sinew_bag::Bag;
use terminal::Stopped;

const NUMBER: &str = "test/Number{value:uint64;}";
const SEVEN: [u8; 12] = [0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];

/// The command line in a shell that has set its limits before.
fn limited(domain: &Domain, limits: &str, arguments: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{limits} && exec {} {arguments}", env!("CARGO_BIN_EXE_sinew"))]).env("SINEW_DOMAIN", domain.path());
    command
}

/// A node with a publisher of each of 60 topics.
fn sixty(domain: &Domain) -> (Node, Vec<Publisher>) {
    let node = domain.node("robot");
    let publish = |number| Publisher::new(&node, &format!("number_{number:02}"), NUMBER, &Qos::default(), PublisherOptions::default());
    let publishers = (0..60).map(|number| publish(number).unwrap()).collect();
    (node, publishers)
}

/// A recorder of all topics under these limits, and the file in which is what it says.
fn recorder_of_all(domain: &Domain, limits: &str, folder: &Path) -> (Child, PathBuf) {
    let told = folder.join("told.txt");
    let mut command = limited(domain, limits, &format!("record --json --all -o {}", folder.join("a.mcap").display()));
    (command.stdout(Stdio::piped()).stderr(File::create(&told).unwrap()).spawn().unwrap(), told)
}

fn is_heard(publisher: &&Publisher) -> bool {
    publisher.statistics().subscribers == 1
}

#[test]
fn what_it_cannot_have_for_want_of_descriptors_is_said_at_once_and_at_the_end_and_it_fails() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let (_node, publishers) = sixty(&domain);
    let (recorder, told) = recorder_of_all(&domain, "ulimit -n 50", folder.path());
    let said = || std::fs::read_to_string(&told).unwrap();
    assert!(
        eventually(|| said().contains("what robot publishes is not recorded: ") && publishers.iter().any(|each| is_heard(&each))),
        "{}",
        said()
    );
    kill(Pid::from_raw(recorder.id().cast_signed()), Signal::SIGINT).unwrap();
    let ended = recorder.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(said().contains("error: not recorded, or not all of it: 'number_") && said().contains("ulimit -n"), "{}", said());
    let recording: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let not_recorded = recording["not_recorded"].as_array().unwrap();
    assert!((1..60).contains(&not_recorded.len()), "{recording}");
    assert!(not_recorded.iter().all(|each| each["why"].as_str().unwrap().starts_with("node 'robot' was not heard: ")), "{recording}");
}

#[test]
fn what_it_could_not_have_is_told_also_when_that_has_gone_before_the_end() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let (node, publishers) = sixty(&domain);
    let (recorder, told) = recorder_of_all(&domain, "ulimit -n 50", folder.path());
    let said = || std::fs::read_to_string(&told).unwrap();
    assert!(eventually(|| said().contains("what robot publishes is not recorded: ")), "{}", said());
    let _looker = domain.node("looker");
    drop((publishers, node));
    assert!(eventually(|| !domain.text("node list").contains("robot")));
    kill(Pid::from_raw(recorder.id().cast_signed()), Signal::SIGINT).unwrap();
    let ended = recorder.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(said().contains("error: not recorded, or not all of it: 'number_"), "{}", said());
}

#[test]
fn a_flight_recorder_fails_at_its_end_too_when_it_could_not_have_what_was_there() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let (_node, _publishers) = sixty(&domain);
    let told = folder.path().join("told.txt");
    let mut command = limited(&domain, "ulimit -n 50", &format!("record --last 10s -o {}", folder.path().display()));
    let mut recorder = Running(command.stdout(Stdio::null()).stderr(File::create(&told).unwrap()).spawn().unwrap());
    let said = || std::fs::read_to_string(&told).unwrap();
    assert!(eventually(|| said().contains("what robot publishes is not recorded: ")), "{}", said());
    interrupt(&recorder);
    assert_eq!(recorder.0.wait().unwrap().code(), Some(1));
    assert!(said().contains("error: not recorded, or not all of it: 'number_"), "{}", said());
}

#[test]
fn a_disk_that_is_full_when_another_file_begins_ends_it_and_leaves_no_empty_files() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let node = domain.node("robot");
    let publisher = Publisher::new(&node, "number", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
    let path = folder.path().join("a.mcap");
    let mut command = limited(&domain, "trap '' XFSZ", &format!("record --split-time 100ms -o {}", path.display()));
    let mut recorder = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(eventually(|| publisher.statistics().subscribers == 1));
    publisher.publish(&[&SEVEN]).unwrap();
    let counters = node.domain_counters().unwrap();
    assert!(eventually(|| counters.read().unwrap().pairs.iter().any(|pair| pair.messages == 1)));
    let none = Rlimit { current: Some(0), maximum: None };
    prlimit(rustix::process::Pid::from_raw(recorder.id().cast_signed()), Resource::Fsize, none).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    publisher.publish(&[&SEVEN]).unwrap();
    assert_eq!(recorder.wait().unwrap().code(), Some(1));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["a_0.mcap"]);
}

#[test]
fn it_takes_as_many_descriptors_as_it_may_have() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let (_node, publishers) = sixty(&domain);
    let (recorder, _) = recorder_of_all(&domain, "ulimit -S -n 50", folder.path());
    assert!(eventually(|| publishers.iter().all(|each| is_heard(&each))));
    kill(Pid::from_raw(recorder.id().cast_signed()), Signal::SIGINT).unwrap();
    let ended = recorder.wait_with_output().unwrap();
    assert!(ended.status.success());
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&ended.stdout).unwrap()["not_recorded"], serde_json::json!([]));
}

/// A publisher, and a recorder that has got one message of it.
struct Scene {
    folder: tempfile::TempDir,
    recorder: Child,
    node: Node,
    _publisher: Publisher,
    _domain: Domain,
}

impl Scene {
    fn new(out: impl Into<Stdio>, err: impl Into<Stdio>) -> Scene {
        Scene::of("true", out, err)
    }

    /// After this in a shell.
    fn of(limits: &str, out: impl Into<Stdio>, err: impl Into<Stdio>) -> Scene {
        let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
        let node = domain.node("robot");
        let publisher = Publisher::new(&node, "number", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
        let mut command = limited(&domain, limits, &format!("record -o {}", folder.path().join("a.mcap").display()));
        let recorder = command.stdout(out).stderr(err).spawn().unwrap();
        assert!(eventually(|| publisher.statistics().subscribers == 1));
        publisher.publish(&[&SEVEN]).unwrap();
        let counters = node.domain_counters().unwrap();
        assert!(eventually(|| counters.read().unwrap().pairs.iter().any(|pair| pair.messages == 1)));
        Scene { folder, recorder, node, _publisher: publisher, _domain: domain }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.mcap")
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.recorder.id().cast_signed()), signal).unwrap();
    }

    fn is_whole(&self) -> bool {
        let bag = Bag::open(&self.path()).unwrap();
        bag.cut().is_none() && bag.messages(Default::default()).count() == 1
    }
}

/// It ends with the test, however that ends.
impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.recorder.kill();
        let _ = self.recorder.wait();
    }
}

#[test]
fn a_signal_that_comes_twice_at_once_is_one_and_the_file_is_whole() {
    for (first, second) in [(Signal::SIGINT, Signal::SIGINT), (Signal::SIGINT, Signal::SIGTERM), (Signal::SIGTERM, Signal::SIGTERM)] {
        for _ in 0..10 {
            let mut scene = Scene::new(Stdio::null(), Stdio::null());
            scene.signal(first);
            scene.signal(second);
            assert_eq!(scene.recorder.wait().unwrap().code(), Some(0));
            assert!(scene.is_whole());
        }
    }
}

#[test]
fn a_signal_that_comes_again_later_ends_a_recorder_that_hangs() {
    let (read, write) = nix::unistd::pipe().unwrap();
    fcntl(&write, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let mut full = File::from(write.try_clone().unwrap());
    while full.write(&[0; 1]).is_ok() {}
    fcntl(&write, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    // It wants to tell what it has recorded, and nobody reads.
    let mut scene = Scene::new(write, Stdio::null());
    scene.signal(Signal::SIGINT);
    assert!(eventually(|| scene.is_whole()));
    assert!(eventually(|| {
        scene.signal(Signal::SIGINT);
        std::thread::sleep(std::time::Duration::from_millis(50));
        scene.recorder.try_wait().unwrap().is_some()
    }));
    assert_eq!(scene.recorder.wait().unwrap().signal(), Some(Signal::SIGINT as i32));
    drop(read);
}

#[test]
fn who_stops_it_by_one_signal_after_the_other_ends_none_that_is_still_busy() {
    // Which no other test's processes get.
    let (read, write) = std::io::pipe().unwrap();
    fcntl(&write, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let mut full = write.try_clone().unwrap();
    while full.write(&[0; 1]).is_ok() {}
    fcntl(&write, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    let mut scene = Scene::new(write, Stdio::null());
    scene.signal(Signal::SIGINT);
    assert!(eventually(|| scene.is_whole()));
    // As long as makes the same signal another one.
    std::thread::sleep(Duration::from_millis(1100));
    scene.signal(Signal::SIGTERM);
    std::thread::sleep(Duration::from_millis(200));
    assert!(scene.recorder.try_wait().unwrap().is_none());
    drop((full, read));
    assert!(scene.recorder.wait().unwrap().signal().is_none());
}

#[test]
fn it_ends_well_when_its_terminal_hangs_up_and_goes_on_where_that_is_ignored() {
    let mut scene = Scene::new(Stdio::null(), Stdio::null());
    scene.signal(Signal::SIGHUP);
    assert_eq!(scene.recorder.wait().unwrap().code(), Some(0));
    assert!(scene.is_whole());
    // As `nohup` does.
    let mut scene = Scene::of("trap '' HUP", Stdio::null(), Stdio::null());
    scene.signal(Signal::SIGHUP);
    std::thread::sleep(Duration::from_millis(200));
    assert!(scene.recorder.try_wait().unwrap().is_none());
    scene.signal(Signal::SIGINT);
    assert_eq!(scene.recorder.wait().unwrap().code(), Some(0));
    assert!(scene.is_whole());
}

#[test]
fn one_that_cannot_join_leaves_no_file_that_would_be_in_the_way_of_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let output = command.args(["record", "-o"]).arg(&path).env("SINEW_DOMAIN", folder.path().join("none/domain")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!path.exists());
}

#[test]
fn why_it_failed_is_told_also_where_nobody_reads_what_was_recorded() {
    let (nobody_reads, closed) = std::io::pipe().unwrap();
    drop(nobody_reads);
    let mut scene = Scene::new(closed, Stdio::piped());
    std::fs::remove_file(scene.path()).unwrap();
    scene.signal(Signal::SIGINT);
    let mut said = String::new();
    scene.recorder.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(scene.recorder.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("error: deleted, renamed or replaced while it was recorded: "), "{said}");
}

#[test]
fn a_recorder_goes_on_and_ends_well_when_its_terminal_has_gone() {
    let terminal = nix::pty::openpty(None, None).unwrap();
    // Else the recorder has it, and it stays.
    fcntl(&terminal.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let mut scene = Scene::new(Stdio::null(), terminal.slave);
    drop(terminal.master);
    // It writes a line twice a second.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(scene.recorder.try_wait().unwrap().is_none());
    scene.signal(Signal::SIGINT);
    assert_eq!(scene.recorder.wait().unwrap().code(), Some(0));
    assert!(scene.is_whole());
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_neither_what_is_recorded_nor_the_end() {
    let terminal = Stopped::new();
    let mut scene = Scene::new(terminal.theirs(), terminal.theirs());
    let later = Publisher::new(&scene.node, "later", NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
    assert!(eventually(|| is_heard(&&later)), "it does not follow topics any more");
    later.publish(&[&SEVEN]).unwrap();
    let counters = scene.node.domain_counters().unwrap();
    assert!(eventually(|| counters.read().unwrap().pairs.iter().filter(|pair| pair.messages == 1).count() == 2));
    scene.signal(Signal::SIGINT);
    assert!(eventually(|| scene.recorder.try_wait().unwrap().is_some()), "it waits for the terminal");
    assert_eq!(scene.recorder.wait().unwrap().code(), Some(0));
    let bag = Bag::open(&scene.path()).unwrap();
    assert_eq!((bag.cut(), bag.messages(Default::default()).count()), (None, 2));
}

#[test]
fn what_it_said_while_its_terminal_took_nothing_is_shown_when_that_goes_on() {
    let terminal = Stopped::new();
    let mut scene = Scene::new(Stdio::null(), terminal.theirs());
    std::fs::remove_file(scene.path()).unwrap();
    // It looks for its file once a second.
    std::thread::sleep(Duration::from_millis(1500));
    terminal.go_on();
    scene.signal(Signal::SIGINT);
    assert_eq!(scene.recorder.wait().unwrap().code(), Some(1));
    let shown = terminal.shown();
    let at = ["recording to ", "is not there any more", "error:"].map(|said| shown.find(said));
    assert!(at.is_sorted() && at[0].is_some(), "{shown:?}");
}
