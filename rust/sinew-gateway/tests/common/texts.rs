//! Messages of one text, and how they are offered.

use sinew::Qos;

pub const STRING: &str = "std_msgs/msg/String{data:string;}";

/// A message of std_msgs/msg/String.
pub fn text(data: &str) -> Vec<u8> {
    let mut stream = vec![0, 1, 0, 0];
    stream.extend((data.len() as u32 + 1).to_le_bytes());
    stream.extend(data.bytes().chain([0]));
    stream
}

pub fn reliable(depth: u32) -> Qos {
    Qos { reliable: true, ..Qos::keep_last(depth) }
}

pub fn latched(depth: u32) -> Qos {
    Qos { transient_local: true, ..reliable(depth) }
}
