//! Looks at the images of the example `camera` where they are, in a task: `cargo run --features tokio --example viewer [COUNT]`.

use serde::{Deserialize, Serialize};
use sinew::{Messages, Node, NodeOptions, Qos, Slice};

#[derive(Serialize, Deserialize)]
#[serde(rename = "robot/Image")]
struct Image<'a> {
    sequence: u64,
    height: u32,
    width: u32,
    #[serde(borrow)]
    encoding: &'a str,
    #[serde(borrow)]
    data: Slice<'a, u8>,
}
sinew::message!(Image<'a>);

#[tokio::main(flavor = "current_thread")]
async fn main() -> sinew::Result<()> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(usize::MAX);
    // All of it on one thread: this node has none of its own for callbacks.
    let node = Node::with_options("viewer", &NodeOptions { by_caller: true, ..Default::default() })?;
    let mut images = Messages::<Image>::new(&node, "camera/image", &Qos::keep_last(2), Default::default())?;
    let view = async {
        for _ in 0..count {
            let message = images.recv().await;
            let image = message.read()?;
            let (info, mean) = (message.info(), image.data.iter().map(|byte| u64::from(*byte)).sum::<u64>() / image.data.len() as u64);
            let took_us = (info.receive_time_ns - info.source_time_ns) / 1000;
            println!("image {} of {}x{}, {}: mean {mean}, took {took_us} us", image.sequence, image.width, image.height, image.encoding);
        }
        Ok(())
    };
    tokio::select! {
        ended = node.run() => ended,
        ended = view => ended,
    }
}
