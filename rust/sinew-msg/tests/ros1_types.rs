//! Types as ROS 1 knows them, and messages that go there and come from there.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{any_type, value_of};
use proptest::prelude::*;
use sinew_msg::ros1::{Definition, Library, Plan};
use sinew_msg::stream::Reader;
use sinew_msg::value::Value;
use sinew_msg::{Type, ros2, schema, transcode};

/// Where Debian has the definitions of ROS 1.
const DEBIAN: &str = "/usr/share";

/// By the names of their types, of those whose definitions are here.
fn sums() -> BTreeMap<String, String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ros1_md5sums.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let is_here = |name: &str| {
        let (package, base) = name.split_once('/').unwrap();
        Path::new(DEBIAN).join(package).join(format!("msg/{base}.msg")).is_file()
    };
    let sums: BTreeMap<_, _> = lines.filter(|(name, _)| is_here(name)).map(|(name, sum)| (name.to_owned(), sum.to_owned())).collect();
    if sums.len() < 100 {
        eprintln!("not tried in full: {} definitions of ROS 1 are here; `tools/setup test` installs Debian's", sums.len());
    }
    sums
}

fn debian() -> Library {
    Library::new(vec![DEBIAN.into()])
}

fn message_of(plan: &Plan, stream: &[u8], seq: u32) -> Result<Vec<u8>, String> {
    let mut message = Vec::new();
    let written = Reader::new(&[stream]).and_then(|reader| plan.write_message(reader, seq, &mut message));
    written.map(|()| message).map_err(|why| why.to_string())
}

fn stream_of(plan: &Plan, message: &[u8]) -> Result<Vec<u8>, String> {
    let size = plan.size_of_stream(message).map_err(|why| why.to_string())?;
    // What is there may be of another message.
    let mut stream = vec![0xaa; size];
    plan.write_stream(message, &mut stream).map_err(|why| why.to_string())?;
    Ok(stream)
}

fn plan(signature: &str, name: &str, text: &str) -> Plan {
    Plan::new(&signature.parse().unwrap(), &Definition::read(name, text).unwrap()).unwrap()
}

const HEADER: &str = "===\nMSG: std_msgs/Header\n# Standard metadata\nuint32 seq\ntime stamp # when\nstring frame_id\n";
const IMAGE: &str = "Header header # of it\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n";

#[test]
fn sums_are_those_that_ros_1_has_published() {
    for (name, text, sum) in [
        ("std_msgs/Empty", String::new(), "d41d8cd98f00b204e9800998ecf8427e"),
        ("std_msgs/String", "string data".to_owned(), "992ce8a1687cec8c8bd883ec73ca41d1"),
        ("std_msgs/Header", HEADER.split_once("Header\n").unwrap().1.to_owned(), "2176decaecbce78abc3b96ef049fabed"),
        ("sensor_msgs/Image", format!("{IMAGE}{HEADER}"), "060021388200f6f0f447d0fcd9c64743"),
    ] {
        assert_eq!(Definition::read(name, &text).unwrap().md5sum(), sum, "{name}");
    }
}

#[test]
fn sums_of_definitions_in_folders_are_those_that_debian_computes() {
    let library = debian();
    for (name, sum) in sums() {
        let definition = library.find(&name).unwrap().unwrap();
        assert_eq!(definition.md5sum(), sum, "{name}");
        // Told as publishers do, it is the same.
        assert_eq!(Definition::read(&name, &definition.text()).unwrap().md5sum(), sum, "{name}");
    }
}

#[test]
fn a_type_without_a_definition_has_the_sum_of_one_without_constants() {
    let (library, mut same) = (debian(), 0);
    for (name, sum) in sums() {
        let definition = library.find(&name).unwrap().unwrap();
        let ty = definition.ty().unwrap();
        let said = Definition::of(&ty).unwrap();
        assert_eq!(said.name(), name);
        assert_eq!(Plan::new(&ty, &said), Plan::new(&ty, &definition), "{name}");
        // A time stands as `time` where it is one, and a byte is a number to sinew.
        let is_constant = |line: &str| line.split('#').next().unwrap().contains('=') && !line.starts_with("===");
        let has_constants = definition.text().lines().any(is_constant);
        let has_words = ["byte ", "char ", "byte[", "char["].iter().any(|word| definition.text().contains(word));
        if !has_constants && !has_words && !definition.text().contains("Header[") {
            assert_eq!(said.md5sum(), sum, "{name}");
            same += 1;
        }
    }
    assert!(same > 60 || sums().len() < 100, "{same}");
}

#[test]
fn types_of_ros_2_are_those_of_ros_1_but_where_they_have_changed() {
    let (library, new) = (debian(), ros2::Library::new(vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../msggen/definitions")]));
    let (mut same, mut other) = (0, Vec::new());
    for name in sums().into_keys() {
        let Some(interface) = new.find(&name.replace('/', "/msg/")).unwrap() else { continue };
        match Plan::new(&interface.ty().unwrap(), &library.find(&name).unwrap().unwrap()) {
            Ok(_) => same += 1,
            Err(why) => other.push(format!("{name}: {why}")),
        }
    }
    assert!(same > 75 || sums().len() < 100, "{same} are, and these are not: {other:#?}");
    assert!(other.iter().all(|why| why.contains("field '")), "{other:#?}");
}

#[test]
fn a_message_with_a_header_goes_over_and_comes_back() {
    let header = "std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;}";
    let image = format!(
        "sensor_msgs/msg/Image{{header:{header};height:uint32;width:uint32;encoding:string;is_bigendian:uint8;step:uint32;data:uint8[];}}"
    );
    let plan = plan(&image, "sensor_msgs/Image", &format!("{IMAGE}{HEADER}"));
    let value = r#"{"header": {"stamp": {"sec": 7, "nanosec": 8}, "frame_id": "cam"}, "height": 1, "width": 3, "encoding": "rgb8", "step": 9, "data": [1, 2, 3]}"#;
    let stream = Value::from_json(value).unwrap().to_stream(&image.parse().unwrap()).unwrap();
    let message = message_of(&plan, &stream, 42).unwrap();
    let expected = [
        &[42, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, b'c', b'a', b'm'][..],
        &[1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, b'r', b'g', b'b', b'8', 0, 9, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3],
    ];
    assert_eq!(message, expected.concat());
    assert_eq!(stream_of(&plan, &message).unwrap(), stream);
}

#[test]
fn only_the_own_header_of_a_message_is_counted() {
    let header = "std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;}";
    let plan =
        plan(&format!("A{{header:{header};more:{header}[1];}}"), "a/B", &format!("Header header\nstd_msgs/Header[1] more\n{HEADER}"));
    let one = |seq: u8| [seq, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
    let stream = [&[0u8, 1, 0, 0][..], &[1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0].repeat(2)[..]].concat();
    let message = message_of(&plan, &stream[..stream.len() - 3], 5).unwrap();
    assert_eq!(message, [one(5), one(0)].concat());
    assert_eq!(stream_of(&plan, &[one(9), one(9)].concat()).unwrap(), stream[..stream.len() - 3]);
}

#[test]
fn numbers_that_begin_with_their_greatest_byte_are_turned() {
    let plan = plan("A{x:uint16[];y:float64;}", "a/B", "uint16[] x\nfloat64 y\n");
    let stream = [&[0u8, 0, 0, 0, 0, 0, 0, 2, 1, 2, 3, 4][..], &1.5f64.to_be_bytes()].concat();
    let message = message_of(&plan, &stream, 0).unwrap();
    assert_eq!(message, [&[2u8, 0, 0, 0, 2, 1, 4, 3][..], &1.5f64.to_le_bytes()].concat());
}

#[test]
fn what_takes_nothing_in_ros_1_has_its_byte_here_and_is_bounded() {
    let empty = "std_msgs/msg/Empty{structure_needs_at_least_one_member:uint8;}";
    let single = plan(empty, "std_msgs/Empty", "");
    assert_eq!(message_of(&single, &[0, 1, 0, 0, 0], 0).unwrap(), Vec::<u8>::new());
    assert_eq!(stream_of(&single, &[]).unwrap(), [0, 1, 0, 0, 0]);
    let many = plan(&format!("A{{e:{empty}[];}}"), "a/B", "std_msgs/Empty[] e\n===\nMSG: std_msgs/Empty\n");
    assert_eq!(stream_of(&many, &[2, 0, 0, 0]).unwrap(), [0, 1, 0, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!(stream_of(&many, &[0xff; 4]).unwrap_err(), "more than 1048576 elements that take nothing are refused");
}

#[test]
fn what_is_no_message_is_refused_before_memory_is_taken() {
    let lie = [0xff, 0xff, 0xff, 0xff, 1, 2];
    for (signature, field, message, complaint) in [
        ("uint64[]", "uint64[]", &lie[..], "4294967295 elements are to come, and there is room for 0"),
        ("string", "string", &lie[..], "the message ends too early: 4294967295 bytes are to come, and 2 are there"),
        ("string[]", "string[]", &lie[..], "4294967295 elements are to come, and there is room for 0"),
        ("string[9]", "string[9]", &lie[..], "9 elements are to come, and there is room for 1"),
        ("uint8", "uint8", &[1, 2][..], "1 bytes follow behind the message"),
        ("uint8?", "uint8[]", &[2, 0, 0, 0, 1, 1][..], "a row that has one element at most is said to have 2"),
    ] {
        let plan = plan(&format!("A{{x:{signature};}}"), "a/B", &format!("{field} x\n"));
        assert_eq!(stream_of(&plan, message).unwrap_err(), complaint, "{signature}");
    }
    let plan = plan("A{x:string[];}", "a/B", "string[] x\n");
    let lie = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(message_of(&plan, &lie, 0).unwrap_err(), "4294967295 elements are to come, and there is room for 0");
}

#[test]
fn what_is_no_definition_is_refused() {
    for (name, text, complaint) in [
        ("B", "", "'B' is no name of a type: it is to be like 'sensor_msgs/Image'"),
        ("a/msg/B", "", "'a/msg/B' is no name of a type: it is to be like 'sensor_msgs/Image'"),
        ("a/B", "B b\n", "'a/B' contains itself, or is nested more than 64 deep"),
        ("a/B", "C c\n", "'a/B' has the field 'c' of the type 'a/C', of which there is no definition"),
        ("a/B", "uint8 x\n===\nuint8 y\n", "where a line 'MSG: PACKAGE/NAME' is expected stands 'uint8 y'"),
    ] {
        assert_eq!(Definition::read(name, text).unwrap_err().to_string(), complaint);
    }
}

#[test]
fn no_small_text_takes_memory_or_time_without_end() {
    let doubling = |n: u32| format!("===\nMSG: a/C{n}\nC{0} x\nC{0} y\n", n + 1);
    // The deepest that is taken, and those beside it.
    for last in 60..=62 {
        let begin = "C0 x\n".to_owned() + &(0..last).map(doubling).collect::<String>() + &format!("===\nMSG: a/C{last}\n");
        let nothing = Definition::read("a/B", &begin).unwrap();
        assert_eq!(nothing.md5sum().len(), 32);
        assert!(Plan::new(&"A{}".parse().unwrap(), &nothing).is_ok());
        let something = Definition::read("a/B", &format!("{begin}uint8 x\n")).unwrap();
        assert_eq!(Plan::new(&"A{}".parse().unwrap(), &something).unwrap_err(), "field 'x' is missing here");
    }
    let deeper = "C0 x\n".to_owned() + &(0..63).map(doubling).collect::<String>() + "===\nMSG: a/C63\n";
    assert_eq!(Definition::read("a/B", &deeper).unwrap_err().to_string(), "'a/B' contains itself, or is nested more than 64 deep");
}

#[test]
fn no_name_leads_out_of_the_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("in/a/msg")).unwrap();
    for file in ["in/a/msg/B.msg", "C.msg"] {
        fs::write(folder.path().join(file), "uint8 x\n").unwrap();
    }
    let library = Library::new(vec![folder.path().join("in")]);
    assert!(library.find("a/B").unwrap().is_some());
    for name in ["a/../../../C", "../C", "a/msg/B", "a/B.msg", "/B", "a/", "B", ""] {
        assert_eq!(library.find(name).unwrap(), None, "{name}");
    }
}

/// A type that ROS 1 can have, and a value of it.
fn any_value() -> impl Strategy<Value = (Type, Value)> {
    let has_no_variants = |ty: &Type| schema::of(ty).encoding == "ros2msg";
    any_type().prop_filter("ROS 1 has no variants", has_no_variants).prop_flat_map(|ty| (Just(ty.clone()), value_of(&ty)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn what_goes_over_comes_back_as_it_was((ty, value) in any_value()) {
        let definition = Definition::of(&ty).unwrap();
        let plan = Plan::new(&ty, &definition).unwrap();
        let stream = value.to_stream(&ty).unwrap();
        let message = message_of(&plan, &stream, 0).unwrap();
        prop_assert_eq!(stream_of(&plan, &message), Ok(stream));
        // To those who know it by its definition alone, it is the same.
        let known = schema::parse(definition.name(), "ros1msg", &definition.text()).unwrap();
        let by_definition = stream_of(&Plan::new(&known, &definition).unwrap(), &message).unwrap();
        prop_assert_eq!(transcode::from_ros1(&known, &message).unwrap(), by_definition);
    }

    #[test]
    fn bytes_of_strangers_become_a_message_or_a_complaint((ty, value) in any_value(), garbage: Vec<u8>, at in any::<prop::sample::Index>(), wrong: u8) {
        let plan = Plan::new(&ty, &Definition::of(&ty).unwrap()).unwrap();
        let stream = value.to_stream(&ty).unwrap();
        let message = message_of(&plan, &stream, 0).unwrap();
        let changed = |bytes: &[u8]| {
            let mut changed = bytes.to_vec();
            if !changed.is_empty() {
                *at.get_mut(&mut changed) ^= wrong;
            }
            changed
        };
        for message in [garbage.clone(), changed(&message)] {
            let Ok(made) = stream_of(&plan, &message) else { continue };
            prop_assert!(made.len() <= 3 * message.len() + 16, "{} of {}", made.len(), message.len());
            let mut reader = Reader::new(&[&made]).unwrap();
            prop_assert!(reader.skip_value(&ty).is_ok() && reader.left() == 0, "{}", ty);
        }
        for stream in [garbage, changed(&stream)] {
            let _ = message_of(&plan, &stream, 0);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(name in "[a-z/]{0,8}", text in r"((uint8|string|a/B|B|time|byte|Header|[\PC]{0,5})(\[[0-9]{0,11}\])? [a-zA-Z]{0,2}(=[\PC]{0,4})?\n|===\nMSG: a/[BC]\n){0,6}") {
        if let Ok(definition) = Definition::read(&name, &text) {
            let again = Definition::read(&name, &definition.text()).unwrap();
            prop_assert_eq!(again.md5sum(), definition.md5sum());
        }
    }
}
