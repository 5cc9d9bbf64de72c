//! Names as other tools want them. What is legal stays as it is.

use std::collections::HashMap;

/// In what a description is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// `ros1msg`, in which capital letters and underscores stand where one likes.
    #[cfg(feature = "ros1")]
    Ros1,
    /// `ros2msg`
    Msg,
    /// `omgidl`
    Idl,
}

/// Parts of services and actions are types with these ends, the only place of an underscore in the name of a type.
const ENDS: [&str; 5] = ["_Request", "_Response", "_Goal", "_Result", "_Feedback"];

/// Words of IDL, which does not tell capital letters from small ones.
#[rustfmt::skip]
const WORDS: [&str; 84] = [
    "abstract", "alias", "any", "attribute", "bitfield", "bitmask", "bitset", "boolean", "byte", "case", "char", "component", "connector",
    "const", "consumes", "context", "custom", "default", "double", "emits", "enum", "eventtype", "exception", "factory", "false", "finder",
    "fixed", "float", "getraises", "home", "import", "in", "inout", "int16", "int32", "int64", "int8", "interface", "local", "long",
    "manages", "map", "mirrorport", "module", "multiple", "native", "object", "octet", "oneway", "out", "port", "porttype", "primarykey",
    "private", "provides", "public", "publishes", "raises", "readonly", "sequence", "setraises", "short", "string", "struct", "supports",
    "switch", "true", "truncatable", "typedef", "typeid", "typename", "typeprefix", "uint16", "uint32", "uint64", "uint8", "union",
    "unsigned", "uses", "valuebase", "valuetype", "void", "wchar", "wstring",
];

/// The name of a type in three: `robot`, `msg`, `Image`. The middle is `msg` but for parts of services and actions.
pub(super) fn of_type(name: &str, language: Language) -> (String, &'static str, String) {
    let mut namespaces = namespaces(name);
    let last = namespaces.pop().unwrap_or_default();
    let room = ["msg", "srv", "action"].into_iter().find(|room| namespaces.len() > 1 && namespaces.last() == Some(room));
    if room.is_some() {
        namespaces.pop();
    }
    let is_legal = |name: &str| !matches!(language, Language::Msg | Language::Idl) && is_word(name);
    let package = namespaces.join("_");
    let package = if is_legal(&package) { package } else { snake(&package) };
    let package = if package.is_empty() { "sinew".to_owned() } else { beginning_with_a_letter(package, "package_") };
    let last = if is_legal(last) { last.to_owned() } else { camel(last) };
    (but_no_word(package, language), room.unwrap_or("msg"), but_no_word(last, language))
}

/// The name of a field.
pub(super) fn of_field(name: &str, language: Language) -> String {
    let is_legal = language != Language::Msg && is_word(name);
    let name = if is_legal { name.to_owned() } else { beginning_with_a_letter(snake(name), "field_") };
    but_no_word(name, language)
}

/// The name of a field in ROS 1.
#[cfg(feature = "ros1")]
pub(crate) fn ros1_field(name: &str) -> String {
    of_field(name, Language::Ros1)
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Names that are given to one thing each.
#[derive(Default)]
pub(super) struct Given(HashMap<String, u32>);

impl Given {
    /// The name as it is, or, where another thing has it, with a number behind it.
    pub(super) fn give(&mut self, name: String) -> String {
        let Some(number) = self.0.get_mut(&name) else {
            self.0.insert(name.clone(), 1);
            return name;
        };
        *number += 1;
        // An underscore stands before known ends only in the names of types, the ones with a capital letter.
        let is_type = name.starts_with(|c: char| c.is_ascii_uppercase());
        let numbered = format!("{}{number}", if is_type { name.replace('_', "") } else { name });
        self.give(numbered)
    }
}

/// What stands between the slashes, but for those in template arguments.
fn namespaces(name: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let at_slash = |c| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '/' && depth == 0
    };
    name.split(at_slash).filter(|part| !part.is_empty()).collect()
}

/// `frameId` and `frame__id_` as `frame_id`.
fn snake(name: &str) -> String {
    let mut made = String::new();
    let mut before = '_';
    for c in name.chars() {
        let begins_a_word = c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        if (begins_a_word || !c.is_ascii_alphanumeric()) && !made.is_empty() && !made.ends_with('_') {
            made.push('_');
        }
        if c.is_ascii_alphanumeric() {
            made.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    made.truncate(made.trim_end_matches('_').len());
    made
}

/// `Box<string>` and `box_string` as `BoxString`.
pub(super) fn camel(name: &str) -> String {
    let (name, end) = ENDS.into_iter().find_map(|end| Some((name.strip_suffix(end)?, end))).unwrap_or((name, ""));
    let mut made = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        made.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        made.push_str(letters.as_str());
    }
    beginning_with_a_letter(made, "Type") + end
}

fn beginning_with_a_letter(name: String, otherwise: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("{otherwise}{name}").trim_end_matches('_').to_owned() }
}

fn but_no_word(name: String, language: Language) -> String {
    let is_word = language == Language::Idl && WORDS.iter().any(|word| name.eq_ignore_ascii_case(word));
    if is_word { name + "_" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_name(name: &str) -> String {
        let (package, room, name) = of_type(name, Language::Msg);
        format!("{package}/{room}/{name}")
    }

    #[test]
    fn legal_names_of_types_stay_as_they_are_and_others_become_legal() {
        for (name, expected) in [
            ("robot/Image", "robot/msg/Image"),
            ("sensor_msgs/msg/Image", "sensor_msgs/msg/Image"),
            ("std_srvs/srv/SetBool_Request", "std_srvs/srv/SetBool_Request"),
            ("Image", "sinew/msg/Image"),
            ("msg/Image", "msg/msg/Image"),
            ("robot/arm/Joint", "robot_arm/msg/Joint"),
            ("MyRobot/image_data", "my_robot/msg/ImageData"),
            ("robot/Box<string,robot/Point[]>", "robot/msg/BoxStringRobotPoint"),
            ("entry<string,uint8>", "sinew/msg/EntryStringUint8"),
            ("3d/2.5D", "package_3d/msg/Type25D"),
            ("größe/Größe", "gr_e/msg/GrE"),
            ("ö/ö", "sinew/msg/Type"),
            ("/", "sinew/msg/Type"),
        ] {
            assert_eq!(type_name(name), expected, "{name}");
        }
    }

    #[cfg(feature = "ros1")]
    #[test]
    fn to_ros_1_more_names_are_legal() {
        for (name, package, base) in
            [("MyRobot/image_data", "MyRobot", "image_data"), ("3d/2.5D", "package_3d", "Type25D"), ("A", "sinew", "A")]
        {
            assert_eq!(of_type(name, Language::Ros1), (package.to_owned(), "msg", base.to_owned()), "{name}");
        }
        for (name, expected) in [("frameId", "frameId"), ("x_", "x_"), ("K", "K"), ("_0", "field_0"), ("größe", "gr_e")] {
            assert_eq!(of_field(name, Language::Ros1), expected);
        }
    }

    #[test]
    fn legal_names_of_fields_stay_as_they_are_and_others_become_legal() {
        for (name, in_msg, in_idl) in [
            ("stamp_ns", "stamp_ns", "stamp_ns"),
            ("frameId", "frame_id", "frameId"),
            ("imageURL", "image_url", "imageURL"),
            ("x_", "x", "x_"),
            ("a__b", "a_b", "a__b"),
            ("_0", "field_0", "field_0"),
            ("ö", "field", "field"),
            ("default", "default", "default_"),
        ] {
            assert_eq!((of_field(name, Language::Msg).as_str(), of_field(name, Language::Idl).as_str()), (in_msg, in_idl));
        }
    }
}
