//! TAB: what a shell completes of a line with the command.

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Domain, Running, eventually, is_stopped, manager};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sinew::raw::{Call, Provider, Publisher, PublisherOptions};
use sinew::{Node, Qos};

const NUMBER: &str = "test/Number{value:uint64;}";

/// What there is to complete.
struct Robot {
    domain: Domain,
    node: Node,
    _publishers: [Publisher; 2],
    _providers: [Provider; 2],
}

impl Robot {
    fn new() -> Robot {
        let domain = Domain::new();
        let node = domain.node("talker");
        let publisher = |topic: &str| Publisher::new(&node, topic, NUMBER, &Qos::default(), PublisherOptions::default()).unwrap();
        let refuse = |call: Call| drop(call);
        let provider = |service: &str| Provider::new(&node, service, NUMBER, NUMBER, &Default::default(), refuse).unwrap();
        let publishers = ["chatter", "camera/image"].map(publisher);
        let providers = ["math/sum", "dock/_action/goal"].map(provider);
        Robot { domain, node, _publishers: publishers, _providers: providers }
    }

    /// What `sinew complete` prints for words that these are, the last of which may be empty.
    fn complete(&self, words: &str) -> String {
        self.domain.text(&format!("complete -- {words}"))
    }

    /// The same, until it is this: beside other tests the domain may not answer in time.
    fn completes(&self, words: &str, printed: &str) {
        assert!(eventually(|| self.complete(words) == printed), "{words:?}: {:?}", self.complete(words));
    }

    fn manager(&self) -> Pid {
        Pid::from_raw(manager(&self.domain.path()))
    }
}

/// A bash that somebody types into.
struct Bash {
    _bash: Running,
    keys: File,
    shown: Arc<Mutex<String>>,
}

impl Bash {
    fn new(domain: &Domain, folder: &Path) -> Bash {
        // Lines are not to be broken.
        let size = Winsize { ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let sinew = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", sinew.display());
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-i"]).current_dir(folder).env("PATH", path).env("SINEW_DOMAIN", domain.path());
        command.env("TERM", "dumb").env("PS1", "$ ").env("INPUTRC", "/dev/null").env("HISTFILE", "");
        let slave = || Stdio::from(terminal.slave.try_clone().unwrap());
        let bash = command.stdin(slave()).stdout(slave()).stderr(slave()).spawn().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut from, filled) = (File::from(terminal.master.try_clone().unwrap()), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                filled.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let mut bash = Bash { _bash: Running(bash), keys: File::from(terminal.master), shown };
        bash.press("source <(sinew completions bash); echo rea''dy\n");
        bash.wait_for(0, "ready");
        bash
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    fn wait_for(&self, from: usize, text: &str) {
        assert!(eventually(|| self.shown()[from..].contains(text)), "there is no {text:?} in:\n{}", self.shown());
    }

    /// Types it on a line of its own, and TAB, until the line is this.
    fn completes(&mut self, typed: &str, line: &str) {
        let from = self.shown().len();
        self.press(&format!("\x15{typed}"));
        self.wait_for(from, typed);
        for _ in 0..30 {
            // Beside other tests the domain may not answer in time: then somebody presses TAB again.
            self.press("\t");
            let until = Instant::now() + Duration::from_secs(1);
            while Instant::now() < until {
                if self.shown()[from..].contains(line) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        panic!("{typed:?} does not become {line:?}:\n{}", self.shown());
    }
}

#[test]
fn tab_in_bash_completes_names_of_the_domain_options_and_files() {
    let robot = Robot::new();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("drive one.mcap"), "").unwrap();
    let mut bash = Bash::new(&robot.domain, folder.path());
    bash.completes("sinew topic echo cha", "sinew topic echo chatter ");
    bash.completes("sinew topic echo /cam", "sinew topic echo /camera/image ");
    bash.completes("sinew topic hz chatter ca", "sinew topic hz chatter camera/image ");
    bash.completes("sinew record -x cha", "sinew record -x chatter ");
    bash.completes("sinew node info t", "sinew node info talker ");
    bash.completes("sinew service call ", "sinew service call math/sum ");
    bash.completes("sinew action send-goal ", "sinew action send-goal dock ");
    bash.completes("sinew topic find ", "sinew topic find test/Number ");
    bash.completes("sinew topic pub goal geometry_msgs/msg/PoseWithC", "sinew topic pub goal geometry_msgs/msg/PoseWithCovariance");
    bash.completes("sinew topic ec", "sinew topic echo ");
    bash.completes("sinew topic echo --on", "sinew topic echo --once ");
    bash.completes("sinew top --sort=ra", "sinew top --sort=rate ");
    bash.completes("sinew bag info dri", "sinew bag info drive\\ one.mcap ");
    bash.completes("sinew record -o dri", "sinew record -o drive\\ one.mcap ");
}

#[test]
fn tab_lists_names_and_options_only_behind_a_dash() {
    let robot = Robot::new();
    robot.completes("sinew topic echo ", "camera/image\nchatter\n");
    assert_eq!(robot.complete("sinew topic info chatter "), "", "there is nothing to add");
    let options = robot.complete("sinew topic echo -");
    assert!(options.contains("--once\tOne message\n") && !options.contains("chatter"), "{options}");
    let folder = tempfile::tempdir().unwrap();
    let mut bash = Bash::new(&robot.domain, folder.path());
    bash.completes("sinew topic echo ", "camera/image  chatter");
    assert!(!bash.shown().contains("--once"), "{}", bash.shown());
}

#[test]
fn names_are_those_of_the_domain_that_an_option_says() {
    let (robot, other) = (Robot::new(), Domain::new());
    let line = format!("complete -- sinew --domain {} topic echo ", robot.domain.path());
    // Beside other tests it may not answer in time.
    assert!(eventually(|| other.text(&line) == "camera/image\nchatter\n"), "{}", other.text(&line));
}

#[test]
fn names_are_completed_also_where_the_environment_names_nodes_as_one_that_is_there() {
    let robot = Robot::new();
    let complete = || {
        let mut command = robot.domain.command("complete -- sinew node info ");
        String::from_utf8(command.env("SINEW_NODE", "talker").output().unwrap().stdout).unwrap()
    };
    assert!(eventually(|| complete() == "talker\n"), "{:?}", complete());
}

#[test]
fn tab_waits_for_no_manager_that_is_stopped_and_changes_nothing() {
    let robot = Robot::new();
    robot.completes("sinew node info ", "talker\n");
    let manager = robot.manager();
    kill(manager, Signal::SIGSTOP).unwrap();
    assert!(eventually(|| is_stopped(manager.as_raw())));
    let begun = Instant::now();
    let told = robot.domain.run("complete -- sinew topic echo ");
    let took = begun.elapsed();
    kill(manager, Signal::SIGCONT).unwrap();
    assert!(told.status.success() && told.stdout.is_empty(), "{told:?}");
    // A node would wait for five seconds.
    assert!(took < Duration::from_secs(3), "{took:?}");
    robot.completes("sinew topic echo ", "camera/image\nchatter\n");
    let is_left = || robot.node.domain_state().unwrap().nodes.values().any(|node| node.name.starts_with("sinew-"));
    assert!(eventually(|| !is_left()));
}

#[test]
fn tab_starts_no_manager_where_there_is_none() {
    let domain = Domain::new();
    assert_eq!(domain.text("complete -- sinew topic echo "), "");
    assert!(!Path::new(&domain.path()).exists());
    let abandoned = std::os::unix::net::UnixListener::bind(domain.path()).unwrap();
    drop(abandoned);
    assert_eq!(domain.text("complete -- sinew topic echo "), "", "nobody listens there any more");
}

#[test]
fn a_script_that_nobody_reads_or_that_has_no_room_is_no_panic() {
    for shell in ["bash", "elvish", "powershell"] {
        let head =
            Command::new("sh").args(["-c", "\"$0\" completions $1 | head -c 10 > /dev/null", env!("CARGO_BIN_EXE_sinew"), shell]).output();
        assert_eq!(String::from_utf8(head.unwrap().stderr).unwrap(), "");
        let mut full = Command::new(env!("CARGO_BIN_EXE_sinew"));
        let full = full.args(["completions", shell]).stdout(File::create("/dev/full").unwrap()).output().unwrap();
        let said = String::from_utf8(full.stderr).unwrap();
        assert!(full.status.code() == Some(1) && said.contains("error: the output cannot be written: No space left"), "{said}");
    }
}
