//! Messages as ROS 1 writes them, made into the streams of sinew.
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

use crate::stream::{MOST_WITHOUT_BYTES, Malformed};
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

/// Bytes before the body of a stream, from which numbers are aligned (C1.3).
const ENCAPSULATION: usize = 4;

struct Making<'a> {
    left: &'a [u8],
    stream: Vec<u8>,
    /// For elements that take nothing, which `left` does not bound (C4.2).
    room: u64,
}

impl<'a> Making<'a> {
    /// So many values of this type, one behind the other.
    fn values(&mut self, ty: &Type, count: u64) -> Result<(), Malformed> {
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
                self.put_count(with_zero);
                self.stream.extend_from_slice(text);
                self.stream.push(0);
                Ok(())
            }
            Type::Vector(element) => {
                let count = self.count()?;
                self.put_count(count);
                self.values(element, u64::from(count))
            }
            Type::Optional(value) => {
                let count = self.count()?;
                if count > 1 {
                    return Err(Malformed(format!("an optional is said to have {count} values")));
                }
                self.put_count(count);
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
        self.align(number.size());
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

    fn put_count(&mut self, count: u32) {
        self.align(4);
        self.stream.extend_from_slice(&count.to_le_bytes());
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

    fn align(&mut self, to: usize) {
        let body = self.stream.len() - ENCAPSULATION;
        self.stream.resize(ENCAPSULATION + body.next_multiple_of(to), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(signature: &str, message: &[u8]) -> Result<Vec<u8>, String> {
        let stream = from_ros1(&signature.parse().unwrap(), message).map_err(|error| error.to_string())?;
        Ok(stream[ENCAPSULATION..].to_vec())
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
