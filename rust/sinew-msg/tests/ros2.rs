//! Types as ROS 2 knows them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sinew_msg::ros2::{Interface, Library};

fn of_msggen(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../msggen").join(place)
}

fn standard() -> Library {
    Library::new(vec![of_msggen("definitions")])
}

/// The hashes that ROS 2 has published, by the types' names, of messages and services whose definitions come with sinew, and of their parts.
fn published() -> BTreeMap<String, String> {
    let text = fs::read_to_string(of_msggen("tests/published_hashes.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let is_ours = |name: &str| of_msggen("definitions").join(name.split('/').next().unwrap()).is_dir() && !name.contains("/action/");
    lines.filter(|(name, _)| is_ours(name)).map(|(name, hash)| (name.to_owned(), format!("RIHS01_{hash}"))).collect()
}

fn read(name: &str, text: &str) -> Interface {
    Interface::read(name, text).unwrap()
}

fn is_of_messages(name: &str) -> bool {
    name.contains("/msg/") || name.ends_with("_Request") || name.ends_with("_Response")
}

#[test]
fn hashes_of_messages_and_services_are_those_that_ros_2_has_published() {
    let (library, published) = (standard(), published());
    let find = |name: &str| library.find(name).unwrap().unwrap_or_else(|| panic!("there is no {name}"));
    let mut services = 0;
    for (name, hash) in &published {
        if is_of_messages(name) {
            assert_eq!(find(name).hash(), *hash, "{name}");
        } else if !name.ends_with("_Event") {
            let service = Interface::service(&find(&format!("{name}_Request")), &find(&format!("{name}_Response"))).unwrap();
            assert_eq!((service.name(), service.hash()), (name.as_str(), hash.clone()));
            services += 1;
        }
    }
    assert!(published.len() > 180 && services > 10, "{} with {services} services", published.len());
}

#[test]
fn what_is_made_of_an_action_has_the_hashes_that_ros_2_has_published() {
    let library = standard();
    let hashes = fs::read_to_string(of_msggen("tests/published_hashes.txt")).unwrap();
    let published = |name: &str| {
        let hash = hashes.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        hash.map(|hash| format!("RIHS01_{hash}"))
    };
    let mut checked = 0;
    let mut check = |interface: &Interface| {
        if let Some(hash) = published(interface.name()) {
            assert_eq!(interface.hash(), hash, "{}", interface.name());
            checked += 1;
        }
    };
    for action in ["example_interfaces/action/Fibonacci", "tf2_msgs/action/LookupTransform"] {
        let part = |end: &str| library.find(&format!("{action}{end}")).unwrap().unwrap();
        let services = [part("_Goal").send_goal().unwrap(), part("_Result").get_result().unwrap()];
        for [request, response] in &services {
            check(request);
            check(response);
            check(&Interface::service(request, response).unwrap());
        }
        check(&part("_Feedback").feedback_message().unwrap());
    }
    let [request, response] = Interface::cancel_goal().unwrap();
    check(&request);
    check(&response);
    check(&Interface::service(&request, &response).unwrap());
    check(&Interface::goal_status_array().unwrap());
    assert_eq!(checked, 14, "what is published");
}

#[test]
fn parts_of_an_action_of_ones_own_are_those_of_an_action_of_their_package() {
    let made = |signature: &str| Interface::of(&signature.parse().unwrap()).unwrap();
    let [request, response] = made("robot/Go_Goal{x:float64;}").send_goal().unwrap();
    assert_eq!((request.name(), response.name()), ("robot/action/Go_SendGoal_Request", "robot/action/Go_SendGoal_Response"));
    let ty = request.ty().unwrap().to_string();
    let id = "goal_id:unique_identifier_msgs/msg/UUID{uuid:uint8[16];};";
    assert_eq!(ty, format!("robot/action/Go_SendGoal_Request{{{id}goal:robot/action/Go_Goal{{x:float64;}};}}"));
    assert_eq!(made("robot/Goal{x:float64;}").send_goal(), None);
    assert_eq!(made("robot/Go_Goal{x:float64;}").get_result(), None);
}

#[test]
fn types_that_sinew_knows_have_the_same_hash_without_a_definition_unless_something_in_them_is_bounded() {
    let (library, mut same, mut other) = (standard(), 0, Vec::new());
    let with_wstrings = |name: &str| name.contains("WString");
    for (name, hash) in published().iter().filter(|(name, _)| is_of_messages(name) && !with_wstrings(name)) {
        let interface = library.find(name).unwrap().unwrap();
        let ty = interface.ty().unwrap();
        let said = Interface::of(&ty).unwrap();
        assert_eq!((said.name(), said.difference(&interface), interface.difference(&said)), (name.as_str(), None, None));
        if said.hash() == *hash { same += 1 } else { other.push(name.clone()) }
    }
    assert!(same > 150, "{same}");
    let expected = [
        "diagnostic_msgs/msg/DiagnosticArray",
        "diagnostic_msgs/msg/DiagnosticStatus",
        "std_msgs/msg/Byte",
        "shape_msgs/msg/SolidPrimitive",
    ];
    for name in expected {
        assert!(other.contains(&name.to_owned()), "{name} has something bounded, or a byte: {other:?}");
    }
}

#[test]
fn a_definition_is_read_as_the_type_that_msggen_makes_of_it() {
    let ty = |name: &str| standard().find(name).unwrap().unwrap().ty().unwrap().to_string();
    let header = "std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;}";
    let image = "height:uint32;width:uint32;encoding:string;is_bigendian:uint8;step:uint32;data:uint8[];";
    assert_eq!(ty("sensor_msgs/msg/Image"), format!("sensor_msgs/msg/Image{{header:{header};{image}}}"));
    assert_eq!(ty("std_srvs/srv/SetBool_Response"), "std_srvs/srv/SetBool_Response{success:bool;message:string;}");
    assert_eq!(ty("std_srvs/srv/Empty_Request"), "std_srvs/srv/Empty_Request{structure_needs_at_least_one_member:uint8;}");
    // An array with a bound is a vector in C++, also one of at most one.
    assert_eq!(
        read("a/msg/B", "uint8[<=1] x\nbyte[<=3] y\nchar[2] z\nstring<=5 s\n").ty().unwrap().to_string(),
        "a/msg/B{x:uint8[];y:uint8[];z:uint8[2];s:string;}"
    );
}

#[test]
fn what_ros_2_has_no_word_for_is_compared_as_it_is_described() {
    let said = |signature: &str| Interface::of(&signature.parse().unwrap());
    assert_eq!(said("robot/State{it:(uint8|string);}"), None);
    let pose = said("robot/arm/Pose{frameId:robot/Frame(uint16);m:float64[3][3];grip:float32?;}").unwrap();
    assert_eq!(pose.name(), "robot_arm/msg/Pose");
    assert_eq!(pose.difference(&read("robot_arm/msg/Pose", "uint16 frame_id\nfloat64[9] m\nfloat32[<=1] grip\n")), None);
}

#[test]
fn a_difference_names_the_first_field_that_differs() {
    let header = "=====\nMSG: a/Header\nuint32 seq\n";
    let here = read("a/msg/Image", &format!("a/Header header\nuint32 step\nuint8[] data\n{header}"));
    for (text, said) in [
        (format!("a/Header header\nuint32 step\nuint8[<=9] data\n{header}"), None),
        (format!("a/Header header\nuint32 step\nbyte[] data\n{header}"), None),
        (format!("a/Header header\nuint64 step\nuint8[] data\n{header}"), Some("field 'step' is uint32 here and uint64 there")),
        (format!("a/Header header\nuint32 pitch\nuint8[] data\n{header}"), Some("field 'step' is 'pitch' there")),
        (format!("a/Header header\nuint32 step\nuint8[3] data\n{header}"), Some("field 'data' is uint8[] here and uint8[3] there")),
        (format!("a/Header header\nuint32 step\n{header}"), Some("field 'data' is not there")),
        (format!("a/Header header\nuint32 step\nuint8[] data\nbool more\n{header}"), Some("field 'more' is only there")),
        (
            "a/Header header\nuint32 step\nuint8[] data\n===\nMSG: a/Header\nint32 seq\n".to_owned(),
            Some("in 'header', field 'seq' is uint32 here and int32 there"),
        ),
    ] {
        assert_eq!(here.difference(&read("a/msg/Image", &text)).as_deref(), said, "{text}");
    }
}

#[test]
fn what_is_no_type_is_refused_with_the_field() {
    for (text, complaint) in [
        ("B b\n", "'a/msg/B' contains itself, or is nested more than 64 deep"),
        ("C c\n", "'a/msg/B' has the field 'c' of the type 'a/msg/C', of which there is no definition"),
        ("uint8[x] c\n", "'a/msg/B' has the field 'c' of the type 'uint8[x]', whose length is none"),
        ("uint8 c\nuint8 c\n", "'a/msg/B' has two fields named 'c'"),
        ("a-b c\n", "'a/msg/B' has the field 'c' of the type 'a-b', which is no name of a type"),
    ] {
        assert_eq!(Interface::read("a/msg/B", text).unwrap_err().to_string(), complaint);
    }
    let wide = read("a/msg/B", "wstring<=3 w\n");
    assert_eq!(wide.ty().unwrap_err().to_string(), "'a/msg/B' has a wstring, 'w', and strings of sinew are bytes");
    assert!(wide.hash().starts_with("RIHS01_"), "ROS 2 can have it");
}

#[test]
fn no_small_text_takes_memory_or_time_without_end() {
    let doubling = |n: u32| format!("===\nMSG: a/C{n}\nC{0} x\nC{0} y\n", n + 1);
    let text = |last| "C0 x\n".to_owned() + &(0..last).map(doubling).collect::<String>() + &format!("===\nMSG: a/C{last}\nuint8 x\n");
    // The deepest that is taken, and those beside it.
    for last in 60..=62 {
        let (one, other) = (read("a/msg/B", &text(last)), read("a/msg/B", &text(last)));
        assert_eq!(one.difference(&other), None);
        assert!(one.hash().starts_with("RIHS01_"));
        assert!(one.ty().unwrap_err().to_string().contains("more than 32768 bytes"));
    }
    let deeper = Interface::read("a/msg/B", &text(63)).unwrap_err().to_string();
    assert_eq!(deeper, "'a/msg/B' contains itself, or is nested more than 64 deep");
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn all_that_is_defined_has_a_name_by_which_it_is_found() {
    let (library, folder) = (standard(), tempfile::tempdir().unwrap());
    let names = library.names();
    for name in ["std_msgs/msg/String", "std_srvs/srv/SetBool_Request", "std_srvs/srv/SetBool_Response"] {
        assert!(names.iter().any(|each| each == name), "{name}");
    }
    assert!(names.is_sorted() && names.iter().all(|name| library.find(name).unwrap().is_some()));
    std::fs::create_dir_all(folder.path().join("a b/msg")).unwrap();
    std::fs::write(folder.path().join("a b/msg/X.msg"), "").unwrap();
    assert!(Library::new(vec![folder.path().to_owned(), "/nowhere".into()]).names().is_empty());
}

#[test]
fn a_definition_is_that_of_the_first_folder_that_has_it() {
    let first = folder(&[("a/msg/B.msg", "uint8 first\n")]);
    let second =
        folder(&[("a/msg/B.msg", "uint8 second\n"), ("a/msg/C.msg", "B b\nstd_msgs/Header h\n"), ("std_msgs/msg/Header.msg", "time t\n")]);
    let library = Library::new(vec![first.path().to_owned(), "/nowhere".into(), second.path().to_owned()]);
    let ty = library.find("a/msg/C").unwrap().unwrap().ty().unwrap().to_string();
    assert_eq!(ty, "a/msg/C{b:a/msg/B{first:uint8;};h:std_msgs/msg/Header{t:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};};}");
    assert_eq!(library.find("a/msg/D").unwrap(), None);
}

#[test]
fn no_name_leads_out_of_the_folders() {
    let folder = folder(&[("in/a/msg/B.msg", "uint8 x\n"), ("a/msg/Secret.msg", "uint8 x\n")]);
    let library = Library::new(vec![folder.path().join("in")]);
    for name in [
        "../a/msg/Secret",
        "a/msg/../../../a/msg/Secret",
        "a/../a/msg/B",
        "a/msg/B.msg",
        "/a/msg/B",
        "a/msg/B/",
        "a/b/B",
        "B",
        "",
        "a/msg/",
    ] {
        assert_eq!(library.find(name).unwrap(), None, "{name}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_path() {
    let folder = folder(&[
        ("a/msg/B.msg", "uint8\n"),
        ("a/srv/S.srv", "uint8 x\n"),
        ("a/msg/C.msg", "D d\n"),
        ("a/msg/Large.msg", &"#\n".repeat(1 << 20)),
    ]);
    fs::create_dir_all(folder.path().join("a/msg/Folder.msg")).unwrap();
    let complaint = |name: &str| Library::new(vec![folder.path().to_owned()]).find(name).unwrap_err().to_string();
    let path = |file: &str| folder.path().join(file).display().to_string();
    assert_eq!(
        complaint("a/msg/B"),
        format!("{}: 'a/B' has the line 'uint8', which is neither a field nor a constant", path("a/msg/B.msg"))
    );
    assert_eq!(complaint("a/srv/S_Request"), format!("{} has 1 parts between lines of '---', and 2 are expected", path("a/srv/S.srv")));
    assert_eq!(complaint("a/msg/C"), "'a/msg/C' has the field 'd' of the type 'a/msg/D', of which there is no definition");
    assert!(complaint("a/msg/Large").ends_with("and 1048576 are the most"));
    assert!(complaint("a/msg/Folder").contains("cannot be read"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_text_makes_a_reader_panic(name in "[a-z/]{0,8}", text in r"((uint8|string<=2|a/B|B|time|byte|[\PC]{0,5})(\[(<=)?[0-9]{0,11}\])? [a-z]{0,2}\n|===\nMSG: a/[BC]\n){0,6}") {
        if let Ok(interface) = Interface::read(&name, &text) {
            let _ = (interface.ty(), interface.hash(), interface.difference(&interface));
        }
    }
}
