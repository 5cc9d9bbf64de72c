//! `sinew type show`, `diff`.

use std::io::Write;

use serde::Serialize;
use sinew::msg::Type;
use sinew::msg::ros2::Library;

use crate::cli::Cli;
use crate::domain::{View, canonical, join, type_of};
use crate::failure::{Done, Failure, judged};
use crate::output::{FAINT, NAME, json, out, shown};
use crate::typed::short;

/// The type of a signature, of a topic, or of that name in the domain, or else in a definition of ROS 2.
pub fn find(cli: &Cli, asked: &str) -> Done<Type> {
    if asked.contains(['{', '(', '[', '?']) {
        return asked.parse().map_err(|why| Failure::Failed(format!("'{asked}' is no signature: {why}")));
    }
    let node = join(cli, "type")?;
    let view = View::of(&node)?;
    let topics = view.topics();
    let found = topics.iter().find(|topic| topic.name == canonical(asked));
    let found = found.or_else(|| topics.iter().find(|topic| topic.type_name == asked));
    if let Some(topic) = found.or_else(|| topics.iter().find(|topic| short(&topic.type_name) == short(asked))) {
        return type_of(topic);
    }
    let library = Library::new(sinew::definition_folders(&[]));
    for name in full(asked) {
        let defined = library.find(&name).and_then(|found| found.map(|found| found.ty()).transpose());
        if let Some(ty) = defined.map_err(|why| Failure::Failed(format!("the definition of {name} is not usable: {why}")))? {
            return Ok(ty);
        }
    }
    let defined = library.names();
    let names = topics.iter().flat_map(|topic| [topic.name.as_str(), &topic.type_name]).chain(defined.iter().map(String::as_str));
    let hint = sinew::msg::nearest(&full(asked)[0], names).map(|near| format!(": did you mean '{near}'?")).unwrap_or_default();
    Err(Failure::Negative(format!(
        "no topic of the domain is called '{asked}', or carries that type, and there is no definition of that name{hint}"
    )))
}

/// What a definition may be called for which this stands: `std_msgs/String` is short for `std_msgs/msg/String`.
fn full(name: &str) -> Vec<String> {
    match name.split_once('/') {
        Some((package, base)) if !base.contains('/') => ["msg", "srv", "action"].map(|kind| format!("{package}/{kind}/{base}")).into(),
        _ => vec![name.to_owned()],
    }
}

/// Shows a type.
pub fn show(cli: &Cli, asked: &str, signature: bool) -> Done {
    let ty = find(cli, asked)?;
    if cli.json {
        #[derive(Serialize)]
        struct Shown {
            name: String,
            signature: String,
        }
        return json(&Shown { name: ty.name(), signature: ty.to_string() });
    }
    let mut out = out();
    if signature {
        writeln!(out, "{}", shown(&ty.to_string()))?;
        return Ok(());
    }
    writeln!(out, "{NAME}{}{NAME:#}", shown(&ty.name()))?;
    fields(&mut out, &ty, 1)
}

/// What it consists of, each part deeper than what it is a part of.
fn fields(out: &mut impl Write, ty: &Type, depth: usize) -> Done {
    match ty {
        Type::Structure(structure) => {
            for field in &structure.fields {
                writeln!(out, "{:width$}{} {FAINT}{}{FAINT:#}", "", shown(&field.name), shown(&said(&field.ty)), width = 2 * depth)?;
                fields(out, &field.ty, depth + 1)?;
            }
            Ok(())
        }
        Type::Vector(inner) | Type::Array(inner, _) | Type::Optional(inner) => fields(out, inner, depth),
        Type::Variant(alternatives) => {
            for (n, alternative) in alternatives.iter().enumerate() {
                writeln!(out, "{:width$}{n}: {FAINT}{}{FAINT:#}", "", shown(&said(alternative)), width = 2 * depth)?;
                fields(out, alternative, depth + 1)?;
            }
            Ok(())
        }
        Type::Number(_) | Type::String | Type::Enumeration { .. } => Ok(()),
    }
}

fn said(ty: &Type) -> String {
    match ty {
        Type::Enumeration { name, number } => format!("{name} ({})", number.name()),
        Type::Variant(_) => "one of".to_owned(),
        other => other.name(),
    }
}

/// Says what two types differ in.
pub fn diff(cli: &Cli, one: &str, other: &str) -> Done {
    let difference = sinew::msg::difference(&find(cli, one)?, &find(cli, other)?);
    let printed = if cli.json {
        #[derive(Serialize)]
        struct Difference<'a> {
            difference: &'a Option<String>,
        }
        json(&Difference { difference: &difference })
    } else {
        print(difference.as_deref(), one, other)
    };
    judged(printed, if difference.is_some() { Err(Failure::Negative(String::new())) } else { Ok(()) })
}

fn print(difference: Option<&str>, one: &str, other: &str) -> Done {
    let text = match difference {
        None => "they are the same to publishers and subscribers".to_owned(),
        Some(difference) => format!("{} ('there' is {}, 'here' is {})", shown(difference), shown(one), shown(other)),
    };
    Ok(writeln!(out(), "{text}")?)
}
