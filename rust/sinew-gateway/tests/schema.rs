//! The published schema of sinew's own form, and the reader: they are to judge alike.

use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use sinew_gateway::config::Settings;

fn schema() -> Value {
    serde_json::from_str(include_str!("../config.schema.json")).expect("it is JSON")
}

fn validator() -> Validator {
    let schema = schema();
    jsonschema::meta::validate(&schema).expect("it is a schema");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

fn reads(document: &Value) -> Result<Settings, String> {
    Settings::parse(Path::new("robot.json"), &document.to_string()).map_err(|error| error.to_string())
}

/// All rules that there are, with all that can be said of how messages go.
fn ruleset(traffic: &Value) -> Value {
    let with = |rest: Value| {
        let mut all = rest.as_object().expect("it is one").clone();
        all.extend(traffic.as_object().expect("it is one").clone());
        Value::Object(all)
    };
    let exceptions = ["name", "starts_with", "contains"].map(|key| with(json!({ key: "camera", "rule": ">" })));
    let list = with(json!({ "base_rule": "both", "exceptions": exceptions }));
    let services = json!({ "base_rule": "both", "exceptions": [{ "name": "camera", "rule": ">" }] });
    json!({ "tag": "b", "topics": list, "services": services })
}

/// These together have all keys.
fn wholes() -> [Value; 5] {
    let traffic = json!({ "priority": 1, "max_rate": 2.5, "max_bandwidth": "1 Mbit/s", "reliable": true, "compression": "zstd" });
    let mut quic = json!({
        "$schema": "config.schema.json", "transport": "quic", "name": "robot", "tag": "a", "domain": "left", "listen": "0.0.0.0:1", "peers": ["host:7463", "[::1]", "[fe80::1%wlan0]:7463"],
        "discovery": ["wlan0"], "budget": "20 Mbit/s", "max_message": "64 MiB",
        "security": { "key_file": "k", "cert_file": "c", "ca_cert_file": "a", "provide_auth": true, "require_auth": true },
        "rules": [ruleset(&traffic), {}]
    });
    let topics = &mut quic["rules"][0]["topics"];
    topics["onward"] = json!(true);
    topics["exceptions"][0]["onward"] = json!(false);
    let zenoh = json!({
        "$schema": "config.schema.json", "transport": "zenoh", "name": "robot", "domain": "left", "max_message": "64 MiB",
        "zenoh": { "config_file": "zenoh.json5", "connect": ["tcp/[::1]:7447", "unixsock-stream//run/zenoh"], "prefix": "fleet/north" },
        "rules": [ruleset(&json!({ "priority": 1, "max_rate": 2.5, "reliable": true })), {}]
    });
    let ros2 = json!({
        "$schema": "config.schema.json", "transport": "ros2", "name": "robot", "domain": "left", "max_message": "64 MiB",
        "ros2": { "domain_id": 7, "interfaces": ["127.0.0.1", "192.168.1.2"], "definitions": ["share", "/opt/ros/jazzy/share"] },
        "rules": [ruleset(&json!({ "max_rate": 2.5 })), {}]
    });
    let rmw_zenoh = json!({
        "$schema": "config.schema.json", "transport": "zenoh", "name": "robot", "domain": "left", "max_message": "64 MiB",
        "zenoh": { "config_file": "zenoh.json5", "connect": ["tcp/[::1]:7447"], "ros2": true, "domain_id": 7, "definitions": ["share"] },
        "rules": [ruleset(&json!({ "priority": 1, "max_rate": 2.5, "reliable": true })), {}]
    });
    let mut ros1 = json!({
        "$schema": "config.schema.json", "transport": "ros1", "name": "robot", "domain": "left", "max_message": "64 MiB",
        "ros1": { "master": "http://[fd00::1]:11311/", "hostname": "fd00::2", "definitions": ["share", "/opt/ros/noetic/share"] },
        "rules": [ruleset(&json!({ "max_rate": 2.5 })), {}]
    });
    ros1["rules"][0].as_object_mut().expect("it is one").remove("services");
    [quic, zenoh, ros2, rmw_zenoh, ros1]
}

/// A document, with the path of each of its objects.
fn with_objects(whole: &Value) -> impl Iterator<Item = (&Value, String)> {
    let mut paths = Vec::new();
    objects(whole, "", &mut paths);
    paths.into_iter().map(move |path| (whole, path))
}

/// Paths to all objects of a document, itself included.
fn objects(of: &Value, path: &str, found: &mut Vec<String>) {
    match of {
        Value::Object(object) => {
            found.push(path.to_owned());
            object.iter().for_each(|(key, value)| objects(value, &format!("{path}/{key}"), found));
        }
        Value::Array(list) => list.iter().enumerate().for_each(|(at, value)| objects(value, &format!("{path}/{at}"), found)),
        _ => {}
    }
}

#[test]
fn the_schema_and_the_reader_judge_every_change_of_a_whole_configuration_alike() {
    let validator = validator();
    let judge = |document: &Value| {
        let (valid, read) = (validator.is_valid(document), reads(document));
        assert_eq!(valid, read.is_ok(), "{document}\nthe reader says: {}", read.err().unwrap_or_default());
        valid
    };
    let all = wholes();
    assert!(all.iter().all(judge));
    let wrong = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-3),
        json!(1001),
        json!(1.5),
        json!(""),
        json!("x"),
        json!("none"),
        json!("ad-hoc"),
        json!("a b"),
        json!("a\u{7}"),
        json!("1 kbit/s"),
        json!("1 KiB"),
        json!("[::]:1"),
        json!("host:7463"),
        json!([]),
        json!([""]),
        json!(["x"]),
        json!(["a b"]),
        json!(["fd09::1"]),
        json!([3]),
        json!({}),
        json!([{}]),
        json!({ "base_rule": "<" }),
        json!({ "base_rule": "down" }),
        json!("n".repeat(255)),
        json!("n".repeat(256)),
        json!("zenoh"),
        json!("quic"),
        json!("a/b"),
        json!("a//b"),
        json!("/a"),
        json!("a/*"),
        json!(["tcp/a:1"]),
        json!(["tcp/"]),
        json!({ "prefix": "a" }),
    ];
    let mut judged = [0, 0];
    let cases = all.iter().flat_map(with_objects);
    for (whole, path) in cases {
        let path = &path;
        let keys: Vec<String> = whole.pointer(path).and_then(Value::as_object).expect("it is one").keys().cloned().collect();
        let changed = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut document = whole.clone();
            change(document.pointer_mut(path).and_then(Value::as_object_mut).expect("it is one"));
            document
        };
        assert!(!judge(&changed(&|object| drop(object.insert("unknown".into(), json!(1))))));
        for key in &keys {
            judged[usize::from(judge(&changed(&|object| drop(object.remove(key)))))] += 1;
            for value in &wrong {
                judged[usize::from(judge(&changed(&|object| drop(object.insert(key.clone(), value.clone())))))] += 1;
            }
        }
    }
    assert!(judged[0] > 500 && judged[1] > 100, "{judged:?}");
}

/// All keys that the schema has for the objects of a configuration.
fn properties(of: &Value, found: &mut Vec<String>) {
    match of {
        Value::Object(object) => {
            if object.get("additionalProperties") == Some(&json!(false)) {
                found.extend(object["properties"].as_object().expect("it is one").keys().cloned());
            }
            object.values().for_each(|value| properties(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| properties(value, found)),
        _ => {}
    }
}

#[test]
fn the_whole_configuration_has_every_key_of_the_schema_and_of_the_reader() {
    let (mut known, mut said) = (Vec::new(), Vec::new());
    properties(&schema(), &mut known);
    let all = wholes();
    let cases = all.iter().flat_map(with_objects);
    for (whole, path) in cases {
        let path = &path;
        said.extend(whole.pointer(path).and_then(Value::as_object).expect("it is one").keys().cloned());
        // The reader tells all of its keys of an object when it finds one that is none.
        let mut document = whole.clone();
        document.pointer_mut(path).and_then(Value::as_object_mut).expect("it is one").insert("?".into(), json!(1));
        let error = Settings::parse(Path::new("robot.json"), &document.to_string()).expect_err("it has a wrong key").text;
        let (_, possible) = error.split_once("possible are: ").expect("it says which");
        known.extend(possible.split(", ").map(str::to_owned));
    }
    for keys in [&mut known, &mut said] {
        keys.sort();
        keys.dedup();
    }
    assert_eq!(known, said);
}

#[test]
fn what_belongs_to_another_transport_both_refuse() {
    let (validator, [quic, zenoh, ros2, rmw_zenoh, ros1]) = (validator(), wholes());
    let of_quic = ["tag", "listen", "peers", "discovery", "security", "budget", "rules"];
    let others = [
        (&quic, &zenoh, "zenoh"),
        (&quic, &ros2, "ros2"),
        (&quic, &ros1, "ros1"),
        (&zenoh, &ros2, "ros2"),
        (&ros2, &zenoh, "zenoh"),
        (&ros2, &zenoh, "rules"),
        (&ros2, &ros1, "ros1"),
        (&ros1, &ros2, "ros2"),
        (&ros1, &ros2, "rules"),
        (&rmw_zenoh, &ros1, "ros1"),
        (&ros1, &rmw_zenoh, "zenoh"),
    ];
    let of_peers = [&zenoh, &ros2, &rmw_zenoh, &ros1].into_iter().flat_map(|of| of_quic.map(|key| (of, &quic, key)));
    for (of, with, key) in others.into_iter().chain(of_peers) {
        let mut document = of.clone();
        document[key] = with[key].clone();
        assert!(!validator.is_valid(&document) && reads(&document).is_err(), "{key}");
    }
}

#[test]
fn what_is_for_topics_alone_both_refuse_of_services() {
    let (validator, all) = (validator(), wholes());
    let said = [
        json!({ "max_rate": 2.5 }),
        json!({ "max_bandwidth": "1 Mbit/s" }),
        json!({ "reliable": false }),
        json!({ "compression": "none" }),
    ];
    for said in &said {
        for (whole, path) in all.iter().flat_map(|whole| ["/rules/0/services", "/rules/0/services/exceptions/0"].map(|path| (whole, path)))
        {
            let mut document = whole.clone();
            // Over ROS 1 there are none.
            let Some(rule) = document.pointer_mut(path).and_then(Value::as_object_mut) else { continue };
            rule.extend(said.as_object().expect("it is one").clone());
            assert!(!validator.is_valid(&document) && reads(&document).is_err(), "{said} at {path}");
        }
    }
}

#[test]
fn what_people_mistake_in_security_both_refuse() {
    let validator = validator();
    for (security, valid) in [
        (json!("ad-hoc"), true),
        (json!({ "key_file": "k", "cert_file": "c", "ca_cert_file": "a" }), true),
        (json!({ "key_file": "k", "cert_file": "c", "require_auth": false }), true),
        (json!({ "ca_cert_file": "a", "provide_auth": false }), true),
        (json!({ "key_file": "k", "cert_file": "c" }), false),
        (json!({ "ca_cert_file": "a" }), false),
        (json!({ "provide_auth": false, "require_auth": false }), false),
        (json!({ "key_file": "k", "cert_file": "c", "ca_cert_file": "a", "provide_auth": false, "require_auth": false }), false),
        (json!({}), false),
        (json!(false), false),
    ] {
        let document = json!({ "security": security });
        assert_eq!((validator.is_valid(&document), reads(&document).is_ok()), (valid, valid), "{document}");
    }
    assert!(!validator.is_valid(&json!({})) && reads(&json!({})).is_err());
}
