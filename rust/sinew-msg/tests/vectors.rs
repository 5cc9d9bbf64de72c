//! The streams of spec/vectors/cdr are read as the values that they are said to be.

use std::path::Path;

use serde_json::Value;
use sinew_msg::stream::Reader;
use sinew_msg::{Type, print};

/// Numbers are the same in whatever notation.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b))),
        _ => one == other,
    }
}

#[test]
fn golden_vectors_are_read_in_both_orders_of_bytes_as_the_values_that_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/cdr");
    let mut streams = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let told = |what: &str| text.lines().find_map(|line| line.strip_prefix(what)).expect("the vector says it").trim();
        let ty: Type = told("# type").parse().unwrap();
        let value: Value = serde_json::from_str(told("# value")).unwrap();
        let (little, big) = text.split_once("\nlittle\n").unwrap().1.split_once("\nbig\n").unwrap();
        for hex in [little, big] {
            let stream: Vec<u8> = hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            for cut in [stream.len(), stream.len() / 2, 5] {
                let parts = [&stream[..cut], &stream[cut..]];
                let mut reader = Reader::new(&parts).unwrap();
                let mut printed = Vec::new();
                print::json(&mut reader, &ty, &mut printed).unwrap();
                reader.finish().unwrap();
                let printed: Value = serde_json::from_slice(&printed).unwrap();
                assert!(same(&printed, &value), "{}: {printed} is not {value}", path.display());
            }
            // No byte of it makes it panic, nor does its end.
            for at in 4..stream.len() {
                let mut wrong = stream.clone();
                wrong[at] ^= 0xff;
                let _ = print::yaml(&mut Reader::new(&[&wrong]).unwrap(), &ty, Some(4), &mut std::io::sink());
                let _ = print::csv(&mut Reader::new(&[&stream[..at]]).unwrap(), &ty, &mut std::io::sink());
            }
            streams += 1;
        }
    }
    assert!(streams >= 14, "{streams}");
}
