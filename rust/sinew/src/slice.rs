//! Arrays of numbers that are not copied.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sinew_msg::Number;
use sinew_msg::stream::Plain;

/// A vector of numbers in a message: one that is received lies where its publisher wrote it, and one that is published is copied at once, or not at all: [`Slice::room`]. Derefs to `[T]`.
///
/// It is copied while it is received where it does not lie in one piece, aligned: that is only so for small ones, and for those from machines with another order of bytes.
///
/// ```
/// use sinew::Slice;
///
/// let ranges = Slice::from(vec![1.5_f32, 2.5]);
/// assert_eq!(ranges.iter().sum::<f32>(), 4.0);
/// ```
#[derive(Clone)]
pub struct Slice<'a, T>(Elements<'a, T>);

#[derive(Clone)]
enum Elements<'a, T> {
    Borrowed(&'a [T]),
    Owned(Vec<T>),
    Room(usize),
}

impl<T> Slice<'_, T> {
    /// So many elements that are not there yet: [`Publisher::loan`](crate::Publisher::loan) makes room for them in shared memory, where they are to be written. Until then this is empty, and publishing it says zeros.
    pub fn room(count: usize) -> Slice<'static, T> {
        Slice(Elements::Room(count))
    }
}

impl<T> Deref for Slice<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.0 {
            Elements::Borrowed(elements) => elements,
            Elements::Owned(elements) => elements,
            Elements::Room(_) => &[],
        }
    }
}

impl<T> Default for Slice<'_, T> {
    fn default() -> Self {
        Slice(Elements::Borrowed(&[]))
    }
}

impl<T> From<Vec<T>> for Slice<'_, T> {
    fn from(elements: Vec<T>) -> Self {
        Slice(Elements::Owned(elements))
    }
}

impl<'a, T> From<&'a [T]> for Slice<'a, T> {
    fn from(elements: &'a [T]) -> Self {
        Slice(Elements::Borrowed(elements))
    }
}

impl<T: PartialEq> PartialEq for Slice<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Slice<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Elements::Room(count) => write!(to, "room({count})"),
            _ => to.debug_list().entries(self.iter()).finish(),
        }
    }
}

/// By these names of newtypes the streams of sinew know what other formats take for a sequence.
macro_rules! names {
    ($prefix:literal, $number:expr) => {
        match $number {
            Number::Bool => concat!($prefix, "bool"),
            Number::Int8 => concat!($prefix, "int8"),
            Number::Int16 => concat!($prefix, "int16"),
            Number::Int32 => concat!($prefix, "int32"),
            Number::Int64 => concat!($prefix, "int64"),
            Number::Uint8 => concat!($prefix, "uint8"),
            Number::Uint16 => concat!($prefix, "uint16"),
            Number::Uint32 => concat!($prefix, "uint32"),
            Number::Uint64 => concat!($prefix, "uint64"),
            Number::Float32 => concat!($prefix, "float32"),
            Number::Float64 => concat!($prefix, "float64"),
        }
    };
}

const SLICE: &str = "$sinew slice ";
const ROOM: &str = "$sinew room ";

/// Of the newtype of this name, when it is a slice.
pub(crate) fn number_of_slice(name: &str) -> Option<Number> {
    Number::of_name(name.strip_prefix(SLICE)?)
}

/// Likewise of room, which is written as the number of its elements.
pub(crate) fn number_of_room(name: &str) -> Option<Number> {
    Number::of_name(name.strip_prefix(ROOM)?)
}

/// Written at once.
struct Bytes<'a>(&'a [u8]);
impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<T: Plain + Serialize> Serialize for Slice<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_seq(self.iter());
        }
        if let Elements::Room(count) = self.0 {
            return serializer.serialize_newtype_struct(names!("$sinew room ", T::NUMBER), &(count as u64));
        }
        serializer.serialize_newtype_struct(names!("$sinew slice ", T::NUMBER), &Bytes(bytemuck::cast_slice(self)))
    }
}

impl<'de: 'a, 'a, T: Plain + Deserialize<'de>> Deserialize<'de> for Slice<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(names!("$sinew slice ", T::NUMBER), Received(PhantomData))
    }
}

struct Received<'a, T>(PhantomData<&'a T>);

impl<'de: 'a, 'a, T: Plain + Deserialize<'de>> Visitor<'de> for Received<'a, T> {
    type Value = Slice<'a, T>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "a vector of {}", T::NUMBER.name())
    }

    fn visit_borrowed_bytes<E: serde::de::Error>(self, bytes: &'de [u8]) -> Result<Slice<'a, T>, E> {
        Ok(match bytemuck::try_cast_slice(bytes) {
            Ok(elements) => Slice(Elements::Borrowed(elements)),
            Err(_) => Slice(Elements::Owned(bytemuck::allocation::pod_collect_to_vec(bytes))),
        })
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Slice<'a, T>, E> {
        Ok(Slice(Elements::Owned(bytemuck::allocation::pod_collect_to_vec(bytes))))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Slice<'a, T>, D::Error> {
        Vec::deserialize(deserializer).map(Slice::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Slice<'a, T>, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = elements.next_element()? {
            all.push(element);
        }
        Ok(all.into())
    }
}
