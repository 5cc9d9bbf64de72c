//! `sinew doctor`, in domains and environments that are as they should be, and in others.

mod common;

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};

use common::{Domain, IMAGE, eventually, is_stopped};
use serde_json::Value;
use sinew::Qos;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, WhenFull};

/// What it found.
struct Examined {
    status: i32,
    told: Value,
}

/// Of everything that is wrong it tells a remedy.
fn examined(mut command: Command) -> Examined {
    let output = command.output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    for check in told["checks"].as_array().unwrap() {
        let remedy = check["remedy"].as_str().unwrap_or_default();
        assert_eq!(check["level"] != "ok", !remedy.is_empty(), "{check}");
    }
    let status = output.status.code().unwrap();
    assert_eq!(status, i32::from(told["problems"] != 0), "{told}");
    Examined { status, told }
}

fn examine(domain: &Domain) -> Examined {
    examined(domain.command("doctor --json"))
}

impl Examined {
    /// The level, and what was found.
    fn check(&self, section: &str, name: &str) -> (&str, &str) {
        let is_wanted = |check: &&Value| check["section"] == section && check["check"] == name;
        let check =
            self.told["checks"].as_array().unwrap().iter().find(is_wanted).unwrap_or_else(|| panic!("{section} {name}: {}", self.told));
        (check["level"].as_str().unwrap(), check["found"].as_str().unwrap())
    }

    fn each(&self, name: &str) -> String {
        let of_name = |check: &&Value| check["check"] == name;
        self.told["checks"].as_array().unwrap().iter().filter(of_name).map(|check| check["each"].to_string()).collect()
    }
}

/// What to do, in which the domain stands between these two where it is asked for.
fn says_for_the_same_domain(domain: &Domain, [before, behind]: [&str; 2]) {
    for asked in [String::new(), format!(" --domain {}", domain.path())] {
        let text = String::from_utf8(domain.run(&format!("doctor{asked}")).stdout).unwrap();
        assert!(text.contains(&format!("do: {before}{asked}{behind}\n")), "{text}");
    }
}

/// A node of another process, which is there.
fn stranger(domain: &Domain) -> (Child, impl Iterator<Item = String>) {
    let mut child = domain.command("domain watch --all").stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("sinew-domain-watch")));
    (child, said)
}

/// Until it has stopped, or goes on.
fn signal(name: &str, pid: &str) {
    assert!(Command::new("kill").args([name, pid]).status().unwrap().success());
    assert!(eventually(|| is_stopped(pid.parse().unwrap()) == (name == "-STOP")));
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_healthy_domain_has_no_problem() {
    let domain = Domain::new();
    let nodes = [domain.node("camera"), domain.node("viewer")];
    let camera = Publisher::new(&nodes[0], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
    let _viewer = Subscriber::new(&nodes[1], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
    assert!(eventually(|| camera.statistics().subscribers == 1));
    let found = examine(&domain);
    assert_eq!((found.status, &found.told["problems"]), (0, &0.into()), "{}", found.told);
    assert_eq!(found.check("domain", "pairs"), ("ok", "all are connected: 1"));
    let manager = found.check("domain", "manager");
    assert!(manager.0 == "ok" && manager.1.contains("2 nodes") && manager.1.contains("version"), "{manager:?}");
    assert_eq!(found.check("installation", "trial").0, "ok");
    for section in ["machine", "limits", "installation", "domain"] {
        assert!(found.told["checks"].as_array().unwrap().iter().any(|check| check["section"] == section));
    }
    let text = domain.text("doctor");
    assert!(text.contains("  ok       pairs          all are connected: 1") && text.contains("\n0 problems, "), "{text}");
}

#[test]
fn whoever_looks_starts_no_manager() {
    let domain = Domain::new();
    let found = examine(&domain);
    assert!(found.check("domain", "manager").1.starts_with("none runs"));
    assert!(!std::path::Path::new(&domain.path()).exists());
    assert!(!found.told.to_string().contains("\"pairs\""), "of what cannot be looked at nothing is said");
}

#[test]
fn a_pair_that_is_not_connected_is_a_problem() {
    let domain = Domain::new();
    let nodes = [domain.node("camera"), domain.node("logger")];
    let _camera = Publisher::new(&nodes[0], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
    let asks = Qos { reliable: true, ..Qos::default() };
    let _logger = Subscriber::new(&nodes[1], "camera/image", IMAGE, &asks, Default::default()).unwrap();
    let found = examine(&domain);
    assert_eq!((found.status, found.check("domain", "pairs")), (1, ("problem", "not connected: 1 of 1")));
    assert!(found.each("pairs").contains("camera/image: camera -> logger: reliability: the publisher offers best_effort"));
    says_for_the_same_domain(&domain, ["make the publisher reliable, or the subscriber best effort: sinew topic info camera/image", ""]);
}

#[test]
fn a_node_that_is_stopped_is_a_problem() {
    let domain = Domain::new();
    let _node = domain.node("camera");
    let (stopped, _said) = stranger(&domain);
    let pid = stopped.id().to_string();
    assert_eq!(examine(&domain).check("domain", "processes"), ("ok", "none is stopped"));
    signal("-STOP", &pid);
    let found = examine(&domain);
    let remedy = format!("kill -CONT {pid}");
    assert!(found.told.to_string().contains(&remedy), "{}", found.told);
    assert!(found.each("processes").contains(&format!("sinew-domain-watch-{pid}, process {pid}")));
    signal("-CONT", &pid);
    assert_eq!(examine(&domain).check("domain", "processes"), ("ok", "none is stopped"));
    end(stopped);
}

#[test]
fn a_manager_that_is_stopped_is_a_problem_and_nobody_waits_for_it() {
    let domain = Domain::new();
    let _node = domain.node("camera");
    let found = examine(&domain);
    let pid = found.check("domain", "manager").1.split(' ').nth(1).unwrap().to_owned();
    signal("-STOP", &pid);
    let found = examine(&domain);
    signal("-CONT", &pid);
    assert!(found.check("domain", "manager").1.contains(&format!("process {pid}, is stopped")), "{}", found.told);
    assert!(found.told.to_string().contains(&format!("kill -CONT {pid}")));
}

#[test]
fn two_that_listen_at_one_path_are_a_problem() {
    let domain = Domain::new();
    let _lost = UnixListener::bind(domain.path()).unwrap();
    std::fs::remove_file(domain.path()).unwrap();
    let (node, _said) = stranger(&domain);
    let found = examine(&domain);
    assert!(found.check("domain", "manager").1.contains("2 sockets listen"), "{}", found.told);
    end(node);
}

#[test]
fn what_a_killed_manager_left_is_told_of_and_what_is_no_socket_is_a_problem() {
    let domain = Domain::new();
    drop(UnixListener::bind(domain.path()).unwrap());
    let found = examine(&domain);
    assert_eq!((found.status, found.check("domain", "manager").0), (0, "warning"), "{}", found.told);
    assert!(found.check("domain", "manager").1.contains("has left its socket"));
    std::fs::remove_file(domain.path()).unwrap();
    std::fs::write(domain.path(), "").unwrap();
    assert!(examine(&domain).check("domain", "manager").1.contains("is no socket"));
}

#[test]
fn a_folder_that_is_not_there_is_a_problem() {
    let domain = Domain::new();
    let mut command = domain.command("doctor --json --domain");
    command.arg(format!("{}/none/domain", domain.path()));
    let found = examined(command);
    assert!(found.check("domain", "folder").0 == "problem" && found.check("domain", "folder").1.contains("is not there"), "{}", found.told);
}

#[test]
fn a_problem_is_in_the_status_also_where_nobody_reads_of_it() {
    let domain = Domain::new();
    for arguments in ["doctor", "doctor --json"] {
        let (nobody_reads, closed) = std::io::pipe().unwrap();
        drop(nobody_reads);
        let mut command = domain.command(arguments);
        command.args(["--domain", &format!("{}/none/domain", domain.path())]);
        assert_eq!(command.stdout(closed).status().unwrap().code(), Some(1), "{arguments}");
    }
}

#[test]
fn variables_that_say_nothing_are_problems() {
    let domain = Domain::new();
    let with = |name: &str, value: &str| {
        let mut command = domain.command("doctor --json");
        command.env(name, value);
        examined(command)
    };
    let found = with("SINEW_LOG", "verbose");
    assert_eq!(found.check("installation", "environment").0, "problem");
    let found = with("SINEW_DOMAIN", "my domain");
    assert!(found.check("domain", "folder").1.contains("is no name of a domain"), "{}", found.told);
    let found = with("SINEW_DOMIAN", "left");
    assert_eq!(found.check("installation", "environment").0, "warning");
}

#[test]
fn a_node_that_has_the_name_that_the_environment_gives_is_no_problem() {
    let domain = Domain::new();
    let _camera = domain.node("camera");
    let mut command = domain.command("doctor --json");
    // Of one that nobody knows it would tell first.
    command.env("SINEW_NODE", "camera").env_remove("SINEW_TEST_PYTHON");
    let found = examined(command);
    assert_eq!((found.status, found.check("domain", "manager").0), (0, "ok"), "{}", found.told);
    assert!(found.check("installation", "environment").1.contains("SINEW_NODE calls every node that is started here 'camera'"));
}

#[test]
fn a_node_that_has_the_doctor_s_own_name_is_no_problem_of_the_manager_s() {
    let domain = Domain::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo $$; read go; exec \"$0\" doctor --json", env!("CARGO_BIN_EXE_sinew")]).env("SINEW_DOMAIN", domain.path());
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(shell.stdout.take().unwrap());
    let mut pid = String::new();
    said.read_line(&mut pid).unwrap();
    let _other = domain.node(&format!("sinew-doctor-{}", pid.trim()));
    drop(shell.stdin.take());
    let told: Value = serde_json::from_reader(said).unwrap();
    assert_eq!(shell.wait().unwrap().code(), Some(0), "{told}");
    let found = Examined { status: 0, told };
    assert!(found.check("domain", "manager").0 == "warning" && found.told.to_string().contains("run it again"), "{}", found.told);
}

#[test]
fn a_folder_for_temporary_files_that_cannot_be_used_is_no_problem() {
    let domain = Domain::new();
    let folder = tempfile::tempdir().unwrap();
    let (missing, long) = (folder.path().join("missing"), folder.path().join("x".repeat(100)));
    std::fs::create_dir(&long).unwrap();
    for place in [&missing, &long] {
        let mut command = domain.command("doctor --json");
        command.env("TMPDIR", place).env_remove("XDG_RUNTIME_DIR");
        let found = examined(command);
        assert_eq!((found.status, found.check("installation", "trial").0), (0, "ok"), "{}", found.told);
    }
    let left = "mkdir \"$TMPDIR/sinew-doctor-$$\"; exec \"$0\" doctor --json";
    let mut shell = Command::new("sh");
    shell.args(["-c", left, env!("CARGO_BIN_EXE_sinew")]).env("SINEW_DOMAIN", domain.path()).env("TMPDIR", folder.path());
    let found = examined(shell);
    assert_eq!((found.status, found.check("installation", "trial").0), (0, "ok"), "{}", found.told);
}

#[test]
fn a_configuration_that_cannot_be_read_or_is_refused_is_a_problem() {
    let domain = Domain::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("robot.json");
    let with_it = || {
        let mut command = domain.command("doctor --json");
        command.env("SINEW_CONFIG", &file);
        examined(command)
    };
    let found = with_it();
    assert!(found.check("installation", "configuration").1.contains("cannot be read"), "{}", found.told);
    std::fs::write(&file, r#"{ "acess": [] }"#).unwrap();
    let found = with_it();
    let said = found.check("installation", "configuration");
    assert!(
        said.0 == "problem" && said.1.contains("is refused: sinewd cannot use its configuration") && said.1.contains("acess"),
        "{said:?}"
    );
    std::fs::write(&file, r#"{ "access": [ { "topic": "**", "publish": "none" } ] }"#).unwrap();
    let found = with_it();
    assert_eq!((found.status, found.check("installation", "configuration").0), (0, "ok"), "{}", found.told);
}

#[test]
fn few_descriptors_are_a_problem() {
    let domain = Domain::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 48; exec \"$0\" doctor --json", env!("CARGO_BIN_EXE_sinew")]).env("SINEW_DOMAIN", domain.path());
    let found = examined(shell);
    assert!(
        found.check("limits", "descriptors").0 == "problem" && found.check("limits", "descriptors").1.contains("may open 48"),
        "{}",
        found.told
    );
}

#[test]
fn messages_that_are_lost_are_told_of() {
    let domain = Domain::new();
    let nodes = [domain.node("camera"), domain.node("viewer")];
    let camera = Publisher::new(&nodes[0], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
    let viewer = Subscriber::new(&nodes[1], "camera/image", IMAGE, &Qos::keep_last(1), Default::default()).unwrap();
    assert!(eventually(|| camera.statistics().subscribers == 1));
    for _ in 0..100 {
        camera.publish(&[&[0, 1, 0, 0]]).unwrap();
    }
    viewer.take(std::time::Duration::from_secs(30)).unwrap().unwrap();
    assert!(viewer.statistics().missed > 1);
    let found = examine(&domain);
    assert_eq!(found.check("domain", "losses").0, "warning");
    assert!(found.each("losses").contains("camera/image: camera -> viewer: 99 of 100 lost, 99.0 %"), "{}", found.told);
    let behind = "; take them faster, keep_last() more, or only every n-th (every, max_rate)";
    says_for_the_same_domain(&domain, ["sinew explain camera/image", behind]);
}

#[test]
fn publishers_that_are_short_of_memory_are_told_of() {
    let domain = Domain::new();
    let nodes = [domain.node("camera"), domain.node("viewer")];
    let options = PublisherOptions { memory_budget: 1 << 16, when_full: WhenFull::Refuse, ..Default::default() };
    let camera = Publisher::new(&nodes[0], "camera/image", IMAGE, &Qos::default(), options).unwrap();
    let _viewer = Subscriber::new(&nodes[1], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
    assert!(eventually(|| camera.statistics().subscribers == 1));
    assert!((0..9).any(|_| camera.publish(&[&[0; 20_000]]).is_err()));
    let found = examine(&domain);
    assert_eq!(found.check("domain", "publishers"), ("warning", "short of memory: 1 of 1"), "{}", found.told);
    let behind = " tells who holds what; raise memory_budget, or let subscribers hold less";
    says_for_the_same_domain(&domain, ["sinew explain camera/image", behind]);
}
