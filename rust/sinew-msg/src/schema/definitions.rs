//! A type in the words that descriptions have: structures and unions whose members are a number, a string, or one of these, alone or in a row.

use std::collections::{HashMap, HashSet};

use super::legal::{self, Language};
use crate::types::{Number, Structure, Type};

/// What a member is, or is a row of.
pub(super) enum Base {
    Number(Number),
    String,
    /// The definition at this place.
    Defined(usize),
}

/// How many of them there are.
pub(super) enum Row {
    One,
    Array(u64),
    Sequence,
    AtMostOne,
}

/// A field of a structure, or an alternative of a union.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) base: Base,
    pub(super) row: Row,
}

/// A structure or a union.
pub(super) struct Definition {
    pub(super) package: String,
    /// `msg`, `srv` or `action`.
    pub(super) room: &'static str,
    pub(super) name: String,
    pub(super) is_union: bool,
    pub(super) members: Vec<Member>,
}

/// The definition of the type comes last, and each behind those that it needs.
pub(super) fn of(ty: &Type, language: Language) -> Vec<Definition> {
    let mut made = Making { language, definitions: Vec::new(), places: HashMap::new(), taken: HashSet::new() };
    match ty {
        Type::Structure(structure) => {
            // It has the first choice of names.
            let name = made.name_of(structure);
            made.structure(structure, name);
        }
        Type::Enumeration { name, .. } => {
            let name = made.free(name);
            made.around(ty, name);
        }
        _ => {
            let name = made.free(&word_for(ty));
            made.around(ty, name);
        }
    }
    made.definitions
}

type Name = (String, &'static str, String);

struct Making<'t> {
    language: Language,
    definitions: Vec<Definition>,
    places: HashMap<&'t Type, usize>,
    /// Package and name.
    taken: HashSet<(String, String)>,
}

impl<'t> Making<'t> {
    fn member(&mut self, name: String, ty: &'t Type) -> Member {
        let (base, row) = match ty {
            // Of which there is the number alone.
            Type::Vector(inner) | Type::Optional(inner) if inner.fewest_bytes() == 0 => (Base::Number(Number::Uint32), Row::One),
            Type::Vector(element) => (self.base(element), Row::Sequence),
            Type::Optional(value) => (self.base(value), Row::AtMostOne),
            Type::Array(element, length) => {
                let (mut element, mut length) = (element, u64::from(*length));
                while let Type::Array(inner, times) = &**element {
                    (element, length) = (inner, length.saturating_mul(u64::from(*times)));
                }
                (self.base(element), Row::Array(length))
            }
            _ => (self.base(ty), Row::One),
        };
        Member { name, base, row }
    }

    fn base(&mut self, ty: &'t Type) -> Base {
        match ty {
            Type::Number(number) | Type::Enumeration { number, .. } => return Base::Number(*number),
            Type::String => return Base::String,
            _ => {}
        }
        if let Some(place) = self.places.get(ty) {
            return Base::Defined(*place);
        }
        match ty {
            Type::Structure(structure) => {
                let name = self.name_of(structure);
                self.structure(structure, name);
            }
            Type::Variant(alternatives) => {
                let name = self.free("Variant");
                self.union(alternatives, name);
            }
            _ => {
                let name = self.free(&word_for(ty));
                self.around(ty, name);
            }
        }
        let place = self.definitions.len() - 1;
        self.places.insert(ty, place);
        Base::Defined(place)
    }

    fn structure(&mut self, structure: &'t Structure, name: Name) {
        let mut names = HashSet::new();
        let mut members = Vec::new();
        for field in structure.fields.iter().filter(|field| field.ty.fewest_bytes() > 0) {
            let name = legal::but_not(legal::of_field(&field.name, self.language), |name| names.contains(name));
            names.insert(name.clone());
            members.push(self.member(name, &field.ty));
        }
        self.define(name, false, members);
    }

    fn union(&mut self, alternatives: &'t [Type], name: Name) {
        let members = alternatives.iter().enumerate().map(|(n, alternative)| {
            let name = format!("value_{n}");
            // What takes no bytes is no array there: those have at least one element.
            if alternative.fewest_bytes() == 0 {
                Member { name, base: self.nothing(alternative), row: Row::One }
            } else {
                self.member(name, alternative)
            }
        });
        let members = members.collect();
        self.define(name, true, members);
    }

    /// A structure with what has no word of its own.
    fn around(&mut self, ty: &'t Type, name: Name) {
        let members = if ty.fewest_bytes() > 0 { vec![self.member("data".to_owned(), ty)] } else { Vec::new() };
        self.define(name, false, members);
    }

    fn nothing(&mut self, ty: &'t Type) -> Base {
        if matches!(ty, Type::Structure(_)) {
            return self.base(ty);
        }
        let name = self.free("Nothing");
        self.define(name, false, Vec::new());
        Base::Defined(self.definitions.len() - 1)
    }

    fn define(&mut self, (package, room, name): Name, is_union: bool, members: Vec<Member>) {
        self.definitions.push(Definition { package, room, name, is_union, members });
    }

    fn name_of(&mut self, structure: &Structure) -> Name {
        let (package, _, name) = legal::of_type(&structure.name, self.language);
        if package == "builtin_interfaces" && !is_built_in(&name, structure) {
            self.taken.insert((package, name));
        }
        self.free(&structure.name)
    }

    fn free(&mut self, name: &str) -> Name {
        let (package, room, name) = legal::of_type(name, self.language);
        let name = legal::but_not(name, |name| self.taken.contains(&(package.clone(), name.to_owned())));
        self.taken.insert((package.clone(), name.clone()));
        (package, room, name)
    }
}

/// Tools know these two without looking at their definition.
fn is_built_in(name: &str, structure: &Structure) -> bool {
    let is = |n: usize, name: &str, number: Number| {
        structure.fields.get(n).is_some_and(|field| field.name == name && field.ty == Type::Number(number))
    };
    !["Time", "Duration"].contains(&name)
        || (structure.fields.len() == 2 && is(0, "sec", Number::Int32) && is(1, "nanosec", Number::Uint32))
}

/// What to call a structure around it: `Float32List`, `PointArray3`, `StringOptional`.
fn word_for(ty: &Type) -> String {
    match ty {
        Type::Vector(element) => word_for(element) + "List",
        Type::Array(element, length) => format!("{}Array{length}", word_for(element)),
        Type::Optional(value) => word_for(value) + "Optional",
        Type::Variant(_) => "Variant".to_owned(),
        Type::Number(_) | Type::String | Type::Enumeration { .. } | Type::Structure(_) => {
            let (_, _, name) = legal::of_type(&ty.name(), Language::Msg);
            name.replace('_', "")
        }
    }
}
