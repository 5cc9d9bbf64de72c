//! Streams of sinew, made into messages of ROS 1.

use super::plan::{Elements, Plan, Step};
use crate::stream::{MOST_WITHOUT_BYTES, Malformed, Reader};

impl Plan {
    /// Puts the message of this stream behind what `into` has, as ROS 1 writes it. `seq` is what its header is to have, where it has one that is to have a number. Whoever wrote the stream may be a stranger; where it is none of the
    /// type, `into` has a part of it.
    pub fn write_message(&self, stream: Reader<'_>, seq: u32, into: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut going = Going { reader: stream, seq, into, room: MOST_WITHOUT_BYTES };
        going.steps(&self.steps)?;
        going.reader.finish()
    }
}

struct Going<'r, 'a> {
    reader: Reader<'a>,
    seq: u32,
    into: &'r mut Vec<u8>,
    /// For elements that take nothing, which the stream does not bound (C4.2).
    room: u64,
}

impl Going<'_, '_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Malformed> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), Malformed> {
        match step {
            Step::Numbers { size, count } => self.numbers(*size, *count),
            Step::Bools { count } => self.numbers(1, *count),
            Step::String => {
                let text = self.reader.string()?;
                // No longer than its stream says in 32 bits.
                self.put(text.len() as u32);
                self.into.extend_from_slice(&text);
                Ok(())
            }
            Step::Row { element, is_optional } => {
                let count = self.reader.number::<u32>()?;
                if *is_optional && count > 1 {
                    return Err(Malformed(format!("an optional is said to have {count} values")));
                }
                self.put(count);
                self.elements(element, u64::from(count))
            }
            Step::Repeat { times, element } => self.elements(element, *times),
            Step::Seq { is_own } => {
                self.put(if *is_own { self.seq } else { 0 });
                Ok(())
            }
            Step::Placeholder => self.reader.number::<u8>().map(drop),
        }
    }

    fn elements(&mut self, element: &Elements, count: u64) -> Result<(), Malformed> {
        match element.fewest_here {
            0 => {
                let left = self.room.checked_sub(count);
                self.room =
                    left.ok_or_else(|| Malformed(format!("more than {MOST_WITHOUT_BYTES} elements that take nothing are refused")))?;
            }
            fewest => {
                let most = self.reader.left() / fewest;
                if count > most {
                    return Err(Malformed(format!("{count} elements are to come, and there is room for {most}")));
                }
            }
        }
        match element.steps.as_slice() {
            [] => Ok(()),
            [Step::Numbers { size, count: each }] => self.numbers(*size, each.saturating_mul(count)),
            [Step::Bools { count: each }] => self.numbers(1, each.saturating_mul(count)),
            steps => (0..count).try_for_each(|_| self.steps(steps)),
        }
    }

    fn numbers(&mut self, size: usize, count: u64) -> Result<(), Malformed> {
        let numbers = self.reader.block(size, count)?;
        if size == 1 || self.reader.is_little() {
            self.into.extend_from_slice(&numbers);
        } else {
            self.into.extend(numbers.chunks_exact(size).flat_map(|number| number.iter().rev()));
        }
        Ok(())
    }

    fn put(&mut self, number: u32) {
        self.into.extend_from_slice(&number.to_le_bytes());
    }
}
