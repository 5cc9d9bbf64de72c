//! Messages of all standard packages of ROS 2, to a program of Cyclone DDS in C and back: what its compiler of IDL makes of their types reads and writes them.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::all;
use common::built::{self, Running};
use common::ros2::{Domain, Robot, on_loopback};
use common::standard::{topics, until_none_is_missing};
use common::values::{is_same, types};
use sinew::msg::{Number, Structure, Type};

/// `std_msgs::msg::dds_::String_`, of `std_msgs/msg/String`.
fn idl_name(name: &str) -> String {
    let (package, base) = name.split_once("/msg/").expect("all are messages");
    format!("{package}::msg::dds_::{base}_")
}

/// Structures, those first that others have. Names of fields are in no message, and some are words of IDL.
fn declare(structure: &Structure, declared: &mut BTreeSet<String>, idl: &mut String) {
    if declared.contains(&structure.name) {
        return;
    }
    let mut fields = String::new();
    for (at, field) in structure.fields.iter().enumerate() {
        let (element, array) = match &field.ty {
            Type::Array(element, length) => (&**element, format!("[{length}]")),
            other => (other, String::new()),
        };
        let (element, is_sequence) = if let Type::Vector(element) = element { (&**element, true) } else { (element, false) };
        let base = match element {
            Type::Number(number) => number_of(*number).to_owned(),
            Type::String => "string".to_owned(),
            Type::Structure(nested) => {
                declare(nested, declared, idl);
                format!("::{}", idl_name(&nested.name))
            }
            other => panic!("no message of ROS 2 has a {}", other.name()),
        };
        let ty = if is_sequence { format!("sequence<{base}>") } else { base };
        let _ = writeln!(fields, "  {ty} f{at}{array};");
    }
    let (package, base) = structure.name.split_once("/msg/").expect("all are messages");
    let _ = writeln!(idl, "module {package} {{ module msg {{ module dds_ {{ struct {base}_ {{\n{fields}}}; }}; }}; }};");
    declared.insert(structure.name.clone());
}

fn number_of(number: Number) -> &'static str {
    match number {
        Number::Bool => "boolean",
        Number::Int16 => "short",
        Number::Int32 => "long",
        Number::Int64 => "long long",
        Number::Int8 | Number::Uint8 => "octet",
        Number::Uint16 => "unsigned short",
        Number::Uint32 => "unsigned long",
        Number::Uint64 => "unsigned long long",
        Number::Float32 => "float",
        Number::Float64 => "double",
    }
}

/// Builds the program in this folder. None: there is no Cyclone DDS.
fn build(types: &[(String, Type)], folder: &Path) -> Option<PathBuf> {
    if Command::new("idlc").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        eprintln!("not tried: there is no idlc (apt install cyclonedds-dev cyclonedds-tools)");
        return None;
    }
    let (mut idl, mut echoes, mut declared) = (String::new(), String::new(), BTreeSet::new());
    for (at, (name, ty)) in types.iter().enumerate() {
        let Type::Structure(structure) = ty else { panic!("{name} is a structure") };
        declare(structure, &mut declared, &mut idl);
        let descriptor = idl_name(name).replace("::", "_");
        let _ = writeln!(echoes, "{{.in = \"rt/out_t{at}\", .out = \"rt/in_t{at}\", .type = &{descriptor}_desc}},");
    }
    std::fs::write(folder.join("types.idl"), idl).expect("there is room");
    std::fs::write(folder.join("echoes.inc"), echoes).expect("there is room");
    built::build(Command::new("idlc").args(["-x", "final", "types.idl"]), folder);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ros2_echo.c");
    built::build(Command::new("cc").args(["-o", "ros2_echo", "-I", ".", source, "types.c", "-lddsc"]), folder);
    Some(folder.join("ros2_echo"))
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_all_standard_packages_come_back_as_they_went() {
    let (types, folder) = (types(), tempfile::tempdir().expect("there is room for a folder"));
    let Some(program) = build(&types, folder.path()) else { return };
    let domain = Domain::new();
    let _echo = Running::start(Command::new(program).arg(domain.id.to_string()).env("CYCLONEDDS_URI", on_loopback("")));
    let robot = Robot::new(all(), &domain);
    let node = robot.node("node");
    let topics = topics(&node, &types, 13);
    // Published until it arrives: what is sent before the other side knows the reader is lost.
    until_none_is_missing(&topics, "here again", |missing| {
        for topic in missing.iter() {
            topic.publisher.publish(&[&topic.stream]).expect("it is published");
        }
        std::thread::sleep(Duration::from_millis(200));
        missing.retain(|topic| !topic.has_come(is_same));
    });
}
