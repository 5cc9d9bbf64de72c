//! Values are written as the streams of spec/vectors/cdr, and what is printed of any stream is the value that it was written from.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use sinew_msg::stream::Reader;
use sinew_msg::value::Value;
use sinew_msg::{Field, Number, Structure, Type, print};

#[test]
fn the_values_of_the_golden_vectors_are_written_as_their_little_endian_streams() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/cdr");
    let mut streams = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let told = |what: &str| text.lines().find_map(|line| line.strip_prefix(what)).expect("the vector says it").trim();
        let ty: Type = told("# type").parse().unwrap();
        let (little, _) = text.split_once("\nlittle\n").unwrap().1.split_once("\nbig\n").unwrap();
        let stream: Vec<u8> = little.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        for value in [Value::from_json(told("# value")).unwrap(), Value::from_yaml(told("# value")).unwrap()] {
            assert_eq!(value.to_stream(&ty).unwrap(), stream, "{}", path.display());
        }
        streams += 1;
    }
    assert!(streams >= 7, "{streams}");
}

// --- any type, and any value of it -------------------------------------------------------------------------------------------------------

/// Names that readers of YAML could take for something else among them.
const NAMES: [&str; 6] = ["x", "y", "on", "null", "größe", "stamp_ns"];

fn any_type() -> impl Strategy<Value = Type> {
    let number = || proptest::sample::select(&Number::ALL[..]);
    let integer = number().prop_filter("an enumeration has an integer", |number| number.is_integer());
    let leaf = prop_oneof![
        4 => number().prop_map(Type::Number),
        2 => Just(Type::String),
        1 => integer.prop_map(|number| Type::Enumeration { name: "Color".to_owned(), number }),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let fields = (proptest::sample::subsequence(&NAMES[..], 0..=NAMES.len()), vec(inner.clone(), NAMES.len()));
        prop_oneof![
            2 => inner.clone().prop_map(|element| Type::Vector(Box::new(element))),
            1 => (inner.clone(), 0..4u32).prop_map(|(element, length)| Type::Array(Box::new(element), length)),
            2 => inner.clone().prop_map(|value| Type::Optional(Box::new(value))),
            1 => vec(inner, 1..4).prop_map(Type::Variant),
            3 => fields.prop_map(|(names, types)| {
                let fields = names.into_iter().zip(types).map(|(name, ty)| Field { name: name.to_owned(), ty });
                Type::Structure(Structure { name: "robot/Any".to_owned(), fields: fields.collect() })
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

fn value_of(ty: &Type) -> BoxedStrategy<Value> {
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

fn any_value() -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(|ty| (Just(ty.clone()), value_of(&ty)))
}

fn printed(print: impl FnOnce(&mut Reader<'_>, &mut Vec<u8>) -> Result<(), print::PrintError>, stream: &[u8]) -> String {
    let (mut reader, mut text) = (Reader::new(&[stream]).unwrap(), Vec::new());
    print(&mut reader, &mut text).unwrap();
    reader.finish().unwrap();
    String::from_utf8(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn what_is_printed_as_json_is_read_and_written_as_the_same_stream((ty, value) in any_value()) {
        let stream = value.to_stream(&ty).unwrap();
        let text = printed(|reader, text| print::json(reader, &ty, text), &stream);
        prop_assert_eq!(Value::from_json(&text).unwrap().to_stream(&ty).unwrap(), stream, "{} of {}", text, ty);
    }

    #[test]
    fn what_is_printed_as_yaml_is_read_and_written_as_the_same_stream((ty, value) in any_value()) {
        let stream = value.to_stream(&ty).unwrap();
        let text = printed(|reader, text| print::yaml(reader, &ty, None, text), &stream);
        prop_assert_eq!(Value::from_yaml(&text).unwrap().to_stream(&ty).unwrap(), stream, "{} of {}", text, ty);
    }

    #[test]
    fn what_is_printed_does_not_control_the_terminal((ty, value) in any_value(), most in 0..4u64) {
        let stream = value.to_stream(&ty).unwrap();
        let yaml = printed(|reader, text| print::yaml(reader, &ty, Some(most), text), &stream);
        prop_assert!(!yaml.contains(|letter: char| letter.is_control() && letter != '\n'), "{:?}", yaml);
        for text in [printed(|reader, text| print::json(reader, &ty, text), &stream), printed(|reader, text| print::csv(reader, &ty, text), &stream)] {
            prop_assert!(!text.contains(char::is_control), "{:?}", text);
        }
    }

    #[test]
    fn no_bytes_make_a_printer_panic((ty, value) in any_value(), at in any::<proptest::sample::Index>(), wrong: u8, garbage: Vec<u8>) {
        let stream = value.to_stream(&ty).unwrap();
        let mut changed = stream.clone();
        *at.get_mut(&mut changed) ^= wrong;
        for stream in [&changed, &stream[..at.index(stream.len())], &[&[0, 0, 0, 0], &garbage[..]].concat()] {
            let (first, second) = stream.split_at(at.index(stream.len() + 1));
            let Ok(reader) = Reader::new(&[first, second]) else { continue };
            let _ = print::yaml(&mut reader.clone(), &ty, Some(3), &mut std::io::sink());
            let _ = print::json(&mut reader.clone(), &ty, &mut std::io::sink());
            let _ = print::csv(&mut reader.clone(), &ty, &mut std::io::sink());
        }
    }
}
