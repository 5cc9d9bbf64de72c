//! Descriptions as text.

use std::fmt::Write;

use super::Schema;
use super::definitions::{self, Base, Definition, Member, Row};
use super::legal::Language;
use crate::types::{Number, Type};

/// Stands before the signature in the comment at the top.
pub(super) const MARK: &str = " sinew: ";

/// As `ros2msg`.
pub(super) fn msg(ty: &Type) -> Schema {
    let definitions = definitions::of(ty, Language::Msg);
    let mut text = comment("#", ty);
    let mut name = String::new();
    // The main one first, without a name.
    for (n, definition) in definitions.iter().rev().enumerate() {
        if n == 0 {
            name = format!("{}/{}/{}", definition.package, definition.room, definition.name);
        } else {
            // To a String it does not fail.
            let _ = write!(text, "{}\nMSG: {}/{}\n", "=".repeat(80), definition.package, definition.name);
        }
        for member in &definition.members {
            let _ = writeln!(text, "{}", msg_field(member, &definitions));
        }
    }
    Schema { name, encoding: "ros2msg", text }
}

/// As `ros1msg`. Its header has a number that those of sinew have not, and a structure without fields takes nothing.
#[cfg(feature = "ros1")]
pub(super) fn ros1(ty: &Type) -> Schema {
    let definitions = definitions::of(ty, Language::Ros1);
    let (mut text, mut name) = (String::new(), String::new());
    for (n, definition) in definitions.iter().rev().enumerate() {
        let title = format!("{}/{}", definition.package, definition.name);
        let is_header = title == "std_msgs/Header" && definition.members.first().is_none_or(|member| member.name != "seq");
        if n == 0 {
            name = title;
        } else if ros1_word(definition).is_some() {
            continue;
        } else {
            // To a String it does not fail.
            let _ = write!(text, "{}\nMSG: {title}\n", "=".repeat(80));
        }
        if is_header {
            text += "uint32 seq\n";
        }
        let is_empty = definition.members.len() == 1 && definition.members[0].name == super::PLACEHOLDER;
        for member in definition.members.iter().filter(|_| !is_empty) {
            let base = match member.base {
                Base::Number(number) => number.name().to_owned(),
                Base::String => "string".to_owned(),
                Base::Defined(place) => {
                    let Definition { package, name, .. } = &definitions[place];
                    ros1_word(&definitions[place]).map_or_else(|| format!("{package}/{name}"), str::to_owned)
                }
            };
            let row = match member.row {
                Row::One => String::new(),
                Row::Array(length) => format!("[{length}]"),
                Row::Sequence | Row::AtMostOne => "[]".to_owned(),
            };
            let _ = writeln!(text, "{base}{row} {}", member.name);
        }
    }
    Schema { name, encoding: "ros1msg", text }
}

/// What ROS 1 has a word for.
#[cfg(feature = "ros1")]
fn ros1_word(definition: &Definition) -> Option<&'static str> {
    let [seconds, rest] = definition.members.as_slice() else { return None };
    let is_part = |member: &Member| {
        matches!(member.base, Base::Number(number) if number.size() == 4 && number.is_integer()) && matches!(member.row, Row::One)
    };
    let are_parts = is_part(seconds) && is_part(rest) && seconds.name == "sec" && ["nanosec", "nsec"].contains(&rest.name.as_str());
    match (definition.package.as_str(), definition.name.as_str()) {
        ("builtin_interfaces" | "ros", "Time") if are_parts => Some("time"),
        ("builtin_interfaces" | "ros", "Duration") if are_parts => Some("duration"),
        _ => None,
    }
}

/// As `omgidl`.
pub(super) fn idl(ty: &Type) -> Schema {
    let definitions = definitions::of(ty, Language::Idl);
    let mut text = comment("//", ty);
    for definition in &definitions {
        let Definition { package, name, .. } = definition;
        let head = if definition.is_union { format!("union {name} switch (unsigned long)") } else { format!("struct {name}") };
        let _ = writeln!(text, "module {package} {{\n  {head} {{");
        for (n, member) in definition.members.iter().enumerate() {
            let case = if definition.is_union { format!("case {n}: ") } else { String::new() };
            let _ = writeln!(text, "    {case}{};", idl_member(member, &definitions));
        }
        text += "  };\n};\n";
    }
    let name = definitions.last().map(|main| format!("{}::{}", main.package, main.name)).unwrap_or_default();
    Schema { name, encoding: "omgidl", text }
}

/// The signature for sinew itself, if it fits in a line.
fn comment(begin: &str, ty: &Type) -> String {
    let signature = ty.to_string();
    if signature.contains(char::is_control) { String::new() } else { format!("{begin}{MARK}{signature}\n") }
}

fn msg_field(member: &Member, definitions: &[Definition]) -> String {
    let base = match member.base {
        Base::Number(number) => number.name().to_owned(),
        Base::String => "string".to_owned(),
        Base::Defined(place) => format!("{}/{}", definitions[place].package, definitions[place].name),
    };
    let name = &member.name;
    match member.row {
        Row::One => format!("{base} {name}"),
        Row::Array(length) => format!("{base}[{length}] {name}"),
        Row::Sequence => format!("{base}[] {name}"),
        Row::AtMostOne => format!("{base}[<=1] {name}"),
    }
}

fn idl_member(member: &Member, definitions: &[Definition]) -> String {
    let base = match member.base {
        Base::Number(number) => idl_number(number).to_owned(),
        Base::String => "string".to_owned(),
        Base::Defined(place) => format!("{}::{}", definitions[place].package, definitions[place].name),
    };
    let name = &member.name;
    match member.row {
        Row::One => format!("{base} {name}"),
        Row::Array(length) => format!("{base} {name}[{length}]"),
        Row::Sequence => format!("sequence<{base}> {name}"),
        Row::AtMostOne => format!("sequence<{base}, 1> {name}"),
    }
}

fn idl_number(number: Number) -> &'static str {
    match number {
        Number::Bool => "boolean",
        Number::Float32 => "float",
        Number::Float64 => "double",
        integer => integer.name(),
    }
}
