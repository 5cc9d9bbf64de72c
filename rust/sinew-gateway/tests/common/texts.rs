//! Messages of one text, and how they are offered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

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

/// Hears all, and takes a while for each; how many it has heard.
pub fn hears_slowly(node: &Node, topic: &str) -> (Subscriber, Arc<AtomicU64>) {
    let count = Arc::<AtomicU64>::default();
    let counted = Arc::clone(&count);
    let hear = move |_: Frame| {
        std::thread::sleep(Duration::from_millis(3));
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let options = SubscriberOptions::default();
    (Subscriber::with_callback(node, topic, STRING, &Qos::reliable(), options, hear).expect("it may subscribe"), count)
}
