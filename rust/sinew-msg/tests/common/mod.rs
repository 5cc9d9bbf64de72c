//! What several tests stand on: the golden vectors, and any type with any value of it.
#![allow(dead_code)] // not all of it in each

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use sinew_msg::value::Value;
use sinew_msg::{Field, Number, Structure, Type};

/// One of spec/vectors/cdr.
pub struct Vector {
    /// The file.
    pub name: String,
    pub ty: Type,
    /// As JSON.
    pub value: String,
    pub little: Vec<u8>,
    pub big: Vec<u8>,
}

/// All of them.
pub fn vectors() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/cdr");
    let vector = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let told = |what: &str| text.lines().find_map(|line| line.strip_prefix(what)).expect("the vector says it").trim();
        let (little, big) = text.split_once("\nlittle\n").unwrap().1.split_once("\nbig\n").unwrap();
        let bytes = |hex: &str| hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let (ty, value) = (told("# type").parse().unwrap(), told("# value").to_owned());
        Vector { name: path.display().to_string(), ty, value, little: bytes(little), big: bytes(big) }
    };
    let vectors: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| vector(&file.unwrap().path())).collect();
    assert!(vectors.len() >= 7, "{}", vectors.len());
    vectors
}

// --- any type, and any value of it -------------------------------------------------------------------------------------------------------

/// Names that readers of YAML could take for something else among them, and some that ROS does not allow.
const NAMES: [&str; 8] = ["x", "y", "on", "null", "größe", "stamp_ns", "frameId", "x_"];
const TYPES: [&str; 4] = ["robot/Any", "Any", "robot/arm/Box<string,a/b>", "builtin_interfaces/msg/Time"];

pub fn any_type() -> impl Strategy<Value = Type> {
    let number = || proptest::sample::select(&Number::ALL[..]);
    let integer = number().prop_filter("an enumeration has an integer", |number| number.is_integer());
    let leaf = prop_oneof![
        4 => number().prop_map(Type::Number),
        2 => Just(Type::String),
        1 => integer.prop_map(|number| Type::Enumeration { name: "Color".to_owned(), number }),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let names = proptest::sample::subsequence(&NAMES[..], 0..=NAMES.len());
        let fields = (proptest::sample::select(&TYPES[..]), names, vec(inner.clone(), NAMES.len()));
        prop_oneof![
            2 => inner.clone().prop_map(|element| Type::Vector(Box::new(element))),
            1 => (inner.clone(), 0..4u32).prop_map(|(element, length)| Type::Array(Box::new(element), length)),
            2 => inner.clone().prop_map(|value| Type::Optional(Box::new(value))),
            1 => vec(inner, 1..4).prop_map(Type::Variant),
            3 => fields.prop_map(|(name, names, types)| {
                let fields = names.into_iter().zip(types).map(|(name, ty)| Field { name: name.to_owned(), ty });
                Type::Structure(Structure { name: name.to_owned(), fields: fields.collect() })
            }),
        ]
    })
}

fn whole(number: Number) -> BoxedStrategy<Value> {
    let least_and_most = |least: i128, most: i128| (least..=most).prop_map(Value::Integer).boxed();
    match number {
        Number::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Number::Float32 => any::<f32>().prop_map(|value| real(value.into())).boxed(),
        Number::Float64 => any::<f64>().prop_map(real).boxed(),
        Number::Int8 | Number::Int16 | Number::Int32 | Number::Int64 => {
            let half = 1 << (8 * number.size() - 1);
            least_and_most(-half, half - 1)
        }
        _ => least_and_most(0, (1 << (8 * number.size())) - 1),
    }
}

/// All that is no number is the same.
fn real(value: f64) -> Value {
    Value::Real(if value.is_nan() { f64::NAN } else { value })
}

pub fn value_of(ty: &Type) -> BoxedStrategy<Value> {
    match ty {
        Type::Number(number) | Type::Enumeration { number, .. } => whole(*number),
        Type::String => prop_oneof![any::<String>(), "[a-z_/. ]{0,5}", Just("true".to_owned())].prop_map(Value::Text).boxed(),
        Type::Vector(element) => vec(value_of(element), 0..5).prop_map(Value::List).boxed(),
        Type::Array(element, length) => vec(value_of(element), *length as usize).prop_map(Value::List).boxed(),
        Type::Optional(value) => {
            let is_nested = matches!(**value, Type::Optional(_));
            let held = value_of(value).prop_map(move |value| if is_nested { Value::List(vec![value]) } else { value });
            prop_oneof![Just(Value::Null), held].boxed()
        }
        Type::Structure(structure) => {
            let fields: Vec<_> = structure.fields.iter().map(|field| (Just(field.name.clone()), value_of(&field.ty))).collect();
            fields.prop_map(Value::Map).boxed()
        }
        Type::Variant(alternatives) => {
            let of =
                |(n, ty): (usize, &Type)| value_of(ty).prop_map(move |value| Value::List(vec![Value::Integer(n as i128), value])).boxed();
            proptest::strategy::Union::new(alternatives.iter().enumerate().map(of)).boxed()
        }
    }
}

pub fn any_value() -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(|ty| (Just(ty.clone()), value_of(&ty)))
}
