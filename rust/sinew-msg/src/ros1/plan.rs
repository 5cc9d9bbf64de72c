//! What stands where, in a message of sinew and in one of ROS 1.

use std::collections::HashMap;

use super::definition::Definition;
use super::part::{Base, Field};
use crate::schema::{self, Row};
use crate::types::{self, Number, Structure, Type};

/// How messages of a type become those of a definition, and the other way round: made once, for all of them. What touches on both sides is one step, and so is a row of it, however long.
///
/// Fields stand in the same order; in their names neither capital letters nor underscores matter. What differs is not looked at twice: `seq` of `std_msgs/Header`, which ROS 2 no longer has; times, whatever sinew calls their two
/// parts; a `byte`, which has a sign in ROS 1 alone; and structures without fields, which take a byte in ROS 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Numbers of so many bytes each.
    Numbers {
        size: usize,
        count: u64,
    },
    /// Each is 0 or 1 here, and to ROS 1 each byte but 0 is true.
    Bools {
        count: u64,
    },
    String,
    /// Their number, and so many of them.
    Row {
        element: Elements,
        is_optional: bool,
    },
    /// Always so many.
    Repeat {
        times: u64,
        element: Elements,
    },
    /// In ROS 1 alone: the number in a header. That of the message's own header counts its messages.
    Seq {
        is_own: bool,
    },
    /// Here alone: the byte of a structure without fields.
    Placeholder,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    pub steps: Vec<Step>,
    /// The fewest bytes that one takes here, padding aside.
    pub fewest_here: u64,
    /// In ROS 1.
    pub fewest_there: u64,
}

impl Plan {
    /// Fails with a sentence about what differs first.
    pub fn new(ty: &Type, definition: &Definition) -> Result<Plan, String> {
        let mut steps = Vec::new();
        let mut pairing = Pairing { definition, known: HashMap::new() };
        let at = At { path: String::new(), level: 0 };
        pairing.nested(ty, definition.name(), &at, &mut steps).map_err(|why| why.unwrap_or_else(|| at.differ(ty, &definition.name())))?;
        Ok(Plan { steps })
    }
}

impl Elements {
    fn of(steps: Vec<Step>) -> Elements {
        let (mut fewest_here, mut fewest_there) = (0_u64, 0_u64);
        for step in &steps {
            let (here, there) = step.fewest();
            fewest_here = fewest_here.saturating_add(here);
            fewest_there = fewest_there.saturating_add(there);
        }
        Elements { steps, fewest_here, fewest_there }
    }
}

impl Step {
    fn fewest(&self) -> (u64, u64) {
        match self {
            Step::Numbers { size, count } => {
                let bytes = count.saturating_mul(*size as u64);
                (bytes, bytes)
            }
            Step::Bools { count } => (*count, *count),
            Step::String | Step::Row { .. } => (4, 4),
            Step::Repeat { times, element } => (times.saturating_mul(element.fewest_here), times.saturating_mul(element.fewest_there)),
            Step::Seq { .. } => (0, 4),
            Step::Placeholder => (1, 0),
        }
    }
}

/// With what stands there already, where both are one.
fn push(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), &step) {
        (Some(Step::Numbers { size: before, count }), Step::Numbers { size, count: more }) if *before == *size => {
            *count = count.saturating_add(*more);
        }
        (Some(Step::Bools { count }), Step::Bools { count: more }) => *count = count.saturating_add(*more),
        _ => steps.push(step),
    }
}

fn repeat(steps: &mut Vec<Step>, times: u64, element: Vec<Step>) {
    match element.as_slice() {
        [] => {}
        [Step::Numbers { size, count }] => push(steps, Step::Numbers { size: *size, count: count.saturating_mul(times) }),
        [Step::Bools { count }] => push(steps, Step::Bools { count: count.saturating_mul(times) }),
        _ => steps.push(Step::Repeat { times, element: Elements::of(element) }),
    }
}

/// Where in a message something is.
struct At {
    path: String,
    /// Structures around it.
    level: u32,
}

impl At {
    fn inside(&self, name: &str) -> At {
        At { path: self.field(name), level: self.level + 1 }
    }

    fn element(&self) -> At {
        At { path: format!("{}[]", self.path), level: self.level + 1 }
    }

    fn field(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn differ(&self, ty: &Type, there: &impl std::fmt::Display) -> String {
        let what = if self.path.is_empty() { "it".to_owned() } else { format!("field '{}'", self.path) };
        format!("{what} is {} here and {there} there", ty.name())
    }
}

struct Pairing<'d> {
    definition: &'d Definition,
    /// Structures of which it was asked whether they take no bytes.
    known: HashMap<&'d str, bool>,
}

/// Else what differs, where that is not the whole that was compared.
type Paired = Result<(), Option<String>>;

impl<'d> Pairing<'d> {
    fn member(&mut self, ty: &Type, there: &'d Field, at: &At, steps: &mut Vec<Step>) -> Result<(), String> {
        if ty.fewest_bytes() == 0 && self.takes_nothing(there) {
            return Ok(());
        }
        let paired = match (ty, there.row) {
            // Of what takes no bytes there is the number alone.
            (Type::Vector(inner) | Type::Optional(inner), Row::One)
                if inner.fewest_bytes() == 0 && there.base == Base::Number(Number::Uint32) =>
            {
                steps.push(Step::Row { element: Elements::of(Vec::new()), is_optional: matches!(ty, Type::Optional(_)) });
                Ok(())
            }
            (Type::Vector(inner) | Type::Optional(inner), Row::Any) => {
                let mut element = Vec::new();
                let paired = self.element(inner, &there.base, at, &mut element);
                steps.push(Step::Row { element: Elements::of(element), is_optional: matches!(ty, Type::Optional(_)) });
                paired
            }
            (Type::Array(inner, length), Row::Exactly(length_there)) => {
                let (innermost, total) = flat(inner, u64::from(*length));
                let mut element = Vec::new();
                let paired = if total == u64::from(length_there) {
                    self.element(innermost, &there.base, at, &mut element)
                } else if *length == length_there {
                    self.element(inner, &there.base, at, &mut element)
                } else {
                    Err(None)
                };
                repeat(steps, u64::from(length_there), element);
                paired
            }
            (_, Row::One) => self.one(ty, &there.base, at, steps),
            _ => Err(None),
        };
        paired.map_err(|why| why.unwrap_or_else(|| at.differ(ty, there)))
    }

    fn element(&mut self, ty: &Type, base: &'d Base, at: &At, steps: &mut Vec<Step>) -> Paired {
        let is_nothing = matches!(base, Base::Nested(name) if self.is_empty(name));
        if ty.fewest_bytes() == 0 && is_nothing { Ok(()) } else { self.one(ty, base, &at.element(), steps) }
    }

    fn one(&mut self, ty: &Type, base: &'d Base, at: &At, steps: &mut Vec<Step>) -> Paired {
        match (ty, base) {
            (_, Base::Nested(name)) => return self.nested(ty, name, at, steps),
            (Type::Number(Number::Bool), Base::Number(Number::Bool)) => push(steps, Step::Bools { count: 1 }),
            (Type::Number(here) | Type::Enumeration { number: here, .. }, Base::Number(there)) if here == there => {
                push(steps, Step::Numbers { size: here.size(), count: 1 });
            }
            (Type::Number(here) | Type::Enumeration { number: here, .. }, Base::Byte) if matches!(here, Number::Int8 | Number::Uint8) => {
                push(steps, Step::Numbers { size: 1, count: 1 });
            }
            (Type::String, Base::String) => steps.push(Step::String),
            (Type::Structure(here), Base::Time | Base::Duration) if is_time(here) => push(steps, Step::Numbers { size: 4, count: 2 }),
            _ => return Err(None),
        }
        Ok(())
    }

    fn nested(&mut self, ty: &Type, name: &'d str, at: &At, steps: &mut Vec<Step>) -> Paired {
        let definition = self.definition;
        match (ty, definition.fields(name)) {
            (Type::Structure(here), _) => self.structure(here, name, at, steps),
            // Around what ROS has no word for, and a message that is no structure.
            (_, [only]) => self.member(ty, only, &At { path: at.path.clone(), level: at.level + 1 }, steps).map_err(Some),
            (_, []) if ty.fewest_bytes() == 0 => Ok(()),
            _ => Err(None),
        }
    }

    fn structure(&mut self, here: &Structure, name: &'d str, at: &At, steps: &mut Vec<Step>) -> Paired {
        let is_placeholder = |field: &types::Field| field.name == schema::PLACEHOLDER && field.ty == Type::Number(Number::Uint8);
        if matches!(here.fields.as_slice(), [only] if is_placeholder(only)) && self.is_empty(name) {
            steps.push(Step::Placeholder);
            return Ok(());
        }
        let definition = self.definition;
        let mut fields = definition.fields(name).iter().peekable();
        let has_seq = here.fields.first().is_some_and(|field| is_alike(&field.name, SEQ));
        if name == "std_msgs/Header" && !has_seq && fields.next_if(|there| there.name == SEQ && is_seq(there)).is_some() {
            steps.push(Step::Seq { is_own: at.level <= 1 });
        }
        for field in &here.fields {
            let inside = at.inside(&field.name);
            if field.ty.fewest_bytes() == 0 {
                // It may be left out there.
                let _ = fields.next_if(|&there| is_alike(&field.name, &there.name) && self.takes_nothing(there));
                continue;
            }
            match fields.next() {
                Some(there) if is_alike(&field.name, &there.name) => self.member(&field.ty, there, &inside, steps).map_err(Some)?,
                Some(there) => return Err(Some(format!("field '{}' here is '{}' there", inside.path, at.field(&there.name)))),
                None => return Err(Some(format!("field '{}' is missing there", inside.path))),
            }
        }
        match fields.find(|&there| !self.takes_nothing(there)) {
            Some(there) => Err(Some(format!("field '{}' is missing here", at.field(&there.name)))),
            None => Ok(()),
        }
    }

    fn takes_nothing(&mut self, there: &'d Field) -> bool {
        match (&there.base, there.row) {
            (_, Row::Exactly(0)) => true,
            (Base::Nested(name), Row::One | Row::Exactly(_)) => self.is_empty(name),
            _ => false,
        }
    }

    fn is_empty(&mut self, name: &'d str) -> bool {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let definition = self.definition;
        let is_empty = definition.fields(name).iter().all(|field| self.takes_nothing(field));
        self.known.insert(name, is_empty);
        is_empty
    }
}

/// The number in a header of ROS 1.
const SEQ: &str = "seq";

fn is_seq(there: &Field) -> bool {
    there.base == Base::Number(Number::Uint32) && there.row == Row::One
}

/// What arrays of arrays are arrays of in the end, and of how many.
fn flat(element: &Type, length: u64) -> (&Type, u64) {
    match element {
        Type::Array(inner, times) => flat(inner, length.saturating_mul(u64::from(*times))),
        _ => (element, length),
    }
}

fn is_time(here: &Structure) -> bool {
    let [seconds, rest] = here.fields.as_slice() else { return false };
    let is_part = |field: &types::Field| matches!(field.ty, Type::Number(Number::Int32 | Number::Uint32));
    is_part(seconds) && is_part(rest) && seconds.name == "sec" && ["nanosec", "nsec"].contains(&rest.name.as_str())
}

/// Capital letters and underscores aside, and where a name here is not legal there, as what it becomes.
fn is_alike(here: &str, there: &str) -> bool {
    here == there || letters(&schema::ros1_field(here)).eq(letters(there))
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(signature: &str, name: &str, text: &str) -> Result<Vec<Step>, String> {
        Ok(Plan::new(&signature.parse().unwrap(), &Definition::read(name, text).unwrap())?.steps)
    }

    #[test]
    fn what_touches_on_both_sides_is_one_step() {
        let point = "geometry_msgs/Point{x:float64;y:float64;z:float64;}";
        let text = "Point[] line\nPoint[2] ends\nfloat64 length\nbool a\nbool[3] b\n===\nMSG: a/Point\nfloat64 x\nfloat64 y\nfloat64 z\n";
        let steps = plan(&format!("A{{line:{point}[];ends:{point}[2];length:float64;a:bool;b:bool[3];}}"), "a/B", text).unwrap();
        let element = Elements { steps: vec![Step::Numbers { size: 8, count: 3 }], fewest_here: 24, fewest_there: 24 };
        let row = Step::Row { element, is_optional: false };
        assert_eq!(steps, [row, Step::Numbers { size: 8, count: 7 }, Step::Bools { count: 4 }]);
    }

    #[test]
    fn a_header_has_a_number_in_ros_1_alone() {
        let header = "std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;}";
        let text = "Header header\nstd_msgs/Header[1] more\n===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
        let steps = plan(&format!("A{{header:{header};more:{header}[1];}}"), "a/B", text).unwrap();
        let rest = [Step::Numbers { size: 4, count: 2 }, Step::String];
        let with_seq = |is_own| [vec![Step::Seq { is_own }], rest.to_vec()].concat();
        assert_eq!(steps[..3], with_seq(true));
        assert_eq!(steps[3..], [Step::Repeat { times: 1, element: Elements::of(with_seq(false)) }]);
        // Of a recording of ROS 1.
        let whole = "std_msgs/Header{seq:uint32;stamp:ros/Time{sec:uint32;nsec:uint32;};frame_id:string;}";
        let steps = plan(whole, "std_msgs/Header", "uint32 seq\ntime stamp\nstring frame_id\n").unwrap();
        assert_eq!(steps, [Step::Numbers { size: 4, count: 3 }, Step::String]);
    }

    #[test]
    fn neither_capital_letters_nor_underscores_matter() {
        assert!(plan("A{k:float64[9];frameId:string;}", "a/B", "float64[9] K\nstring frame_id\n").is_ok());
    }

    #[test]
    fn a_byte_has_a_sign_in_ros_1_alone() {
        assert!(plan("A{level:uint8;}", "a/B", "byte level\n").is_ok() && plan("A{level:int8;}", "a/B", "byte level\n").is_ok());
        assert!(plan("A{level:int8;}", "a/B", "uint8 level\n").is_err());
    }

    #[test]
    fn what_takes_nothing_is_left_out_or_has_a_byte_here() {
        let empty = "===\nMSG: a/Empty\n";
        let of_ros_2 = "Empty{structure_needs_at_least_one_member:uint8;}";
        assert_eq!(plan(of_ros_2, "a/Empty", "").unwrap(), [Step::Placeholder]);
        assert_eq!(plan("A{e:Empty{};x:uint8;}", "a/B", &format!("Empty e\nuint8 x\n{empty}")), plan("A{x:uint8;}", "a/B", "uint8 x\n"));
        assert_eq!(plan("A{e:Empty{};x:uint8;}", "a/B", "uint8 x\n"), plan("A{x:uint8;}", "a/B", "uint8 x\n"));
        let rows = plan(&format!("A{{e:{of_ros_2}[];}}"), "a/B", &format!("Empty[] e\n{empty}")).unwrap();
        assert!(matches!(&rows[..], [Step::Row { element, .. }] if element.steps == [Step::Placeholder]));
    }

    #[test]
    fn the_first_field_that_differs_is_named_with_its_path() {
        let pose = "===\nMSG: a/Pose\nfloat64 x\nfloat64[] more\n";
        let (one, poses) = (format!("Pose p\n{pose}"), format!("Pose[] p\n{pose}"));
        for (signature, text, said) in [
            ("A{x:float32;}", "float64 x\n", "field 'x' is float32 here and float64 there"),
            ("A{x:float32[];}", "float64[] x\n", "field 'x' is float32[] here and float64[] there"),
            ("A{x:float64[3];}", "float64[4] x\n", "field 'x' is float64[3] here and float64[4] there"),
            ("A{x:float64;}", "float64[] x\n", "field 'x' is float64 here and float64[] there"),
            ("A{p:P{x:float64;more:uint8[];}[];}", poses.as_str(), "field 'p[].more' is uint8[] here and float64[] there"),
            ("A{p:P{x:float64;}[];}", poses.as_str(), "field 'p[].more' is missing here"),
            ("A{p:P{y:float64;};}", one.as_str(), "field 'p.y' here is 'p.x' there"),
            ("A{p:float64;}", one.as_str(), "field 'p' is float64 here and a/Pose there"),
            ("A{x:uint8;y:uint8;}", "uint8 x\n", "field 'y' is missing there"),
            ("A{t:T{sec:int32;frac:uint32;};}", "time t\n", "field 't' is T here and time there"),
            ("uint8", "uint8 x\nuint8 y\n", "it is uint8 here and a/B there"),
            ("A{v:(uint8|string);}", "uint8 v\n", "field 'v' is (uint8|string) here and uint8 there"),
        ] {
            assert_eq!(plan(signature, "a/B", text).unwrap_err(), said, "{signature}");
        }
    }
}
