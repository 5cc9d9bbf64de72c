//! Which type of messages a type of Rust is: it is deserialized from values that are made up, and what it asks for is noted.

use std::any::type_name;
use std::collections::HashMap;

use serde::Serialize;
use serde::de::value::U32Deserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use sinew_msg::{Field, MAX_DEPTH, Number, Structure, Type};

use super::{Problem, enumeration_of, has_values, write};
use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::slice::number_of_slice;

/// The type of messages that this is.
pub fn type_of<T: Message>() -> Result<Type> {
    trace::<T::Read<'static>>()
        .map_err(|why| Error::new(ErrorKind::InvalidArgument, format!("{} is no type of messages: {why}", type_name::<T>())))
}

/// Its signature, by which publishers and subscribers of all languages find each other (spec/types.md).
pub fn signature_of<T: Message>() -> Result<String> {
    type_of::<T>().map(|ty| ty.to_string())
}

fn trace<T: Deserialize<'static> + Serialize>() -> std::result::Result<Type, Problem> {
    let mut known = Known::default();
    loop {
        let mut tracer = Tracer::new(&mut known);
        let value = match T::deserialize(&mut tracer) {
            Err(_) if tracer.is_attempt => continue,
            value => value?,
        };
        let Tracer { traced, chosen, is_complete, .. } = tracer;
        let traced = traced.ok_or_else(|| Problem("it asks for nothing".to_owned()))?;
        write::check_numbers(&value, &chosen)?;
        if is_complete {
            return Ok(traced);
        }
    }
}

/// An enum by its name and the type of its visitor, for others may have that name.
type Enum = (&'static str, &'static str);

/// What rounds have found out so far.
#[derive(Default)]
struct Known {
    /// Those of enums, which are called by where they are.
    alternatives: HashMap<Vec<usize>, Vec<Type>>,
    /// How many variants of enumerations were chosen.
    chosen: HashMap<Enum, usize>,
}

/// A value of an enum is one of its alternatives, so each round looks at another one; of those inside of it first.
struct Tracer<'a> {
    known: &'a mut Known,
    path: Vec<usize>,
    /// The enums around what is asked for next.
    around: Vec<Enum>,
    /// Variants of this round, in the order in which they were asked for.
    chosen: Vec<(&'static str, usize)>,
    /// What was asked for last.
    traced: Option<Type>,
    /// Nothing was left for another round.
    is_complete: bool,
    /// Of an enumeration it has chosen a variant that need not be there, as names may be aliases, or that may be refused: when it fails, the next round goes on behind that.
    is_attempt: bool,
}

type Traced<T> = std::result::Result<T, Problem>;

impl<'a> Tracer<'a> {
    fn new(known: &'a mut Known) -> Tracer<'a> {
        Tracer { known, path: Vec::new(), around: Vec::new(), chosen: Vec::new(), traced: None, is_complete: true, is_attempt: false }
    }
}

impl Tracer<'_> {
    fn note<T>(&mut self, ty: Type, value: T) -> Traced<T> {
        self.traced = Some(ty);
        Ok(value)
    }

    fn inside<T>(&mut self, place: usize, trace: impl FnOnce(&mut Self) -> Traced<T>) -> Traced<(T, Type)> {
        self.path.push(place);
        if self.path.len() >= MAX_DEPTH {
            return Err(Problem(format!("it is nested deeper than {MAX_DEPTH}, or contains itself")));
        }
        self.traced = None;
        let value = trace(self)?;
        self.path.pop();
        let ty = self.traced.take().ok_or_else(|| Problem("a part of it asks for nothing".to_owned()))?;
        Ok((value, ty))
    }

    /// The types of so many parts.
    fn parts<'de, V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Traced<(V::Value, Vec<Type>)> {
        let mut parts = Parts { tracer: self, left: count, types: Vec::new() };
        let value = visitor.visit_seq(&mut parts)?;
        let types = parts.types;
        if types.len() != count {
            return Err(Problem(format!("it reads {} of its {count} parts", types.len())));
        }
        Ok((value, types))
    }

    fn structure<'de, V: Visitor<'de>>(&mut self, name: &str, fields: &[&str], visitor: V) -> Traced<V::Value> {
        let (value, types) = self.parts(fields.len(), visitor)?;
        let fields = fields.iter().zip(types).map(|(name, ty)| Field { name: (*name).to_owned(), ty }).collect();
        self.note(Type::Structure(Structure { name: name.to_owned(), fields }), value)
    }

    fn tuple<'de, V: Visitor<'de>>(&mut self, name: Option<&str>, count: usize, visitor: V) -> Traced<V::Value> {
        let (value, types) = self.parts(count, visitor)?;
        let name = name.map_or_else(|| format!("tuple<{}>", types.iter().map(Type::name).collect::<Vec<_>>().join(",")), str::to_owned);
        let fields = types.into_iter().enumerate().map(|(n, ty)| Field { name: format!("_{n}"), ty }).collect();
        self.note(Type::Structure(Structure { name, fields }), value)
    }
}

fn refused<T>(why: &str) -> Traced<T> {
    Err(Problem(why.to_owned()))
}

macro_rules! numbers {
    ($($method:ident: $visit:ident, $number:ident, $value:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
            let value = visitor.$visit::<Problem>($value)?;
            self.note(Type::Number(Number::$number), value)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Tracer<'_> {
    type Error = Problem;

    numbers! {
        deserialize_bool: visit_bool, Bool, true;
        deserialize_i8: visit_i8, Int8, 1;
        deserialize_i16: visit_i16, Int16, 1;
        deserialize_i32: visit_i32, Int32, 1;
        deserialize_i64: visit_i64, Int64, 1;
        deserialize_u8: visit_u8, Uint8, 1;
        deserialize_u16: visit_u16, Uint16, 1;
        deserialize_u32: visit_u32, Uint32, 1;
        deserialize_u64: visit_u64, Uint64, 1;
        deserialize_f32: visit_f32, Float32, 1.0;
        deserialize_f64: visit_f64, Float64, 1.0;
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        let value = visitor.visit_borrowed_str::<Problem>("")?;
        self.note(Type::String, value)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        let value = visitor.visit_borrowed_bytes::<Problem>(&[])?;
        self.note(Type::Vector(Box::new(Type::Number(Number::Uint8))), value)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        let (value, ty) = self.inside(0, |inside| visitor.visit_some(inside))?;
        self.note(Type::Optional(Box::new(ty)), value)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_unit_struct("unit", visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Traced<V::Value> {
        let value = visitor.visit_unit::<Problem>()?;
        self.note(Type::Structure(Structure { name: name.to_owned(), fields: Vec::new() }), value)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Traced<V::Value> {
        if let Some(number) = number_of_slice(name) {
            let value = visitor.visit_borrowed_bytes::<Problem>(&[])?;
            return self.note(Type::Vector(Box::new(Type::Number(number))), value);
        }
        let (value, inner) = self.inside(0, |inside| visitor.visit_newtype_struct(inside))?;
        match enumeration_of(name) {
            None => self.note(inner, value),
            Some((short, number)) if inner == Type::Number(number) => {
                self.note(Type::Enumeration { name: short.to_owned(), number }, value)
            }
            Some((_, number)) => Err(Problem(format!("'{name}' holds {}, not {}", inner.name(), number.name()))),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        let (value, mut types) = self.parts(1, visitor)?;
        self.note(Type::Vector(Box::new(types.remove(0))), value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Traced<V::Value> {
        let value = self.tuple(None, count, visitor)?;
        if let Some(Type::Structure(structure)) = &self.traced
            && let [first, others @ ..] = &structure.fields[..]
            && others.iter().all(|other| other.ty == first.ty)
        {
            let array = Type::Array(Box::new(first.ty.clone()), u32::try_from(count).map_err(Problem::custom)?);
            self.traced = Some(array);
        }
        Ok(value)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, name: &'static str, count: usize, visitor: V) -> Traced<V::Value> {
        self.tuple(Some(name), count, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        let mut parts = Parts { tracer: self, left: 2, types: Vec::new() };
        let value = visitor.visit_map(&mut parts)?;
        let types = parts.types;
        let [key, element] = &types[..] else { return refused("a map of it does not read what it is given") };
        let fields = vec![Field { name: "key".to_owned(), ty: key.clone() }, Field { name: "value".to_owned(), ty: element.clone() }];
        let name = format!("entry<{},{}>", key.name(), element.name());
        self.note(Type::Vector(Box::new(Type::Structure(Structure { name, fields }))), value)
    }

    fn deserialize_struct<V: Visitor<'de>>(self, name: &'static str, fields: &'static [&'static str], visitor: V) -> Traced<V::Value> {
        self.structure(name, fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, name: &'static str, variants: &'static [&'static str], visitor: V) -> Traced<V::Value> {
        let this = (name, type_name::<V>());
        if let Some((short, number)) = enumeration_of(name) {
            let known = self.known.chosen.entry(this).or_default();
            let chosen = if *known < variants.len() { *known } else { 0 };
            *known = variants.len().min(*known + 1);
            self.is_complete &= *known == variants.len();
            self.is_attempt |= chosen > 0;
            self.chosen.push((name, chosen));
            let value = visitor.visit_enum(Alternative { tracer: self, name, chosen, variant: None })?;
            return self.note(Type::Enumeration { name: short.to_owned(), number }, value);
        }
        // Without this its rounds would grow and grow before they are nested too deep.
        if self.around.contains(&this) {
            return Err(Problem(format!("the enum '{name}' contains itself")));
        }
        let known = self.known.alternatives.get(&self.path).map_or(0, Vec::len);
        let chosen = if known < variants.len() { known } else { 0 };
        let was_complete = std::mem::replace(&mut self.is_complete, true);
        let variant = variants.get(chosen).copied();
        let path = self.path.clone();
        self.chosen.push((name, chosen));
        self.around.push(this);
        let (value, ty) = self.inside(chosen, |tracer| visitor.visit_enum(Alternative { tracer, name, chosen, variant }))?;
        self.around.pop();
        let known = self.known.alternatives.entry(path).or_default();
        if known.len() == chosen && self.is_complete {
            known.push(ty);
        }
        let known = known.clone();
        let is_known = known.len() == variants.len();
        self.is_complete = was_complete && is_known;
        if is_known && known.iter().all(is_unit) {
            return Err(Problem(format!(
                "the enum '{name}' has names without values, and does not say which integer they are: #[serde(rename = \"{name}(uint8)\")]"
            )));
        }
        self.note(Type::Variant(known), value)
    }

    fn deserialize_char<V: Visitor<'de>>(self, _: V) -> Traced<V::Value> {
        refused("a char cannot be in a message")
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Traced<V::Value> {
        refused("a part of it asks the stream of which type it is, and streams do not say (untagged, flatten, or any value)")
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Structure(structure) if structure.fields.is_empty())
}

struct Parts<'a, 't> {
    tracer: &'a mut Tracer<'t>,
    left: usize,
    types: Vec<Type>,
}

impl Parts<'_, '_> {
    fn next<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Traced<T::Value> {
        self.left -= 1;
        let (value, ty) = self.tracer.inside(self.types.len(), |inside| seed.deserialize(inside))?;
        self.types.push(ty);
        Ok(value)
    }
}

impl<'de> SeqAccess<'de> for &mut Parts<'_, '_> {
    type Error = Problem;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Traced<Option<T::Value>> {
        if self.left == 0 { Ok(None) } else { self.next(seed).map(Some) }
    }
}

impl<'de> MapAccess<'de> for &mut Parts<'_, '_> {
    type Error = Problem;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Traced<Option<K::Value>> {
        if self.left == 0 { Ok(None) } else { self.next(seed).map(Some) }
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Traced<T::Value> {
        self.next(seed)
    }
}

struct Alternative<'a, 't> {
    tracer: &'a mut Tracer<'t>,
    name: &'static str,
    chosen: usize,
    /// Its name; none: of an enumeration, which has no values.
    variant: Option<&'static str>,
}

impl<'a, 't> Alternative<'a, 't> {
    fn with_value(self) -> Traced<(&'a mut Tracer<'t>, &'static str)> {
        let Some(variant) = self.variant else {
            self.tracer.is_attempt = false;
            return Err(has_values(self.name));
        };
        Ok((self.tracer, variant))
    }
}

impl<'de> EnumAccess<'de> for Alternative<'_, '_> {
    type Error = Problem;
    type Variant = Self;
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Traced<(T::Value, Self)> {
        let chosen: U32Deserializer<Problem> = u32::try_from(self.chosen).map_err(Problem::custom)?.into_deserializer();
        Ok((seed.deserialize(chosen)?, self))
    }
}

impl<'de> VariantAccess<'de> for Alternative<'_, '_> {
    type Error = Problem;
    fn unit_variant(self) -> Traced<()> {
        let name = self.variant.unwrap_or(self.name).to_owned();
        self.tracer.note(Type::Structure(Structure { name, fields: Vec::new() }), ())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Traced<T::Value> {
        let (tracer, _) = self.with_value()?;
        seed.deserialize(tracer)
    }
    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Traced<V::Value> {
        let (tracer, variant) = self.with_value()?;
        tracer.tuple(Some(variant), count, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Traced<V::Value> {
        let (tracer, variant) = self.with_value()?;
        tracer.structure(variant, fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(dead_code)]

    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::*;

    fn signature<T: Deserialize<'static> + Serialize>() -> String {
        trace::<T>().unwrap().to_string()
    }

    fn complaint<T: Deserialize<'static> + Serialize>() -> String {
        trace::<T>().unwrap_err().to_string()
    }

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(rename = "robot/Mode(int32)")]
    enum Mode {
        Off,
        On,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename = "robot/Color(uint8)")]
    struct Color(u8);

    #[derive(Serialize, Deserialize)]
    struct Meters(f64);

    #[derive(Serialize, Deserialize)]
    enum Inner {
        A(u8),
        B { x: f32, mode: Mode },
    }

    #[derive(Serialize, Deserialize)]
    enum Outer {
        Nothing,
        One(Inner),
        Two(u16, String),
        Again(Option<Inner>),
    }

    #[test]
    fn containers_have_their_signatures() {
        assert_eq!(signature::<Vec<Option<[f32; 3]>>>(), "float32[3]?[]");
        assert_eq!(signature::<(u8, String)>(), "tuple<uint8,string>{_0:uint8;_1:string;}");
        assert_eq!(signature::<BTreeMap<String, u64>>(), "entry<string,uint64>{key:string;value:uint64;}[]");
        assert_eq!(signature::<Meters>(), "float64");
        assert_eq!(signature::<&[u8]>(), "uint8[]");
        assert_eq!(signature::<()>(), "unit{}");
    }

    #[test]
    fn enumerations_are_those_that_name_their_integer() {
        assert_eq!(signature::<Mode>(), "robot/Mode(int32)");
        assert_eq!(signature::<Color>(), "robot/Color(uint8)");
        #[derive(Serialize, Deserialize)]
        enum Unnamed {
            A,
            B,
        }
        assert!(complaint::<Unnamed>().contains("Unnamed(uint8)"));
        #[derive(Serialize, Deserialize)]
        #[serde(rename = "robot/Color(uint16)")]
        struct Wrong(u8);
        assert!(complaint::<Wrong>().contains("holds uint8, not uint16"));
        #[derive(Serialize, Deserialize)]
        #[serde(rename = "robot/Command(uint8)")]
        enum Valued {
            Stop,
            Turn(f64),
        }
        assert!(complaint::<Vec<Valued>>().contains("'robot/Command(uint8)' is named as an enumeration, and its variants have values"));
    }

    #[test]
    fn every_alternative_of_an_enum_is_seen_also_within_others() {
        let inner = "(uint8|B{x:float32;mode:robot/Mode(int32);})";
        assert_eq!(signature::<Inner>(), inner);
        assert_eq!(signature::<Outer>(), format!("(Nothing{{}}|{inner}|Two{{_0:uint16;_1:string;}}|{inner}?)"));
        assert_eq!(signature::<(Vec<Inner>, Inner)>(), format!("tuple<(uint8|B)[],(uint8|B)>{{_0:{inner}[];_1:{inner};}}"));
    }

    #[test]
    fn what_cannot_be_a_message_is_refused_with_the_reason() {
        #[derive(Serialize, Deserialize)]
        struct List {
            next: Option<Box<List>>,
        }
        assert!(complaint::<List>().contains("contains itself"));
        #[derive(Serialize, Deserialize)]
        enum Expr {
            Num(u8),
            Add(Box<Expr>, Box<Expr>),
        }
        assert!(complaint::<Expr>().contains("the enum 'Expr' contains itself"));
        #[derive(Serialize, Deserialize)]
        struct Flat {
            #[serde(flatten)]
            inside: BTreeMap<String, u8>,
        }
        assert_ne!(complaint::<Flat>(), "");
        #[derive(Serialize, Deserialize)]
        #[serde(untagged)]
        enum Untagged {
            A(u8),
        }
        assert!(complaint::<Untagged>().contains("untagged"));
        assert!(complaint::<char>().contains("char"));
        assert_ne!(complaint::<u128>(), "");
    }
}
