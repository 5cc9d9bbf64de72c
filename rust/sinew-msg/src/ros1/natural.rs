//! The type that sinew has for a definition of ROS 1.

use super::definition::Definition;
use crate::schema::{self, SchemaError};
use crate::types::{Field, Number, Structure, Type};

impl Definition {
    /// As msggen makes it: with the names, times and headers of ROS 2. Fails where a type may not be so large.
    pub fn ty(&self) -> Result<Type, SchemaError> {
        schema::parse(self.name(), "ros1msg", &self.text()).map(natural)
    }
}

fn natural(ty: Type) -> Type {
    match ty {
        Type::Structure(structure) => Type::Structure(natural_structure(structure)),
        Type::Vector(element) => Type::Vector(Box::new(natural(*element))),
        Type::Array(element, length) => Type::Array(Box::new(natural(*element)), length),
        other => other,
    }
}

fn natural_structure(Structure { name, fields }: Structure) -> Structure {
    let number = |name: &str, number| Field { name: name.to_owned(), ty: Type::Number(number) };
    if let Some(base @ ("Time" | "Duration")) = name.strip_prefix("ros/") {
        let fields = vec![number("sec", Number::Int32), number("nanosec", Number::Uint32)];
        return Structure { name: format!("builtin_interfaces/msg/{base}"), fields };
    }
    // As all versions of ROS 1 have it: what is called so and is another one stays as it is.
    let is_as_usual = fields.iter().map(|field| field.name.as_str()).eq(["seq", "stamp", "frame_id"]);
    let has_number = matches!(fields.first(), Some(field) if field.ty == Type::Number(Number::Uint32));
    let is_header = name == "std_msgs/Header" && is_as_usual && has_number && !fields.iter().any(|field| field.ty.fewest_bytes() == 0);
    let kept = fields.into_iter().skip(usize::from(is_header));
    let mut fields: Vec<Field> = kept.map(|field| Field { name: field.name, ty: natural(field.ty) }).collect();
    if fields.is_empty() {
        fields.push(number(schema::PLACEHOLDER, Number::Uint8));
    }
    Structure { name: name.replacen('/', "/msg/", 1), fields }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;

    #[test]
    fn names_times_and_headers_are_those_of_ros_2() {
        let parts = "===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n===\nMSG: a/Empty\n===\nMSG: std_msgs/String\nstring data\n";
        let text = format!("Header header\nduration[2] d\nEmpty e\nstd_msgs/String[] names\nbyte b\n{parts}");
        let definition = Definition::read("a/B", &text).unwrap();
        let ty = definition.ty().unwrap();
        let time = |name: &str| format!("builtin_interfaces/msg/{name}{{sec:int32;nanosec:uint32;}}");
        let header = format!("std_msgs/msg/Header{{stamp:{};frame_id:string;}}", time("Time"));
        let empty = "a/msg/Empty{structure_needs_at_least_one_member:uint8;}";
        let fields = format!("header:{header};d:{}[2];e:{empty};names:std_msgs/msg/String{{data:string;}}[];b:int8;", time("Duration"));
        assert_eq!(ty.to_string(), format!("a/msg/B{{{fields}}}"));
        assert!(Plan::new(&ty, &definition).is_ok());
    }

    #[test]
    fn a_header_that_counts_in_another_way_keeps_its_number() {
        let definition = Definition::read("a/B", "Header h\n===\nMSG: std_msgs/Header\nuint16 seq\ntime stamp\nstring frame_id\n").unwrap();
        assert!(definition.ty().unwrap().to_string().contains("seq:uint16;"));
        assert!(Plan::new(&definition.ty().unwrap(), &definition).is_ok());
    }

    #[test]
    fn a_field_whose_name_ros_1_would_not_take_is_itself_all_the_same() {
        let definition = Definition::read("a/B", "uint8 _\nuint8 2x\n");
        assert!(definition.is_err());
        let definition = Definition::read("a/B", "uint8 _\nuint8 __x\n").unwrap();
        assert!(Plan::new(&definition.ty().unwrap(), &definition).is_ok());
    }

    #[test]
    fn what_is_larger_than_a_type_may_be_has_none() {
        let doubling: String = (0..40).map(|n| format!("===\nMSG: a/C{n}\nC{0} x\nC{0} y\n", n + 1)).collect();
        let definition = Definition::read("a/B", &format!("C0 x\n{doubling}===\nMSG: a/C40\nuint8 x\n")).unwrap();
        assert!(definition.ty().is_err());
    }
}
