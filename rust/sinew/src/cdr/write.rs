//! Writing.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant, Serializer,
};
use sinew_msg::stream::Reader;
use sinew_msg::{Number, Type};

use super::{Problem, enumeration_of, has_values};
use crate::slice::{number_of_room, number_of_slice};

const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// Elements that are to be written later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) number: Number,
    /// In the stream.
    pub(crate) offset: usize,
    pub(crate) count: usize,
}

/// Bytes of the stream of the value.
pub(crate) fn size_of<T: Serialize>(value: &T) -> Result<usize, Problem> {
    let mut stream = Stream::new(None);
    value.serialize(&mut stream)?;
    Ok(ENCAPSULATION.len() + stream.position)
}

/// Writes it, in as many bytes as there are, which size_of() has told. Room is zero.
pub(crate) fn write<T: Serialize>(value: &T, to: &mut [u8]) -> Result<Vec<Room>, Problem> {
    let (encapsulation, body) = to.split_at_mut_checked(ENCAPSULATION.len()).ok_or_else(changed)?;
    encapsulation.copy_from_slice(&ENCAPSULATION);
    let end = body.len();
    let mut stream = Stream::new(Some(body));
    value.serialize(&mut stream)?;
    if stream.position != end {
        return Err(changed());
    }
    Ok(stream.rooms)
}

/// Both.
pub(crate) fn stream_of<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    let mut stream = vec![0; size_of(value)?];
    write(value, &mut stream)?;
    Ok(stream)
}

/// A variant of an enum, as serde writes it.
struct Variant {
    /// The enum.
    of: &'static str,
    name: &'static str,
    number: u32,
}

/// That this value is written with the numbers by which it was read, each beside the name of its enum. Serde counts the variants that it skips when it writes, and not when it reads. Names would not tell, as some are aliases.
pub(crate) fn check_numbers<T: Serialize>(value: &T, read: &[(&str, usize)]) -> Result<(), Problem> {
    let mut stream = Stream { variants: Some(Vec::new()), ..Stream::new(None) };
    let written = value.serialize(&mut stream).ok().and(stream.variants).unwrap_or_default();
    if written.len() != read.len() {
        return Ok(()); // it is not written as it is read, or not at all, which the first message tells
    }
    for (Variant { of, name, number }, (read_of, number_read)) in written.iter().zip(read) {
        if of == read_of && *number as usize > *number_read {
            return Err(Problem(format!(
                "variant '{name}' of the enum '{of}' is written as {number} and read as {number_read}: put skipped variants last"
            )));
        }
    }
    Ok(())
}

/// Which type messages are of is known from how serde reads them, and nothing but a stream says how it writes them: the first one tells whether that is the same.
pub(crate) struct Written {
    ty: Type,
    is_right: AtomicBool,
}

impl Written {
    pub(crate) fn new(ty: Type) -> Written {
        Written { ty, is_right: AtomicBool::new(false) }
    }

    /// That this is a stream of the type, unless there was one before.
    pub(crate) fn check(&self, stream: &[u8]) -> Result<(), Problem> {
        // relaxed: who sees it late looks once more
        if self.is_right.load(Ordering::Relaxed) {
            return Ok(());
        }
        let wrong = |why: String| Problem(format!("it is not serialized as it is deserialized: {why}"));
        let mut reader = Reader::new(&[stream])?;
        reader.skip_value(&self.ty).map_err(|why| wrong(format!("read as {}, {why}", self.ty.name())))?;
        // No padding is written behind a message (C1.4).
        if reader.left() > 0 {
            return Err(wrong(format!("{} bytes follow behind what is read as {}", reader.left(), self.ty.name())));
        }
        self.is_right.store(true, Ordering::Relaxed); // relaxed: nothing else depends on it
        Ok(())
    }

    /// The stream of the value.
    pub(crate) fn stream_of<T: Serialize>(&self, value: &T) -> Result<Vec<u8>, Problem> {
        let stream = stream_of(value)?;
        self.check(&stream)?;
        Ok(stream)
    }
}

fn changed() -> Problem {
    Problem("the message is not the same when it is serialized twice".to_owned())
}

/// Measures without a place to write to.
struct Stream<'a> {
    to: Option<&'a mut [u8]>,
    position: usize,
    rooms: Vec<Room>,
    /// What the bytes are that come next: those of a slice.
    elements_are: Number,
    /// The number that comes next is that of the elements of such room.
    is_room: Option<Number>,
    /// Those so far, where they are what is asked for.
    variants: Option<Vec<Variant>>,
}

impl<'a> Stream<'a> {
    fn new(to: Option<&'a mut [u8]>) -> Stream<'a> {
        Stream { to, position: 0, rooms: Vec::new(), elements_are: Number::Uint8, is_room: None, variants: None }
    }

    fn advance(&mut self, size: usize) -> Result<Option<&mut [u8]>, Problem> {
        let begin = self.position;
        let end = begin.checked_add(size).ok_or_else(changed)?;
        self.position = end;
        match &mut self.to {
            Some(to) => to.get_mut(begin..end).map(Some).ok_or_else(changed),
            None => Ok(None),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        if let Some(to) = self.advance(bytes.len())? {
            to.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn fill(&mut self, size: usize) -> Result<(), Problem> {
        if let Some(to) = self.advance(size)? {
            to.fill(0);
        }
        Ok(())
    }

    fn align(&mut self, to: usize) -> Result<(), Problem> {
        self.fill(self.position.wrapping_neg() % to)
    }

    fn number(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.align(bytes.len())?;
        self.put(bytes)
    }

    fn count(&mut self, count: usize) -> Result<(), Problem> {
        let count = u32::try_from(count).map_err(|_| Problem(format!("{count} elements do not fit into a message (C2.9)")))?;
        self.number(&count.to_le_bytes())
    }

    fn elements(&mut self, number: Number, bytes: &[u8]) -> Result<(), Problem> {
        self.count(bytes.len() / number.size())?;
        if !bytes.is_empty() {
            self.align(number.size())?;
        }
        self.put(bytes)
    }

    fn room(&mut self, number: Number, count: usize) -> Result<(), Problem> {
        self.count(count)?;
        if count > 0 {
            self.align(number.size())?;
        }
        let offset = ENCAPSULATION.len() + self.position;
        self.fill(count * number.size())?;
        self.rooms.push(Room { number, offset, count });
        Ok(())
    }

    fn integer(&mut self, number: Number, value: u32) -> Result<(), Problem> {
        let bytes = u64::from(value).to_le_bytes();
        let size = number.size();
        if bytes[size..].iter().any(|byte| *byte != 0) {
            return Err(Problem(format!("{value} is no {}", number.name())));
        }
        self.number(&bytes[..size])
    }

    fn note(&mut self, of: &'static str, name: &'static str, number: u32) {
        if let Some(variants) = &mut self.variants {
            variants.push(Variant { of, name, number });
        }
    }

    /// The number of a variant that has a value, which follows.
    fn alternative(&mut self, of: &'static str, name: &'static str, number: u32) -> Result<(), Problem> {
        if enumeration_of(of).is_some() {
            return Err(has_values(of));
        }
        self.note(of, name, number);
        self.number(&number.to_le_bytes())
    }
}

fn refused<T>(what: &str) -> Result<T, Problem> {
    Err(Problem(format!("{what} cannot be in a message")))
}

macro_rules! numbers {
    ($($method:ident: $type:ty;)*) => {
        $(fn $method(self, value: $type) -> Result<(), Problem> {
            self.number(&value.to_le_bytes())
        })*
    };
}

impl<'a, 'b> Serializer for &'a mut Stream<'b> {
    type Ok = ();
    type Error = Problem;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_f32: f32;
        serialize_f64: f64;
    }

    fn serialize_u64(self, value: u64) -> Result<(), Problem> {
        match self.is_room.take() {
            Some(number) => self.room(number, usize::try_from(value).map_err(|_| changed())?),
            None => self.number(&value.to_le_bytes()),
        }
    }

    fn serialize_bool(self, value: bool) -> Result<(), Problem> {
        self.put(&[u8::from(value)])
    }

    fn serialize_char(self, _: char) -> Result<(), Problem> {
        refused("a char")
    }

    fn serialize_str(self, text: &str) -> Result<(), Problem> {
        self.count(text.len() + 1)?;
        self.put(text.as_bytes())?;
        self.put(&[0])
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Problem> {
        self.elements(self.elements_are, bytes)
    }

    fn serialize_none(self) -> Result<(), Problem> {
        self.count(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Problem> {
        self.count(1)?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Problem> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Problem> {
        Ok(())
    }

    fn serialize_unit_variant(self, of: &'static str, index: u32, name: &'static str) -> Result<(), Problem> {
        self.note(of, name, index);
        match enumeration_of(of) {
            Some((_, number)) => self.integer(number, index),
            None => self.serialize_u32(index),
        }
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), Problem> {
        if let Some(number) = number_of_slice(name) {
            self.elements_are = number;
            let written = value.serialize(&mut *self);
            self.elements_are = Number::Uint8;
            return written;
        }
        if let Some(number) = number_of_room(name) {
            self.is_room = Some(number);
            return value.serialize(self);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        of: &'static str,
        index: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        self.alternative(of, name, index)?;
        value.serialize(self)
    }

    fn serialize_seq(self, count: Option<usize>) -> Result<Self, Problem> {
        self.count(count.ok_or_else(|| Problem::custom("a sequence does not know how many elements it has"))?)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Problem> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Problem> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, of: &'static str, index: u32, name: &'static str, _: usize) -> Result<Self, Problem> {
        self.alternative(of, name, index)?;
        Ok(self)
    }

    fn serialize_map(self, count: Option<usize>) -> Result<Self, Problem> {
        self.serialize_seq(count)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Problem> {
        Ok(self)
    }

    fn serialize_struct_variant(self, of: &'static str, index: u32, name: &'static str, _: usize) -> Result<Self, Problem> {
        self.alternative(of, name, index)?;
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! sequences {
    ($($of:ident: $method:ident;)*) => {
        $(impl $of for &mut Stream<'_> {
            type Ok = ();
            type Error = Problem;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), Problem> {
                Ok(())
            }
        })*
    };
}

sequences! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! structures {
    ($($of:ident;)*) => {
        $(impl $of for &mut Stream<'_> {
            type Ok = ();
            type Error = Problem;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), Problem> {
                value.serialize(&mut **self)
            }
            fn skip_field(&mut self, name: &'static str) -> Result<(), Problem> {
                if self.variants.is_some() {
                    return Ok(()); // a value that was made up says nothing of messages
                }
                Err(Problem(format!("field '{name}' is left out, and a message has all of them")))
            }
            fn end(self) -> Result<(), Problem> {
                Ok(())
            }
        })*
    };
}

structures! {
    SerializeStruct;
    SerializeStructVariant;
}

impl SerializeMap for &mut Stream<'_> {
    type Ok = ();
    type Error = Problem;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Problem> {
        key.serialize(&mut **self)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        value.serialize(&mut **self)
    }
    fn end(self) -> Result<(), Problem> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_enumeration_that_has_values_is_not_written_whatever_is_read() {
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(rename = "robot/Command(uint8)")]
        enum Command {
            Stop,
            #[serde(skip_deserializing)]
            Turn(f64),
            #[serde(skip_deserializing)]
            Go(f64, f64),
            #[serde(skip_deserializing)]
            Lift {
                height: f64,
            },
        }
        assert_eq!(super::stream_of(&Command::Stop).unwrap(), [0, 1, 0, 0, 0]);
        for command in [Command::Turn(0.5), Command::Go(0.5, 1.0), Command::Lift { height: 2.0 }] {
            let why = super::stream_of(&command).unwrap_err().to_string();
            assert!(why.contains("'robot/Command(uint8)' is named as an enumeration, and its variants have values"), "{why}");
        }
    }
}
