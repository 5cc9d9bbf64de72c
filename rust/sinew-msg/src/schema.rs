//! Types as other tools describe them: MCAP, Foxglove, rosbag2.
//!
//! Messages of sinew are CDR as ROS 2 has it, so its tools read them as they are, by a description of their type:
//!
//! ```
//! use sinew_msg::{Type, schema};
//!
//! let image: Type = "robot/Image{width:uint32;data:uint8[];label:string?;}".parse()?;
//! let schema = schema::of(&image);
//! assert_eq!((schema.name.as_str(), schema.encoding), ("robot/msg/Image", "ros2msg"));
//! assert!(schema.text.ends_with("uint32 width\nuint8[] data\nstring[<=1] label\n"));
//! assert_eq!(schema::parse(&schema.name, schema.encoding, &schema.text)?, image);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A description says which bytes there are. What it cannot say is said otherwise:
//!
//! | in sinew | in a description |
//! | --- | --- |
//! | `robot/arm/Joint` | `robot_arm/msg/Joint`; the package is `sinew` where there is none, and a name that is not legal is made so. Structures of one name with different fields are numbered |
//! | a field `frameId`, `x_`, `_0` | `frame_id`, `x`, `field_0`: ROS wants small letters and single underscores |
//! | an enumeration | its integer |
//! | `T?` | `T[<=1]` |
//! | `T[3][4]` | `T[12]` |
//! | `T[][]`, `T[]?`, and all else that ROS has no word for | a structure with the field `data` around what is inside, which adds no bytes |
//! | a message that is no structure | a structure with the field `data` |
//! | a field that takes no bytes (`Nothing{}`, `T[0]`) | nothing: ROS reads a byte for a structure without fields |
//! | `Nothing{}[]` | its number of elements, a `uint32` |
//! | a type with variants | all of it as `omgidl`, with unions: `ros2msg` has none |
//!
//! So that nothing of this is lost to sinew, the first line is a comment with the signature, which [`parse`] takes if the rest is what [`of`] says of it.

mod budget;
mod definitions;
mod field;
#[cfg(any(feature = "ros1", feature = "ros2"))]
mod file;
mod idl;
mod legal;
mod msg;
mod resolve;
mod tokens;
mod write;

use std::fmt;

#[cfg(any(feature = "ros1", feature = "ros2"))]
pub(crate) use field::{Line, Row};
#[cfg(any(feature = "ros1", feature = "ros2"))]
pub(crate) use file::{is_word, read};
#[cfg(feature = "ros1")]
pub(crate) use legal::ros1_field;
#[cfg(any(feature = "ros1", feature = "ros2"))]
pub(crate) use msg::package_and_name;
#[cfg(feature = "ros2")]
pub(crate) use msg::{Definition, ros2_definitions};

use crate::signature::{MAX_SIGNATURE, quoted};
use crate::types::{MAX_DEPTH, Type};

/// Bytes of a description that is read.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// What a structure of ROS 2 without fields has, as IDL knows none.
pub(crate) const PLACEHOLDER: &str = "structure_needs_at_least_one_member";
/// Bytes of a word of it: what is looked for by a name takes no time without end.
pub(crate) const MAX_WORD: usize = 255;

/// A description of a type as other tools read it, with what they call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// `robot/msg/Image`, and where the encoding is `omgidl`, `robot::Image`.
    pub name: String,
    /// Of the text, as MCAP calls it: `ros2msg` or `omgidl`.
    pub encoding: &'static str,
    /// The definition of the type, and of all that it consists of.
    pub text: String,
}

/// Of messages of this type, encoded as CDR the way sinew does it.
pub fn of(ty: &Type) -> Schema {
    if has_variant(ty) { write::idl(ty) } else { write::msg(ty) }
}

/// Of messages of this type, as ROS 1 has them, without constants. None: it can have none like them, as they have variants.
#[cfg(feature = "ros1")]
pub(crate) fn ros1(ty: &Type) -> Option<Schema> {
    (!has_variant(ty)).then(|| write::ros1(ty))
}

/// What to put behind each message of this type for readers of its description; for readers of sinew it is padding (C1.4). Almost always nothing. But of a message without bytes, as those of
/// `std_msgs/msg/Empty`, all tools read one byte, since ROS 2 has no structure without fields.
pub fn padding(ty: &Type) -> &'static [u8] {
    if ty.fewest_bytes() == 0 { &[0] } else { &[] }
}

/// Why no type that sinew knows is described, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(String);

#[cfg(any(feature = "ros1", feature = "ros2"))]
impl SchemaError {
    pub(crate) fn new(sentence: String) -> SchemaError {
        SchemaError(sentence)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

/// The type that such a description says. The text may come from a stranger. Encodings are `ros2msg`, `ros1msg`, `ros2idl` and `omgidl`, with all definitions behind one another as MCAP and bags have them.
///
/// Types are called what they are in C++ there, `robot/msg/Image` of ROS 2 and `robot/Image` of ROS 1. Bounds are not kept: `T[<=1]` is a vector, but in what sinew itself has written, whose first line says that it is an optional. Of ROS 2, a structure
/// without fields has the `uint8 structure_needs_at_least_one_member` that its messages have; of ROS 1, `time` is `{sec:uint32;nsec:uint32;}` and `duration` `{sec:int32;nsec:int32;}`.
///
/// Of IDL, a union whose alternatives are numbered from 0 on by 32 bits is a variant. What has another form in streams than in those of sinew is refused: `@optional`, `@mutable`.
pub fn parse(name: &str, encoding: &str, text: &str) -> Result<Type, SchemaError> {
    check_size(name, text)?;
    if let Some(ty) = signed(encoding, text) {
        return Ok(ty);
    }
    let ty = match encoding {
        "ros2msg" => msg::parse(name, msg::Dialect::Ros2, text)?,
        "ros1msg" => msg::parse(name, msg::Dialect::Ros1, text)?,
        "omgidl" | "ros2idl" => resolve::parse(name, &idl::read(text)?)?,
        _ => {
            let known = "ros2msg, ros1msg, ros2idl and omgidl";
            return Err(SchemaError(format!(
                "the definition of {} is written in {}, and sinew reads {known}",
                quoted(name),
                quoted(encoding)
            )));
        }
    };
    if ty.depth() > MAX_DEPTH {
        return Err(SchemaError(format!("{} is nested more than {MAX_DEPTH} deep", quoted(name))));
    }
    let size = ty.to_string().len();
    if size > MAX_SIGNATURE {
        return Err(SchemaError(format!(
            "{} has a signature of {size} bytes, and {MAX_SIGNATURE} are the most that sinew takes",
            quoted(name)
        )));
    }
    Ok(ty)
}

pub(crate) fn check_size(name: &str, text: &str) -> Result<(), SchemaError> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    Err(SchemaError(format!("the definition of {} has {} bytes, and {MAX_TEXT} are the most", quoted(name), text.len())))
}

/// The type whose signature stands in the first line, if the description is that of this type.
fn signed(encoding: &str, text: &str) -> Option<Type> {
    let line = text.lines().next()?;
    let (_, signature) = line.split_once(write::MARK)?;
    let ty: Type = signature.parse().ok()?;
    let schema = of(&ty);
    (schema.encoding == encoding && schema.text.trim_end() == text.trim_end()).then_some(ty)
}

fn has_variant(ty: &Type) -> bool {
    match ty {
        Type::Number(_) | Type::Enumeration { .. } | Type::String => false,
        Type::Vector(inner) | Type::Array(inner, _) | Type::Optional(inner) => has_variant(inner),
        Type::Structure(structure) => structure.fields.iter().any(|field| has_variant(&field.ty)),
        Type::Variant(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the comment.
    fn text(signature: &str) -> String {
        let schema = of(&signature.parse().unwrap());
        schema.text.split_once('\n').unwrap().1.to_owned()
    }

    fn dependency(name: &str, text: &str) -> String {
        format!("{}\nMSG: {name}\n{text}", "=".repeat(80))
    }

    #[test]
    fn a_definition_has_those_of_its_parts_behind_it_each_once() {
        let header = "robot/Header{stamp_ns:uint64;frame_id:string;}";
        let ty = format!("robot/Image{{header:{header};data:uint8[];others:{header}[2];}}");
        let expected = "robot/Header header\nuint8[] data\nrobot/Header[2] others\n".to_owned()
            + &dependency("robot/Header", "uint64 stamp_ns\nstring frame_id\n");
        assert_eq!(text(&ty), expected);
    }

    #[test]
    fn what_ros_has_no_word_for_is_said_with_structures_that_add_no_bytes() {
        assert_eq!(text("A{m:float32[3][4];o:uint8?;c:C(int16)[];}"), "float32[12] m\nuint8[<=1] o\nint16[] c\n");
        let list = dependency("sinew/StringList", "string[] data\n");
        assert_eq!(text("A{v:string[][];o:string[]?;}"), "sinew/StringList[] v\nsinew/StringList[<=1] o\n".to_owned() + &list);
        assert_eq!(
            text("A{v:float32[3][];}"),
            "sinew/Float32Array3[] v\n".to_owned() + &dependency("sinew/Float32Array3", "float32[3] data\n")
        );
        assert_eq!(
            text("A{v:uint8?[2];}"),
            "sinew/Uint8Optional[2] v\n".to_owned() + &dependency("sinew/Uint8Optional", "uint8[<=1] data\n")
        );
    }

    #[test]
    fn a_message_that_is_no_structure_is_one_with_data() {
        for (signature, name, expected) in [
            ("uint32", "sinew/msg/Uint32", "uint32 data\n"),
            ("float32[]", "sinew/msg/Float32List", "float32[] data\n"),
            ("robot/Color(uint8)", "robot/msg/Color", "uint8 data\n"),
        ] {
            assert_eq!((of(&signature.parse().unwrap()).name.as_str(), text(signature).as_str()), (name, expected));
        }
    }

    #[test]
    fn what_takes_no_bytes_is_left_out_and_its_number_is_told() {
        assert_eq!(text("A{a:N{};b:uint8;c:uint64[0];d:N{}[];e:N{}?;f:M{n:N{}[3];}[2];}"), "uint8 b\nuint32 d\nuint32 e\n");
        let nothing: Type = "std_msgs/Empty{}".parse().unwrap();
        assert_eq!((text("std_msgs/Empty{}").as_str(), padding(&nothing)), ("", &[0][..]));
        assert!(padding(&"A{a:uint8;}".parse().unwrap()).is_empty());
    }

    #[test]
    fn structures_and_fields_whose_names_become_the_same_are_numbered() {
        let expected = "uint8 frame_id\nuint8 frame_id2\n";
        assert_eq!(text("A{frameId:uint8;frame_id_:uint8;}"), expected);
        let expected = "a/B b\na/B2 c\nsinew/A2 d\n".to_owned()
            + &dependency("sinew/A2", "uint8 z\n")
            + &dependency("a/B2", "uint8 y\n")
            + &dependency("a/B", "uint8 x\n");
        assert_eq!(text("A{b:a/B{x:uint8;};c:a/msg/B{y:uint8;};d:A{z:uint8;};}"), expected);
    }

    #[test]
    fn a_time_that_is_not_that_of_ros_has_another_name() {
        assert!(text("A{t:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};}").starts_with("builtin_interfaces/Time t\n"));
        assert!(text("A{t:builtin_interfaces/msg/Time{ns:int64;};}").starts_with("builtin_interfaces/Time2 t\n"));
    }

    #[test]
    fn a_type_with_variants_is_said_in_idl_with_unions() {
        let schema = of(&"robot/State{it:(uint8|robot/Point{x:float64;}?|std/monostate{})[];n:float32[2];default:bool;}".parse().unwrap());
        assert_eq!((schema.name.as_str(), schema.encoding), ("robot::State", "omgidl"));
        let expected = "\
module robot {
  struct Point {
    double x;
  };
};
module std {
  struct Monostate {
  };
};
module sinew {
  union Variant switch (unsigned long) {
    case 0: uint8 value_0;
    case 1: sequence<robot::Point, 1> value_1;
    case 2: std::Monostate value_2;
  };
};
module robot {
  struct State {
    sequence<sinew::Variant> it;
    float n[2];
    boolean default_;
  };
};
";
        assert_eq!(schema.text.split_once('\n').unwrap().1, expected);
    }

    #[test]
    fn the_signature_at_the_top_counts_only_where_the_rest_is_said_of_it() {
        let ty: Type = "robot/Image{frameId:E(uint8)[2][2];}".parse().unwrap();
        let Schema { name, encoding, text } = of(&ty);
        assert_eq!(text, "# sinew: robot/Image{frameId:E(uint8)[2][2];}\nuint8[4] frame_id\n");
        assert_eq!(parse(&name, encoding, &text), Ok(ty));
        let changed = parse(&name, encoding, &text.replace("[4]", "[5]")).unwrap();
        assert_eq!(changed.to_string(), "robot/msg/Image{frame_id:uint8[5];}");
        assert_eq!(parse("a/msg/B", "ros2msg", &text.replace("# sinew", "# others")).unwrap().to_string(), "a/msg/B{frame_id:uint8[4];}");
    }
}
