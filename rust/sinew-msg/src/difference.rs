//! What two types differ in, for people.

use crate::types::{Structure, Type};

/// What differs first between what is carried and what is asked for, as a sentence: "field 'header.step' is uint32 there, and uint64 here". Nothing where only names of types differ, or nothing does.
pub fn difference(there: &Type, here: &Type) -> Option<String> {
    differ(there, here, "")
}

fn kinds(path: &str, there: &Type, here: &Type) -> String {
    if path.is_empty() {
        format!("it is {} there, and {} here", there.name(), here.name())
    } else {
        format!("field '{path}' is {} there, and {} here", there.name(), here.name())
    }
}

fn differ(there: &Type, here: &Type, path: &str) -> Option<String> {
    match (there, here) {
        (Type::Number(a), Type::Number(b)) | (Type::Enumeration { number: a, .. }, Type::Enumeration { number: b, .. }) if a == b => None,
        (Type::String, Type::String) => None,
        (Type::Vector(a), Type::Vector(b)) => differ(a, b, &format!("{path}[]")),
        (Type::Optional(a), Type::Optional(b)) => differ(a, b, path),
        (Type::Array(a, length), Type::Array(b, other)) if length == other => differ(a, b, &format!("{path}[]")),
        (Type::Structure(a), Type::Structure(b)) => structures_differ(a, b, path),
        (Type::Variant(a), Type::Variant(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(n, (a, b))| differ(a, b, &format!("{path}<{n}>")))
        }
        _ => Some(kinds(path, there, here)),
    }
}

fn structures_differ(there: &Structure, here: &Structure, path: &str) -> Option<String> {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for n in 0..there.fields.len().max(here.fields.len()) {
        match (there.fields.get(n), here.fields.get(n)) {
            (Some(a), Some(b)) if a.name == b.name => {
                if let Some(found) = differ(&a.ty, &b.ty, &inside(&a.name)) {
                    return Some(found);
                }
            }
            (Some(a), Some(b)) => {
                return Some(match (here.field(&a.name).is_some(), there.field(&b.name).is_some()) {
                    (true, true) => format!("the fields are in another order from '{}' on", inside(&a.name)),
                    (false, false) => format!("field '{}' there is '{}' here", inside(&a.name), inside(&b.name)),
                    (true, false) => format!("field '{}' is missing there", inside(&b.name)),
                    (false, true) => format!("field '{}' is missing here", inside(&a.name)),
                });
            }
            (Some(a), None) => return Some(format!("field '{}' is missing here", inside(&a.name))),
            (None, Some(b)) => return Some(format!("field '{}' is missing there", inside(&b.name))),
            (None, None) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(there: &str, here: &str) -> Option<String> {
        difference(&there.parse().unwrap(), &here.parse().unwrap())
    }

    #[test]
    fn the_first_field_that_differs_is_named_with_its_path() {
        assert_eq!(between("A{h:B{step:uint32;};}", "A{h:B{step:uint64;};}").unwrap(), "field 'h.step' is uint32 there, and uint64 here");
        assert_eq!(between("A{x:B{y:uint8;}[];}", "A{x:B{y:int8;}[];}").unwrap(), "field 'x[].y' is uint8 there, and int8 here");
        assert_eq!(between("A{v:(uint8|string);}", "A{v:(uint8|int8);}").unwrap(), "field 'v<1>' is string there, and int8 here");
        assert_eq!(between("A{x:uint8[3];}", "A{x:uint8[4];}").unwrap(), "field 'x' is uint8[3] there, and uint8[4] here");
        assert_eq!(between("uint8", "string").unwrap(), "it is uint8 there, and string here");
    }

    #[test]
    fn a_field_that_one_side_lacks_is_said_to_be_missing_there() {
        assert_eq!(between("A{a:uint8;b:uint8;}", "A{a:uint8;}").unwrap(), "field 'b' is missing here");
        assert_eq!(between("A{b:uint8;}", "A{a:uint8;b:uint8;}").unwrap(), "field 'a' is missing there");
        assert_eq!(between("A{a:uint8;b:uint8;}", "A{b:uint8;a:uint8;}").unwrap(), "the fields are in another order from 'a' on");
        assert_eq!(between("A{a:uint8;}", "A{b:uint8;}").unwrap(), "field 'a' there is 'b' here");
    }

    #[test]
    fn names_of_types_make_no_difference() {
        assert_eq!(between("a/A{x:c/E(uint8);}", "A{x:E(uint8);}"), None);
    }
}
