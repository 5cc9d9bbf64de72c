//! What a description says is what messages of sinew have.

mod common;

use std::path::{Path, PathBuf};

use common::any_type;
use proptest::prelude::*;
use sinew_msg::{Type, schema};

/// The bytes that messages have: numbers, strings, and how many there are of what. Names are not in it, nor structures, which add no bytes.
fn layout(ty: &Type) -> String {
    match ty {
        _ if ty.fewest_bytes() == 0 => String::new(),
        Type::Number(number) | Type::Enumeration { number, .. } => format!("{} ", number.name()),
        Type::String => "string ".to_owned(),
        // The number of elements, and nothing behind it.
        Type::Vector(inner) | Type::Optional(inner) if inner.fewest_bytes() == 0 => "uint32 ".to_owned(),
        // Of an optional others read a row, of which the most that there are is no part of the type.
        Type::Vector(inner) | Type::Optional(inner) => format!("[{}] ", layout(inner)),
        Type::Array(inner, length) => layout(inner).repeat(*length as usize),
        Type::Structure(structure) => structure.fields.iter().map(|field| layout(&field.ty)).collect(),
        Type::Variant(alternatives) => format!("({}) ", alternatives.iter().map(layout).collect::<Vec<_>>().join("|")),
    }
}

fn without_comment(text: &str) -> &str {
    text.split_once('\n').unwrap().1
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn what_is_described_is_read_as_the_same_type(ty in any_type()) {
        let described = schema::of(&ty);
        prop_assert_eq!(schema::parse(&described.name, described.encoding, &described.text), Ok(ty));
    }

    #[test]
    fn what_others_read_of_a_description_has_the_same_bytes(ty in any_type()) {
        let described = schema::of(&ty);
        let read = schema::parse(&described.name, described.encoding, without_comment(&described.text));
        let expected = if ty.fewest_bytes() == 0 && described.encoding == "ros2msg" { "uint8 ".to_owned() } else { layout(&ty) };
        prop_assert_eq!(layout(&read.unwrap()), expected, "{}", described.text);
    }

    #[test]
    fn no_text_makes_a_reader_panic(encoding in proptest::sample::select(&["ros1msg", "ros2msg", "ros2idl", "omgidl"][..]), name in "[a-z/:]{0,8}", text in garbage()) {
        let _ = schema::parse(&name, encoding, &text);
    }

    #[test]
    fn no_change_of_a_description_makes_a_reader_panic(ty in any_type(), at in any::<proptest::sample::Index>(), other in garbage(), most in 0..9usize) {
        let described = schema::of(&ty);
        let mut text: Vec<char> = described.text.chars().collect();
        let at = at.index(text.len());
        text.splice(at..text.len().min(at + most), other.chars());
        let _ = schema::parse(&described.name, described.encoding, &text.into_iter().collect::<String>());
    }
}

/// Of the words that descriptions have, in any order.
fn garbage() -> impl Strategy<Value = String> {
    let words = "struct|union|module|enum|typedef|const|switch|case|default|sequence|string|wstring|unsigned|long|double|float|boolean|octet|uint8|int32|robot|Image|data|a|b|\
                 MSG:|IDL:|================================================================================|#|//|/*|*/|@|@key|@default|@optional|::|/|<|>|<=|[|]|{|}|(|)|;|:|,|=|\"|'|\\|\
                 0|1|7|4294967296|18446744073709551616|-1| |  |\n|\r\n|\t|ö|\u{0}";
    let words: Vec<String> = words.split('|').map(str::to_owned).collect();
    proptest::collection::vec((proptest::sample::select(words), prop_oneof![Just(" "), Just(""), Just("\n")]), 0..40)
        .prop_map(|words| words.into_iter().map(|(word, gap)| word + gap).collect())
}

/// Each .msg in `folder`: the name of its type, and the text.
fn definitions(folder: &Path) -> Vec<(String, String)> {
    let children = |folder: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut found = Vec::new();
    for package in children(folder).iter().flat_map(|repository| children(repository)) {
        for file in children(&package.join("msg")).into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "msg")) {
            found.push((format!("{}/msg/{}", name(&package), name(&file)), std::fs::read_to_string(&file).unwrap()));
        }
    }
    found
}

/// A definition with all others behind it, as a bag may have it.
fn assembled<'d>(definitions: impl Iterator<Item = &'d (String, String)>, name: &str, text: &str) -> String {
    let others = definitions.filter(|(other, _)| other != name);
    let parts = others.map(|(other, text)| format!("{}\nMSG: {}\n{text}\n", "=".repeat(80), other.replace("/msg/", "/")));
    format!("{text}\n{}", parts.collect::<String>())
}

#[test]
fn definitions_of_ros_2_are_read_but_those_with_strings_of_wide_characters_or_parts_that_are_nowhere() {
    let mut all = definitions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/coverage/definitions"));
    assert!(!all.is_empty());
    if let Ok(folder) = std::env::var("SINEW_MESSAGE_DEFINITIONS") {
        all.extend(definitions(Path::new(&folder)));
    }
    let mut refused = Vec::new();
    for (name, text) in &all {
        match schema::parse(name, "ros2msg", &assembled(all.iter(), name, text)) {
            Ok(ty) => {
                assert_eq!(ty.name(), *name);
                let described = schema::of(&ty);
                assert_eq!(described.name, *name);
                assert_eq!(schema::parse(name, "ros2msg", without_comment(&described.text)), Ok(ty), "{}", described.text);
            }
            Err(why) => {
                assert!(why.to_string().contains("wstring") || why.to_string().contains("no definition"), "{why}");
                refused.push(name);
            }
        }
    }
    // Of those that are ours.
    refused.retain(|name| name.starts_with("coverage_msgs/"));
    assert_eq!(refused, ["coverage_msgs/msg/Unknown", "coverage_msgs/msg/Wide", "coverage_msgs/msg/WideInside"]);
}
