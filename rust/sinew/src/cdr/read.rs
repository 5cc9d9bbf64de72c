//! Reading.

use std::borrow::Cow;

use serde::de::value::U32Deserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor};
use sinew_msg::Number;
use sinew_msg::stream::{MOST_WITHOUT_BYTES, Plain, Reader};

use super::{Problem, enumeration_of};
use crate::slice::number_of_slice;

/// A value of what lies there, and nothing else.
pub(crate) fn value_in<'de, T: serde::Deserialize<'de>>(parts: &[&'de [u8]]) -> Result<T, Problem> {
    let mut stream = Stream { reader: Reader::new(parts)?, room: MOST_WITHOUT_BYTES };
    let value = T::deserialize(&mut stream)?;
    stream.reader.finish()?;
    Ok(value)
}

struct Stream<'de> {
    reader: Reader<'de>,
    /// For elements that take nothing, which what is left does not bound.
    room: u64,
}

impl<'de> Stream<'de> {
    fn count(&mut self) -> Result<u64, Problem> {
        Ok(u64::from(self.reader.number::<u32>()?))
    }

    fn slice<T: Plain, V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Problem> {
        match self.reader.slice::<T>()? {
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

    /// The number of a variant in an enumeration.
    fn integer(&mut self, number: Number) -> Result<i128, Problem> {
        Ok(match number {
            Number::Int8 => self.reader.number::<i8>()?.into(),
            Number::Int16 => self.reader.number::<i16>()?.into(),
            Number::Int32 => self.reader.number::<i32>()?.into(),
            Number::Int64 => self.reader.number::<i64>()?.into(),
            Number::Uint8 => self.reader.number::<u8>()?.into(),
            Number::Uint16 => self.reader.number::<u16>()?.into(),
            Number::Uint32 => self.reader.number::<u32>()?.into(),
            Number::Uint64 => self.reader.number::<u64>()?.into(),
            Number::Bool | Number::Float32 | Number::Float64 => return Err(Problem("an enumeration is an integer".to_owned())),
        })
    }
}

fn refused<T>(what: &str) -> Result<T, Problem> {
    Err(Problem(format!("{what} cannot be in a message")))
}

macro_rules! numbers {
    ($($method:ident: $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            visitor.$visit(self.reader.number()?)
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
        visitor.visit_bool(self.reader.bool()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let not_utf8 = |error| Problem(format!("a string is not UTF-8: {error}"));
        match self.reader.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(str::from_utf8(text).map_err(not_utf8)?),
            Cow::Owned(text) => visitor.visit_str(str::from_utf8(&text).map_err(not_utf8)?),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.slice::<u8, V>(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.slice::<u8, V>(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.reader.has_value()? { visitor.visit_some(self) } else { visitor.visit_none() }
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
        visitor.visit_map(Elements { stream: self, left })
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
            None => self.reader.number()?,
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

impl<'de> MapAccess<'de> for Elements<'_, 'de> {
    type Error = Problem;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        self.next_element_seed(seed)
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(&mut *self.stream)
    }
    fn size_hint(&self) -> Option<usize> {
        self.hint()
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
    use super::*;

    #[test]
    fn elements_that_take_nothing_do_not_take_for_ever_however_they_are_spread() {
        let stream = [[0, 1, 0, 0], [3, 0, 0, 0], [0, 0, 8, 0], [0, 0, 8, 0], [0, 0, 8, 0]].concat(); // 3 times 524288
        assert!(value_in::<Vec<Vec<()>>>(&[&stream]).is_err());
        assert!(value_in::<Vec<()>>(&[&[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff]]).is_err());
        let fewer = [[0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 8, 0], [0, 0, 8, 0]].concat();
        assert_eq!(value_in::<Vec<Vec<()>>>(&[&fewer]).unwrap()[1].len(), 524_288);
    }
}
