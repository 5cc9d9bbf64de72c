//! Messages of ROS 1, made into streams of sinew.

use super::plan::{Elements, Plan, Step};
use crate::stream::{MOST_WITHOUT_BYTES, Malformed};

/// What a stream begins with whose numbers begin with their least byte.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

impl Plan {
    /// Bytes of the stream of this message of ROS 1, which may come from a stranger: no more than about twice its own bytes, and a MiB, or it is an error that says why they are no message of the definition.
    pub fn size_of_stream(&self, message: &[u8]) -> Result<usize, Malformed> {
        Ok(self.pass(message, Measured(0))?.0)
    }

    /// Writes the stream of this message where it has room, as [`size_of_stream`](Plan::size_of_stream) says.
    pub fn write_stream(&self, message: &[u8], into: &mut [u8]) -> Result<(), Malformed> {
        self.pass(message, Written { into, size: 0 }).map(drop)
    }

    fn pass<S: Stream>(&self, message: &[u8], mut stream: S) -> Result<S, Malformed> {
        stream.put(&ENCAPSULATION)?;
        let room = MOST_WITHOUT_BYTES;
        let mut coming = Coming { left: message, stream, room, added: room.saturating_add(message.len() as u64) };
        coming.steps(&self.steps)?;
        if coming.left.is_empty() {
            Ok(coming.stream)
        } else {
            Err(Malformed(format!("{} bytes follow behind the message", coming.left.len())))
        }
    }
}

/// What is measured first, and written then.
trait Stream {
    /// So far.
    fn size(&self) -> usize;
    fn put(&mut self, bytes: &[u8]) -> Result<(), Malformed>;
    /// Of which each that is not 0 becomes 1.
    fn put_bools(&mut self, bytes: &[u8]) -> Result<(), Malformed>;
}

struct Measured(usize);

impl Stream for Measured {
    fn size(&self) -> usize {
        self.0
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.0 += bytes.len();
        Ok(())
    }

    fn put_bools(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.put(bytes)
    }
}

struct Written<'w> {
    into: &'w mut [u8],
    size: usize,
}

impl Written<'_> {
    fn room(&mut self, size: usize) -> Result<&mut [u8], Malformed> {
        let begin = self.size;
        let room = self.into.get_mut(begin..begin.saturating_add(size));
        self.size = begin.saturating_add(size);
        room.ok_or_else(|| Malformed("the stream has no room where it is to be written".to_owned()))
    }
}

impl Stream for Written<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.room(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    fn put_bools(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.room(bytes.len())?.iter_mut().zip(bytes).for_each(|(to, byte)| *to = u8::from(*byte != 0));
        Ok(())
    }
}

struct Coming<'a, S> {
    left: &'a [u8],
    stream: S,
    /// For elements that take nothing, which `left` does not bound (C4.2).
    room: u64,
    /// Bytes for what has none there, which nothing of the message bounds either.
    added: u64,
}

impl<'a, S: Stream> Coming<'a, S> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Malformed> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), Malformed> {
        match step {
            Step::Numbers { size, count } => self.numbers(*size, *count),
            Step::Bools { count } => self.bools(*count),
            Step::String => {
                let size = self.count()?;
                let text = self.take(u64::from(size))?;
                let with_zero = size.checked_add(1).ok_or_else(|| Malformed(format!("a string of {size} bytes has no stream")))?;
                self.put_count(with_zero)?;
                self.stream.put(text)?;
                self.stream.put(&[0])
            }
            Step::Row { element, is_optional } => {
                let count = self.count()?;
                if *is_optional && count > 1 {
                    return Err(Malformed(format!("a row that has one element at most is said to have {count}")));
                }
                self.put_count(count)?;
                self.elements(element, u64::from(count))
            }
            Step::Repeat { times, element } => self.elements(element, *times),
            Step::Seq { .. } => self.take(4).map(drop),
            Step::Placeholder => {
                let left = self.added.checked_sub(1);
                self.added = left.ok_or_else(|| Malformed("what has no bytes in it would take more here than all of it".to_owned()))?;
                self.stream.put(&[0])
            }
        }
    }

    fn elements(&mut self, element: &Elements, count: u64) -> Result<(), Malformed> {
        match element.fewest_there {
            0 => {
                let left = self.room.checked_sub(count);
                self.room =
                    left.ok_or_else(|| Malformed(format!("more than {MOST_WITHOUT_BYTES} elements that take nothing are refused")))?;
            }
            fewest => {
                let most = self.left.len() as u64 / fewest;
                if count > most {
                    return Err(Malformed(format!("{count} elements are to come, and there is room for {most}")));
                }
            }
        }
        match element.steps.as_slice() {
            [] => Ok(()),
            [Step::Numbers { size, count: each }] => self.numbers(*size, each.saturating_mul(count)),
            [Step::Bools { count: each }] => self.bools(each.saturating_mul(count)),
            steps => (0..count).try_for_each(|_| self.steps(steps)),
        }
    }

    fn numbers(&mut self, size: usize, count: u64) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        let numbers = self.take(count.saturating_mul(size as u64))?;
        self.align(size)?;
        self.stream.put(numbers)
    }

    fn bools(&mut self, count: u64) -> Result<(), Malformed> {
        let bools = self.take(count)?;
        self.stream.put_bools(bools)
    }

    fn count(&mut self) -> Result<u32, Malformed> {
        let (bytes, rest) = self.left.split_first_chunk().ok_or_else(|| self.too_early(4))?;
        self.left = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn put_count(&mut self, count: u32) -> Result<(), Malformed> {
        self.align(4)?;
        self.stream.put(&count.to_le_bytes())
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

    /// With zeros, since what is there may be of another message.
    fn align(&mut self, to: usize) -> Result<(), Malformed> {
        let body = self.stream.size() - ENCAPSULATION.len();
        self.stream.put(&[0; 8][..body.next_multiple_of(to) - body])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Definition;
    use super::*;

    #[test]
    fn no_few_bytes_become_a_large_message_by_what_has_none() {
        let empties: String = (0..100).map(|n| format!("Empty f{n}\n")).collect();
        let text = format!("E[] e\n===\nMSG: a/E\n{empties}===\nMSG: a/Empty\n");
        let definition = Definition::read("a/B", &text).unwrap();
        let plan = Plan::new(&definition.ty().unwrap(), &definition).unwrap();
        let size = |count: u32| plan.size_of_stream(&count.to_le_bytes());
        assert_eq!(size(1000), Ok(4 + 4 + 100_000));
        let complaint = "what has no bytes in it would take more here than all of it";
        assert_eq!(size(MOST_WITHOUT_BYTES as u32), Err(Malformed(complaint.to_owned())));
    }
}
