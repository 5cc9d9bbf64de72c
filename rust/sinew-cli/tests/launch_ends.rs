//! `sinew launch`: how processes end, by themselves and with the launcher, and who is started again.

mod common;
#[path = "common/launch.rs"]
mod launch;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use common::{Running, eventually, manager};
use launch::{Launched, Scene, is_gone, is_there, pid_in, script};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// As a person leaves between two Ctrl-C: what comes sooner is the same one.
const BETWEEN_TWO: Duration = Duration::from_millis(200);

#[test]
fn a_process_that_is_killed_is_started_again() {
    let scene = Scene::new("processes:\n  a: {command: sleep 1000}\n");
    let launched = scene.launch("");
    let first = pid_in(&launched.until("a started"));
    kill(Pid::from_raw(first), Signal::SIGKILL).unwrap();
    launched.until("a was ended by SIGKILL");
    launched.until("a is started again in 0.5 s");
    let second = pid_in(&launched.until("a started"));
    assert_ne!(first, second);
    launched.stop();
    assert!(is_gone(second));
}

#[test]
fn who_fails_again_and_again_is_waited_for_longer_each_time() {
    let scene = Scene::new("processes:\n  a: {command: \"false\"}\n");
    let launched = scene.launch(" --json");
    let waits: Vec<f64> = (0..3).map(|_| launched.event("restarting")["after_s"].as_f64().unwrap()).collect();
    assert_eq!(waits, [0.5, 1.0, 2.0]);
    launched.stop();
}

#[test]
fn who_is_never_started_again_has_failed_for_good() {
    let scene = Scene::new("processes:\n  a: {command: sh -c 'exit 3', restart: never}\n  b: {command: \"true\"}\n");
    let (status, log, said) = scene.run("");
    assert_eq!((status, said.as_str()), (Some(1), "error: a ended with status 3\n"), "{log}");
    assert_eq!((log.matches("started, process").count(), log.matches("again").count()), (2, 0), "{log}");
}

#[test]
fn who_is_always_started_again_is_so_also_when_it_ends_well() {
    let scene = Scene::new("processes:\n  a: {command: \"true\", restart: always}\n");
    let launched = scene.launch("");
    launched.until("a ended with status 0");
    launched.until("a started");
    launched.stop();
}

#[test]
fn when_a_required_process_has_ended_all_are_stopped() {
    let file = |status| {
        format!("processes:\n  a: {{command: sleep 1000}}\n  b: {{command: sh -c 'exit {status}', required: true, restart: never}}\n")
    };
    let (status, log, said) = Scene::new(&file(3)).run("");
    assert!(log.contains("stopping all: b, which is required, ended with status 3\n"), "{log}");
    assert!(log.contains("a was ended by SIGINT"), "{log}");
    assert_eq!((status, said.as_str()), (Some(1), "error: b ended with status 3\n"));
    assert_eq!(Scene::new(&file(0)).run("").0, Some(0), "it has done what it was to do");
}

#[test]
fn who_interrupts_it_lets_all_end_as_they_want_to() {
    let scene = Scene::new(
        "processes:\n  a: {command: [sh, -c, 'trap \"echo bye; exit 7\" INT; echo ready; while :; do sleep 0.1; done']}\n  b: {command: sleep 1000}\n",
    );
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let launched = scene.launch("");
        launched.until("ready");
        launched.signal(signal);
        launched.until(&format!("stopping all: {signal}"));
        let (status, rest, said) = launched.end();
        assert!(
            rest.contains("[a]      bye") && rest.contains("a ended with status 7") && rest.contains("b was ended by SIGINT"),
            "{rest}"
        );
        assert_eq!((status, said.as_str()), (Some(0), ""), "what ends when it is asked to has not failed");
    }
}

#[test]
fn who_does_not_end_is_asked_by_sigterm_and_then_killed_and_each_ctrl_c_goes_on_at_once() {
    let scene = Scene::new(
        "processes:\n  a: {command: [sh, -c, 'trap \"echo int\" INT; trap \"echo term\" TERM; echo ready; while :; do sleep 0.01; done']}\n",
    );
    let launched = scene.launch(" --json");
    launched.until("ready");
    launched.signal(Signal::SIGINT);
    launched.until("\"line\":\"int\"");
    std::thread::sleep(BETWEEN_TWO);
    launched.signal(Signal::SIGINT);
    assert_eq!(launched.event("signalled")["signal"], "SIGTERM");
    launched.until("\"line\":\"term\"");
    std::thread::sleep(BETWEEN_TWO);
    launched.signal(Signal::SIGINT);
    assert_eq!(launched.event("signalled")["signal"], "SIGKILL");
    assert_eq!(launched.event("ended")["signal"], "SIGKILL");
    assert_eq!(launched.end().0, Some(0));
}

#[test]
fn who_does_not_end_is_killed_also_when_nobody_asks_again() {
    let scene = Scene::new("processes:\n  a: {command: [sh, -c, 'trap \"\" INT TERM; echo ready; while :; do sleep 0.01; done']}\n");
    let launched = scene.launch("");
    launched.until("ready");
    let rest = launched.stop();
    // Beside a child that sleeps just then.
    let of_a: Vec<&str> = rest.lines().filter_map(|line| line.strip_prefix("[launch] a ")).collect();
    assert_eq!(of_a, ["has not ended: SIGTERM is sent", "has not ended: SIGKILL is sent", "was ended by SIGKILL"], "{rest}");
}

#[test]
fn who_was_stopped_by_sigstop_goes_on_to_end_as_it_wants_to() {
    let scene = Scene::new("processes:\n  a: {command: [sh, -c, 'trap \"exit 7\" INT; echo ready; while :; do sleep 0.01; done']}\n");
    let launched = scene.launch("");
    let pid = pid_in(&launched.until("a started"));
    launched.until("ready");
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    let rest = launched.stop();
    assert!(rest.contains("a ended with status 7"), "{rest}");
}

/// A process with one in its group, to which a terminal that is hung up is nothing, and one in a session of its own.
const FAMILY: &str = "#!/bin/sh
sh -c 'trap \"\" HUP; echo $$ >child; exec sleep 1000' &
setsid sh -c 'echo $$ >stranger; exec sleep 1000' &
echo $$ >own
wait
";

fn family() -> Scene {
    let scene = Scene::new("processes:\n  a: {command: ./family}\n");
    script(&scene.path("family"), FAMILY);
    scene
}

#[test]
fn what_processes_have_started_does_not_survive_a_stop() {
    let scene = family();
    let launched = scene.launch("");
    let family = ["own", "child", "stranger"].map(|name| scene.number(name));
    assert!(family.iter().all(|pid| is_there(*pid)));
    let rest = launched.stop();
    // The child is named as well where its parent ends before the launcher looks.
    let left = rest.lines().find_map(|line| line.strip_prefix("[launch] SIGINT is sent to what was left behind: process "));
    assert!(left.is_some_and(|pids| pids.split(", ").any(|pid| pid == family[2].to_string())), "{rest}");
    assert_eq!(family.map(is_there), [false; 3]);
}

/// Stops in its own time, which a second SIGINT or a terminal that is gone would cut short.
const SAFE: &str = "#!/usr/bin/env python3
import signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
try:
    print('ready', flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    time.sleep(0.5)
    print('parked', flush=True)
    open('parked', 'w').close()
";

#[test]
fn who_stands_behind_a_script_that_ends_at_once_has_its_time_to_stop_and_the_log_for_that() {
    let scene = Scene::new("processes:\n  a: {command: ./script}\n  b: {command: sleep 1000}\n");
    script(&scene.path("safe"), SAFE);
    script(&scene.path("script"), "#!/bin/sh\n./safe\nexit 7\n");
    let launched = scene.launch("");
    launched.until("[a]      ready");
    let rest = launched.stop();
    assert!(rest.contains("[a]      parked") && scene.path("parked").exists(), "{rest}");
    assert!(!rest.contains("is sent"), "{rest}");
}

#[test]
fn whom_somebody_who_is_left_behind_starts_to_stop_is_not_stopped_itself() {
    let scene = Scene::new("processes:\n  a: {command: ./script}\n");
    // Each line wakes the launcher.
    let stops = "trap 'for n in 1 2 3 4 5; do echo $n; sleep 0.1 || exit 1; done; touch parked; exit 0' INT";
    script(&scene.path("safe"), &format!("#!/bin/sh\ntrap '' HUP\n{stops}\necho ready\nwhile :; do sleep 0.01; done\n"));
    script(&scene.path("script"), "#!/bin/sh\n./safe\nexit 7\n");
    let launched = scene.launch("");
    launched.until("[a]      ready");
    let rest = launched.stop();
    assert!(scene.path("parked").exists(), "{rest}");
}

#[test]
fn what_was_left_behind_is_stopped_also_where_its_name_ends_within_a_letter() {
    let scene = Scene::new("processes:\n  a: {command: ./parent}\n");
    script(&scene.path("parent"), "#!/bin/sh\nsetsid --fork sh -c 'echo $$ >stranger; exec ./fourteen-bytesö 1000'\nexec sleep 1000\n");
    fs::copy("/bin/sleep", scene.path("fourteen-bytesö")).unwrap();
    let launched = scene.launch("");
    let stranger = scene.number("stranger");
    assert!(eventually(|| fs::read(format!("/proc/{stranger}/comm")).unwrap() == b"fourteen-bytes\xc3\n"));
    launched.stop();
    assert!(!is_there(stranger));
}

#[test]
fn what_a_shell_has_started_before_it_became_the_launcher_goes_on() {
    let scene = Scene::new("processes:\n  a: {command: sleep 1000}\n");
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 >&- 2>&- & echo $! >before; exec \"$0\" launch robot.yaml", env!("CARGO_BIN_EXE_sinew")]);
    command.current_dir(scene.folder.path()).env("SINEW_DOMAIN", scene.domain.path());
    let launched = Launched::of(Running::new(&mut command));
    let before = scene.number("before");
    launched.until("a started");
    let rest = launched.stop();
    let was_there = is_there(before);
    kill(Pid::from_raw(before), Signal::SIGKILL).unwrap();
    assert!(was_there && !rest.contains("left behind"), "{rest}");
}

#[test]
fn what_a_process_has_left_behind_is_ended_when_it_is_started_again() {
    let scene = family();
    let launched = scene.launch("");
    let child = scene.number("child");
    kill(Pid::from_raw(scene.number("own")), Signal::SIGKILL).unwrap();
    launched.until("a was ended by SIGKILL");
    assert!(is_gone(child));
    launched.stop();
}

/// Programs that become root's, as by `sudo`, of a launcher that is not: `./as-root sh -c ...`.
struct Unprivileged(Scene);

impl Unprivileged {
    /// None: this is not root, who may make such a program, or the folder is of a file system without such rights, or nobody else can reach the command.
    fn new(file: &str) -> Option<Unprivileged> {
        let scene = Scene::new(file);
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(scene.folder.path(), 0o755);
        fs::copy("/usr/bin/setpriv", scene.path("setpriv")).unwrap();
        mode(&scene.path("setpriv"), 0o4755);
        script(&scene.path("as-root"), "#!/bin/sh\nexec ./setpriv --reuid 0 \"$@\"\n");
        let scene = Unprivileged(scene);
        let tried = scene.as_nobody(["./as-root", "id", "-u"].map(OsStr::new)).output().unwrap();
        if tried.stdout != b"0\n" || !rustix::process::geteuid().is_root() {
            println!("not tried: no program can be made here that gets the rights of root");
            return None;
        }
        let command = env!("CARGO_BIN_EXE_sinew");
        if !scene.as_nobody([command, "--version"].map(OsStr::new)).output().unwrap().status.success() {
            println!("not tried: another user cannot reach {command}, or what it needs: these sources are in a folder of one user alone");
            return None;
        }
        Some(scene)
    }

    fn as_nobody<'a>(&self, words: impl IntoIterator<Item = &'a OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).args(words).current_dir(self.0.folder.path());
        command
    }

    fn launch(&self) -> Launched {
        let command = self.0.domain.command(&self.0.asked(""));
        Launched::of(Running::new(&mut self.as_nobody([command.get_program()].into_iter().chain(command.get_args()))))
    }
}

/// Ends with its test.
struct Deaf(i32);

impl Drop for Deaf {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.0), Signal::SIGKILL);
    }
}

#[test]
fn a_process_that_has_become_root_s_ends_as_by_ctrl_c_at_its_terminal() {
    let file =
        "processes:\n  a: {command: [./as-root, sh, -c, 'trap \"echo bye; exit 7\" INT; echo ready; while :; do sleep 0.01; done']}\n";
    let Some(scene) = Unprivileged::new(file) else { return };
    let launched = scene.launch();
    launched.until("ready");
    let rest = launched.stop();
    assert!(rest.contains("[a]      bye") && rest.contains("a ended with status 7"), "{rest}");
}

#[test]
fn what_has_become_root_s_in_the_group_of_a_script_that_has_not_ends_as_by_ctrl_c_too() {
    let Some(scene) = Unprivileged::new("processes:\n  a: {command: ./parent}\n") else { return };
    script(&scene.0.path("safe"), "#!/bin/sh\ntrap 'echo bye; exit 7' INT\necho ready\nwhile :; do sleep 0.01; done\n");
    script(&scene.0.path("parent"), "#!/bin/sh\ntrap : INT\n./as-root ./safe\nexit 3\n");
    let launched = scene.launch();
    launched.until("ready");
    let rest = launched.stop();
    assert!(rest.contains("[a]      bye") && rest.contains("a ended with status 3") && !rest.contains("is sent"), "{rest}");
}

#[test]
fn a_process_that_may_not_be_signalled_is_hung_up_given_up_and_named() {
    let file = "processes:\n  a: {command: [./as-root, sh, -c, 'trap \"\" INT TERM HUP; echo ready; while :; do sleep 0.01; done']}\n  b: {command: [./as-root, sh, -c, 'trap \"\" INT TERM; trap \"exit 7\" HUP; echo ready; while :; do sleep 0.01; done']}\n";
    let Some(scene) = Unprivileged::new(file) else { return };
    let launched = scene.launch();
    let deaf = Deaf(pid_in(&launched.until("a started")));
    launched.until("ready");
    launched.until("ready");
    launched.signal(Signal::SIGINT);
    launched.until("stopping all");
    for signal in ["SIGTERM", "SIGKILL"] {
        std::thread::sleep(BETWEEN_TWO);
        launched.signal(Signal::SIGINT);
        launched.until(&format!("a has not ended, and this user may not send it {signal}"));
    }
    launched.until("b ended with status 7");
    std::thread::sleep(BETWEEN_TWO);
    launched.signal(Signal::SIGINT);
    let pid = deaf.0;
    let (status, rest, said) = launched.end();
    assert_eq!((status, said), (Some(1), format!("error: a, process {pid} has not ended, and this user may not end it\n")), "{rest}");
    assert!(
        rest.contains(&format!("a process {pid} is given up, and is still there")) && !rest.contains("is sent") && is_there(pid),
        "{rest}"
    );
}

#[test]
fn what_was_left_behind_and_may_not_be_signalled_is_given_up_and_named() {
    let Some(scene) = Unprivileged::new("processes:\n  a: {command: ./parent}\n") else { return };
    let deaf = "trap '' INT TERM; echo $$ >stranger; while :; do sleep 0.01; done";
    script(&scene.0.path("deaf"), &format!("#!/bin/sh\n{deaf}\n"));
    script(&scene.0.path("parent"), "#!/bin/sh\nsetsid --fork ./as-root ./deaf\nexec sleep 1000\n");
    let launched = scene.launch();
    let deaf = Deaf(scene.0.number("stranger"));
    for signal in ["SIGINT", "SIGTERM", "SIGKILL"] {
        launched.signal(Signal::SIGINT);
        // Beside a child of it that sleeps just then.
        let left = launched.until(&format!("this user may not send {signal} to what was left behind: process "));
        assert!(left.contains(&deaf.0.to_string()), "{left}");
        std::thread::sleep(BETWEEN_TWO);
    }
    launched.signal(Signal::SIGINT);
    let (status, rest, said) = launched.end();
    let named = format!("process {} has not ended, and this user may not end it", deaf.0);
    assert!(status == Some(1) && said.contains(&named) && !rest.contains("is sent") && is_there(deaf.0), "{said}{rest}");
}

/// Processes that do not end by SIGKILL, as those that wait for a disk, as long as it is there, and end with it.
struct Frozen {
    group: PathBuf,
    pids: [i32; 2],
}

impl Frozen {
    /// None: there are no groups of the first kind here, whose frozen processes are not even killed, or this user may not make one.
    fn new(pids: [i32; 2]) -> Option<Frozen> {
        let frozen = Frozen { group: format!("/sys/fs/cgroup/freezer/sinew-test-{}", pids[0]).into(), pids };
        let state = frozen.group.join("freezer.state");
        if fs::create_dir(&frozen.group).is_err() || !state.exists() {
            println!("not tried: no process can be frozen here");
            return None;
        }
        pids.iter().for_each(|pid| fs::write(frozen.group.join("cgroup.procs"), pid.to_string()).unwrap());
        fs::write(&state, "FROZEN").unwrap();
        assert!(eventually(|| fs::read_to_string(&state).unwrap() == "FROZEN\n"));
        Some(frozen)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.pids.iter().for_each(|pid| _ = kill(Pid::from_raw(*pid), Signal::SIGKILL));
        let _ = fs::write(self.group.join("freezer.state"), "THAWED");
        eventually(|| !self.group.exists() || fs::remove_dir(&self.group).is_ok());
    }
}

#[test]
fn who_does_not_end_by_sigkill_either_is_given_up_and_named() {
    let scene = Scene::new("processes:\n  a: {command: ./parent}\n");
    let strangers = "setsid --fork sh -c 'echo $$ >stranger; exec sleep 1000'\nsetsid sh -c 'echo $$ >helper; exec sleep 1000' &";
    script(&scene.path("parent"), &format!("#!/bin/sh\n{strangers}\nexec sleep 1000\n"));
    let launched = scene.launch("");
    let own = pid_in(&launched.until("a started"));
    let (stranger, helper) = (scene.number("stranger"), scene.number("helper"));
    let _deaf = Deaf(stranger);
    let Some(frozen) = Frozen::new([own, stranger]) else { return };
    for sent in ["stopping all", "SIGTERM", "SIGKILL"] {
        launched.signal(Signal::SIGINT);
        launched.until(sent);
        std::thread::sleep(BETWEEN_TWO);
    }
    launched.signal(Signal::SIGINT);
    let (status, rest, said) = launched.end();
    let named = |who: &str, pid| format!("{who}process {pid} has not ended, though SIGKILL was sent");
    assert_eq!((status, said), (Some(1), format!("error: {}; {}\n", named("a, ", own), named("", stranger))), "{rest}");
    assert!(is_there(own) && is_there(stranger));
    drop(frozen);
    assert!(is_gone(own) && is_gone(stranger));
    assert!(is_gone(helper), "whom it had started is not given up with it");
}

#[test]
fn when_the_launcher_is_killed_nobody_is_left_also_where_nohup_has_started_it() {
    for ignores in [None, Some("--ignore-signal=HUP")] {
        let scene = Scene::new(
            "processes:\n  a: {command: \"sh -c 'sleep 1000 & echo $! >child; echo $$ >own; wait'\"}\n  b: {command: [sh, -c, 'trap \"\" INT TERM HUP; echo $$ >deaf; while :; do sleep 0.01; done']}\n",
        );
        let mut command = Command::new("env");
        command.args(ignores).arg(env!("CARGO_BIN_EXE_sinew")).arg("launch").arg(scene.path("robot.yaml"));
        let launched = Launched::of(Running::new(&mut command));
        let all = ["own", "child", "deaf"].map(|name| scene.number(name));
        launched.signal(Signal::SIGKILL);
        assert_eq!(all.map(is_gone), [true; 3], "{ignores:?}");
    }
}

#[test]
fn a_terminal_that_goes_stops_all_unless_nohup_says_that_it_may_go() {
    let scene = Scene::new("processes:\n  a: {command: sleep 1000}\n");
    // Whoever runs the tests may have said it, too.
    for (program, option, why) in [("env", Some("--default-signal=HUP"), Signal::SIGHUP), ("nohup", None, Signal::SIGTERM)] {
        let mut command = Command::new(program);
        command.args(option).arg(env!("CARGO_BIN_EXE_sinew")).arg("launch").arg(scene.path("robot.yaml"));
        let launched = Launched::of(Running::new(&mut command));
        launched.until("a started");
        launched.signal(Signal::SIGHUP);
        launched.signal(why);
        launched.until(&format!("stopping all: {why}"));
        assert_eq!(launched.end().0, Some(0));
    }
}

#[test]
fn who_cannot_be_started_is_treated_as_one_that_has_failed() {
    let scene = Scene::new("processes:\n  a: {command: ./a, restart: never}\n  b: {command: ./a}\n");
    script(&scene.path("a"), "#!/no/such/interpreter\n");
    let launched = scene.launch("");
    launched.until("a cannot be started: No such file or directory");
    launched.until("b is started again in 0.5 s");
    launched.signal(Signal::SIGINT);
    let (status, rest, said) = launched.end();
    assert_eq!((status, said.as_str()), (Some(1), "error: a could not be started\n"), "{rest}");
}

#[test]
fn nodes_find_each_other_and_their_manager_stays_for_others() {
    let scene = Scene::new(
        "processes:\n  talker: {command: \"sinew topic pub --rate 20 light 'robot/Light{on:bool;}' 'on: true'\"}\n  listener: {command: sinew topic echo light.on}\n",
    );
    let launched = scene.launch("");
    // It may come before the talker, and again until there is one.
    launched.until("[listener] true");
    let node = scene.domain.node("other");
    let manager = manager(&scene.domain.path());
    launched.stop();
    assert!(is_there(manager), "it is not the launcher's alone");
    drop(node);
}
