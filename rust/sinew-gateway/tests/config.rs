//! What a configuration may say, and what is said of one that is wrong.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sinew_gateway::config::{Discovery, Error, MAX_SIZE, RmwZenoh, Ros1, Ros2, Security, Settings, Transport, Zenoh, ros_domain_id};
use sinew_gateway::protocol::{Kind, Packing};
use sinew_gateway::rules::{Symbol, Traffic};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config").join(name)
}

fn parse(text: &str) -> Settings {
    Settings::parse(Path::new("robot.json"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> Box<Error> {
    Settings::parse(Path::new("robot.json"), text).expect_err(text)
}

#[test]
fn the_example_of_the_thesis_is_read_as_it_stands() {
    let settings = Settings::read(&example("thesis.json")).expect("it is valid");
    let security = Security {
        provide_auth: true,
        require_auth: true,
        key_file: Some("/path/to/certs/key.pem".into()),
        cert_file: Some("/path/to/certs/cert.pem".into()),
        ca_cert_file: Some("/path/to/certs/ca-cert.pem".into()),
    };
    assert_eq!((settings.security, settings.tag.as_str()), (security, "local_tag"));
    let decide = |kind, name, tag| settings.rules.decide(kind, name, tag).symbol;
    assert_eq!(decide(Kind::Topic, "any", "other"), Symbol::None);
    assert_eq!(decide(Kind::Service, "any", ""), Symbol::None);
    assert_eq!(decide(Kind::Topic, "any", "allow_all_tag"), Symbol::Both);
    assert_eq!(decide(Kind::Topic, "allowed_topic", "example_tag"), Symbol::Both);
    assert_eq!(decide(Kind::Topic, "allowed_out/of_here", "example_tag"), Symbol::Out);
    assert_eq!(decide(Kind::Service, "important_service", "example_tag"), Symbol::In);
    assert_eq!(decide(Kind::Service, "allowed_out/of_here", "example_tag"), Symbol::Both);
    assert_eq!(decide(Kind::Topic, "important_service", "example_tag"), Symbol::Both);
}

#[test]
fn everything_that_can_be_said_is_read() {
    let file = example("robot.json");
    let settings = Settings::read(&file).expect("it is valid");
    let folder = file.parent().expect("it is in one");
    assert_eq!((settings.name.as_deref(), settings.tag.as_str()), (Some("left-robot"), "robot"));
    assert_eq!(settings.domain, Some(folder.join("run/robot.sock")));
    assert_eq!(settings.listen, "[::]:7000".parse().expect("it is one"));
    assert_eq!(settings.peers, ["base.local:7463", "192.168.1.2", "[fd09::1]:7463", "[fe80::1%wlan0]"]);
    assert_eq!(settings.discovery, Discovery { enabled: true, interfaces: vec!["wlan0".into(), "eth0".into()] });
    let security = Security {
        provide_auth: true,
        require_auth: true,
        key_file: Some(folder.join("certs/robot.key.pem")),
        cert_file: Some(folder.join("certs/robot.pem")),
        ca_cert_file: Some("/etc/sinew/authority.pem".into()),
    };
    assert_eq!(settings.security, security);
    assert_eq!((settings.budget, settings.max_message), (Some(20_000_000), 16 << 20));
    let camera = settings.rules.decide(Kind::Topic, "camera/left", "base");
    let traffic = Traffic {
        priority: -5,
        max_rate: Some(7.5),
        max_bandwidth: Some(12_000_000),
        reliable: false,
        compression: Packing::Lz4,
        onward: true,
    };
    assert_eq!((camera.symbol, camera.traffic), (Symbol::Out, traffic));
    let command = settings.rules.decide(Kind::Topic, "cmd_vel", "base");
    assert_eq!((command.symbol, command.traffic), (Symbol::In, Traffic::default()));
    let odometry = settings.rules.decide(Kind::Topic, "odom", "base");
    assert_eq!((odometry.symbol, odometry.traffic), (Symbol::Out, Traffic { priority: 10, reliable: true, ..Traffic::default() }));
    let other = settings.rules.decide(Kind::Topic, "cmd_vel", "");
    assert_eq!((other.symbol, other.traffic), (Symbol::In, Traffic::default()));
}

#[test]
fn everything_that_can_be_said_of_a_zenoh_network_is_read() {
    let file = example("zenoh.json");
    let settings = Settings::read(&file).expect("it is valid");
    let zenoh = Zenoh {
        config_file: Some(file.parent().expect("it is in one").join("zenoh.json5")),
        connect: vec!["tls/router.local:7447".into(), "tcp/10.0.0.1:7447".into()],
        prefix: "fleet/north".into(),
        ros2: None,
    };
    assert_eq!((settings.transport, settings.tag.as_str(), settings.max_message), (Transport::Zenoh(zenoh), "zenoh", 16 << 20));
    let command = settings.rules.decide(Kind::Topic, "cmd_vel", "zenoh");
    assert_eq!((command.symbol, command.traffic), (Symbol::In, Traffic::default()));
    let odometry = settings.rules.decide(Kind::Topic, "odom", "zenoh");
    assert_eq!((odometry.symbol, odometry.traffic), (Symbol::Out, Traffic { priority: 10, reliable: true, ..Traffic::default() }));
    let least = parse(r#"{ "transport": "zenoh" }"#);
    let zenoh = Zenoh { config_file: None, connect: vec![], prefix: "sinew".into(), ros2: None };
    assert_eq!(least.transport, Transport::Zenoh(zenoh));
}

#[test]
fn everything_that_can_be_said_of_ros_2_is_read() {
    let file = example("ros2.json");
    let settings = Settings::read(&file).expect("it is valid");
    let folder = file.parent().expect("it is in one");
    let ros2 = Ros2 {
        domain_id: 7,
        interfaces: vec![[127, 0, 0, 1].into()],
        definitions: vec!["/opt/ros/jazzy/share".into(), folder.join("our_packages")],
    };
    assert_eq!((settings.transport, settings.tag.as_str(), settings.max_message), (Transport::Ros2(ros2), "ros2", 16 << 20));
    let image = settings.rules.decide(Kind::Topic, "camera/image", "ros2");
    assert_eq!((image.symbol, image.traffic.max_rate), (Symbol::Out, Some(5.0)));
    assert_eq!(parse(r#"{ "transport": "ros2" }"#).transport, Transport::Ros2(Ros2 { domain_id: of_this_shell(), ..Ros2::default() }));
}

/// Whoever works with ROS 2 has it set.
fn of_this_shell() -> u32 {
    ros_domain_id().expect("it is one")
}

#[test]
fn everything_that_can_be_said_of_ros_2_over_zenoh_is_read() {
    let file = example("rmw_zenoh.json");
    let settings = Settings::read(&file).expect("it is valid");
    let folder = file.parent().expect("it is in one");
    let ros2 = RmwZenoh { domain_id: 7, definitions: vec!["/opt/ros/jazzy/share".into(), folder.join("our_packages")] };
    let zenoh = Zenoh { connect: vec!["tcp/10.0.0.1:7447".into()], ros2: Some(ros2), ..Zenoh::default() };
    assert_eq!((settings.transport, settings.tag.as_str()), (Transport::Zenoh(zenoh), "zenoh"));
    let least = parse(r#"{ "transport": "zenoh", "zenoh": { "ros2": true } }"#);
    assert_eq!(
        least.transport,
        Transport::Zenoh(Zenoh { ros2: Some(RmwZenoh { domain_id: of_this_shell(), ..RmwZenoh::default() }), ..Zenoh::default() })
    );
    assert_eq!(parse(r#"{ "transport": "zenoh", "zenoh": { "ros2": false } }"#).transport, Transport::Zenoh(Zenoh::default()));
}

#[test]
fn what_is_not_for_ros_2_is_refused_with_what_to_do() {
    for (wrong, instead) in [
        (r#""tag": "a""#, "leave it out"),
        (r#""listen": "[::]:7463""#, "chooses its ports by \"domain_id\""),
        (r#""peers": ["base.local"]"#, "by multicast"),
        (r#""discovery": false"#, "as \"interfaces\" of 'ros2'"),
        (r#""security": "ad-hoc""#, "rules alone"),
        (r#""budget": "20 Mbit/s""#, "say \"max_rate\" in rules"),
        (r#""rules": [{ "topics": { "base_rule": "x", "priority": 1 } }]"#, "in their order"),
        (
            r#""rules": [{ "topics": { "base_rule": "x", "exceptions": [{ "name": "a", "rule": "x", "reliable": true }] } }]"#,
            "as reliable as",
        ),
        (r#""ros2": { "domain_id": 233 }"#, "a whole number from 0 to 232"),
        (r#""ros2": { "interfaces": ["lo"] }"#, "the IPv4 address of a network interface"),
        (r#""ros2": { "interfaces": ["::1"] }"#, "as DDS goes over IPv4 alone"),
        (r#""ros2": { "domain": 1 }"#, "did you mean 'domain_id'?"),
    ] {
        let error = refused(&format!("{{ \"transport\": \"ros2\",\n{wrong} }}"));
        assert!(error.text.contains(instead) && error.at.line == 2, "{wrong}: {error}");
    }
}

#[test]
fn everything_that_can_be_said_of_ros_1_is_read() {
    let file = example("ros1.json");
    let settings = Settings::read(&file).expect("it is valid");
    let folder = file.parent().expect("it is in one");
    let ros1 = Ros1 {
        master: Some("http://robot.local:11311".parse().expect("it is one")),
        hostname: Some("192.168.1.7".to_owned()),
        definitions: vec!["/opt/ros/noetic/share".into(), folder.join("our_packages")],
    };
    assert_eq!((settings.transport, settings.tag.as_str(), settings.max_message), (Transport::Ros1(ros1), "ros1", 16 << 20));
    let image = settings.rules.decide(Kind::Topic, "camera/image", "ros1");
    assert_eq!((image.symbol, image.traffic.max_rate), (Symbol::Out, Some(5.0)));
    assert_eq!(settings.rules.decide(Kind::Service, "arm/move", "ros1").symbol, Symbol::None);
    assert_eq!(parse(r#"{ "transport": "ros1" }"#).transport, Transport::Ros1(Ros1::default()));
}

#[test]
fn what_is_not_for_ros_1_is_refused_with_what_to_do() {
    for (wrong, instead) in [
        (r#""tag": "a""#, "leave it out"),
        (r#""listen": "[::]:7463""#, "at \"hostname\" of 'ros1'"),
        (r#""peers": ["base.local"]"#, "as \"master\" of 'ros1'"),
        (r#""discovery": false"#, "the master knows"),
        (r#""security": "ad-hoc""#, "rules alone"),
        (r#""budget": "20 Mbit/s""#, "say \"max_rate\" in rules"),
        (r#""rules": [{ "services": { "base_rule": "x" } }]"#, "topics alone go over"),
        (r#""rules": [{ "topics": { "base_rule": "x", "priority": 1 } }]"#, "a connection of its own"),
        (r#""rules": [{ "topics": { "base_rule": "x", "exceptions": [{ "name": "a", "rule": "x", "reliable": true }] } }]"#, "go by TCP"),
        (r#""ros1": { "master": "localhost:11311" }"#, "as \"http://localhost:11311\""),
        (r#""ros1": { "hostname": "http://robot" }"#, "by which others reach this machine"),
        (r#""ros1": { "mater": "" }"#, "did you mean 'master'?"),
    ] {
        let error = refused(&format!("{{ \"transport\": \"ros1\",\n{wrong} }}"));
        assert!(error.text.contains(instead) && error.at.line == 2, "{wrong}: {error}");
    }
}

#[test]
fn what_zenoh_has_a_configuration_of_its_own_for_is_refused_with_where_it_goes() {
    for (wrong, instead) in [
        (r#""tag": "a""#, "leave it out"),
        (r#""listen": "[::]:7463""#, "'listen/endpoints' in Zenoh's own configuration"),
        (r#""peers": ["base.local"]"#, "as \"connect\" of 'zenoh'"),
        (r#""discovery": false"#, "'scouting' in Zenoh's own configuration"),
        (r#""security": "ad-hoc""#, "'access_control' in Zenoh's own configuration"),
        (r#""budget": "20 Mbit/s""#, "'low_pass_filter' in Zenoh's own configuration"),
        (r#""rules": [{ "topics": { "base_rule": "x", "compression": "none" } }]"#, "'transport/unicast/compression'"),
        (
            r#""rules": [{ "services": { "base_rule": "x", "exceptions": [{ "name": "a", "rule": "x", "max_bandwidth": "1 Mbit/s" }] } }]"#,
            "'low_pass_filter'",
        ),
        (r#""zenoh": { "connect": ["10.0.0.1:7447"] }"#, "\"tcp/10.0.0.1:7447\""),
        (r#""zenoh": { "prefix": "sinew/**" }"#, "the begin of key expressions"),
        (r#""zenoh": { "config_fil": "zenoh.json5" }"#, "did you mean 'config_file'?"),
        (r#""zenoh": { "domain_id": 7 }"#, "is for \"ros2\": true alone"),
        (r#""zenoh": { "ros2": false, "definitions": [] }"#, "is for \"ros2\": true alone"),
        (r#""zenoh": { "ros2": true, "prefix": "sinew" }"#, "key expressions of ROS 2 begin with \"domain_id\""),
        (r#""zenoh": { "ros2": true, "domain_id": 233 }"#, "a whole number from 0 to 232"),
        (r#""zenoh": { "ros2": {} }"#, "true or false"),
    ] {
        let error = refused(&format!("{{ \"transport\": \"zenoh\",\n{wrong} }}"));
        assert!(error.text.contains(instead) && error.at.line == 2, "{wrong}: {error}");
    }
    assert!(refused_beside(r#""ros2": {}"#).contains("is for \"transport\": \"ros2\" alone"));
    assert!(refused_beside(r#""ros1": {}"#).contains("is for \"transport\": \"ros1\" alone"));
    assert!(refused_beside(r#""zenoh": {}"#).contains("is for \"transport\": \"zenoh\" alone"));
    assert!(refused_beside(r#""transport": "zeno""#).contains("did you mean \"zenoh\"?"));
}

#[test]
fn what_is_not_said_is_as_the_manual_says() {
    let settings = parse(r#"{ "security": "ad-hoc" }"#);
    assert_eq!((settings.name, settings.tag.as_str(), settings.domain, settings.peers.len()), (None, "", None, 0));
    assert_eq!(settings.listen, "[::]:7463".parse().expect("it is one"));
    assert_eq!(settings.discovery, Discovery { enabled: true, interfaces: vec![] });
    assert!(settings.security.is_ad_hoc());
    assert_eq!((settings.budget, settings.max_message), (None, 64 << 20));
    assert_eq!(settings.rules.decide(Kind::Topic, "any", "any").symbol, Symbol::None);
    assert_eq!(parse(r#"{ "security": "ad-hoc", "discovery": false }"#).discovery, Discovery::default());
}

#[test]
fn a_domain_without_a_slash_is_a_name_and_relative_to_no_folder() {
    let domain = |text: &str| Settings::parse(Path::new("/etc/robot.json"), text).expect("it is valid").domain;
    assert_eq!(domain(r#"{ "security": "ad-hoc", "domain": "left_arm" }"#), Some("left_arm".into()));
    assert_eq!(domain(r#"{ "security": "ad-hoc", "domain": "./left_arm" }"#), Some("/etc/./left_arm".into()));
    assert_eq!(domain(r#"{ "security": "ad-hoc", "domain": "/run/left_arm" }"#), Some("/run/left_arm".into()));
}

#[test]
fn every_symbol_has_a_sign_and_a_name() {
    for (text, symbol) in [("x", Symbol::None), ("=", Symbol::Both), (">", Symbol::Out), ("<", Symbol::In)].into_iter().chain([
        ("none", Symbol::None),
        ("both", Symbol::Both),
        ("out", Symbol::Out),
        ("in", Symbol::In),
    ]) {
        let settings = parse(&format!(r#"{{ "security": "ad-hoc", "rules": [{{ "services": {{ "base_rule": "{text}" }} }}] }}"#));
        assert_eq!(settings.rules.decide(Kind::Service, "any", "").symbol, symbol, "{text}");
    }
}

#[test]
fn onward_is_refused_where_nothing_goes_out_and_of_services_and_bridges() {
    let quic = r#""security": "ad-hoc""#;
    for (rest, rules, expected) in [
        (quic, r#"{ "topics": { "base_rule": "in", "onward": true } }"#, "this one is \"in\""),
        (quic, r#"{ "topics": { "base_rule": "x", "onward": false } }"#, "what an exception lets out, it says itself"),
        (
            quic,
            r#"{ "topics": { "base_rule": "out", "exceptions": [{ "name": "a", "rule": "<", "onward": true }] } }"#,
            "this one is \"in\"",
        ),
        (quic, r#"{ "services": { "base_rule": "out", "onward": true } }"#, "for topics alone"),
        (quic, r#"{ "services": { "base_rule": "x", "exceptions": [{ "name": "a", "rule": "=", "onward": true }] } }"#, "for topics alone"),
        (quic, r#"{ "topics": { "base_rule": "out", "onward": "yes" } }"#, "true or false"),
        (r#""transport": "zenoh""#, r#"{ "topics": { "base_rule": "out", "onward": true } }"#, "a bridge takes to its network"),
        (r#""transport": "ros2""#, r#"{ "topics": { "base_rule": "out", "onward": true } }"#, "a bridge takes to its network"),
        (r#""transport": "ros1""#, r#"{ "topics": { "base_rule": "out", "onward": true } }"#, "a bridge takes to its network"),
    ] {
        let error = refused(&format!("{{ {rest},\n\"rules\": [{rules}] }}"));
        assert!(error.text.contains(expected) && error.at.line == 2, "{rules}: {error}");
        let marked = error.to_string();
        assert!(marked.lines().nth(1).is_some_and(|line| line.contains("onward")), "{marked}");
    }
}

#[test]
fn what_has_no_meaning_for_calls_is_refused_of_services_and_priority_is_not() {
    let read = |list: &str| format!("{{ \"security\": \"ad-hoc\",\n\"rules\": [{{ \"services\": {list} }}] }}");
    let lists = |said: &str| {
        let exception = format!(r#"{{ "base_rule": "out", "exceptions": [{{ "name": "a", "rule": "out", {said} }}] }}"#);
        [format!(r#"{{ "base_rule": "out", {said} }}"#), exception]
    };
    for said in [r#""max_rate": 5"#, r#""max_bandwidth": "1 Mbit/s""#, r#""reliable": true"#, r#""compression": "zstd""#] {
        for list in lists(said) {
            let error = refused(&read(&list));
            let key = said.split(':').next().expect("it has one").replace('"', "'");
            assert!(error.text.contains(&format!("{key} is for topics alone")) && error.at.line == 2, "{list}: {error}");
        }
    }
    for list in lists(r#""priority": 7"#) {
        assert_eq!(parse(&read(&list)).rules.decide(Kind::Service, "a", "").traffic.priority, 7);
    }
}

#[test]
fn an_error_shows_the_line_with_a_caret_and_the_nearest_name() {
    let text = "{\n  \"security\": \"ad-hoc\",\n  \"rules\": [{ \"topics\": { \"base_rule\": \"both\", \"priorty\": 3 } }]\n}\n";
    let shown = "robot.json:3:48: 'topics' has no key 'priorty': did you mean 'priority'? \
                 possible are: base_rule, exceptions, priority, max_rate, max_bandwidth, reliable, compression, onward\n\
                 \x20 3 |   \"rules\": [{ \"topics\": { \"base_rule\": \"both\", \"priorty\": 3 } }]\n\
                 \x20   |                                                ^^^^^^^^^";
    assert_eq!(refused(text).to_string(), shown);
}

#[test]
fn columns_count_characters_and_not_bytes() {
    let error = refused("{ \"name\": \"Größe 😀\", \"securty\": 1 }");
    assert_eq!((error.at.line, error.at.column), (1, 22));
}

#[test]
fn of_a_long_line_only_what_is_around_the_mistake_is_shown() {
    let text = format!("{{ \"security\": \"ad-hoc\", \"peers\": [{}7], \"tag\": \"x\" }}", "\"host\", ".repeat(2000));
    let shown = refused(&text).to_string();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.chars().count() < 200), "{shown}");
    let caret = lines[2].find('^').expect("it is there");
    assert_eq!(&lines[1][caret..=caret], "7");
}

/// The value of "security" is right, so that what is wrong is `rest`.
fn refused_beside(rest: &str) -> String {
    refused(&format!("{{ \"security\": \"ad-hoc\", {rest} }}")).text
}

#[test]
fn every_wrong_value_is_answered_with_what_was_found_and_what_is_possible() {
    for (wrong, found, possible) in [
        (r#""name": 3"#, "the number 3", "a text of 1 to 255 bytes"),
        (r#""name": """#, "the text \"\"", "a text of 1 to 255 bytes"),
        (r#""listen": "7463""#, "\"7463\"", "[::]:7463"),
        (r#""peers": "host""#, "\"host\"", "a list of hosts"),
        (r#""peers": ["fd09::1"]"#, "\"fd09::1\"", "[fd09::1]:7463"),
        (r#""peers": ["host:99999"]"#, "\"host:99999\"", "a host"),
        (r#""peers": ["a host"]"#, "\"a host\"", "a host"),
        (r#""discovery": null"#, "null", "true, false, or a list"),
        (r#""discovery": ["interface-of-too-many"]"#, "interface-of", "1 to 15"),
        (r#""discovery": []"#, "an empty list", "say false for none"),
        (r#""budget": 20"#, "the number 20", "20 Mbit/s"),
        (r#""budget": "20 MB/s""#, "20 MB/s", "20 Mbit/s"),
        (r#""max_message": "4 GiB""#, "4 GiB", "less than 4 GiB"),
        (r#""domain": """#, "\"\"", "a text"),
        (r#""rules": {}"#, "an object", "a list of rulesets"),
        (r#""rules": [3]"#, "the number 3", "an object with the keys tag, topics, services"),
        (r#""rules": [{ "topics": {} }]"#, "no key 'base_rule'", "\"x\" or \"none\""),
        (r#""rules": [{ "topics": { "base_rule": "bth" } }]"#, "\"bth\"", "did you mean \"both\"?"),
        (r#""rules": [{ "topics": { "base_rule": "x", "compression": "zst" } }]"#, "\"zst\"", "did you mean \"zstd\"?"),
        (r#""rules": [{ "topics": { "base_rule": "x", "priority": 1.5 } }]"#, "1.5", "a whole number from -1000 to 1000"),
        (r#""rules": [{ "topics": { "base_rule": "x", "priority": 1001 } }]"#, "1001", "a whole number from -1000 to 1000"),
        (r#""rules": [{ "topics": { "base_rule": "x", "max_rate": 0 } }]"#, "0", "more than 0"),
        (r#""rules": [{ "topics": { "base_rule": "x", "max_rate": 1e999 } }]"#, "1e999", "a number of messages a second"),
        (r#""rules": [{ "topics": { "base_rule": "x", "reliable": "yes" } }]"#, "\"yes\"", "true or false"),
        (r#""rules": [{ "topics": { "base_rule": "x", "exceptions": [{ "rule": "x" }] } }]"#, "has 0", "one of 'name'"),
        (
            r#""rules": [{ "topics": { "base_rule": "x", "exceptions": [{ "name": "a", "contains": "b", "rule": "x" }] } }]"#,
            "has 2",
            "one of 'name'",
        ),
        (r#""rules": [{ "topics": { "base_rule": "x", "exceptions": [{ "name": "a" }] } }]"#, "no key 'rule'", "\">\" or \"out\""),
        (r#""tag": "a", "tag": "b""#, "'tag' is said twice, first in line 1", "leave one of them out"),
        (r#""sng_confg": {}"#, "no key 'sng_confg'", "possible are"),
    ] {
        let text = refused_beside(wrong);
        assert!(text.contains(found) && text.contains(possible), "{wrong}: {text}");
    }
}

#[test]
fn what_is_no_json_is_refused_where_it_begins_to_be_none() {
    for (text, line, column) in [
        ("", 1, 1),
        ("{\n  \"name\" \"a\"\n}", 2, 10),
        ("{\n  \"tag\": \"a\",\n}", 2, 13),
        ("{ name: 1 }", 1, 3),
        ("{\n\"a\": 1\n\"b\": 2 }", 2, 7),
        ("[", 1, 1),
    ] {
        let error = refused(text);
        assert_eq!((error.at.line, error.at.column), (line, column), "{error}");
    }
}

#[test]
fn that_anybody_may_be_a_peer_has_to_be_said() {
    assert!(refused("{}").text.contains("\"ad-hoc\" for anybody"));
    assert!(refused(r#"{ "security": "adhoc" }"#).text.contains("\"ad-hoc\""));
    assert!(refused(r#"{ "security": {} }"#).text.contains("'key_file' is missing"));
    assert!(refused(r#"{ "security": { "key_file": "k" } }"#).text.contains("'cert_file' is missing"));
    assert!(refused(r#"{ "security": { "key_file": "k", "cert_file": "c" } }"#).text.contains("\"require_auth\": false lets anybody in"));
    assert!(refused(r#"{ "security": { "provide_auth": false, "require_auth": false } }"#).text.contains("\"security\": \"ad-hoc\""));
    let one_way = parse(r#"{ "security": { "key_file": "k", "cert_file": "c", "require_auth": false } }"#).security;
    assert_eq!((one_way.provide_auth, one_way.require_auth), (true, false));
    assert!(refused(r#"{ "sm2_config": [] }"#).text.contains("no key 'sng_config'"));
    assert!(refused(r#"{ "sng_config": { "provide_auth": false } }"#).text.contains("no key 'require_auth'"));
    assert!(refused(r#"{ "sng_config": { "provide_auth": false, "require_auth": true } }"#).text.contains("'ca_cert_file' is missing"));
    assert!(parse(r#"{ "sng_config": { "provide_auth": false, "require_auth": false } }"#).security.is_ad_hoc());
}

#[test]
fn a_file_that_cannot_be_a_configuration_is_refused_by_its_name() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("robot.json");
    let refused = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("there is room");
        Settings::read(&file).expect_err("it is none").to_string()
    };
    assert!(refused(&vec![b' '; MAX_SIZE as usize + 1]).contains("has more than 262144 bytes"));
    assert!(refused(&vec![b' '; MAX_SIZE as usize]).contains("there is nothing here"));
    assert!(refused(b"{\n  \"name\": \"\xff\" }").contains("robot.json:2:12: this is not UTF-8"));
    assert!(refused("[".repeat(100_000).as_bytes()).contains("nesting"));
    let missing = Settings::read(&folder.path().join("none.json")).expect_err("it is not there").to_string();
    assert!(missing.contains("none.json:1:1: the configuration cannot be read: No such file"), "{missing}");
    assert!(Settings::read(folder.path()).expect_err("it is a folder").text.contains("cannot be read"));
}

/// Examples with some bytes replaced, left out or doubled.
fn nearly_valid() -> impl Strategy<Value = String> {
    let examples = ["thesis.json", "robot.json", "zenoh.json", "ros2.json", "rmw_zenoh.json", "ros1.json"]
        .map(|name| std::fs::read_to_string(example(name)).expect("it is there"));
    let change = (any::<prop::sample::Index>(), 0..4_usize, prop::sample::select(r#"{}[]",:\/*x0-.eé"#.chars().collect::<Vec<_>>()));
    (prop::sample::select(examples.to_vec()), prop::collection::vec(change, 1..6)).prop_map(|(text, changes)| {
        let mut text: Vec<char> = text.chars().collect();
        for (at, left_out, put) in changes {
            let at = at.index(text.len());
            let end = (at + left_out).min(text.len());
            text.splice(at..end, [put]);
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_text_crashes_the_reader_and_every_error_is_at_a_place_in_it(text in prop_oneof![any::<String>(), "[\\[\\]{}\":,/*\\\\ \r\n\ta-z0-9\u{feff}é-]{0,60}", nearly_valid()]) {
        if let Err(error) = Settings::parse(Path::new("robot.json"), &text) {
            prop_assert!(error.at.line >= 1 && error.at.line <= text.matches('\n').count() + 1);
            let line = text.split('\n').nth(error.at.line - 1).expect("it is one of them");
            prop_assert!(error.at.column >= 1 && error.at.column <= line.chars().count() + 2, "{} in {:?}", error, text);
            let shown = error.to_string();
            prop_assert!(shown.lines().count() >= 3 && !shown.chars().any(|c| c.is_control() && c != '\n'), "{:?}", shown);
        }
    }
}
