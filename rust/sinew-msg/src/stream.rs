//! Messages as CDR streams (spec/cdr.md), read where they lie.

use std::borrow::Cow;
use std::fmt;

use bytemuck::Pod;

use crate::types::{Number, Type};

/// Why bytes are no stream of the type, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub(crate) String);

impl fmt::Display for Malformed {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// A number that arrays in a stream may consist of, but `bool`: of a byte that is neither 0 nor 1 no `bool` can be made.
pub trait Plain: Pod {
    /// What signatures call it.
    const NUMBER: Number;
    /// The same number with its bytes in the other order.
    fn swapped(self) -> Self;
}

macro_rules! plain {
    ($($type:ty: $number:ident, $swapped:expr;)*) => {
        $(impl Plain for $type {
            const NUMBER: Number = Number::$number;
            fn swapped(self) -> Self {
                let swap: fn($type) -> $type = $swapped;
                swap(self)
            }
        })*
    };
}

plain! {
    u8: Uint8, |n| n;
    i8: Int8, |n| n;
    u16: Uint16, u16::swap_bytes;
    i16: Int16, i16::swap_bytes;
    u32: Uint32, u32::swap_bytes;
    i32: Int32, i32::swap_bytes;
    u64: Uint64, u64::swap_bytes;
    i64: Int64, i64::swap_bytes;
    f32: Float32, |n| f32::from_bits(n.to_bits().swap_bytes());
    f64: Float64, |n| f64::from_bits(n.to_bits().swap_bytes());
}

/// Elements that take nothing in a stream are so many in a message at most (C4.2).
pub const MOST_WITHOUT_BYTES: u64 = 1 << 20;

/// Reads a stream that lies in one or more parts, from its begin to its end. Whoever wrote it may be a stranger: each length is read once and bounded by what is left.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    here: &'a [u8],
    /// Those behind it, the next one last.
    parts: Vec<&'a [u8]>,
    /// In the body, from which alignment is counted.
    position: u64,
    left: u64,
    /// For elements that take nothing, which `left` does not bound.
    room: u64,
    is_native: bool,
}

impl<'a> Reader<'a> {
    /// The parts in their order, joined, are the stream. Fails where that does not begin as a stream does.
    pub fn new(parts: &[&'a [u8]]) -> Result<Reader<'a>, Malformed> {
        let left = parts.iter().map(|part| part.len() as u64).sum();
        let mut reader = Reader {
            here: &[],
            parts: parts.iter().rev().copied().collect(),
            position: 0,
            left,
            room: MOST_WITHOUT_BYTES,
            is_native: true,
        };
        let mut encapsulation = [0; 4];
        reader.read_exact(&mut encapsulation)?;
        let is_little = match encapsulation {
            [0, 1, 0, 0] => true,
            [0, 0, 0, 0] => false,
            other => return Err(Malformed(format!("the stream begins with {other:02x?}, which no stream of sinew does"))),
        };
        reader.is_native = is_little == cfg!(target_endian = "little");
        reader.position = 0;
        Ok(reader)
    }

    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The stream is to end here. Up to 3 bytes of padding may follow (C1.4).
    pub fn finish(self) -> Result<(), Malformed> {
        if self.left <= 3 { Ok(()) } else { Err(Malformed(format!("{} bytes follow behind the message", self.left))) }
    }

    /// A number.
    pub fn number<T: Plain>(&mut self) -> Result<T, Malformed> {
        self.align(size_of::<T>())?;
        let mut number = T::zeroed();
        self.read_exact(bytemuck::bytes_of_mut(&mut number))?;
        Ok(if self.is_native { number } else { number.swapped() })
    }

    /// A `bool`. Fails for a byte that is neither 0 nor 1.
    pub fn bool(&mut self) -> Result<bool, Malformed> {
        match self.number::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed(format!("a bool is {other}"))),
        }
    }

    /// A string without its zero, which need not be UTF-8. Borrowed where it lies in one part.
    pub fn string(&mut self) -> Result<Cow<'a, [u8]>, Malformed> {
        let size = self.number::<u32>()?;
        if size == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let text = self.bytes(u64::from(size) - 1)?;
        match self.number::<u8>()? {
            0 => Ok(text),
            other => Err(Malformed(format!("a string ends with {other} instead of zero"))),
        }
    }

    /// A string as text, with marks where it is no UTF-8. Copied before it is looked at: a publisher that runs wild may write what lies in its memory in between.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let text = self.string()?.into_owned();
        Ok(String::from_utf8(text).unwrap_or_else(|why| String::from_utf8_lossy(why.as_bytes()).into_owned()))
    }

    /// The number of elements of a vector of this element, as many as there may be in what is left.
    pub fn count(&mut self, element: &Type) -> Result<u64, Malformed> {
        let count = u64::from(self.number::<u32>()?);
        if count == 0 {
            return Ok(0); // its type, which may have thousands of fields, is not walked through for nothing
        }
        let fewest = element.fewest_bytes();
        let most = self.left.checked_div(fewest).unwrap_or(MOST_WITHOUT_BYTES);
        if count > most {
            return Err(Malformed(format!("a vector is said to have {count} elements, and there is room for {most}")));
        }
        Ok(count)
    }

    /// Before so many values of this type are visited one by one: of those that take nothing in a stream, whose number no stream bounds, a message has so many at most (C4.2), however they are spread over arrays.
    pub fn visit(&mut self, ty: &Type, count: u64) -> Result<(), Malformed> {
        if count > 0 && ty.fewest_bytes() == 0 {
            let left = self.room.checked_sub(count);
            self.room = left.ok_or_else(|| Malformed(format!("more than {MOST_WITHOUT_BYTES} elements that take nothing are refused")))?;
        }
        Ok(())
    }

    /// A vector of plain numbers. Borrowed where it lies in one part, aligned and in this machine's order of bytes.
    pub fn slice<T: Plain>(&mut self) -> Result<Cow<'a, [T]>, Malformed> {
        let count = self.number::<u32>()?;
        self.elements(u64::from(count))
    }

    /// An array of so many plain numbers, as [`slice`](Reader::slice).
    pub fn elements<T: Plain>(&mut self, count: u64) -> Result<Cow<'a, [T]>, Malformed> {
        if count == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        self.align(size_of::<T>())?;
        let size = count.checked_mul(size_of::<T>() as u64).filter(|size| *size <= self.left);
        let size = size.ok_or_else(|| Malformed(format!("{count} numbers of {} bytes do not fit into what is left", size_of::<T>())))?;
        let native = match self.bytes(size)? {
            Cow::Borrowed(bytes) => match bytemuck::try_cast_slice(bytes) {
                Ok(numbers) => Cow::Borrowed(numbers),
                Err(_) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(bytes)),
            },
            Cow::Owned(bytes) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(&bytes)),
        };
        Ok(if self.is_native || size_of::<T>() == 1 { native } else { Cow::Owned(native.iter().map(|number| number.swapped()).collect()) })
    }

    /// So many numbers of `size` bytes each, as they lie. Borrowed where they lie in one part.
    #[cfg(feature = "ros1")]
    pub(crate) fn block(&mut self, size: usize, count: u64) -> Result<Cow<'a, [u8]>, Malformed> {
        if count == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        self.align(size)?;
        self.bytes(count.saturating_mul(size as u64))
    }

    /// Whether numbers begin with their least byte.
    #[cfg(feature = "ros1")]
    pub(crate) fn is_little(&self) -> bool {
        self.is_native == cfg!(target_endian = "little")
    }

    /// So many bytes as they are. Borrowed where they lie in one part.
    pub fn bytes(&mut self, size: u64) -> Result<Cow<'a, [u8]>, Malformed> {
        self.require(size)?;
        self.next_part();
        let size = size as usize; // no more than there are
        if let Some((bytes, rest)) = self.here.split_at_checked(size) {
            self.here = rest;
            self.advance(size as u64);
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = vec![0; size];
        self.read_exact(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Passes over so many bytes.
    pub fn skip(&mut self, size: u64) -> Result<(), Malformed> {
        self.require(size)?;
        let mut size = size;
        while size > 0 {
            self.next_part();
            let step = size.min(self.here.len() as u64);
            self.here = &self.here[step as usize..];
            self.advance(step);
            size -= step;
        }
        Ok(())
    }

    /// Passes over a value of this type.
    pub fn skip_value(&mut self, ty: &Type) -> Result<(), Malformed> {
        match ty {
            Type::Number(number) | Type::Enumeration { number, .. } => self.skip_numbers(*number, 1),
            Type::String => self.string().map(drop),
            Type::Vector(element) => {
                let count = self.count(element)?;
                self.skip_values(element, count)
            }
            Type::Array(element, length) => self.skip_values(element, u64::from(*length)),
            Type::Optional(value) => {
                let has_value = self.has_value()?;
                self.skip_values(value, u64::from(has_value))
            }
            Type::Structure(structure) => structure.fields.iter().try_for_each(|field| self.skip_value(&field.ty)),
            Type::Variant(alternatives) => {
                let chosen = self.alternative(alternatives)?;
                self.skip_value(chosen)
            }
        }
    }

    /// Passes over so many values of this type, one behind the other.
    pub fn skip_values(&mut self, ty: &Type, count: u64) -> Result<(), Malformed> {
        match ty {
            Type::Number(number) | Type::Enumeration { number, .. } => self.skip_numbers(*number, count),
            _ if count == 0 => Ok(()),
            _ if ty.fewest_bytes() > 0 => (0..count).try_for_each(|_| self.skip_value(ty)),
            // Then no value of it takes a byte, and arrays of arrays of them could keep a reader busy for ever.
            _ if count <= MOST_WITHOUT_BYTES => Ok(()),
            _ => Err(Malformed(format!("an array of {count} elements that take nothing is refused"))),
        }
    }

    fn skip_numbers(&mut self, number: Number, count: u64) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        self.align(number.size())?;
        self.skip(count.saturating_mul(number.size() as u64))
    }

    /// Whether the optional that begins here has a value, which follows.
    pub fn has_value(&mut self) -> Result<bool, Malformed> {
        match self.number::<u32>()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed(format!("an optional is said to have {other} values"))),
        }
    }

    /// The alternative of the variant that begins here, whose value follows.
    pub fn alternative<'t>(&mut self, alternatives: &'t [Type]) -> Result<&'t Type, Malformed> {
        let chosen = self.chosen(alternatives)?;
        Ok(&alternatives[chosen])
    }

    /// The number of that alternative.
    pub fn chosen(&mut self, alternatives: &[Type]) -> Result<usize, Malformed> {
        let chosen = self.number::<u32>()?;
        let found = usize::try_from(chosen).ok().filter(|chosen| *chosen < alternatives.len());
        found.ok_or_else(|| Malformed(format!("a variant is said to have alternative {chosen} of {}", alternatives.len())))
    }

    fn align(&mut self, to: usize) -> Result<(), Malformed> {
        let padding = self.position.wrapping_neg() % to as u64;
        self.skip(padding)
    }

    fn require(&self, size: u64) -> Result<(), Malformed> {
        if size <= self.left {
            return Ok(());
        }
        Err(Malformed(format!("the stream ends too early: {size} bytes are to come, and {} are there", self.left)))
    }

    fn read_exact(&mut self, into: &mut [u8]) -> Result<(), Malformed> {
        self.require(into.len() as u64)?;
        let mut into = into;
        while !into.is_empty() {
            self.next_part();
            let step = into.len().min(self.here.len());
            let (bytes, rest) = self.here.split_at(step);
            let (filled, open) = into.split_at_mut(step);
            filled.copy_from_slice(bytes);
            self.here = rest;
            into = open;
            self.advance(step as u64);
        }
        Ok(())
    }

    fn advance(&mut self, size: u64) {
        self.position += size;
        self.left -= size;
    }

    /// Where the part is at its end, and another one follows, that one.
    fn next_part(&mut self) {
        while self.here.is_empty() {
            match self.parts.pop() {
                Some(part) => self.here = part,
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader_of(stream: &[u8]) -> Reader<'_> {
        Reader::new(&[stream]).unwrap()
    }

    #[test]
    fn c1_2_both_orders_of_bytes_are_read_and_other_beginnings_refused() {
        assert_eq!(reader_of(&[0, 1, 0, 0, 2, 1, 0, 0]).number::<u32>(), Ok(258));
        assert_eq!(reader_of(&[0, 0, 0, 0, 0, 0, 1, 2]).number::<u32>(), Ok(258));
        assert!(Reader::new(&[&[0, 3, 0, 0]]).is_err());
        assert!(Reader::new(&[&[0, 1]]).is_err());
    }

    #[test]
    fn c1_3_numbers_stand_at_multiples_of_their_size_counted_from_the_body() {
        let mut reader = reader_of(&[0, 1, 0, 0, 7, 9, 9, 9, 1, 0, 0, 0, 5, 0]);
        assert_eq!((reader.number::<u8>(), reader.number::<u32>(), reader.number::<u16>()), (Ok(7), Ok(1), Ok(5)));
        assert_eq!(reader.finish(), Ok(()));
    }

    /// Where it costs one, this takes minutes.
    #[test]
    fn a_vector_of_nothing_costs_no_walk_through_its_type() {
        let numbers: String = (0..128).map(|number| format!("a{number}:bool;")).collect();
        let structures: String = (0..24).map(|number| format!("s{number}:C{{{numbers}}};")).collect();
        let ty: Type = format!("A{{v:B{{{structures}}}[][];}}").parse().unwrap();
        let vectors = 1_u32 << 22;
        let stream = [&[0, 1, 0, 0][..], &vectors.to_le_bytes(), &vec![0; 4 * vectors as usize]].concat();
        let mut reader = reader_of(&stream);
        assert_eq!(reader.skip_value(&ty), Ok(()));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn c1_4_more_than_three_bytes_behind_the_message_are_refused() {
        assert!(reader_of(&[0, 1, 0, 0, 9, 9, 9]).finish().is_ok());
        assert!(reader_of(&[0, 1, 0, 0, 9, 9, 9, 9]).finish().is_err());
    }

    #[test]
    fn a_stream_in_parts_is_read_as_one() {
        let whole = [0, 1, 0, 0, 3, 0, 0, 0, b'a', b'b', 0, 9, 4, 0, 0, 0, 1, 2, 3, 4];
        for first in 0..whole.len() {
            for second in first..whole.len() {
                let parts = [&whole[..first], &whole[first..second], &whole[second..]];
                let mut reader = Reader::new(&parts).unwrap();
                assert_eq!(&*reader.string().unwrap(), b"ab");
                assert_eq!(&*reader.slice::<u8>().unwrap(), [1, 2, 3, 4]);
                assert!(reader.finish().is_ok());
            }
        }
    }

    #[test]
    fn an_array_that_lies_in_one_part_is_borrowed_where_it_lies() {
        #[repr(align(16))]
        struct Aligned([u8; 16]);
        let control = [0, 1, 0, 0, 4, 0, 0, 0];
        let array = Aligned([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        let mut reader = Reader::new(&[&control, &array.0]).unwrap();
        let numbers = reader.slice::<u32>().unwrap();
        assert!(matches!(numbers, Cow::Borrowed(_)));
        assert_eq!(&*numbers, [1, 2, 3, 4]);
        assert_eq!(numbers.as_ptr().cast::<u8>(), array.0.as_ptr());
    }

    #[test]
    fn lengths_beyond_the_stream_are_refused_before_memory_is_taken() {
        let lie = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 2];
        assert!(reader_of(&lie).slice::<u64>().is_err());
        assert!(reader_of(&lie).string().is_err());
        for ty in ["string[]", "uint8[]", "A{}[]", "(uint8|A{})[]", "uint64[3][]"] {
            let Type::Vector(element) = ty.parse().unwrap() else { unreachable!() };
            assert!(reader_of(&lie).count(&element).is_err(), "{ty}");
            assert!(reader_of(&lie).skip_value(&Type::Vector(element)).is_err(), "{ty}");
        }
    }

    #[test]
    fn arrays_of_arrays_of_what_takes_nothing_are_passed_over_at_once() {
        let stream = [0, 1, 0, 0, 7];
        let mut reader = reader_of(&stream);
        assert!(reader.skip_value(&"A{}[1048576][1048576][1048576]".parse().unwrap()).is_ok());
        assert_eq!(reader.number::<u8>(), Ok(7));
        assert!(reader_of(&stream).skip_value(&"A{}[1048577]".parse().unwrap()).is_err());
    }

    #[test]
    fn c2_values_that_are_none_are_refused() {
        assert!(reader_of(&[0, 1, 0, 0, 2]).bool().is_err());
        assert!(reader_of(&[0, 1, 0, 0, 2, 0, 0, 0]).has_value().is_err());
        assert!(reader_of(&[0, 1, 0, 0, 2, 0, 0, 0, b'a', b'b']).string().is_err(), "no zero");
        assert_eq!(&*reader_of(&[0, 1, 0, 0, 0, 0, 0, 0]).string().unwrap(), b"");
        let two = [Type::String, Type::String];
        assert!(reader_of(&[0, 1, 0, 0, 2, 0, 0, 0]).alternative(&two).is_err());
    }
}
