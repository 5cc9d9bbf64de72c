//! Tools of others read messages of sinew by their descriptions as what they are.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};
use sinew_msg::ros2::{Interface, Library};
use sinew_msg::value::Value;
use sinew_msg::{Number, Type, schema, transcode};

/// What tools.py answers, in the order of the requests. Nothing where there is no Python that has the tools.
fn answers(requests: &[Json]) -> Option<Vec<Json>> {
    let Ok(python) = std::env::var("SINEW_TEST_PYTHON") else {
        eprintln!("not tried: SINEW_TEST_PYTHON is not set; tools/python_env.py makes an interpreter for it");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    // Beside reading, as neither side waits for the other to read.
    let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), requests.len());
    Some(answers)
}

/// As tools.py makes a list of a message, following the table in the documentation of `schema`.
fn flat(ty: &Type, value: &Value, to: &mut Vec<String>) {
    match (ty, value) {
        _ if ty.fewest_bytes() == 0 => {}
        (Type::Vector(inner), Value::List(values)) if inner.fewest_bytes() == 0 => to.push(values.len().to_string()),
        (Type::Optional(inner), _) if inner.fewest_bytes() == 0 => to.push(i32::from(*value != Value::Null).to_string()),
        (Type::Vector(inner), Value::List(values)) => {
            to.push(format!("[{}", values.len()));
            values.iter().for_each(|value| flat(inner, value, to));
        }
        (Type::Array(..), Value::List(_)) => {
            let (mut inner, mut values) = (ty, vec![value]);
            while let Type::Array(element, _) = inner {
                inner = element;
                values = values.into_iter().flat_map(|value| if let Value::List(values) = value { &values[..] } else { &[] }).collect();
            }
            to.push(format!("[{}", values.len()));
            values.into_iter().for_each(|value| flat(inner, value, to));
        }
        (Type::Optional(_), Value::Null) => to.push("[0".to_owned()),
        (Type::Optional(inner), _) => {
            to.push("[1".to_owned());
            match (&**inner, value) {
                (Type::Optional(_), Value::List(values)) => flat(inner, &values[0], to),
                _ => flat(inner, value, to),
            }
        }
        (Type::Structure(structure), Value::Map(values)) => {
            for field in &structure.fields {
                let (_, value) = values.iter().find(|(name, _)| *name == field.name).unwrap();
                flat(&field.ty, value, to);
            }
        }
        (_, Value::Text(text)) => to.push(format!("'{text}")),
        (_, Value::Bool(value)) => to.push(value.to_string()),
        (Type::Number(Number::Float32 | Number::Float64), Value::Integer(value)) => flat(ty, &Value::Real(*value as f64), to),
        (Type::Number(Number::Float32), Value::Real(value)) => {
            flat(&Type::Number(Number::Float64), &Value::Real((*value as f32).into()), to)
        }
        (_, Value::Real(value)) => to.push(if value.is_nan() { "nan".to_owned() } else { format!("{:016x}", value.to_bits()) }),
        (_, Value::Integer(value)) => to.push(value.to_string()),
        _ => panic!("{value} is none of {ty}"),
    }
}

/// Then ROS 1 has no word for it.
fn has_optional(ty: &Type) -> bool {
    match ty {
        Type::Number(_) | Type::Enumeration { .. } | Type::String => false,
        Type::Vector(inner) | Type::Array(inner, _) => has_optional(inner),
        Type::Optional(_) => true,
        Type::Structure(structure) => structure.fields.iter().any(|field| has_optional(&field.ty)),
        Type::Variant(alternatives) => alternatives.iter().any(has_optional),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Messages that can be said to all tools: what they are, their value, and their streams.
fn messages() -> Vec<(Type, Value, Vec<u8>)> {
    let mut messages = Vec::new();
    for vector in common::vectors() {
        let value = Value::from_json(&vector.value).unwrap();
        messages.push((vector.ty.clone(), value.clone(), vector.little));
        messages.push((vector.ty, value, vector.big));
    }
    let mut runner = TestRunner::deterministic();
    for _ in 0..600 {
        let (ty, value) = common::any_value().new_tree(&mut runner).unwrap().current();
        let stream = value.to_stream(&ty).unwrap();
        messages.push((ty, value, stream));
    }
    messages.retain(|(ty, ..)| schema::of(ty).encoding == "ros2msg");
    messages
}

#[test]
fn mcap_ros2_and_rosbags_read_messages_as_what_they_are() {
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    for (ty, value, stream) in messages() {
        let schema = schema::of(&ty);
        let stream = hex(&[&stream[..], schema::padding(&ty)].concat());
        let mut parts = Vec::new();
        // A message that is no structure is the only field of one.
        flat(&ty, &value, &mut parts);
        for tool in ["mcap_ros2", "rosbags"] {
            requests.push(json!({"ask": "read", "tool": tool, "name": schema.name, "text": schema.text, "stream": stream}));
            expected.push(json!({ "answer": parts }));
        }
    }
    assert!(requests.len() > 800, "{}", requests.len());
    let Some(answers) = answers(&requests) else { return };
    for ((request, answer), expected) in requests.iter().zip(answers).zip(expected) {
        assert_eq!(answer, expected, "{request:#}");
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn what_rosbags_writes_as_ros_1_is_made_into_the_streams_that_they_were() {
    let is_little = |stream: &[u8]| stream.starts_with(&[0, 1]);
    let mut wanted: Vec<_> =
        messages().into_iter().filter(|(ty, _, stream)| !has_optional(ty) && ty.fewest_bytes() > 0 && is_little(stream)).collect();
    let rule = "=".repeat(80);
    let text = format!(
        "Header header\nPart[] parts\nduration[2] both\nbyte b\n{rule}\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n{rule}\nMSG: a/Part\nbool on\nfloat64 x\n"
    );
    let with_header = schema::parse("a/Whole", "ros1msg", &text).unwrap();
    let value = r#"{"header": {"seq": 7, "stamp": {"sec": 1, "nsec": 2}, "frame_id": "map"}, "parts": [{"on": true, "x": 0.5}, {"x": 1}], "both": [{"sec": -1}, {"nsec": 9}], "b": -3}"#;
    let value = Value::from_json(value).unwrap();
    let stream = value.to_stream(&with_header).unwrap();
    wanted.push((with_header.clone(), value, stream));
    assert!(wanted.len() > 100, "{}", wanted.len());

    let request = |(ty, _, stream): &(Type, Value, Vec<u8>)| {
        let schema = schema::of(ty);
        let (name, text) = if *ty == with_header { ("a/msg/Whole", &text) } else { (schema.name.as_str(), &schema.text) };
        json!({"ask": "ros1", "name": name, "text": text, "stream": hex(stream)})
    };
    let requests: Vec<_> = wanted.iter().map(request).collect();
    let Some(answers) = answers(&requests) else { return };
    for ((ty, _, stream), answer) in wanted.iter().zip(answers) {
        let message = bytes(answer["answer"].as_str().unwrap_or_else(|| panic!("{answer} for {ty}")));
        assert_eq!(transcode::from_ros1(ty, &message).as_ref(), Ok(stream), "{ty}");
        for end in 0..message.len() {
            let _ = transcode::from_ros1(ty, &message[..end]);
        }
    }
}

#[test]
fn all_definitions_of_distributions_of_ros_are_read() {
    let request = |of: &str, ros: u32| json!({"ask": "definitions", "of": of, "ros": ros});
    let Some(answers) = answers(&[request("ROS1_NOETIC", 1), request("ROS2_JAZZY", 2)]) else { return };
    for (answer, encoding) in answers.iter().zip(["ros1msg", "ros2msg"]) {
        let definitions = answer["answer"].as_array().unwrap();
        assert!(definitions.len() > 150, "{}", definitions.len());
        for definition in definitions {
            let (name, text) = (definition[0].as_str().unwrap(), definition[1].as_str().unwrap());
            let ty = schema::parse(name, encoding, text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let described = schema::of(&ty);
            assert_eq!((described.name.as_str(), described.encoding), (name, "ros2msg"));
        }
    }
}

/// What stands in the files that come with sinew, by the names of the types: of services and actions in their parts. And the names of the services.
fn texts(definitions: &Path) -> (BTreeMap<String, String>, Vec<String>) {
    let inside = |folder: &Path| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let word = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let (mut texts, mut services) = (BTreeMap::new(), Vec::new());
    for package in inside(definitions) {
        for (kind, parts) in [("msg", &[""][..]), ("srv", &["_Request", "_Response"]), ("action", &["_Goal", "_Result", "_Feedback"])] {
            for file in inside(&package.join(kind)).filter(|file| file.extension().is_some_and(|end| end == kind)) {
                let (text, name) = (fs::read_to_string(&file).unwrap(), format!("{}/{kind}/{}", word(&package), word(&file)));
                let said: Vec<&str> = text.split("---\n").collect();
                assert_eq!(said.len(), parts.len(), "{}", file.display());
                texts.extend(parts.iter().zip(said).map(|(part, said)| (format!("{name}{part}"), said.to_owned())));
                if kind == "srv" {
                    services.push(name);
                }
            }
        }
    }
    (texts, services)
}

#[test]
fn rosbags_computes_the_same_hash_of_every_type_and_service_that_comes_with_sinew() {
    let definitions = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../msggen/definitions"));
    let (mut texts, services) = texts(&definitions);
    // rosbags has no wstring.
    texts.retain(|_, text| !text.contains("wstring"));
    assert!(texts.len() > 180 && services.len() > 15, "{} with {} services", texts.len(), services.len());
    let Some(answers) = answers(&[json!({"ask": "hashes", "texts": texts, "services": services})]) else { return };
    let library = Library::new(vec![definitions]);
    let find = |name: &str| library.find(name).unwrap().unwrap_or_else(|| panic!("there is no {name}"));
    let of_service = |name: &String| {
        let service = Interface::service(&find(&format!("{name}_Request")), &find(&format!("{name}_Response"))).unwrap();
        (name.clone(), service.hash())
    };
    let ours: BTreeMap<String, String> =
        texts.keys().map(|name| (name.clone(), find(name).hash())).chain(services.iter().map(of_service)).collect();
    for (name, hash) in &ours {
        assert_eq!(answers[0]["answer"][name], json!(hash), "{name}: {}", answers[0].get("error").unwrap_or(&Json::Null));
    }
}
