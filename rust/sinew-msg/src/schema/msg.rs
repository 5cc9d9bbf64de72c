//! Reading definitions of ROS: what is in `.msg` files, behind one another. They come from strangers.

use std::collections::{HashMap, HashSet};

use super::budget::Budget;
use super::field::{Line, Row, Written};
use super::{MAX_WORD, SchemaError};
use crate::signature::quoted;
use crate::types::{Field, MAX_DEPTH, MAX_MEMBERS, Number, Structure, Type};

/// Whose definitions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Ros1,
    Ros2,
}

/// Package and name.
type Key<'a> = (&'a str, &'a str);

/// The type of that name, whose definition comes first.
pub(super) fn parse(name: &str, dialect: Dialect, text: &str) -> Result<Type, SchemaError> {
    let main = main_key(name)?;
    let definitions = definitions(main, text)?;
    let lines = definitions.get(&main).map(Vec::as_slice).unwrap_or_default();
    Resolving { dialect, definitions: &definitions, budget: Budget::new() }.structure(main, lines, name.to_owned(), 1)
}

/// What one definition says, of several that stand behind one another.
#[cfg(feature = "ros2")]
pub(crate) struct Definition<'a> {
    /// `robot/msg/Image`
    pub name: String,
    pub package: &'a str,
    pub lines: Vec<Line<'a>>,
}

/// Of ROS 2: the type of that name, whose definition comes first, and those behind it, in no order.
#[cfg(feature = "ros2")]
pub(crate) fn ros2_definitions<'a>(name: &'a str, text: &'a str) -> Result<Vec<Definition<'a>>, SchemaError> {
    super::check_size(name, text)?;
    let main = main_key(name)?;
    let of = |(key, lines): (Key<'a>, _)| Definition {
        name: if key == main { name.to_owned() } else { format!("{}/msg/{}", key.0, key.1) },
        package: key.0,
        lines,
    };
    Ok(definitions(main, text)?.into_iter().map(of).collect())
}

fn main_key(name: &str) -> Result<Key<'_>, SchemaError> {
    package_and_name(name).ok_or_else(|| SchemaError(format!("{} is no name of a type: it is to be like 'robot/msg/Image'", quoted(name))))
}

/// `robot/msg/Image` and `robot/Image` are the same; of `Image` nobody said the package.
pub(crate) fn package_and_name(name: &str) -> Option<Key<'_>> {
    let is_word = |word: &str| (1..=MAX_WORD).contains(&word.len()) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let words: Vec<_> = name.split('/').collect();
    match words[..] {
        [name] if is_word(name) => Some(("", name)),
        [package, name] | [package, "msg" | "srv" | "action", name] if is_word(package) && is_word(name) => Some((package, name)),
        _ => None,
    }
}

fn definitions<'a>(main: Key<'a>, text: &'a str) -> Result<HashMap<Key<'a>, Vec<Line<'a>>>, SchemaError> {
    let mut all = HashMap::new();
    let mut key = main;
    let mut lines = Vec::new();
    let mut is_title = false;
    for line in text.lines() {
        // Also inside of quotes, where it cuts a value that is not needed.
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.len() >= 3 && line.bytes().all(|byte| byte == b'=') {
            all.entry(key).or_insert(std::mem::take(&mut lines));
            is_title = true;
        } else if line.is_empty() {
        } else if is_title {
            let title = line.strip_prefix("MSG:").and_then(|name| package_and_name(name.trim()));
            key = title.ok_or_else(|| SchemaError(format!("where a line 'MSG: PACKAGE/NAME' is expected stands {}", quoted(line))))?;
            is_title = false;
        } else {
            lines.extend(Line::read(line).map_err(|what| SchemaError(format!("{} has the line {}, {what}", shown(key), quoted(line))))?);
        }
    }
    all.entry(key).or_insert(lines);
    Ok(all)
}

fn shown((package, name): Key<'_>) -> String {
    quoted(&if package.is_empty() { name.to_owned() } else { format!("{package}/{name}") })
}

struct Resolving<'d, 'a> {
    dialect: Dialect,
    definitions: &'d HashMap<Key<'a>, Vec<Line<'a>>>,
    budget: Budget,
}

impl<'d, 'a> Resolving<'d, 'a> {
    fn structure(&mut self, key: Key<'a>, lines: &'d [Line<'a>], name: String, depth: usize) -> Result<Type, SchemaError> {
        if depth > MAX_DEPTH {
            return Err(SchemaError(format!("{} contains itself, or is nested more than {MAX_DEPTH} deep", shown(key))));
        }
        self.budget.take(&name)?;
        if lines.len() > MAX_MEMBERS {
            return Err(SchemaError(format!("{} has {} fields, and {MAX_MEMBERS} are the most that sinew takes", shown(key), lines.len())));
        }
        let mut fields = Vec::new();
        let mut names = HashSet::new();
        for line in lines {
            if !names.insert(line.name) {
                return Err(SchemaError(format!("{} has two fields named {}", shown(key), quoted(line.name))));
            }
            self.budget.take(line.name)?;
            fields.push(Field { name: line.name.to_owned(), ty: self.ty(key, line, depth)? });
        }
        if fields.is_empty() && self.dialect == Dialect::Ros2 {
            // So do the generators of ROS 2.
            fields.push(Field { name: super::PLACEHOLDER.to_owned(), ty: Type::Number(Number::Uint8) });
        }
        Ok(Type::Structure(Structure { name, fields }))
    }

    fn ty(&mut self, key: Key<'a>, line: &Line<'a>, depth: usize) -> Result<Type, SchemaError> {
        let wrong =
            |what: &str| SchemaError(format!("{} has the field {} of the type {}, {what}", shown(key), quoted(line.name), quoted(line.ty)));
        let Written { base, row, .. } = line.written().map_err(wrong)?;
        // Alone it is that of std_msgs in ROS 1, whatever stands beside the message.
        let base = if self.dialect == Dialect::Ros1 && base == "Header" && row == Row::One { "std_msgs/Header" } else { base };
        let element = match self.built_in(base) {
            Some(Ok(ty)) => ty,
            Some(Err(what)) => return Err(wrong(what)),
            None => match self.find(key, base) {
                Some((found, lines)) => {
                    let room = if self.dialect == Dialect::Ros2 { "msg/" } else { "" };
                    self.structure(found, lines, format!("{}/{room}{}", found.0, found.1), depth + 1)?
                }
                None => self.known(base).ok_or_else(|| wrong("of which there is no definition"))?,
            },
        };
        Ok(match row {
            Row::One => element,
            Row::Any | Row::AtMost(_) => Type::Vector(Box::new(element)),
            Row::Exactly(length) => Type::Array(Box::new(element), length),
        })
    }

    /// What needs no definition; an error where that is nothing that a message of sinew can have.
    fn built_in(&self, name: &str) -> Option<Result<Type, &'static str>> {
        let number = match (name, self.dialect) {
            ("char", _) | ("byte", Dialect::Ros2) => Some(Number::Uint8),
            ("byte", Dialect::Ros1) => Some(Number::Int8),
            _ => Number::of_name(name),
        };
        if let Some(number) = number {
            return Some(Ok(Type::Number(number)));
        }
        match (name, self.dialect) {
            ("string", _) => Some(Ok(Type::String)),
            ("wstring", _) => Some(Err("which no message of sinew can have: its strings are bytes")),
            ("time", Dialect::Ros1) => Some(Ok(pair("ros/Time", [("sec", Number::Uint32), ("nsec", Number::Uint32)]))),
            ("duration", Dialect::Ros1) => Some(Ok(pair("ros/Duration", [("sec", Number::Int32), ("nsec", Number::Int32)]))),
            _ => None,
        }
    }

    /// What tools know without a definition.
    fn known(&self, name: &str) -> Option<Type> {
        let name = match name {
            "time" | "builtin_interfaces/Time" | "builtin_interfaces/msg/Time" => "builtin_interfaces/msg/Time",
            "duration" | "builtin_interfaces/Duration" | "builtin_interfaces/msg/Duration" => "builtin_interfaces/msg/Duration",
            _ => return None,
        };
        (self.dialect == Dialect::Ros2).then(|| pair(name, [("sec", Number::Int32), ("nanosec", Number::Uint32)]))
    }

    /// Beside the one that names it, unless it says the package.
    fn find(&self, beside: Key<'a>, name: &'a str) -> Option<(Key<'a>, &'d [Line<'a>])> {
        let (package, name) = package_and_name(name)?;
        let keys = if package.is_empty() { [(beside.0, name), ("std_msgs", name)] } else { [(package, name); 2] };
        // ROS 1 has it without its package everywhere.
        let tried = if name == "Header" { &keys[..] } else { &keys[..1] };
        tried.iter().find_map(|key| Some((*key, self.definitions.get(key)?.as_slice())))
    }
}

fn pair(name: &str, fields: [(&str, Number); 2]) -> Type {
    let fields = fields.map(|(name, number)| Field { name: name.to_owned(), ty: Type::Number(number) });
    Type::Structure(Structure { name: name.to_owned(), fields: fields.into() })
}

#[cfg(test)]
mod tests {
    use crate::schema;

    fn read(encoding: &str, name: &str, text: &str) -> Result<String, String> {
        schema::parse(name, encoding, text).map(|ty| ty.to_string()).map_err(|error| error.to_string())
    }

    fn ros2(text: &str) -> Result<String, String> {
        read("ros2msg", "a/msg/B", text)
    }

    #[test]
    fn fields_are_read_and_comments_constants_and_defaults_are_passed_over() {
        let text = "# Of what it is.\nint32 X=1\nstring NAME = a # b\n\n  uint8  kind 3 # which\nfloat64[3] p [1.0, 2.0, 3.0]\nstring text \"a=b\"\n@key uint16 id\n@key\nbool[] on\r\n";
        let expected = "a/msg/B{kind:uint8;p:float64[3];text:string;id:uint16;on:bool[];}";
        assert_eq!(ros2(text).unwrap(), expected);
    }

    #[test]
    fn bounds_are_not_kept() {
        assert_eq!(ros2("string<=10 a\nuint8[<=3] b\nstring<=4[<=1] c\n").unwrap(), "a/msg/B{a:string;b:uint8[];c:string[];}");
    }

    #[test]
    fn types_are_found_in_their_package_and_what_all_tools_know_without_a_definition() {
        let text = "std_msgs/Header header\nC[] c\nd/msg/C other\n===\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n===\nMSG: a/C\nint8 x\n===\nMSG: d/msg/C\n";
        let header = "std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;}";
        let other = "d/msg/C{structure_needs_at_least_one_member:uint8;}";
        assert_eq!(ros2(text).unwrap(), format!("a/msg/B{{header:{header};c:a/msg/C{{x:int8;}}[];other:{other};}}"));
    }

    #[test]
    fn ros_1_has_words_of_its_own() {
        let text = "Header header\nbyte b\nchar c\nduration d\nC e\n================\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n===\nMSG: a/C\n";
        let header = "std_msgs/Header{seq:uint32;stamp:ros/Time{sec:uint32;nsec:uint32;};frame_id:string;}";
        let expected = format!("a/B{{header:{header};b:int8;c:uint8;d:ros/Duration{{sec:int32;nsec:int32;}};e:a/C{{}};}}");
        assert_eq!(read("ros1msg", "a/B", text).unwrap(), expected);
    }

    #[test]
    fn a_header_of_ros_1_is_that_of_std_msgs_also_where_its_package_has_one() {
        let of_std = "===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
        let header = "std_msgs/Header{seq:uint32;stamp:ros/Time{sec:uint32;nsec:uint32;};frame_id:string;}";
        let itself = read("ros1msg", "a/Header", &format!("Header header\nuint8 x\n{of_std}"));
        assert_eq!(itself.unwrap(), format!("a/Header{{header:{header};x:uint8;}}"));
        let beside = read("ros1msg", "a/B", &format!("Header header\na/Header other\n===\nMSG: a/Header\nuint8 x\n{of_std}"));
        assert_eq!(beside.unwrap(), format!("a/B{{header:{header};other:a/Header{{x:uint8;}};}}"));
    }

    #[test]
    fn what_is_no_type_of_sinew_is_refused_with_the_field() {
        for (text, complaint) in [
            ("wstring w", "'a/B' has the field 'w' of the type 'wstring', which no message of sinew can have: its strings are bytes"),
            ("C c", "'a/B' has the field 'c' of the type 'C', of which there is no definition"),
            ("uint8[x] c", "'a/B' has the field 'c' of the type 'uint8[x]', whose length is none"),
            ("uint8[4294967296] c", "'a/B' has the field 'c' of the type 'uint8[4294967296]', whose length no message can have"),
            ("uint8[3 c", "'a/B' has the field 'c' of the type 'uint8[3', whose brackets are not closed"),
            ("uint8<=3 c", "'a/B' has the field 'c' of the type 'uint8<=3', whose bound is none"),
            ("uint8", "'a/B' has the line 'uint8', which is neither a field nor a constant"),
            ("uint8 3d", "'a/B' has the line 'uint8 3d', which has no name of a field"),
            ("uint8 a-b", "'a/B' has the line 'uint8 a-b', which has no name of a field"),
            ("@optional uint8 a", "'a/B' has the line '@optional uint8 a', whose annotation sinew does not know"),
            ("uint8 a\nuint8 a", "'a/B' has two fields named 'a'"),
            ("B b", "'a/B' contains itself, or is nested more than 64 deep"),
            ("uint8 a\n===\nuint8 b", "where a line 'MSG: PACKAGE/NAME' is expected stands 'uint8 b'"),
        ] {
            assert_eq!(ros2(text).unwrap_err(), complaint);
        }
        assert_eq!(read("ros2msg", "a b", "").unwrap_err(), "'a b' is no name of a type: it is to be like 'robot/msg/Image'");
    }

    #[test]
    fn no_small_text_becomes_a_type_without_end() {
        let doubling = |n: u32| format!("===\nMSG: a/C{n}\nC{0} x\nC{0} y\n", n + 1);
        let text = "C0 x\n".to_owned() + &(0..60).map(doubling).collect::<String>() + "===\nMSG: a/C60\nuint8 x\n";
        assert!(ros2(&text).unwrap_err().contains("more than 32768 bytes"));
        let fields = (0..129).map(|n| format!("uint8 f{n}\n")).collect::<String>();
        assert_eq!(ros2(&fields).unwrap_err(), "'a/B' has 129 fields, and 128 are the most that sinew takes");
        let long = format!("uint8 {}\n", "a".repeat(40_000));
        assert!(ros2(&long).unwrap_err().contains("more than 32768 bytes"));
        assert!(ros2(&"#".repeat(2 << 20)).unwrap_err().contains("2097152 bytes"));
    }
}
