//! Reading.

use std::borrow::Cow;
use std::ops::Range;
use std::str::Utf8Error;

use serde::de::value::U32Deserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor};
use sinew_msg::Number;
use sinew_msg::stream::{MOST_WITHOUT_BYTES, Plain, Reader};

use super::{Problem, enumeration_of};
use crate::slice::number_of_slice;

/// A value of what lies there, and nothing else.
pub(crate) fn value_in<'de, T: serde::Deserialize<'de>>(parts: &[&'de [u8]]) -> Result<T, Problem> {
    let mut stream = Stream { reader: Reader::new(parts)?, room: MOST_WITHOUT_BYTES, keys: Vec::new(), in_keys: 0 };
    let value = T::deserialize(&mut stream)?;
    stream.reader.finish()?;
    Ok(value)
}

struct Stream<'de> {
    reader: Reader<'de>,
    /// For elements that take nothing, which what is left does not bound.
    room: u64,
    /// What keys of maps hold, one behind the other: bytes of the stream, but without padding, which is another in other places, and may be anything.
    keys: Vec<u8>,
    /// What is read belongs to a key, or to keys within keys.
    in_keys: u32,
}

impl<'de> Stream<'de> {
    fn note(&mut self, bytes: &[u8]) {
        if self.in_keys > 0 {
            self.keys.extend_from_slice(bytes);
        }
    }

    /// Behind how many there are, so that two which follow each other are no other two.
    fn note_all(&mut self, bytes: &[u8]) {
        self.note(&bytes.len().to_le_bytes());
        self.note(bytes);
    }

    fn number<T: Plain>(&mut self) -> Result<T, Problem> {
        let number = self.reader.number::<T>()?;
        self.note(bytemuck::bytes_of(&number));
        Ok(number)
    }

    fn count(&mut self) -> Result<u64, Problem> {
        Ok(u64::from(self.number::<u32>()?))
    }

    fn slice<T: Plain, V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Problem> {
        let elements = self.reader.slice::<T>()?;
        self.note_all(bytemuck::cast_slice(&elements));
        match elements {
            Cow::Borrowed(elements) => visitor.visit_borrowed_bytes(bytemuck::cast_slice(elements)),
            Cow::Owned(elements) => visitor.visit_bytes(bytemuck::cast_slice(&elements)),
        }
    }

    fn slice_of<V: Visitor<'de>>(&mut self, number: Number, visitor: V) -> Result<V::Value, Problem> {
        match number {
            Number::Bool => Err(Problem("a bool is no plain number".to_owned())),
            Number::Int8 => self.slice::<i8, V>(visitor),
            Number::Int16 => self.slice::<i16, V>(visitor),
            Number::Int32 => self.slice::<i32, V>(visitor),
            Number::Int64 => self.slice::<i64, V>(visitor),
            Number::Uint8 => self.slice::<u8, V>(visitor),
            Number::Uint16 => self.slice::<u16, V>(visitor),
            Number::Uint32 => self.slice::<u32, V>(visitor),
            Number::Uint64 => self.slice::<u64, V>(visitor),
            Number::Float32 => self.slice::<f32, V>(visitor),
            Number::Float64 => self.slice::<f64, V>(visitor),
        }
    }

    /// Each of these keys, which are as many as a map has said.
    fn require_once(&self, mut keys: Vec<Range<usize>>) -> Result<(), Problem> {
        let of = |key: &Range<usize>| &self.keys[key.clone()];
        keys.sort_unstable_by(|one, other| of(one).cmp(of(other)));
        if keys.windows(2).any(|pair| of(&pair[0]) == of(&pair[1])) {
            return Err(Problem("a map has a key that comes twice (C2.11)".to_owned()));
        }
        Ok(())
    }

    /// The number of a variant in an enumeration.
    fn integer(&mut self, number: Number) -> Result<i128, Problem> {
        Ok(match number {
            Number::Int8 => self.number::<i8>()?.into(),
            Number::Int16 => self.number::<i16>()?.into(),
            Number::Int32 => self.number::<i32>()?.into(),
            Number::Int64 => self.number::<i64>()?.into(),
            Number::Uint8 => self.number::<u8>()?.into(),
            Number::Uint16 => self.number::<u16>()?.into(),
            Number::Uint32 => self.number::<u32>()?.into(),
            Number::Uint64 => self.number::<u64>()?.into(),
            Number::Bool | Number::Float32 | Number::Float64 => return Err(Problem("an enumeration is an integer".to_owned())),
        })
    }
}

fn refused<T>(what: &str) -> Result<T, Problem> {
    Err(Problem(format!("{what} cannot be in a message")))
}

fn not_utf8(error: Utf8Error) -> Problem {
    Problem(format!("a string is not UTF-8: {error}"))
}

macro_rules! numbers {
    ($($method:ident: $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            visitor.$visit(self.number()?)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Stream<'de> {
    type Error = Problem;

    numbers! {
        deserialize_i8: visit_i8;
        deserialize_i16: visit_i16;
        deserialize_i32: visit_i32;
        deserialize_i64: visit_i64;
        deserialize_u8: visit_u8;
        deserialize_u16: visit_u16;
        deserialize_u32: visit_u32;
        deserialize_u64: visit_u64;
        deserialize_f32: visit_f32;
        deserialize_f64: visit_f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let value = self.reader.bool()?;
        self.note(&[u8::from(value)]);
        visitor.visit_bool(value)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let text = self.reader.string()?;
        self.note_all(&text);
        match text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(str::from_utf8(text).map_err(not_utf8)?),
            Cow::Owned(text) => visitor.visit_str(str::from_utf8(&text).map_err(not_utf8)?),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        // Copied first, and then looked at: a publisher that runs wild may write what lies in its memory in between.
        let text = self.reader.string()?.into_owned();
        self.note_all(&text);
        visitor.visit_string(String::from_utf8(text).map_err(|error| not_utf8(error.utf8_error()))?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.slice::<u8, V>(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.slice::<u8, V>(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let has_value = self.reader.has_value()?;
        self.note(&[u8::from(has_value)]);
        if has_value { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Problem> {
        match number_of_slice(name) {
            Some(number) => self.slice_of(number, visitor),
            None => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let left = self.count()?;
        visitor.visit_seq(Elements { stream: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_seq(Elements { stream: self, left: count as u64 })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, count: usize, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_tuple(count, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let left = self.count()?;
        let begin = self.keys.len();
        let mut entries = Entries { has_others: left > 1, keys: Vec::new(), elements: Elements { stream: self, left } };
        let value = visitor.visit_map(&mut entries)?;
        let keys = entries.keys;
        self.require_once(keys)?;
        if self.in_keys == 0 {
            self.keys.truncate(begin);
        }
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, name: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, Problem> {
        let chosen = match enumeration_of(name) {
            Some((name, number)) => {
                let value = self.integer(number)?;
                u32::try_from(value).map_err(|_| Problem(format!("{value} is no value of {name}")))?
            }
            None => self.number()?,
        };
        visitor.visit_enum(Alternative { stream: self, chosen })
    }

    fn deserialize_char<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Problem> {
        refused("a char")
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Problem> {
        refused("what asks the stream for its type")
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Problem> {
        refused("what asks for the names of fields")
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Problem> {
        refused("what ignores what is there")
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

struct Elements<'a, 'de> {
    stream: &'a mut Stream<'de>,
    left: u64,
}

impl Elements<'_, '_> {
    /// Serde bounds what it reserves for this; 8 bytes of the stream each is a guess.
    fn hint(&self) -> Option<usize> {
        usize::try_from(self.left.min(self.stream.reader.left() / 8 + 1)).ok()
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Problem;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let before = self.stream.reader.left();
        let element = seed.deserialize(&mut *self.stream)?;
        if self.stream.reader.left() == before {
            let left = self.stream.room.checked_sub(1);
            self.stream.room =
                left.ok_or_else(|| Problem(format!("more than {MOST_WITHOUT_BYTES} elements that take nothing are refused")))?;
        }
        Ok(Some(element))
    }
    fn size_hint(&self) -> Option<usize> {
        self.hint()
    }
}

/// Those of a map.
struct Entries<'a, 'de> {
    elements: Elements<'a, 'de>,
    /// A key may come twice.
    has_others: bool,
    /// Where they are in those of the stream.
    keys: Vec<Range<usize>>,
}

impl<'de> MapAccess<'de> for &mut Entries<'_, 'de> {
    type Error = Problem;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        if !self.has_others {
            return self.elements.next_element_seed(seed);
        }
        let begin = self.elements.stream.keys.len();
        self.elements.stream.in_keys += 1;
        let key = self.elements.next_element_seed(seed);
        self.elements.stream.in_keys -= 1;
        if let Ok(Some(_)) = key {
            self.keys.push(begin..self.elements.stream.keys.len());
        }
        key
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(&mut *self.elements.stream)
    }
    fn size_hint(&self) -> Option<usize> {
        self.elements.hint()
    }
}

struct Alternative<'a, 'de> {
    stream: &'a mut Stream<'de>,
    chosen: u32,
}

impl<'a, 'de> EnumAccess<'de> for Alternative<'a, 'de> {
    type Error = Problem;
    type Variant = Alternative<'a, 'de>;
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Alternative<'a, 'de>), Problem> {
        let chosen: U32Deserializer<Problem> = self.chosen.into_deserializer();
        Ok((seed.deserialize(chosen).map_err(Problem::custom)?, self))
    }
}

impl<'de> VariantAccess<'de> for Alternative<'_, 'de> {
    type Error = Problem;
    fn unit_variant(self) -> Result<(), Problem> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(self.stream)
    }
    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Problem> {
        self.stream.deserialize_tuple(count, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Problem> {
        self.stream.deserialize_tuple(fields.len(), visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;

    /// The entries as vectors of them are written.
    fn map_in<M: DeserializeOwned, E: serde::Serialize>(entries: &[E]) -> Result<M, Problem> {
        value_in(&[&super::super::write::stream_of(&entries).unwrap()])
    }

    fn is_refused<M: DeserializeOwned + Debug, E: serde::Serialize>(entries: &[E]) {
        let why = map_in::<M, E>(entries).unwrap_err().to_string();
        assert!(why.contains("a key that comes twice"), "{why}");
    }

    #[test]
    fn c2_11_maps_are_read_in_any_order_and_refused_where_a_key_comes_twice() {
        let all = [("b".to_owned(), 1_u64), (String::new(), 2), ("a".to_owned(), 3)];
        for entries in [&all[..0], &all[..1], &all] {
            assert_eq!(map_in::<BTreeMap<String, u64>, _>(entries).unwrap(), entries.iter().cloned().collect());
            assert_eq!(map_in::<HashMap<String, u64>, _>(entries).unwrap(), entries.iter().cloned().collect());
        }
        is_refused::<BTreeMap<String, u64>, _>(&[("b", 1_u64), ("a", 2), ("b", 1)]);
        is_refused::<HashMap<String, u64>, _>(&[("b", 1_u64), ("a", 2), ("b", 3)]);
        is_refused::<BTreeMap<u8, u8>, _>(&[(7_u8, 1_u8), (7, 2)]);
        is_refused::<HashMap<bool, ()>, _>(&[(true, ()), (false, ()), (true, ())]);
        is_refused::<BTreeMap<(), u8>, _>(&[((), 1_u8), ((), 2)]);
    }

    #[test]
    fn keys_are_the_same_whatever_stands_between_their_parts() {
        let two = [((1_u8, 5_u32), 9_u8), ((1, 6), 9)];
        assert_eq!(map_in::<BTreeMap<(u8, u32), u8>, _>(&two).unwrap(), two.into());
        // The second begins at another place, so that there is less padding in it.
        is_refused::<BTreeMap<(u8, u32), u8>, _>(&[((1_u8, 5_u32), 9_u8), ((1, 5), 9)]);
        // In one stream there are 0 bytes of an empty string, in the other a zero.
        let empty = [[0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]].concat();
        assert!(value_in::<HashMap<String, ()>>(&[&empty]).unwrap_err().to_string().contains("comes twice"));
        // Neither pair of parts is the other, though all bytes are the same.
        let shifted = [(("a", "bc"), 0_u8), (("ab", "c"), 0)];
        assert_eq!(map_in::<HashMap<(String, String), u8>, _>(&shifted).unwrap().len(), 2);
    }

    #[test]
    fn maps_within_maps_have_keys_of_their_own() {
        let inner = |key: u8| BTreeMap::from([(key, 0_u8), (9, 1)]);
        let values = [(1_u8, inner(1)), (2, inner(1)), (3, inner(2))];
        assert_eq!(map_in::<BTreeMap<u8, BTreeMap<u8, u8>>, _>(&values).unwrap(), values.clone().into());
        let keys = [(inner(1), 1_u8), (inner(2), 1)];
        assert_eq!(map_in::<BTreeMap<BTreeMap<u8, u8>, u8>, _>(&keys).unwrap(), keys.clone().into());
        is_refused::<BTreeMap<BTreeMap<u8, u8>, u8>, _>(&[keys[0].clone(), keys[0].clone()]);
        is_refused::<BTreeMap<u8, BTreeMap<u8, u8>>, _>(&[(1_u8, [(5_u8, 0_u8), (5, 0)].as_slice()), (2, &[])]);
    }

    #[test]
    fn a_string_is_copied_before_it_is_looked_at_and_a_str_lies_where_it_was_written() {
        /// A string that its visitor was given.
        struct Given(String);
        struct Asks;
        impl Visitor<'_> for Asks {
            type Value = Given;
            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("a string of its own")
            }
            fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Given, E> {
                Err(E::custom("it was looked at where it lies"))
            }
            fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Given, E> {
                Ok(Given(text))
            }
        }
        impl<'de> serde::Deserialize<'de> for Given {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Given, D::Error> {
                from.deserialize_string(Asks)
            }
        }
        let stream = [0, 1, 0, 0, 3, 0, 0, 0, b'a', b'b', 0];
        assert_eq!(value_in::<Given>(&[&stream]).unwrap().0, "ab");
        assert_eq!(value_in::<&str>(&[&stream]).unwrap().as_ptr(), stream[8..].as_ptr());
        let wrong = [0, 1, 0, 0, 3, 0, 0, 0, b'a', 0xff, 0];
        let why = "a string is not UTF-8: invalid utf-8 sequence of 1 bytes from index 1";
        assert_eq!(value_in::<String>(&[&wrong]).unwrap_err().to_string(), why);
        assert_eq!(value_in::<&str>(&[&wrong]).unwrap_err().to_string(), why);
    }

    #[test]
    fn elements_that_take_nothing_do_not_take_for_ever_however_they_are_spread() {
        let stream = [[0, 1, 0, 0], [3, 0, 0, 0], [0, 0, 8, 0], [0, 0, 8, 0], [0, 0, 8, 0]].concat(); // 3 times 524288
        assert!(value_in::<Vec<Vec<()>>>(&[&stream]).is_err());
        assert!(value_in::<Vec<()>>(&[&[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff]]).is_err());
        let fewer = [[0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 8, 0], [0, 0, 8, 0]].concat();
        assert_eq!(value_in::<Vec<Vec<()>>>(&[&fewer]).unwrap()[1].len(), 524_288);
    }
}
