//! Messages made into other streams: those that ROS 1 writes, and values that stand elsewhere in another message.
//!
//! ROS 1 writes a message without gaps and the least significant byte first: numbers, a string as its length and its bytes, a vector as the number of its elements and these. The type is the one that
//! [`schema::parse`](crate::schema::parse) reads of the `ros1msg` that a bag has with it. A message keeps all that the bag says, also `seq` of `std_msgs/Header`, which ROS 2 no longer has: who
//! subscribes to it has the type of ROS 1.
//!
//! ```
//! use sinew_msg::{schema, transcode};
//!
//! let ty = schema::parse("a/B", "ros1msg", "bool on\nstring name\nfloat32[2] p")?;
//! let message = [1, 2, 0, 0, 0, b'h', b'i', 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40];
//! let stream = transcode::from_ros1(&ty, &message)?;
//! assert_eq!(stream[..16], [0, 1, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, b'h', b'i', 0, 0]);
//! assert_eq!(stream[16..], [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::stream::{MOST_WITHOUT_BYTES, Malformed, Plain, Reader};
use crate::types::{Number, Type};

/// The stream of the message of this type whose bytes of ROS 1 these are. They may come from a stranger: it takes about twice the memory that they take at most, or it is an error that says why they
/// are no message of this type.
pub fn from_ros1(ty: &Type, message: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut making = Making { left: message, stream: vec![0, 1, 0, 0], room: MOST_WITHOUT_BYTES };
    making.values(ty, 1)?;
    if making.left.is_empty() {
        Ok(making.stream)
    } else {
        Err(Malformed(format!("{} bytes follow behind the message", making.left.len())))
    }
}

/// Writes the value of this type that a reader is at behind what a stream has so far, where it may be aligned otherwise, and passes over it. The stream begins with `[0, 1, 0, 0]`; numbers in it begin with their least byte.
///
/// ```
/// use sinew_msg::{Type, stream::Reader, transcode};
///
/// let pose: Type = "robot/Pose{id:uint8;x:uint64;}".parse()?;
/// let mut reader = Reader::new(&[&[0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]])?;
/// let mut stream = vec![0, 1, 0, 0, 1, 2, 3];
/// transcode::append(&mut stream, &mut reader, &pose)?;
/// assert_eq!(stream, [0, 1, 0, 0, 1, 2, 3, 7, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn append(stream: &mut Vec<u8>, reader: &mut Reader<'_>, ty: &Type) -> Result<(), Malformed> {
    match ty {
        Type::Number(_) | Type::Enumeration { .. } => append_values(stream, reader, ty, 1),
        Type::String => {
            let text = reader.string()?;
            // No more than the length of a string that was read.
            put_count(stream, text.len() as u32 + 1);
            stream.extend_from_slice(&text);
            stream.push(0);
            Ok(())
        }
        Type::Vector(element) => {
            let count = reader.count(element)?;
            put_count(stream, count as u32); // as it was read
            append_values(stream, reader, element, count)
        }
        Type::Array(element, length) => append_values(stream, reader, element, u64::from(*length)),
        Type::Optional(value) => {
            let has_value = reader.has_value()?;
            put_count(stream, u32::from(has_value));
            append_values(stream, reader, value, u64::from(has_value))
        }
        Type::Structure(structure) => structure.fields.iter().try_for_each(|field| append(stream, reader, &field.ty)),
        Type::Variant(alternatives) => {
            let chosen = reader.chosen(alternatives)?;
            put_count(stream, chosen as u32); // as it was read
            append(stream, reader, &alternatives[chosen])
        }
    }
}

fn append_values(stream: &mut Vec<u8>, reader: &mut Reader<'_>, ty: &Type, count: u64) -> Result<(), Malformed> {
    let (Type::Number(number) | Type::Enumeration { number, .. }) = ty else {
        reader.visit(ty, count)?;
        return (0..count).try_for_each(|_| append(stream, reader, ty));
    };
    match number.size() {
        1 => append_numbers::<u8>(stream, reader, count),
        2 => append_numbers::<u16>(stream, reader, count),
        4 => append_numbers::<u32>(stream, reader, count),
        _ => append_numbers::<u64>(stream, reader, count),
    }
}

fn append_numbers<T: Plain>(stream: &mut Vec<u8>, reader: &mut Reader<'_>, count: u64) -> Result<(), Malformed> {
    if count == 0 {
        return Ok(());
    }
    let numbers = reader.elements::<T>(count)?;
    align(stream, size_of::<T>());
    if cfg!(target_endian = "little") {
        stream.extend_from_slice(bytemuck::cast_slice(&numbers));
    } else {
        numbers.iter().for_each(|number| stream.extend_from_slice(bytemuck::bytes_of(&number.swapped())));
    }
    Ok(())
}

/// Bytes before the body of a stream, from which numbers are aligned (C1.3).
const ENCAPSULATION: usize = 4;

fn put_count(stream: &mut Vec<u8>, count: u32) {
    align(stream, 4);
    stream.extend_from_slice(&count.to_le_bytes());
}

fn align(stream: &mut Vec<u8>, to: usize) {
    let body = stream.len() - ENCAPSULATION;
    stream.resize(ENCAPSULATION + body.next_multiple_of(to), 0);
}

struct Making<'a> {
    left: &'a [u8],
    stream: Vec<u8>,
    /// For elements that take nothing, which `left` does not bound (C4.2).
    room: u64,
}

impl<'a> Making<'a> {
    /// So many values of this type, one behind the other.
    fn values(&mut self, ty: &Type, count: u64) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        let fewest = ty.fewest_bytes();
        if fewest == 0 {
            let left = self.room.checked_sub(count);
            self.room = left.ok_or_else(|| Malformed(format!("more than {MOST_WITHOUT_BYTES} elements that take nothing are refused")))?;
            return Ok(());
        }
        let most = self.left.len() as u64 / fewest;
        if count > most {
            return Err(Malformed(format!("{count} values of {} are to come, and there is room for {most}", ty.name())));
        }
        match ty {
            Type::Number(number) | Type::Enumeration { number, .. } => self.numbers(*number, count),
            _ => (0..count).try_for_each(|_| self.value(ty)),
        }
    }

    fn value(&mut self, ty: &Type) -> Result<(), Malformed> {
        match ty {
            Type::Number(_) | Type::Enumeration { .. } => self.values(ty, 1),
            Type::String => {
                let size = self.count()?;
                let text = self.take(u64::from(size))?;
                let with_zero = size.checked_add(1).ok_or_else(|| Malformed(format!("a string of {size} bytes has no stream")))?;
                put_count(&mut self.stream, with_zero);
                self.stream.extend_from_slice(text);
                self.stream.push(0);
                Ok(())
            }
            Type::Vector(element) => {
                let count = self.count()?;
                put_count(&mut self.stream, count);
                self.values(element, u64::from(count))
            }
            Type::Optional(value) => {
                let count = self.count()?;
                if count > 1 {
                    return Err(Malformed(format!("an optional is said to have {count} values")));
                }
                put_count(&mut self.stream, count);
                self.values(value, u64::from(count))
            }
            Type::Array(element, length) => self.values(element, u64::from(*length)),
            Type::Structure(structure) => structure.fields.iter().try_for_each(|field| self.values(&field.ty, 1)),
            Type::Variant(_) => Err(Malformed("ROS 1 has no variants".to_owned())),
        }
    }

    /// No more than there are bytes for.
    fn numbers(&mut self, number: Number, count: u64) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        let bytes = self.take(count * number.size() as u64)?;
        align(&mut self.stream, number.size());
        match number {
            // To ROS 1 each byte but 0 is true.
            Number::Bool => self.stream.extend(bytes.iter().map(|byte| u8::from(*byte != 0))),
            _ => self.stream.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn count(&mut self) -> Result<u32, Malformed> {
        let (bytes, rest) = self.left.split_first_chunk().ok_or_else(|| self.too_early(4))?;
        self.left = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn take(&mut self, size: u64) -> Result<&'a [u8], Malformed> {
        let split = usize::try_from(size).ok().and_then(|size| self.left.split_at_checked(size));
        let (bytes, rest) = split.ok_or_else(|| self.too_early(size))?;
        self.left = rest;
        Ok(bytes)
    }

    fn too_early(&self, size: u64) -> Malformed {
        Malformed(format!("the message ends too early: {size} bytes are to come, and {} are there", self.left.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(signature: &str, message: &[u8]) -> Result<Vec<u8>, String> {
        let stream = from_ros1(&signature.parse().unwrap(), message).map_err(|error| error.to_string())?;
        Ok(stream[ENCAPSULATION..].to_vec())
    }

    /// Behind so many bytes, from a stream whose numbers begin with their greatest byte, or their least.
    fn moved(signature: &str, behind: usize, is_big: bool, body: &[u8]) -> Vec<u8> {
        let whole = [&[0, u8::from(!is_big), 0, 0][..], body].concat();
        let mut stream = [&[0, 1, 0, 0][..], &vec![0xff; behind]].concat();
        let mut reader = Reader::new(&[&whole[..7], &whole[7..]]).unwrap();
        append(&mut stream, &mut reader, &signature.parse().unwrap()).unwrap();
        reader.finish().unwrap();
        stream.split_off(ENCAPSULATION + behind)
    }

    #[test]
    fn a_value_is_aligned_where_it_comes_to_stand() {
        let ty = "A{a:uint8;b:uint64;c:string;d:uint16[];e:B(uint8)?;}";
        let body =
            [&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'x', 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 4][..]]
                .concat();
        assert_eq!(moved(ty, 0, false, &body), body);
        assert_eq!(moved(ty, 7, false, &body), [&[1][..], &body[8..]].concat());
        assert_eq!(moved(ty, 4, false, &body), [&[1, 0, 0, 0][..], &body[8..]].concat());
    }

    #[test]
    fn a_value_is_told_in_the_order_of_bytes_that_streams_of_sinew_have() {
        let big = [1, 0, 0, 2, 0, 0, 0, 2, b'x', 0, 0, 0, 0, 0, 0, 1, 3];
        assert_eq!(moved("A{a:uint8;b:uint16;c:string;d:uint8[];}", 0, true, &big), [1, 0, 2, 0, 2, 0, 0, 0, b'x', 0, 0, 0, 1, 0, 0, 0, 3]);
        assert_eq!(moved("A{a:(uint8|uint32);}", 0, true, &[0, 0, 0, 1, 0, 0, 0, 9]), [1, 0, 0, 0, 9, 0, 0, 0]);
    }

    #[test]
    fn numbers_are_aligned_and_strings_end_with_zero() {
        let body = made("A{a:uint8;b:uint64;c:string;d:uint16;}", &[1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'x', 3, 0]).unwrap();
        assert_eq!(body, [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'x', 0, 3, 0]);
        assert_eq!(made("A{a:uint8;b:float64[];c:uint8;}", &[1, 0, 0, 0, 0, 2]).unwrap(), [1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(made("A{a:uint8[2];b:B{c:uint16;}[];}", &[1, 2, 2, 0, 0, 0, 3, 0, 4, 0]).unwrap(), [1, 2, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0]);
    }

    #[test]
    fn whatever_is_true_to_ros_1_is_true() {
        assert_eq!(made("bool[]", &[3, 0, 0, 0, 0, 1, 7]).unwrap(), [3, 0, 0, 0, 0, 1, 1]);
    }

    #[test]
    fn what_is_no_message_is_refused_before_memory_is_taken() {
        let lie = [0xff, 0xff, 0xff, 0xff, 1, 2];
        assert_eq!(made("uint64[]", &lie).unwrap_err(), "4294967295 values of uint64 are to come, and there is room for 0");
        assert_eq!(made("string", &lie).unwrap_err(), "the message ends too early: 4294967295 bytes are to come, and 2 are there");
        assert_eq!(made("string[]", &lie).unwrap_err(), "4294967295 values of string are to come, and there is room for 0");
        assert_eq!(made("A{}[]", &lie).unwrap_err(), "more than 1048576 elements that take nothing are refused");
        assert_eq!(made("A{}[4294967295][]", &[1, 0, 0, 0]).unwrap(), [1, 0, 0, 0]);
        assert_eq!(
            made("uint8[4294967295][4294967295]", &lie).unwrap_err(),
            "1 values of uint8[4294967295][4294967295] are to come, and there is room for 0"
        );
        assert_eq!(made("uint8", &[1, 2, 3]).unwrap_err(), "2 bytes follow behind the message");
        assert_eq!(made("uint32", &[1]).unwrap_err(), "1 values of uint32 are to come, and there is room for 0");
        assert_eq!(made("(uint8|bool)", &[1, 0, 0, 0, 0]).unwrap_err(), "ROS 1 has no variants");
    }
}
