//! Values are written as the streams of spec/vectors/cdr, and what is printed of any stream is the value that it was written from.

mod common;

use common::any_value;
use proptest::prelude::*;
use sinew_msg::print;
use sinew_msg::stream::Reader;
use sinew_msg::value::Value;

#[test]
fn the_values_of_the_golden_vectors_are_written_as_their_little_endian_streams() {
    for vector in common::vectors() {
        for value in [Value::from_json(&vector.value).unwrap(), Value::from_yaml(&vector.value).unwrap()] {
            assert_eq!(value.to_stream(&vector.ty).unwrap(), vector.little, "{}", vector.name);
        }
    }
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
