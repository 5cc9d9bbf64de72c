//! Records: a byte that says what it is, eight for the length of the rest, and the rest.

use std::io::Cursor;

use binrw::{BinWrite, BinWriterExt};
use mcap::records::{MessageHeader, SchemaHeader, op};

/// What stands before the rest of a record.
pub const HEAD: usize = 9;
/// What stands in a message's record before the message.
pub const MESSAGE_HEADER: usize = 22;

/// Appends a record.
pub fn append<T: for<'a> BinWrite<Args<'a> = ()>>(to: &mut Vec<u8>, op: u8, body: &T) {
    let begin = to.len();
    head(to, op, 0);
    write_body(to, body);
    end(to, begin);
}

/// Appends what stands before so many bytes of a record.
pub fn head(to: &mut Vec<u8>, op: u8, size: u64) {
    to.push(op);
    to.extend_from_slice(&size.to_le_bytes());
}

/// Appends the record of a message but its bytes, of which there are so many.
pub fn message_head(to: &mut Vec<u8>, header: &MessageHeader, size: u64) {
    head(to, op::MESSAGE, MESSAGE_HEADER as u64 + size);
    write_body(to, header);
}

/// Appends the record of a schema.
pub fn schema(to: &mut Vec<u8>, header: &SchemaHeader, text: &str) {
    let begin = to.len();
    head(to, op::SCHEMA, 0);
    write_body(to, header);
    to.extend_from_slice(&(text.len() as u32).to_le_bytes());
    to.extend_from_slice(text.as_bytes());
    end(to, begin);
}

/// Appends something as it stands in a record.
pub fn write_body<T: for<'a> BinWrite<Args<'a> = ()>>(to: &mut Vec<u8>, body: &T) {
    let end = to.len() as u64;
    let mut cursor = Cursor::new(to);
    cursor.set_position(end);
    cursor.write_le(body).expect("memory takes what is written");
}

/// Now that a record is whole, says its length.
fn end(to: &mut [u8], begin: usize) {
    let size = (to.len() - begin - HEAD) as u64;
    to[begin + 1..begin + HEAD].copy_from_slice(&size.to_le_bytes());
}
