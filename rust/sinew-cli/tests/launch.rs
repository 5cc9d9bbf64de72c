//! `sinew launch`: what of a file is started and how, and what the log shows of it.

mod common;
#[path = "common/launch.rs"]
mod launch;

use std::fs;
use std::io::{BufRead, BufReader};

use common::{Running, eventually};
use launch::{Scene, is_there, pid_in, script};
use serde_json::Value;

#[test]
fn all_processes_are_started_and_each_line_says_whose_it_is() {
    let scene =
        Scene::new("processes:\n  camera: {command: echo a picture}\n  lidar: {command: \"sh -c 'echo points >&2; printf unfinished'\"}\n");
    let (status, log, said) = scene.run("");
    assert_eq!((status, said.as_str()), (Some(0), ""));
    for line in [
        "[camera] a picture",
        "[lidar]  points",
        "[lidar]  unfinished",
        "[launch] camera ended with status 0",
        "[launch] lidar ended with status 0",
    ] {
        assert!(log.lines().any(|each| each == line), "{line}\n{log}");
    }
    assert!(log.contains("[launch] camera started, process "), "{log}");
    let ended = log.find("[launch] lidar ended").unwrap();
    assert!(log.find("unfinished").unwrap() < ended, "what it has written comes before its end");
}

#[test]
fn what_a_program_prints_is_there_before_it_ends_and_in_order() {
    // Into a pipe Python would print nothing before its end, and then the standard error first.
    let scene = Scene::new(
        "environment: {PYTHONUNBUFFERED: ''}\nprocesses:\n  python: {command: [python3, -c, \"import sys, time; print('out'); print('err', file=sys.stderr); print('again'); time.sleep(1000)\"]}\n",
    );
    let launched = scene.launch("");
    let lines = [launched.until("[python]"), launched.until("[python]"), launched.until("[python]")];
    assert_eq!(lines, ["[python] out", "[python] err", "[python] again"]);
    launched.stop();
}

#[test]
fn a_process_has_a_terminal_of_its_own_and_nothing_to_read() {
    let scene = Scene::new("processes:\n  sh: {command: ./look}\n");
    let look = "cat\ntest -t 1 && test -t 2 && cut -d' ' -f6 /proc/$$/stat\nstty size </dev/tty\necho NO_COLOR $NO_COLOR\n";
    script(&scene.path("look"), &format!("#!/bin/sh\n{look}"));
    let launched = scene.launch("");
    let pid = pid_in(&launched.until("sh started"));
    assert_eq!(launched.until("[sh]").replace(' ', ""), format!("[sh]{pid}"));
    assert_eq!(launched.until("[sh]"), "[sh]     50 120");
    assert_eq!(launched.until("[sh]"), "[sh]     NO_COLOR 1", "nobody would see colours");
    launched.end();
}

#[test]
fn processes_log_as_those_that_the_user_starts() {
    let scene = Scene::new("processes:\n  sh: {command: \"sh -c 'echo level ${SINEW_LOG-none}'\"}\n");
    let (_, log, _) = scene.run("");
    assert!(log.contains("[sh]     level ") && !log.contains("level off"), "{log}");
}

#[test]
fn colours_are_kept_and_other_sequences_are_not() {
    let scene = Scene::new("processes:\n  sh: {command: [printf, '\\033[2J\\033[31mred\\033[0m%s\\n', $(env NO_COLOR none)]}\n");
    let (_, log, _) = scene.run(" --color always");
    assert!(log.contains(" \u{1b}[31mred\u{1b}[0mnone\u{1b}[0m\n"), "{log:?}");
    let (_, log, _) = scene.run("");
    assert!(log.contains("[sh]     rednone\n"), "{log:?}");
}

#[test]
fn arguments_have_defaults_and_are_put_into_every_value() {
    let scene = Scene::new(
        "arguments: {speed: 0.50, map: '$(dirname)/map', who: 'a b'}\nenvironment: {SPEED: '$(var speed)', MAP: plain}\nprocesses:\n  one:\n    command: sh -c 'echo $SPEED $MAP $1 $#; pwd' sh $(var who)\n    directory: $(env PLACE sub)\n    environment: {MAP: $(var map)}\n",
    );
    fs::create_dir(scene.path("sub")).unwrap();
    let folder = scene.folder.path().display().to_string();
    let (_, log, _) = scene.run("");
    assert!(log.contains(&format!("[one]    0.50 {folder}/map a b 1\n[one]    {folder}/sub\n")), "{log}");
    let (_, log, _) = scene.run(" speed:=2 map:=there:=too");
    assert!(log.contains("[one]    2 there:=too a b 1\n"), "{log}");
    fs::write(scene.path("robot.yaml"), "arguments: {map: }\nprocesses: {a: {command: echo $(var map)}}\n").unwrap();
    assert!(scene.complaint("").contains("robot.yaml:1:13: argument 'map' has no default: give it, as map:=VALUE behind the file\n"));
    assert!(scene.complaint(" map:=x mapp:=y").contains("there is no argument 'mapp': did you mean 'map'?"));
    assert!(scene.complaint(" map:=x map:=y").contains("argument 'map' is given twice"));
    assert_eq!(scene.run(" map:=x").0, Some(0));
    assert!(scene.run(" map").2.contains("'map' gives an argument no value: speed:=0.8 does"));
}

#[test]
fn arguments_are_shown_and_nothing_is_started() {
    let scene = Scene::new("arguments: {speed: 0.50, map: }\nprocesses: {a: {command: $(var map)}}\n");
    assert_eq!(scene.domain.text(&scene.asked(" --show-args")), "argument  default\nspeed     0.50\nmap       none: it must be given\n");
    let told = serde_json::json!([{"name": "speed", "default": "0.50"}, {"name": "map", "default": null}]);
    assert_eq!(scene.domain.json(&scene.asked(" -s")), told);
}

#[test]
fn a_process_with_an_if_that_is_not_so_is_not_started() {
    let scene =
        Scene::new("arguments: {record: \"\"}\nprocesses:\n  a: {command: no-such-program, if: $(var record)}\n  b: {command: echo b}\n");
    for argument in ["", " record:=0", " record:=false", " record:=False", " record:=no", " record:=off"] {
        let (status, log, said) = scene.run(argument);
        assert_eq!((status, said.as_str()), (Some(0), ""), "{argument}");
        assert!(log.contains("[b]      b\n"), "{log}");
    }
    assert!(scene.complaint(" record:=drives").contains("no-such-program"));
}

#[test]
fn the_recorder_that_the_manual_shows_records_into_a_folder_that_is_not_there() {
    let scene = Scene::new(
        "arguments: {record: \"\"}\nprocesses:\n  recorder:\n    if: $(var record)\n    command: sinew record --all -o $(var record)/\n",
    );
    let launched = scene.launch(" record:=drives");
    launched.until("[recorder] recording to drives/sinew_");
    let files = || fs::read_dir(scene.path("drives")).map_or(0, |entries| entries.count());
    assert!(eventually(|| files() == 1));
    launched.stop();
}

#[test]
fn what_says_neither_yes_nor_no_is_refused_where_the_file_itself_says_it() {
    for (text, is_started) in [("no", false), ("off", false), ("False", false), ("0", false), ("''", false), ("yes", true), ("ON", true)] {
        let scene = Scene::new(&format!("processes:\n  a: {{command: echo a, if: {text}}}\n  b: {{command: echo b}}\n"));
        let (_, log, said) = scene.run("");
        assert_eq!((said.as_str(), log.contains("[a]      a\n")), ("", is_started), "{text}: {log}");
    }
    let scene = Scene::new("processes:\n  a: {command: touch started, if: ture}\n");
    assert!(scene.complaint("").contains("robot.yaml:2:35: 'ture' is neither true nor false"), "{}", scene.complaint(""));
    assert!(!scene.path("started").exists());
    assert_eq!(Scene::new("processes:\n  a: {command: echo a, required: yes}\n").run("").0, Some(0));
}

#[test]
fn all_that_is_wrong_is_said_before_anything_is_started() {
    let scene = Scene::new(
        "processes:\n  a: {command: touch started}\n  b: {comand: echo}\n  c: {command: no-such-program}\n  d: {command: ./plain, restart: sometimes}\n  e: {command: ./absent, required: maybe}\n  f: {command: echo, directory: nowhere}\n  g: {command: echo $(var nothing)}\n  a: {command: echo}\n  h: {command: \"echo 'a\"}\n  i: {command: ''}\n",
    );
    fs::write(scene.path("plain"), "").unwrap();
    let complaint = scene.complaint("");
    let (file, folder) = (scene.path("robot.yaml"), scene.folder.path());
    assert!(complaint.starts_with("error: nothing is started, 12 things are wrong:\n"), "{complaint}");
    for (place, text) in [
        ("3:3", "process 'b' has no command: what is to be started?".to_owned()),
        ("3:7", "process 'b' has no 'comand': did you mean 'command'? there is: command, directory".to_owned()),
        ("4:16", "the program of process 'c', 'no-such-program', is in no folder of PATH (".to_owned()),
        ("5:16", format!("the program of process 'd', {}/./plain, is not executable: chmod +x", folder.display())),
        ("5:34", "'sometimes' does not say when a process is started again: never, on-failure and always do".to_owned()),
        ("6:16", format!("the program of process 'e' is not there: {}/./absent is no file", folder.display())),
        ("6:36", "'maybe' is neither true nor false".to_owned()),
        ("7:33", format!("process 'f' is to run in {}/nowhere, which is no folder", folder.display())),
        ("8:16", "there is no argument 'nothing'".to_owned()),
        ("9:3", "'a' is there twice, first in line 2".to_owned()),
        ("10:16", "a quote is not closed".to_owned()),
        ("11:16", "the command is empty".to_owned()),
    ] {
        assert!(complaint.contains(&format!("\n  {}:{place}: {text}", file.display())), "{place} {text}\n{complaint}");
    }
    assert!(!scene.path("started").exists());
}

#[test]
fn a_file_that_is_none_is_said_to_be_none() {
    assert!(Scene::new("processes: [\n").complaint("").contains("robot.yaml:2:1: this is no YAML: "));
    assert!(Scene::new("").complaint("").contains("the file is to say what it has, a `name: value` a line: domain, arguments"));
    let scene = Scene::new("");
    fs::write(scene.path("robot.yaml"), b"\xff").unwrap();
    assert!(scene.complaint("").contains("it is no text in UTF-8"));
    fs::remove_file(scene.path("robot.yaml")).unwrap();
    assert!(scene.complaint("").contains("robot.yaml cannot be read: No such file or directory"));
}

#[test]
fn launch_files_of_ros_2_are_said_to_be_some() {
    let domain = common::Domain::new();
    let folder = tempfile::tempdir().unwrap();
    let wanted = "error: launch files of ROS 2 are not read: docs/launch.md says how one is written here\n";
    for (name, text) in [
        ("x.launch.py", "def generate_launch_description():\n    return LaunchDescription([])\n"),
        ("x.launch.xml", "<launch>\n</launch>\n"),
        ("x.launch", "<launch/>\n"),
        ("x.launch.yaml", "%YAML 1.2\n---\n# two nodes\nlaunch:\n- node: {pkg: demo, exec: talker}\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let asked = format!("launch {}", folder.path().join(name).display());
        assert_eq!(domain.complaint(&asked), (2, wanted.to_owned()), "{name}");
    }
    assert!(domain.complaint("launch /nowhere.launch.py").1.contains("cannot be read: No such file"));
}

#[test]
fn programs_are_found_by_the_path_that_their_process_has_and_beside_the_command() {
    let scene = Scene::new(
        "environment: {PATH: 'bin:/usr/bin:/bin'}\nprocesses:\n  a: {command: here}\n  b: {command: sinew --version}\n  c: {command: 'sh -c ./here', directory: bin}\n",
    );
    fs::create_dir(scene.path("bin")).unwrap();
    script(&scene.path("bin/here"), "#!/bin/sh\necho found\n");
    let (status, log, said) = scene.run("");
    assert_eq!((status, said.as_str()), (Some(0), ""), "{log}");
    assert!(log.contains("[a]      found\n") && log.contains("[b]      sinew ") && log.contains("[c]      found\n"), "{log}");
}

#[test]
fn a_reader_that_does_not_read_holds_nobody_up_and_is_told_what_it_has_missed() {
    let scene = Scene::new("processes:\n  a: {command: [sh, -c, 'seq 1000000; touch written; exec sleep 1000']}\n");
    let mut running = Running::new(&mut scene.domain.command(&scene.asked("")));
    assert!(eventually(|| scene.path("written").exists()), "it waits for the reader");
    let log = BufReader::new(running.0.stdout.take().unwrap());
    let (mut next, mut lost, mut all_lost) = (1, 0, 0);
    for line in log.lines().map_while(Result::ok) {
        if let Some(number) = line.strip_prefix("[a]      ") {
            assert_eq!(number.parse(), Ok(next + lost), "no line is missing that was not counted");
            next = number.parse::<u64>().unwrap() + 1;
            lost = 0;
            if next > 1_000_000 {
                break;
            }
        } else if let Some(count) =
            line.strip_prefix("[launch] ").and_then(|line| line.strip_suffix(" lines lost here: the reader of this log was too slow"))
        {
            lost = count.parse().unwrap();
            all_lost += lost;
        }
    }
    assert_eq!(next, 1_000_001, "the newest line is there");
    assert!(all_lost > 0, "else it was fast enough");
    common::interrupt(&running);
    assert_eq!(running.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_without_a_reader_stops_nobody() {
    let scene = Scene::new(
        "processes:\n  a: {command: [sh, -c, 'until test -e gone; do sleep 0.01; done; echo to nobody; echo $$ >after; exec sleep 1000']}\n",
    );
    let mut running = Running::new(&mut scene.domain.command(&scene.asked("")));
    drop(running.0.stdout.take());
    fs::write(scene.path("gone"), "").unwrap();
    let pid = scene.number("after");
    let mut said = BufReader::new(running.0.stderr.take().unwrap()).lines();
    let text = said.next().unwrap().unwrap();
    assert!(text.starts_with("the log cannot be written: Broken pipe"), "{text}");
    assert!(is_there(pid));
    common::interrupt(&running);
    assert_eq!(running.0.wait().unwrap().code(), Some(0));
    assert!(!is_there(pid));
}

#[test]
fn as_json_each_line_is_an_object_with_its_time() {
    let scene = Scene::new("processes:\n  a: {command: \"printf '\\\\033[31mred\\\\n'\"}\n");
    let (_, log, _) = scene.run(" --json --color always");
    let told: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<_> = told.iter().map(|each| each["event"].as_str().or(each["line"].as_str()).unwrap()).collect();
    assert_eq!(events, ["started", "red", "ended"]);
    assert!(told.iter().all(|each| each["process"] == "a" && each["time"].is_string()), "{log}");
    assert_eq!(told[2]["status"], 0);
}

#[test]
fn the_domain_is_that_of_the_command_line_else_that_of_the_file() {
    let scene = Scene::new(
        "domain: of-file\nprocesses:\n  a: {command: printenv SINEW_DOMAIN}\n  b: {command: printenv SINEW_DOMAIN, environment: {SINEW_DOMAIN: own}}\n",
    );
    let (_, log, _) = scene.run("");
    assert!(log.contains("[a]      of-file\n") && log.contains("[b]      own\n"), "{log}");
    let (_, log, _) = scene.run(" --domain typed");
    assert!(log.contains("[a]      typed\n") && log.contains("[b]      own\n"), "{log}");
}

#[test]
fn a_relative_path_of_a_socket_is_one_domain_wherever_processes_run() {
    const OWN: &str = ", environment: {SINEW_DOMAIN: ./x.sock}";
    for (of_file, of_process, arguments, inherited, from) in [
        ("", "", " --domain ./x.sock", None, "launcher"),
        ("", "", "", Some("./x.sock"), "launcher"),
        ("domain: ./x.sock\n", "", "", None, "."),
        ("environment: {SINEW_DOMAIN: ./x.sock}\n", "", "", None, "."),
        ("", OWN, "", None, "."),
    ] {
        let process = format!("{{command: printenv SINEW_DOMAIN, restart: never{of_process}");
        let scene = Scene::new(&format!("{of_file}processes:\n  a: {process}, directory: a}}\n  b: {process}, directory: b}}\n"));
        ["a", "b", "launcher"].into_iter().for_each(|name| fs::create_dir(scene.path(name)).unwrap());
        let mut command = scene.domain.command(&scene.asked(arguments));
        command.current_dir(scene.path("launcher"));
        inherited.iter().for_each(|domain| _ = command.env("SINEW_DOMAIN", domain));
        let (status, log, said) = Running::new(&mut command).end();
        assert_eq!(status, Some(0), "{said}");
        let expected = scene.path(from).join("./x.sock").components().collect::<std::path::PathBuf>();
        let shown: Vec<std::path::PathBuf> =
            log.lines().filter(|line| line.contains("x.sock")).map(|line| line.split_once("] ").unwrap().1.trim().into()).collect();
        assert_eq!(
            shown.iter().map(|path| path.components().collect::<std::path::PathBuf>()).collect::<Vec<_>>(),
            [&*expected, &*expected]
        );
    }
}
