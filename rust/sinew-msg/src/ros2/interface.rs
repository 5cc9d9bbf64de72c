//! What a type of ROS 2 consists of.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::schema::{self, Definition, Line, Row, SchemaError};
use crate::signature::{MAX_SIGNATURE, quoted};
use crate::types::{self, MAX_DEPTH, MAX_MEMBERS, Number, Structure, Type};

/// Which every definition may refer to, and which sinew knows without one.
const TIME: (&str, [(&str, Number); 2]) = ("builtin_interfaces/msg/Time", [("sec", Number::Int32), ("nanosec", Number::Uint32)]);
const DURATION: (&str, [(&str, Number); 2]) = ("builtin_interfaces/msg/Duration", [("sec", Number::Int32), ("nanosec", Number::Uint32)]);

/// A type with all that it refers to: more than sinew knows of it, as bounds are no part of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    name: String,
    /// By their names. This one is there, too.
    structures: BTreeMap<String, Vec<Field>>,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    /// What it holds one or more of.
    pub base: Base,
    pub row: Row,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// `uint32`; `char` is `uint8`.
    Number(Number),
    /// A `uint8` in messages.
    Byte,
    /// With the most characters that it may have; 0: any number.
    String(u64),
    /// Likewise; no message of sinew can have it.
    WideString(u64),
    /// A structure of this name.
    Nested(String),
}

impl Interface {
    /// As ROS 2 would have such a type, with nothing bounded. None: it can have none like it, as it has variants.
    pub fn of(ty: &Type) -> Option<Interface> {
        let described = schema::of(ty);
        if described.encoding != "ros2msg" {
            return None;
        }
        Interface::read(&described.name, &described.text).ok()
    }

    /// From its definition and, behind that, those that it refers to, as MCAP has them (`ros2msg`).
    pub fn read(name: &str, text: &str) -> Result<Interface, SchemaError> {
        let definitions = schema::ros2_definitions(name, text)?;
        let structures = definitions.iter().map(|definition| Ok((definition.name.clone(), fields_of(definition)?)));
        Interface::complete(name, structures.collect::<Result<_, _>>()?)
    }

    /// If all that these structures refer to is among them, and none contains itself.
    pub(super) fn complete(name: &str, mut structures: BTreeMap<String, Vec<Field>>) -> Result<Interface, SchemaError> {
        for (known, fields) in [TIME, DURATION] {
            let is_needed = |field: &Field| field.base == Base::Nested(known.to_owned());
            if !structures.contains_key(known) && structures.values().flatten().any(is_needed) {
                let one = |(name, number): (&str, Number)| Field { name: name.to_owned(), base: Base::Number(number), row: Row::One };
                structures.insert(known.to_owned(), fields.map(one).into());
            }
        }
        let interface = Interface { name: name.to_owned(), structures };
        interface.height(name, 1, &mut HashMap::new())?;
        Ok(interface)
    }

    /// The service whose requests and responses these are, `std_srvs/srv/SetBool`: for its hash.
    pub fn service(request: &Interface, response: &Interface) -> Option<Interface> {
        let name = request.name.strip_suffix("_Request")?;
        let one = |name: &str, nested: &str, row| Field { name: name.to_owned(), base: Base::Nested(nested.to_owned()), row };
        let info = Interface::read("service_msgs/msg/ServiceEventInfo", EVENT_INFO).ok()?;
        let (info_name, event_name) = (info.name.clone(), format!("{name}_Event"));
        let event = vec![
            one("info", &info_name, Row::One),
            one("request", &request.name, Row::AtMost(1)),
            one("response", &response.name, Row::AtMost(1)),
        ];
        let fields = vec![
            one("request_message", &request.name, Row::One),
            one("response_message", &response.name, Row::One),
            one("event_message", &event_name, Row::One),
        ];
        let mut structures: BTreeMap<_, _> = [request, response, &info].into_iter().flat_map(|part| part.structures.clone()).collect();
        structures.extend([(event_name, event), (name.to_owned(), fields)]);
        Interface::complete(name, structures).ok()
    }

    /// `sensor_msgs/msg/Image`, `std_srvs/srv/SetBool_Request`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn structures(&self) -> &BTreeMap<String, Vec<Field>> {
        &self.structures
    }

    /// As sinew knows it. Fails where it has a `wstring`, or is larger than a type of sinew may be.
    pub fn ty(&self) -> Result<Type, SchemaError> {
        self.structure(&self.name, &mut { MAX_SIGNATURE })
    }

    fn structure(&self, name: &str, left: &mut usize) -> Result<Type, SchemaError> {
        let fields = self.fields(name);
        if fields.len() > MAX_MEMBERS {
            let count = fields.len();
            return Err(SchemaError::new(format!("{} has {count} fields, and {MAX_MEMBERS} are the most that sinew takes", quoted(name))));
        }
        let mut made = Structure { name: name.to_owned(), fields: Vec::new() };
        take(left, name)?;
        for field in fields {
            take(left, &field.name)?;
            let one = match &field.base {
                Base::Number(number) => Type::Number(*number),
                Base::Byte => Type::Number(Number::Uint8),
                Base::String(_) => Type::String,
                Base::WideString(_) => {
                    let named = quoted(&field.name);
                    return Err(SchemaError::new(format!("{} has a wstring, {named}, and strings of sinew are bytes", quoted(name))));
                }
                Base::Nested(nested) => self.structure(nested, left)?,
            };
            let ty = match field.row {
                Row::One => one,
                Row::Any | Row::AtMost(_) => Type::Vector(Box::new(one)),
                Row::Exactly(length) => Type::Array(Box::new(one), length),
            };
            made.fields.push(types::Field { name: field.name.clone(), ty });
        }
        Ok(Type::Structure(made))
    }

    fn fields(&self, name: &str) -> &[Field] {
        self.structures.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Why messages of this type are none of the other, as a sentence about its first field that differs. Names of types do not matter, nor do bounds.
    pub fn difference(&self, other: &Interface) -> Option<String> {
        Pair { here: self, there: other, same: Vec::new() }.difference(&self.name, &other.name)
    }

    /// How many structures are in one another in it.
    fn height(&self, name: &str, depth: usize, known: &mut HashMap<String, usize>) -> Result<usize, SchemaError> {
        if let Some(height) = known.get(name).filter(|height| depth + **height <= MAX_DEPTH + 1) {
            return Ok(*height);
        }
        if depth > MAX_DEPTH {
            return Err(SchemaError::new(format!("{} contains itself, or is nested more than {MAX_DEPTH} deep", quoted(&self.name))));
        }
        let mut highest = 0;
        for field in self.fields(name) {
            let Base::Nested(nested) = &field.base else { continue };
            if !self.structures.contains_key(nested) {
                let (field, ty) = (quoted(&field.name), quoted(nested));
                return Err(SchemaError::new(format!(
                    "{} has the field {field} of the type {ty}, of which there is no definition",
                    quoted(name)
                )));
            }
            highest = highest.max(self.height(nested, depth + 1, known)?);
        }
        known.insert(name.to_owned(), highest + 1);
        Ok(highest + 1)
    }
}

const EVENT_INFO: &str = "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number\n";

/// Of a name in a signature, and the signs beside it.
fn take(left: &mut usize, name: &str) -> Result<(), SchemaError> {
    *left = left.checked_sub(name.len() + 2).ok_or_else(|| {
        SchemaError::new(format!("the type has a signature of more than {MAX_SIGNATURE} bytes, the most that sinew takes"))
    })?;
    Ok(())
}

/// With what a structure without fields has.
pub(super) fn fields_of(definition: &Definition<'_>) -> Result<Vec<Field>, SchemaError> {
    let mut fields = Vec::new();
    for line in &definition.lines {
        if fields.iter().any(|field: &Field| field.name == line.name) {
            return Err(SchemaError::new(format!("{} has two fields named {}", quoted(&definition.name), quoted(line.name))));
        }
        fields.push(field(definition, line)?);
    }
    if fields.is_empty() {
        fields.push(Field { name: schema::PLACEHOLDER.to_owned(), base: Base::Number(Number::Uint8), row: Row::One });
    }
    Ok(fields)
}

fn field(definition: &Definition<'_>, line: &Line<'_>) -> Result<Field, SchemaError> {
    let wrong = |what: &str| {
        let (name, ty) = (quoted(line.name), quoted(line.ty));
        SchemaError::new(format!("{} has the field {name} of the type {ty}, {what}", quoted(&definition.name)))
    };
    let written = line.written().map_err(wrong)?;
    let bound = written.bound.unwrap_or(0);
    let base = match written.base {
        "byte" => Base::Byte,
        "char" => Base::Number(Number::Uint8),
        "string" => Base::String(bound),
        "wstring" => Base::WideString(bound),
        "time" => Base::Nested(TIME.0.to_owned()),
        "duration" => Base::Nested(DURATION.0.to_owned()),
        other => match Number::of_name(other) {
            Some(number) => Base::Number(number),
            None => match schema::package_and_name(other) {
                Some(("", name)) => Base::Nested(format!("{}/msg/{name}", definition.package)),
                Some((package, name)) => Base::Nested(format!("{package}/msg/{name}")),
                None => return Err(wrong("which is no name of a type")),
            },
        },
    };
    Ok(Field { name: line.name.to_owned(), base, row: written.row })
}

/// Two types that are compared.
struct Pair<'a> {
    here: &'a Interface,
    there: &'a Interface,
    /// Structures that were found to be the same.
    same: Vec<(&'a str, &'a str)>,
}

impl<'a> Pair<'a> {
    fn difference(&mut self, here: &'a str, there: &'a str) -> Option<String> {
        if self.same.contains(&(here, there)) {
            return None;
        }
        let (ours, theirs) = (self.here.fields(here), self.there.fields(there));
        for n in 0..ours.len().max(theirs.len()) {
            let difference = match (ours.get(n), theirs.get(n)) {
                (Some(ours), Some(theirs)) if ours.name != theirs.name => Some(format!("field '{}' is '{}' there", ours.name, theirs.name)),
                (Some(ours), Some(theirs)) if !ours.is_alike(theirs) => {
                    Some(format!("field '{}' is {ours} here and {theirs} there", ours.name))
                }
                (Some(Field { name, base: Base::Nested(ours), .. }), Some(Field { base: Base::Nested(theirs), .. })) => {
                    self.difference(ours, theirs).map(|inside| format!("in '{name}', {inside}"))
                }
                (Some(ours), None) => Some(format!("field '{}' is not there", ours.name)),
                (None, Some(theirs)) => Some(format!("field '{}' is only there", theirs.name)),
                _ => None,
            };
            if difference.is_some() {
                return difference;
            }
        }
        self.same.push((here, there));
        None
    }
}

impl Field {
    /// As messages have it; what is nested is not looked into.
    fn is_alike(&self, other: &Field) -> bool {
        let one = match (&self.base, &other.base) {
            (Base::Number(ours), Base::Number(theirs)) => ours == theirs,
            (Base::Byte, Base::Number(number)) | (Base::Number(number), Base::Byte) => *number == Number::Uint8,
            (ours, theirs) => std::mem::discriminant(ours) == std::mem::discriminant(theirs),
        };
        let is_any = |row| matches!(row, Row::Any | Row::AtMost(_));
        one && (self.row == other.row || is_any(self.row) && is_any(other.row))
    }
}

/// Its type, as a definition has it.
impl fmt::Display for Field {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Number(number) => to.write_str(number.name())?,
            Base::Byte => to.write_str("byte")?,
            Base::String(bound) => named(to, "string", *bound)?,
            Base::WideString(bound) => named(to, "wstring", *bound)?,
            Base::Nested(name) => to.write_str(name)?,
        }
        match self.row {
            Row::One => Ok(()),
            Row::Any => to.write_str("[]"),
            Row::AtMost(most) => write!(to, "[<={most}]"),
            Row::Exactly(length) => write!(to, "[{length}]"),
        }
    }
}

fn named(to: &mut fmt::Formatter<'_>, name: &str, bound: u64) -> fmt::Result {
    if bound == 0 { to.write_str(name) } else { write!(to, "{name}<={bound}") }
}
