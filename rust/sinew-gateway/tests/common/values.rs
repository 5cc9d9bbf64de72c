//! Types of all standard packages of ROS 2, and messages of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sinew::msg::ros2::Library;
use sinew::msg::value::Value;
use sinew::msg::{Number, Type};

pub fn definitions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../msggen/definitions")
}

/// Of all messages, by their names, but for those with what no type of sinew has.
pub fn types() -> Vec<(String, Type)> {
    let library = Library::new(vec![definitions()]);
    let names = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("it can be read").path());
    let mut all = Vec::new();
    for package in names(definitions()) {
        for file in names(package.join("msg")).filter(|file| file.extension().is_some_and(|end| end == "msg")) {
            let text = |path: &Path| path.file_stem().expect("it has a name").to_str().expect("it is a text").to_owned();
            let name = format!("{}/msg/{}", text(&package), text(&file));
            let interface = library.find(&name).expect("it is one").expect("it is there");
            if let Ok(ty) = interface.ty() {
                all.push((name, ty));
            }
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// What the files say of a message, and behind that, what they say of those that it refers to (`ros2msg`).
pub fn definition(name: &str, ty: &Type) -> String {
    let mut names = BTreeSet::new();
    structures(ty, &mut names);
    names.remove(name);
    let text = |name: &str| std::fs::read_to_string(definitions().join(format!("{name}.msg"))).expect("there is a file of it");
    let others = names.iter().map(|other| format!("\n{}\nMSG: {}\n{}", "=".repeat(80), other.replace("/msg/", "/"), text(other)));
    text(name) + &others.collect::<String>()
}

fn structures(ty: &Type, names: &mut BTreeSet<String>) {
    match ty {
        Type::Vector(element) | Type::Array(element, _) => structures(element, names),
        Type::Structure(structure) => {
            names.insert(structure.name.clone());
            structure.fields.iter().for_each(|field| structures(&field.ty, names));
        }
        _ => {}
    }
}

/// Some value of a type. What has a bound in its definition has room for as much.
pub fn some(ty: &Type, random: &mut fastrand::Rng) -> Value {
    match ty {
        Type::Number(number) => some_number(*number, random),
        Type::String => Value::Text((0..random.usize(0..6)).map(|_| random.alphanumeric()).collect()),
        Type::Vector(element) => Value::List((0..random.usize(0..3)).map(|_| some(element, random)).collect()),
        Type::Array(element, length) => Value::List((0..*length).map(|_| some(element, random)).collect()),
        Type::Structure(structure) => {
            Value::Map(structure.fields.iter().map(|field| (field.name.clone(), some(&field.ty, random))).collect())
        }
        other => panic!("no message of ROS 2 has a {}", other.name()),
    }
}

fn some_number(number: Number, random: &mut fastrand::Rng) -> Value {
    match number {
        Number::Bool => Value::Bool(random.bool()),
        Number::Float32 | Number::Float64 => Value::Real(f64::from(random.i16(..)) / 8.0),
        Number::Uint8 => Value::Integer(random.u8(..).into()),
        Number::Uint16 => Value::Integer(random.u16(..).into()),
        Number::Uint32 => Value::Integer(random.u32(..).into()),
        Number::Uint64 => Value::Integer(random.u64(..).into()),
        Number::Int8 => Value::Integer(random.i8(..).into()),
        Number::Int16 => Value::Integer(random.i16(..).into()),
        Number::Int32 => Value::Integer(random.i32(..).into()),
        Number::Int64 => Value::Integer(random.i64(..).into()),
    }
}

/// Others may add up to three bytes behind a message, so that its size is a multiple of four.
pub fn is_same(told: &[u8], stream: &[u8]) -> bool {
    told.strip_prefix(stream).is_some_and(|added| added.len() < 4 && added.iter().all(|byte| *byte == 0))
}
