//! `sinew-gateway check`, as it is run.

use std::process::{Command, Output};

use serde_json::Value;

/// Of the program, in the folder of the examples.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew-gateway"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config")).arg("check").args(arguments);
    command.output().expect("it was built")
}

/// Its exit status, and what it says.
fn said(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = run(arguments);
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (status.code().expect("it ended by itself"), text(stdout), text(stderr))
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let (status, out, _) = said(&[arguments, &["--json"]].concat());
    (status, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}")))
}

#[test]
fn a_valid_configuration_is_summed_up() {
    let (status, out, err) = said(&["robot.json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    for part in [
        "robot.json is valid",
        "left-robot, the tag 'robot'",
        "[::]:7000",
        "base.local:7463, 192.168.1.2",
        "over wlan0, eth0",
        "takes only peers that the authority has signed",
        "20 Mbit/s",
        "16777216 bytes",
        "ruleset 1 for the tag 'base' (line 17, column 5)",
        "none, 4 exceptions",
        "ruleset 2 for all other peers",
        "none, as no rules are said",
        "warning: 'certs/robot.key.pem' cannot be read here: No such file",
    ] {
        assert!(out.contains(part), "'{part}' is not in:\n{out}");
    }
    assert_eq!(said(&["thesis.json"]).0, 0);
}

#[test]
fn the_domain_of_ros_2_is_that_of_its_programs_unless_it_is_said() {
    let file = tempfile::NamedTempFile::with_suffix(".json").expect("there is room for a file");
    let said = |text: &str, id: &str| {
        std::fs::write(file.path(), text).expect("it can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew-gateway"));
        let Output { stdout, stderr, .. } = command.arg("check").arg(file.path()).env("ROS_DOMAIN_ID", id).output().expect("it was built");
        String::from_utf8([stdout, stderr].concat()).expect("it is text")
    };
    for unsaid in
        [r#"{ "transport": "ros2" }"#, r#"{ "transport": "ros2", "ros2": {} }"#, r#"{ "transport": "zenoh", "zenoh": { "ros2": true } }"#]
    {
        assert!(said(unsaid, "83").contains("domain 83\n"), "{unsaid}: {}", said(unsaid, "83"));
        assert!(said(unsaid, "").contains("domain 0\n"), "{unsaid}: {}", said(unsaid, ""));
        assert!(said(unsaid, "233").contains("ROS_DOMAIN_ID is \"233\", which is no number from 0 to 232"), "{}", said(unsaid, "233"));
    }
    let at_7 = r#"{ "transport": "ros2", "ros2": { "domain_id": 7 } }"#;
    assert!(said(at_7, "83").contains("domain 7\n"), "{}", said(at_7, "83"));
}

#[test]
fn a_zenoh_network_is_a_peer_with_a_tag_of_its_own() {
    let (status, out, err) = said(&["zenoh.json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    for part in [
        "robot-7, the tag 'zenoh'",
        "a Zenoh network, below 'fleet/north'",
        "tls/router.local:7447, tcp/10.0.0.1:7447",
        "zenoh.json5",
        "warning: 'zenoh.json5' cannot be read here: No such file",
    ] {
        assert!(out.contains(part), "'{part}' is not in:\n{out}");
    }
    assert!(!out.contains("discovery") && !out.contains("ad hoc"), "{out}");
    for asked in [["--topic", "cmd_vel"].as_slice(), &["--topic", "cmd_vel", "--peer-tag", "zenoh"]] {
        let (status, out, _) = said(&[&["zenoh.json"], asked].concat());
        assert!(status == 0 && out.contains("peer with the tag 'zenoh': in (<), messages come from the peer only"), "{out}");
    }
    assert_eq!(said(&["zenoh.json", "--topic", "scan"]).0, 3);
    let (_, told) = json(&["zenoh.json"]);
    assert_eq!((&told["configuration"]["transport"], &told["configuration"]["prefix"]), (&"zenoh".into(), &"fleet/north".into()));
}

#[test]
fn a_rule_that_only_lets_topics_in_and_says_how_they_go_is_warned_of() {
    let file = tempfile::NamedTempFile::with_suffix(".json").expect("there is room for a file");
    let warned = |transport: &str, rules: &str| {
        std::fs::write(file.path(), format!("{{ {transport},\n\"rules\": [{{\n{rules} }}] }}")).expect("it can be written");
        let (status, told) = json(&[file.path().to_str().expect("it is text")]);
        assert_eq!(status, 0, "{told}");
        let warnings = told["configuration"]["warnings"].as_array().expect("it is a list").iter().filter_map(Value::as_str);
        warnings.filter(|warning| warning.contains("lets topics in only")).map(str::to_owned).collect::<Vec<String>>()
    };
    let quic = r#""security": "ad-hoc""#;
    let all = r#""priority": 10, "max_rate": 5, "max_bandwidth": "1 Mbit/s", "reliable": true, "compression": "zstd""#;
    let at_the_peer =
        "as it lets topics in only, and the gateway that sends them decides how they go: say it in the peer's rule that lets them out";
    assert_eq!(
        warned(quic, &format!(r#""topics": {{ "base_rule": "in", {all} }}"#)),
        [format!(
            "the base rule of line 3 has no use for 'priority', 'max_rate', 'max_bandwidth', 'reliable', 'compression', {at_the_peer}"
        )]
    );
    // Of services, priority holds on both sides.
    let exceptions = r#""topics": { "base_rule": "both", "priority": 3, "exceptions": [
            { "name": "a", "rule": "<", "reliable": true },
            { "name": "b", "rule": "in", "priority": 0, "reliable": false, "compression": "none" },
            { "name": "c", "rule": "out", "max_rate": 5 } ] },
        "services": { "base_rule": "in", "priority": 10 }"#;
    assert_eq!(warned(quic, exceptions), [format!("the exception of line 4 has no use for 'reliable', {at_the_peer}")]);
    for (transport, said, keys) in [
        (r#""transport": "zenoh""#, r#""priority": 1, "max_rate": 5, "reliable": true"#, "'priority', 'max_rate', 'reliable'"),
        (r#""transport": "ros1""#, r#""max_rate": 5"#, "'max_rate'"),
    ] {
        assert_eq!(
            warned(transport, &format!(r#""topics": {{ "base_rule": "<", {said} }}"#)),
            [format!(
                "the base rule of line 3 has no use for {keys}, as it lets topics in only, and a bridge takes what comes as it was sent: leave it out"
            )]
        );
    }
}

#[test]
fn ros_2_over_zenoh_is_told_with_its_domain() {
    let (status, out, err) = said(&["rmw_zenoh.json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    for part in [
        "ROS 2 over Zenoh (rmw_zenoh), domain 7",
        "tcp/10.0.0.1:7447",
        "/opt/ros/jazzy/share, our_packages",
        "'our_packages' cannot be read",
    ] {
        assert!(out.contains(part), "'{part}' is not in:\n{out}");
    }
    let (_, told) = json(&["rmw_zenoh.json"]);
    let told = &told["configuration"];
    assert_eq!((&told["transport"], &told["ros2"]["domain_id"], &told["prefix"]), (&"zenoh".into(), &7.into(), &Value::Null));
}

#[test]
fn an_invalid_configuration_ends_with_1_and_the_line_with_a_caret() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("wrong.json");
    std::fs::write(&file, "{\n  \"securty\": \"ad-hoc\"\n}\n").expect("there is room");
    let file = file.to_str().expect("it is text");
    let (status, out, err) = said(&[file]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(
        err.contains(&format!("{file}:2:3: ")) && err.contains("did you mean 'security'?") && err.ends_with("|   ^^^^^^^^^\n"),
        "{err}"
    );
    // So does one of the peer.
    assert_eq!(said(&["robot.json", "--peer", file]).0, 1);

    let (status, document) = json(&[file]);
    assert_eq!(
        (status, &document["valid"], &document["mistake"]["line"], &document["mistake"]["column"]),
        (1, &false.into(), &2.into(), &3.into())
    );
    assert!(said(&["none.json"]).2.contains("none.json:1:1: the configuration cannot be read"));
}

#[test]
fn ros_1_is_a_peer_with_a_tag_of_its_own() {
    let (status, out, err) = said(&["ros1.json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    for part in
        ["robot-7, the tag 'ros1'", "ROS 1 over TCPROS", "http://robot.local:11311/", "192.168.1.7", "/opt/ros/noetic/share, our_packages"]
    {
        assert!(out.contains(part), "'{part}' is not in:\n{out}");
    }
    let (status, out, _) = said(&["ros1.json", "--topic", "cmd_vel"]);
    assert!(status == 0 && !out.contains("--peer"), "it has no rules:\n{out}");
    let (status, document) = json(&["ros1.json", "--topic", "cmd_vel"]);
    assert_eq!((status, &document["channel"]["peer_tag"], &document["channel"]["combined"]), (0, &"ros1".into(), &"in".into()));
}

#[test]
fn the_rule_that_decides_is_told_with_its_line_and_column() {
    let (status, out, _) = said(&["robot.json", "--topic", "camera/left", "--peer-tag", "base"]);
    assert_eq!(status, 0, "{out}");
    for part in [
        "topic 'camera/left', peer with the tag 'base': out (>), messages go from here to the peer only",
        "exception 2 (starts_with 'camera/') in ruleset 1, which is for the tag 'base'",
        "robot.json:24:11",
        "priority -5, at most 7.5 messages a second, at most 12 Mbit/s, packed by lz4, onward: also what bridges and other gateways have brought",
    ] {
        assert!(out.contains(part), "'{part}' is not in:\n{out}");
    }
    let (status, out, _) = said(&["robot.json", "--service", "any", "--peer-tag", "base"]);
    assert!(status == 0 && out.contains("only this side may provide it") && out.contains("robot.json:29:34"), "{out}");

    let (status, document) = json(&["robot.json", "--topic", "any"]);
    let local = &document["channel"]["local"];
    assert_eq!((status, &document["channel"]["combined"], &local["rule"], &local["line"]), (0, &"in".into(), &"in".into(), &31.into()));
}

#[test]
fn what_is_not_let_through_ends_with_3() {
    for arguments in [
        &["robot.json", "--topic", "any", "--peer-tag", "base"][..],
        &["robot.json", "--service", "any"],
        &["base.json", "--topic", "any"],
        &["robot.json", "--topic", "camera/secret", "--peer", "base.json"],
    ] {
        let (status, out, err) = said(arguments);
        assert!(status == 3 && err.is_empty() && out.contains("none (x), it does not go over"), "{status} {out} {err}");
        assert_eq!(json(arguments).0, 3);
    }
}

#[test]
fn with_the_configuration_of_the_peer_both_decide() {
    let (status, out, _) = said(&["robot.json", "--topic", "cmd_vel", "--peer", "base.json"]);
    assert_eq!(status, 0);
    for part in [
        "topic 'cmd_vel', peer with the tag 'base': in (<)",
        "here  in (<) by exception 1",
        "peer  both (=) by the base rule",
        "base.json:10:22",
    ] {
        assert!(out.contains(part), "'{part}' is not in:\n{out}");
    }
    // Seen from the other side it is the other way round.
    let combined = |arguments: &[&str]| json(arguments).1["channel"]["combined"].clone();
    assert_eq!(combined(&["base.json", "--topic", "cmd_vel", "--peer", "robot.json"]), "out");
    assert_eq!(combined(&["base.json", "--service", "any", "--peer", "robot.json"]), "in");
    assert_eq!(combined(&["robot.json", "--service", "any", "--peer", "base.json"]), "out");
}

#[test]
fn for_every_pair_of_symbols_and_both_kinds_check_says_what_table_5_2_says() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = |symbol: &str| folder.path().join(format!("{symbol}.json")).to_str().expect("it is text").to_owned();
    for symbol in ["none", "both", "out", "in"] {
        let rules = format!(r#"{{ "base_rule": "{symbol}" }}"#);
        let text = format!(r#"{{ "security": "ad-hoc", "rules": [{{ "topics": {rules}, "services": {rules} }}] }}"#);
        std::fs::write(path(symbol), text).expect("there is room");
    }
    let table = [
        ("none", ["none", "none", "none", "none"]),
        ("both", ["none", "both", "out", "in"]),
        ("in", ["none", "in", "none", "in"]),
        ("out", ["none", "out", "out", "none"]),
    ];
    for (local, row) in table {
        for (peer, combined) in ["none", "both", "in", "out"].into_iter().zip(row) {
            for kind in ["--topic", "--service"] {
                let (status, document) = json(&[&path(local), kind, "any", "--peer", &path(peer)]);
                assert_eq!(document["channel"]["combined"], combined, "{kind}: {local} with {peer}");
                assert_eq!(status, if combined == "none" { 3 } else { 0 });
            }
        }
    }
}

#[test]
fn arguments_that_exclude_or_need_each_other_end_with_2() {
    assert_eq!(said(&["robot.json", "--topic", "a", "--service", "b"]).0, 2);
    assert_eq!(said(&["robot.json", "--topic", "a", "--peer-tag", "b", "--peer", "base.json"]).0, 2);
    assert_eq!(said(&["robot.json", "--peer-tag", "b"]).0, 2);
    assert_eq!(said(&[]).0, 2);
}
